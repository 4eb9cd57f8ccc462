// Tensors of a plan, and where its temporaries lie.
#include "jit/op/Plan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <map>
#include <set>

using namespace quern;
using namespace quern::jit;

static constexpr std::int64_t alignment = 64;

std::int64_t PlanTensor::elements() const {
  std::int64_t product = 1;
  for (std::int64_t size : sizes)
    product *= size;
  return product;
}

Extents jit::contiguousStrides(Numbers sizes) {
  Extents strides(sizes.size());
  std::int64_t step = 1;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    strides[axis] = step;
    step *= std::max<std::int64_t>(sizes[axis], 1);
  }
  return strides;
}

TensorView PlanTensor::view(void *data) const {
  TensorView view;
  view.data = data;
  view.type = static_cast<DType>(type);
  view.sizes = {sizes.data(), sizes.size()};
  view.strides = {strides.data(), strides.size()};
  return view;
}

bool PlanTensor::isContiguous() const {
  Extents wanted = contiguousStrides(sizes);
  for (std::size_t axis = 0; axis < sizes.size(); ++axis)
    if (sizes[axis] > 1 && strides[axis] != wanted[axis])
      return false;
  return true;
}

bool PlanStep::writes(std::size_t number) const {
  bool hasTarget = kind == Kind::Fill || kind == Kind::Copy;
  return hasTarget ? number == 0 : written[number];
}

/// From the end, so that what only such a step reads goes with it. A call out
/// may do more than it writes; a fill or a copy of nothing does nothing.
void OpPlan::dropUnread() {
  std::vector<bool> isRead(slots.size());
  auto isNeeded = [&](const PlanStep &step) {
    if (step.kind == PlanStep::Kind::Extern)
      return true;
    if (step.kernels.empty() && step.tensors.front().elements() == 0)
      return false;
    for (auto [number, tensor] : llvm::enumerate(step.tensors))
      if (step.writes(number) &&
          (isRead[tensor.slot] ||
           slots[tensor.slot].kind != PlanSlot::Kind::Temporary))
        return true;
    return false;
  };
  std::vector<PlanStep> needed;
  for (PlanStep &step : llvm::reverse(steps)) {
    if (!isNeeded(step))
      continue;
    for (const PlanTensor &tensor : step.tensors)
      isRead[tensor.slot] = true;
    needed.push_back(std::move(step));
  }
  std::reverse(needed.begin(), needed.end());
  steps = std::move(needed);
}

namespace {

/// The free stretches of an arena, by where they begin. No two touch.
class FreeStretches {
public:
  /// The smallest stretch that is large enough, or new memory at the end.
  std::int64_t take(std::int64_t bytes) {
    auto best = bySize.lower_bound({bytes, 0});
    if (best == bySize.end()) {
      // The last stretch grows where it reaches the end.
      std::int64_t begin = end;
      if (auto last = byPlace.rbegin();
          last != byPlace.rend() && last->first + last->second == end) {
        begin = last->first;
        drop(std::prev(byPlace.end()));
      }
      isLost |= llvm::AddOverflow(begin, bytes, end);
      return isLost ? end = 0 : begin;
    }
    auto [size, place] = *best;
    drop(byPlace.find(place));
    if (size > bytes)
      add(place + bytes, size - bytes);
    return place;
  }
  void give(std::int64_t place, std::int64_t bytes) {
    if (isLost)
      return;
    auto next = byPlace.lower_bound(place);
    if (next != byPlace.end() && next->first == place + bytes) {
      bytes += next->second;
      next = drop(next);
    }
    if (next != byPlace.begin())
      if (auto before = std::prev(next);
          before->first + before->second == place) {
        place = before->first;
        bytes += before->second;
        drop(before);
      }
    add(place, bytes);
  }
  /// More than any memory where it is too much to count.
  std::int64_t size() const {
    return isLost ? std::numeric_limits<std::int64_t>::max() : end;
  }

private:
  using Places = std::map<std::int64_t, std::int64_t>;
  void add(std::int64_t place, std::int64_t bytes) {
    byPlace[place] = bytes;
    bySize.insert({bytes, place});
  }
  Places::iterator drop(Places::iterator stretch) {
    bySize.erase({stretch->second, stretch->first});
    return byPlace.erase(stretch);
  }

  Places byPlace;
  std::set<std::pair<std::int64_t, std::int64_t>> bySize;
  std::int64_t end = 0;
  bool isLost = false;
};

} // namespace

/// Step by step, the largest of a step first: each gets the smallest stretch
/// that those which have ended leave.
void OpPlan::placeTemporaries() {
  for (PlanSlot &slot : slots)
    slot.firstStep = steps.size();
  for (auto [number, step] : llvm::enumerate(steps))
    for (const PlanTensor &tensor : step.tensors) {
      PlanSlot &slot = slots[tensor.slot];
      slot.firstStep = std::min(slot.firstStep, number);
      slot.lastStep = number;
    }
  std::vector<std::vector<PlanSlot *>> begins(steps.size()), ends(steps.size());
  for (PlanSlot &slot : slots)
    if (slot.kind == PlanSlot::Kind::Temporary &&
        slot.firstStep < steps.size()) {
      begins[slot.firstStep].push_back(&slot);
      ends[slot.lastStep].push_back(&slot);
    }
  auto room = [](const PlanSlot &slot) {
    return static_cast<std::int64_t>(
        llvm::alignTo(static_cast<std::uint64_t>(slot.bytes), alignment));
  };
  FreeStretches free;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    // Slots lie in one vector: addresses tell which came first.
    llvm::sort(begins[step], [](const PlanSlot *a, const PlanSlot *b) {
      return std::pair(-a->bytes, a) < std::pair(-b->bytes, b);
    });
    for (PlanSlot *slot : begins[step])
      slot->offset = slot->bytes > 0 ? free.take(room(*slot)) : 0;
    for (PlanSlot *slot : ends[step])
      if (slot->bytes > 0)
        free.give(slot->offset, room(*slot));
  }
  arenaBytes = free.size();
}
