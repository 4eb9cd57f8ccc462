// Runs the steps of a plan over the caller's pointers.
#include "jit/op/Move.h"
#include "jit/op/Plan.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdlib>
#include <cstring>
#include <mutex>

using namespace quern;
using namespace quern::jit;

static constexpr std::size_t alignment = 64;

namespace {

/// Kernels that do not wait for one another, and where their tensors are.
struct Batch {
  struct Item {
    const BoundKernel *kernel = nullptr;
    std::vector<void *> places;
    std::int64_t bytes = 0;
  };
  std::vector<Item> items;
  std::mutex lock;
  std::optional<Error> failed;

  void run(const Item &item) {
    BoundKernel kernel = *item.kernel;
    auto done = kernel.run(item.places);
    if (done)
      return;
    std::lock_guard guard(lock);
    if (!failed)
      failed = done.error();
  }
  static void runUnits(const void *context, std::int64_t begin,
                       std::int64_t end, std::int64_t) {
    auto *batch = *static_cast<Batch *const *>(context);
    for (std::int64_t unit = begin; unit < end; ++unit)
      batch->run(batch->items[unit]);
  }
};

class Run {
public:
  Run(const OpPlan &plan, std::span<void *const> pointers, char *arena,
      Pool &pool)
      : plan(plan), pointers(pointers), arena(arena), pool(pool) {}

  Result<std::monostate> step(const PlanStep &step) {
    switch (step.kind) {
    case PlanStep::Kind::Launch:
    case PlanStep::Kind::Each:
      return launch(step);
    case PlanStep::Kind::Extern:
      return callOut(step);
    case PlanStep::Kind::Fill:
      fillTensor(pool, step.tensors[0], address(step.tensors[0]), step.bits);
      break;
    case PlanStep::Kind::Copy:
      copyTensor(pool, step.tensors[0], address(step.tensors[0]),
                 step.tensors[1], address(step.tensors[1]));
      break;
    }
    return std::monostate();
  }

private:
  char *address(const PlanTensor &tensor) const {
    if (plan.slots[tensor.slot].kind == PlanSlot::Kind::Temporary)
      return arena + plan.slots[tensor.slot].offset + tensor.offset;
    return plan.address(tensor, pointers);
  }
  Result<std::monostate> launch(const PlanStep &step);
  Result<std::monostate> callOut(const PlanStep &step);
  bool areApart(const PlanStep &step) const;

