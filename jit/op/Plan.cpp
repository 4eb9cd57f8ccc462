// Tensors of a plan, and where its temporaries lie.
#include "jit/op/Plan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

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

/// First fit among the slots that live at the same time, the largest first.
void OpPlan::placeTemporaries() {
  for (PlanSlot &slot : slots)
    slot.firstStep = steps.size();
  for (auto [number, step] : llvm::enumerate(steps))
    for (const PlanTensor &tensor : step.tensors) {
      PlanSlot &slot = slots[tensor.slot];
      slot.firstStep = std::min(slot.firstStep, number);
      slot.lastStep = number;
    }
  std::vector<PlanSlot *> open;
  for (PlanSlot &slot : slots)
    if (slot.kind == PlanSlot::Kind::Temporary && slot.firstStep < steps.size())
      open.push_back(&slot);
  // Slots lie in one vector: addresses tell which came first.
  llvm::sort(open, [](const PlanSlot *a, const PlanSlot *b) {
    return std::pair(-a->bytes, a) < std::pair(-b->bytes, b);
  });
  std::vector<PlanSlot *> placed;
  for (PlanSlot *slot : open) {
    llvm::sort(placed, [](const PlanSlot *a, const PlanSlot *b) {
      return std::pair(a->offset, a) < std::pair(b->offset, b);
    });
    std::int64_t offset = 0;
    for (const PlanSlot *other : placed) {
      bool meet = other->firstStep <= slot->lastStep &&
                  slot->firstStep <= other->lastStep;
      if (meet && offset + slot->bytes > other->offset)
        offset = std::max<std::int64_t>(
            offset, llvm::alignTo(other->offset + other->bytes, alignment));
    }
    slot->offset = offset;
    arenaBytes = std::max(arenaBytes, slot->offset + slot->bytes);
    placed.push_back(slot);
  }
}
