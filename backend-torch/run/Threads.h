// ATen's own threads, for kernels that follow its operators.
#pragma once

#include <chrono>

namespace quern {

/// Told of every operator that ATen ran, and when it began.
void noteOperator(std::chrono::steady_clock::time_point start);

/// Runs `body(context, member)` on up to `members` of the threads that ATen's
/// operators run on, as member 0 on the caller's, if one has just run.
///
/// After an operator these threads spin for milliseconds (libgomp's do some
/// 4 ms), during which a thread of another pool gets no processor.
bool onTorchThreads(void (*body)(void *context, int member), void *context,
                    int members);

} // namespace quern