  const OpPlan &plan;
  std::span<void *const> pointers;
  char *arena;
  Pool &pool;
};

/// No kernel of the step touches what another one writes.
bool Run::areApart(const PlanStep &step) const {
  struct Range {
    const char *begin, *end;
    bool isWritten;
  };
  std::vector<Range> ranges;
  for (auto [number, tensor] : llvm::enumerate(step.tensors)) {
    if (tensor.elements() == 0)
      continue;
    std::int64_t reach = 1;
    for (auto [size, stride] : llvm::zip_equal(tensor.sizes, tensor.strides)) {
      // Backward strides are rare: such tensors are taken one by one.
      if (stride < 0)
        return false;
      reach += (size - 1) * stride;
    }
    const char *begin = address(tensor);
    ranges.push_back(
        {begin, begin + reach * bytesOf(tensor.type), step.written[number]});
  }
  llvm::sort(ranges, [](const Range &a, const Range &b) {
    return std::less<>()(a.begin, b.begin);
  });
  const char *end = nullptr, *writtenEnd = nullptr;
  for (const Range &range : ranges) {
    if (range.begin < (range.isWritten ? end : writtenEnd))
      return false;
    end = std::max(end, range.end);
    if (range.isWritten)
      writtenEnd = std::max(writtenEnd, range.end);
  }
  return true;
}

/// Small kernels run side by side, one thread each; one that is more than a
/// thread's share takes all of them.
Result<std::monostate> Run::launch(const PlanStep &step) {
  Batch batch;
  auto tensor = step.tensors.begin();
  std::int64_t total = 0;
  for (const BoundKernel &kernel : step.kernels) {
    Batch::Item item{&kernel, {}, 0};
    for (std::size_t left = kernel.pointerCount(); left > 0; --left, ++tensor) {
      item.places.push_back(address(*tensor));
      item.bytes += tensor->bytes();
    }
    total += item.bytes;
    batch.items.push_back(std::move(item));
  }
  bool isBatch = batch.items.size() > 1 && areApart(step);
  auto isLarge = [&](const Batch::Item &item) {
    return !isBatch || item.bytes * pool.threads() > total;
  };
  for (const Batch::Item &item : batch.items)
    if (isLarge(item) && !batch.failed)
      batch.run(item);
  llvm::erase_if(batch.items, isLarge);
  Batch *context = &batch;
  if (!batch.failed && !batch.items.empty())
    pool.run(Batch::runUnits, &context, batch.items.size(), 1);
  if (batch.failed)
    return std::move(*batch.failed);
  return std::monostate();
}

/// The call again, now with the places of its tensors.
Result<std::monostate> Run::callOut(const PlanStep &step) {
  auto tensor = step.tensors.begin();
  auto next = [&] {
    const PlanTensor &one = *tensor++;
    return one.view(address(one));
  };
  ExternCall call = step.call;
  for (auto &[name, argument] : call.arguments) {
    if (auto *one = std::get_if<TensorView>(&argument))
      *one = next();
    if (auto *list = std::get_if<std::vector<TensorView>>(&argument))
      for (TensorView &each : *list)
        each = next();
  }
  std::vector<TensorView> results;
  while (tensor != step.tensors.end())
    results.push_back(next());
  return step.runner->run(call, results);
}

/// Aligned memory, or none.
std::shared_ptr<char> allocate(std::int64_t bytes) {
  std::size_t whole =
      (static_cast<std::size_t>(bytes) + alignment) / alignment * alignment;
  return {static_cast<char *>(std::aligned_alloc(alignment, whole)),
          &std::free};
}

Error noMemory(std::int64_t bytes) {
  return Error{
      "no memory for " + std::to_string(bytes) + " bytes of temporaries", {}};
}

} // namespace

char *OpPlan::address(const PlanTensor &tensor,
                      std::span<void *const> pointers) const {
  const PlanSlot &slot = slots[tensor.slot];
  char *base = slot.kind == PlanSlot::Kind::Kept
                   ? slot.memory.get()
                   : static_cast<char *>(pointers[slot.pointer]);
  return base ? base + tensor.offset : nullptr;
}

Result<std::monostate> OpPlan::ready() {
  for (PlanStep &step : steps)
    for (BoundKernel &kernel : step.kernels)
      if (auto done = kernel.ready(); !done)
        return done;
  return std::monostate();
}

Result<std::monostate> OpPlan::run(std::span<void *const> pointers,
                                   Pool &pool) {
  Scratch::Piece arena(pool.scratch(), arenaBytes);
  if (arenaBytes > 0 && !arena.memory)
    return noMemory(arenaBytes);
  Run run(*this, pointers, arena.memory, pool);
  for (const PlanStep &step : steps)
    if (auto done = run.step(step); !done)
      return done;
  return std::monostate();
}

Result<std::monostate> OpPlan::advance(std::span<void *const> pointers,
                                       Pool &pool) {
  for (const PlanStep &step : steps)
    for (const PlanTensor &tensor : step.tensors) {
      PlanSlot &slot = slots[tensor.slot];
      if (slot.kind != PlanSlot::Kind::Temporary)
        continue;
      slot.memory = allocate(slot.bytes);
      if (!slot.memory)
        return noMemory(slot.bytes);
      slot.kind = PlanSlot::Kind::Kept;
    }
  auto done = run(pointers, pool);
  steps.clear();
  hasRead = true;
  return done;
}
