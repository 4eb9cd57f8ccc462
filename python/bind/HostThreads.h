// How many threads torch lets operators have.
#pragma once

namespace quern::python {

/// What `torch.set_num_threads` said last; 0 before torch's tensors were seen.
int hostThreads();

/// Called where a session is made and where a new type of tensors is seen:
/// torch may have been imported meanwhile.
void findHostThreads();

} // namespace quern::python
