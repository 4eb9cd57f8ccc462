// One job on threads of the host's: shares of its chunks, which members steal.
#pragma once

#include "jit/pool/Team.h"

#include <algorithm>
#include <vector>

namespace quern::jit {

class HostJob {
public:
  HostJob(Pool::Task task, const void *context, std::int64_t units,
          std::int64_t grain, int members)
      : task(task), context(context), units(units), shares(members) {
    std::int64_t most = Pool::chunksPerMember * members;
    step =
        std::max(std::max<std::int64_t>(grain, 1), (units + most - 1) / most);
    std::int64_t chunks = (units + step - 1) / step;
    for (int member = 0; member != members; ++member) {
      shares[member].next = chunks * member / members;
      shares[member].end = chunks * (member + 1) / members;
    }
  }

  /// False where the host's threads are not awake.
  bool run(Pool::Host host) {
    return host([](void *job,
                   int member) { static_cast<HostJob *>(job)->work(member); },
                this, static_cast<int>(shares.size()));
  }

private:
  struct alignas(64) Share {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
  };

  /// First the member's own chunks, then those that others have not come to:
  /// the host may bring fewer members than it was asked for, or bring one late.
  void work(int member) {
    InsideJob guard;
    std::size_t count = shares.size();
    for (std::size_t offset = 0; offset != count; ++offset) {
      Share &share = shares[(member + offset) % count];
      for (std::int64_t chunk = share.next++; chunk < share.end;
           chunk = share.next++)
        task(context, chunk * step, std::min((chunk + 1) * step, units),
             member);
    }
  }

  Pool::Task task;
  const void *context;
  std::int64_t units, step = 1;
  std::vector<Share> shares;
};

} // namespace quern::jit
