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
    std::int64_t most = chunksOfShare * members;
    step =
        std::max(std::max<std::int64_t>(grain, 1), (units + most - 1) / most);
    std::int64_t chunks = (units + step - 1) / step;
    for (int member = 0; member != members; ++member) {
      Share &share = shares[member];
      share.first = chunks * member / members;
      share.whole = chunks * (member + 1) / members - share.first;
      share.left = pack(0, share.whole);
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
    std::atomic<std::uint64_t> left{0}; ///< the next chunk and the end
    std::int64_t first = 0, whole = 0;
  };
  static std::uint64_t pack(std::int64_t next, std::int64_t end) {
    return static_cast<std::uint64_t>(next << 32 | end);
  }

  /// First the member's own chunks, then those that others have not come to:
  /// the host may bring fewer members than it was asked for, or bring one late.
  void work(int member) {
    InsideJob guard;
    BorrowedFloatMode borrowed(mode);
    std::size_t count = shares.size();
    for (std::size_t offset = 0; offset != count; ++offset)
      while (takeFrom(shares[(member + offset) % count], member, offset == 0))
        ;
  }

  bool takeFrom(Share &share, int member, bool isOwner) {
    std::uint64_t left = share.left.load();
    for (;;) {
      auto next = static_cast<std::int64_t>(left >> 32);
      auto end = static_cast<std::int64_t>(left & UINT32_MAX);
      if (next >= end)
        return false;
      Taken taken = take(next, end, share.whole, isOwner);
      if (!share.left.compare_exchange_weak(left, pack(taken.next, taken.end)))
        continue;
      std::int64_t begin = (share.first + taken.first) * step;
      task(context, begin, std::min(begin + taken.count * step, units), member);
      return true;
    }
  }

  Pool::Task task;
  const void *context;
  std::int64_t units, step = 1;
  const FloatMode mode = FloatMode::current(); ///< the caller's
  std::vector<Share> shares;
};

} // namespace quern::jit
