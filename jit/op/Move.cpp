// Fills and copies of strided tensors on the pool's threads.
#include "jit/op/Move.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

using namespace quern;
using namespace quern::jit;

namespace {

/// What a unit takes of a row, in elements, and what a thread takes at least.
constexpr std::int64_t piece = 4096;
constexpr std::int64_t leastBytes = 1 << 17;
/// The sides of a square whose cache lines stay, where neighbours of the source
/// lie along another axis than those of the target.
constexpr std::int64_t side = 16;

struct Axis {
  std::int64_t size, target, source; ///< strides in elements
};

/// Axes that lie behind one another in both tensors are one. The last one is
/// the rows', and taken in pieces; neighbours of the target lie along it. Where
/// those of the source lie along the one in front, so many rows are a unit.
struct Job {
  llvm::SmallVector<Axis, 6> axes;
  std::int64_t pieces = 1, rows = 1;
  std::int64_t width = 0;
  char *to = nullptr;
  const char *from = nullptr; ///< null: a fill
  std::array<char, 16> element{};

  Job(const PlanTensor &target, const PlanTensor &source)
      : width(bytesOf(target.type)) {
    llvm::SmallVector<Axis, 6> all;
    for (std::size_t axis = 0; axis != target.sizes.size(); ++axis)
      if (target.sizes[axis] != 1)
        all.push_back(
            {target.sizes[axis], target.strides[axis], source.strides[axis]});
    llvm::sort(all, [](const Axis &one, const Axis &other) {
      return std::abs(one.target) > std::abs(other.target);
    });
    for (Axis next : all) {
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
    if (axes.back().source != 1)
      turn();
  }

  /// The axis that the source has its neighbours along comes before the last.
  void turn() {
    auto *last = axes.end() - 1;
    auto *found = std::find_if(
        axes.begin(), last, [](const Axis &axis) { return axis.source == 1; });
    if (found == last)
      return;
    std::rotate(found, found + 1, last);
    rows = side;
  }

  /// How many units share an axis in front of the last.
  std::int64_t count(std::size_t axis) const {
    bool shared = axis + 2 == axes.size();
    return shared ? (axes[axis].size + rows - 1) / rows : axes[axis].size;
  }

  std::int64_t units() const {
    std::int64_t all = pieces;
    for (std::size_t axis = 0; axis + 1 < axes.size(); ++axis)
      all *= count(axis);
    return all;
  }

  void run(std::int64_t unit) const;
  void line(char *out, const char *in, std::int64_t length) const;
  template <typename Element>
  void row(char *target, const char *source, std::int64_t count) const;
};

/// An element of sixteen bytes.
struct Wide {
  std::uint64_t low, high;
};

template <typename Element>
void fillRow(Element *out, Element value, std::int64_t count) {
  std::array<unsigned char, sizeof(Element)> bytes{};
  std::memcpy(bytes.data(), &value, sizeof(Element));
  if (llvm::all_equal(bytes))
    std::memset(out, bytes[0], count * sizeof(Element));
  else
    std::fill_n(out, count, value);
}

template <typename Element>
void Job::row(char *target, const char *source, std::int64_t count) const {
  auto *out = reinterpret_cast<Element *>(target);
  std::int64_t step = axes.back().target;
  if (!source) {
    Element value;
    std::memcpy(&value, element.data(), sizeof(Element));
    if (step == 1)
      return fillRow(out, value, count);
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
  std::int64_t height = 1;
  for (std::size_t axis = axes.size() - 1; axis-- > 0;) {
    bool shared = rows > 1 && axis + 2 == axes.size();
    std::int64_t at = rest % count(axis) * (shared ? rows : 1);
    if (shared)
      height = std::min(rows, axes[axis].size - at);
    target += at * axes[axis].target;
    place += at * axes[axis].source;
    rest /= count(axis);
  }
  std::int64_t length = std::min(piece, axes.back().size - begin);
  char *out = to + target * width;
  const char *in = from ? from + place * width : nullptr;
  if (rows == 1)
    return line(out, in, length);
  const Axis &across = axes.end()[-2];
  for (std::int64_t first = 0; first < length; first += side)
    for (std::int64_t row = 0; row < height; ++row)
      line(out + (first * axes.back().target + row * across.target) * width,
           in + (first * axes.back().source + row * across.source) * width,
           std::min(side, length - first));
}

void Job::line(char *out, const char *in, std::int64_t length) const {
  switch (width) {
  case 1:
    return row<std::uint8_t>(out, in, length);
  case 2:
    return row<std::uint16_t>(out, in, length);
  case 4:
    return row<std::uint32_t>(out, in, length);
  case 8:
    return row<std::uint64_t>(out, in, length);
  default:
    return row<Wide>(out, in, length);
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
