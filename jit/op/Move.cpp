// Fills and copies of strided tensors on the pool's threads.
#include "jit/op/Move.h"

#include <array>
#include <cstring>
#include <utility>

using namespace quern;
using namespace quern::jit;

namespace {

/// What a unit takes of a row, in elements, and what a thread takes at least.
constexpr std::int64_t piece = 4096;
constexpr std::int64_t leastBytes = 1 << 17;

struct Axis {
  std::int64_t size, target, source; ///< strides in elements
};

/// Axes that lie behind one another in both tensors are one. The last one is
/// the rows', and taken in pieces.
struct Job {
  llvm::SmallVector<Axis, 6> axes;
  std::int64_t pieces = 1;
  std::int64_t width = 0;
  char *to = nullptr;
  const char *from = nullptr; ///< null: a fill
  std::array<char, 16> element{};

  Job(const PlanTensor &target, const PlanTensor &source)
      : width(bytesOf(target.type)) {
    for (std::size_t axis = 0; axis != target.sizes.size(); ++axis) {
      Axis next{target.sizes[axis], target.strides[axis], source.strides[axis]};
      if (next.size == 1)
        continue;
      bool joins = !axes.empty() &&
                   axes.back().target == next.size * next.target &&
                   axes.back().source == next.size * next.source;
      if (joins)
        next.size *= axes.pop_back_val().size;
      axes.push_back(next);
    }
    if (axes.empty())
      axes.push_back({1, 1, 1});
    pieces = (axes.back().size + piece - 1) / piece;
  }

  std::int64_t units() const {
    std::int64_t count = pieces;
    for (const Axis &axis : llvm::ArrayRef(axes).drop_back())
      count *= axis.size;
    return count;
  }

  void run(std::int64_t unit) const;
  template <typename Element>
  void row(char *target, const char *source, std::int64_t count) const;
};

/// An element of sixteen bytes.
struct Wide {
  std::uint64_t low, high;
};

template <typename Element>
void Job::row(char *target, const char *source, std::int64_t count) const {
  auto *out = reinterpret_cast<Element *>(target);
  std::int64_t step = axes.back().target;
  if (!source) {
    Element value;
    std::memcpy(&value, element.data(), sizeof(Element));
    for (std::int64_t i = 0; i < count; ++i)
      out[i * step] = value;
    return;
  }
  const auto *in = reinterpret_cast<const Element *>(source);
  std::int64_t other = axes.back().source;
  if (step == 1 && other == 1) {
    std::memcpy(out, in, count * sizeof(Element));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i)
    out[i * step] = in[i * other];
}

void Job::run(std::int64_t unit) const {
  std::int64_t begin = unit % pieces * piece;
  std::int64_t rest = unit / pieces;
  std::int64_t target = begin * axes.back().target;
  std::int64_t place = begin * axes.back().source;
  for (std::size_t axis = axes.size() - 1; axis-- > 0;) {
    target += rest % axes[axis].size * axes[axis].target;
    place += rest % axes[axis].size * axes[axis].source;
    rest /= axes[axis].size;
  }
  std::int64_t count = std::min(piece, axes.back().size - begin);
  char *out = to + target * width;
  const char *in = from ? from + place * width : nullptr;
  switch (width) {
  case 1:
    return row<std::uint8_t>(out, in, count);
  case 2:
    return row<std::uint16_t>(out, in, count);
  case 4:
    return row<std::uint32_t>(out, in, count);
  case 8:
    return row<std::uint64_t>(out, in, count);
  default:
    return row<Wide>(out, in, count);
  }
}

void runUnits(const void *context, std::int64_t begin, std::int64_t end,
              std::int64_t) {
  const auto *job = *static_cast<const Job *const *>(context);
  for (std::int64_t unit = begin; unit < end; ++unit)
    job->run(unit);
}

void start(Pool &pool, const Job &job, std::int64_t elements) {
  if (elements == 0)
    return;
  std::int64_t units = job.units();
  std::int64_t bytes = std::max<std::int64_t>(elements * job.width / units, 1);
  const Job *context = &job;
  pool.run(runUnits, &context, units,
           std::max<std::int64_t>(leastBytes / bytes, 1));
}

} // namespace

void jit::fillTensor(Pool &pool, const PlanTensor &target, char *to,
                     const std::uint64_t *bits) {
  Job job(target, target);
  job.to = to;
  std::memcpy(job.element.data(), bits, job.element.size());
  start(pool, job, target.elements());
}

void jit::copyTensor(Pool &pool, const PlanTensor &target, char *to,
                     const PlanTensor &source, const char *from) {
  Job job(target, source);
  job.to = to;
  job.from = from;
  start(pool, job, target.elements());
}
