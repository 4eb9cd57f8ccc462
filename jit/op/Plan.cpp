// Places the temporaries of a plan and runs its steps.
#include "jit/op/Plan.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

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

bool PlanTensor::isContiguous() const {
  Extents wanted = contiguousStrides(sizes);
  for (std::size_t axis = 0; axis < sizes.size(); ++axis)
    if (sizes[axis] > 1 && strides[axis] != wanted[axis])
      return false;
  return true;
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
        offset = std::max(offset, other->offset + other->bytes);
    }
    slot->offset = (offset + alignment - 1) / alignment * alignment;
    arenaBytes = std::max(arenaBytes, slot->offset + slot->bytes);
    placed.push_back(slot);
  }
}

namespace {

/// Calls `visit` with the byte offsets of every element in two tensors of one
/// shape.
template <typename Visitor>
void forEachElement(const PlanTensor &a, const PlanTensor &b, std::size_t axis,
                    std::int64_t aOffset, std::int64_t bOffset,
                    Visitor &&visit) {
  if (axis == a.sizes.size())
    return visit(aOffset, bOffset);
  std::int64_t width = bytesOf(a.type);
  for (std::int64_t i = 0; i < a.sizes[axis]; ++i)
    forEachElement(a, b, axis + 1, aOffset + i * a.strides[axis] * width,
                   bOffset + i * b.strides[axis] * width, visit);
}

class Run {
public:
  Run(const OpPlan &plan, std::span<void *const> pointers, char *arena)
      : plan(plan), pointers(pointers), arena(arena) {}

  Result<std::monostate> step(PlanStep step) {
    if (step.kind == PlanStep::Kind::Launch) {
      std::vector<void *> places;
      for (const PlanTensor &tensor : step.tensors)
        places.push_back(address(tensor));
      return step.kernel.run(places);
    }
    if (step.kind == PlanStep::Kind::Fill)
      fill(step);
    else
      copy(step);
    return std::monostate();
  }

private:
  char *address(const PlanTensor &tensor) {
    const PlanSlot &slot = plan.slots[tensor.slot];
    char *base = slot.kind == PlanSlot::Kind::Given
                     ? static_cast<char *>(pointers[slot.pointer])
                     : arena + slot.offset;
    return base + tensor.offset;
  }
  void fill(const PlanStep &step) {
    const PlanTensor &target = step.tensors[0];
    char *to = address(target);
    forEachElement(target, target, 0, 0, 0, [&](std::int64_t at, std::int64_t) {
      std::memcpy(to + at, step.bits, bytesOf(target.type));
    });
  }
  void copy(const PlanStep &step) {
    const PlanTensor &target = step.tensors[0], &source = step.tensors[1];
    char *to = address(target);
    const char *from = address(source);
    if (target.isContiguous() && source.isContiguous()) {
      std::memmove(to, from, target.elements() * bytesOf(target.type));
      return;
    }
    forEachElement(target, source, 0, 0, 0,
                   [&](std::int64_t at, std::int64_t place) {
                     std::memcpy(to + at, from + place, bytesOf(target.type));
                   });
  }

  const OpPlan &plan;
  std::span<void *const> pointers;
  char *arena;
};

} // namespace

Result<std::monostate> OpPlan::ready() {
  for (PlanStep &step : steps)
    if (step.kind == PlanStep::Kind::Launch)
      if (auto done = step.kernel.ready(); !done)
        return done;
  return std::monostate();
}

Result<std::monostate> OpPlan::run(std::span<void *const> pointers) {
  std::unique_ptr<char, decltype(&std::free)> arena(nullptr, &std::free);
  if (arenaBytes > 0) {
    std::int64_t bytes = (arenaBytes + alignment - 1) / alignment * alignment;
    arena.reset(static_cast<char *>(std::aligned_alloc(alignment, bytes)));
    if (!arena)
      return Error{"no memory for " + std::to_string(bytes) +
                       " bytes of temporaries",
                   {}};
  }
  Run run(*this, pointers, arena.get());
  for (const PlanStep &step : steps)
    if (auto done = run.step(step); !done)
      return done;
  return std::monostate();
}
