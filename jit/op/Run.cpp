// Runs the steps of a plan over the caller's pointers.
#include "jit/device/RunMemory.h"
#include "jit/op/Move.h"
#include "jit/op/Plan.h"
#include "jit/session/ListedCalls.h"

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
      Pool &pool, void *stream)
      : plan(plan), pointers(pointers), arena(arena), pool(pool),
        stream(stream) {}

  Result<std::monostate> steps() {
    for (const PlanStep &each : plan.steps) {
      if (&each != plan.steps.data() && plan.waiter && !plan.waiter->goesOn())
        return Error{"interrupted", {}};
      if (auto done = step(each); !done)
        return done;
    }
    return std::monostate();
  }

private:
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
  char *address(const PlanTensor &tensor) const {
    if (plan.slots[tensor.slot].kind == PlanSlot::Kind::Temporary)
      return arena + plan.slots[tensor.slot].offset + tensor.offset;
    return plan.address(tensor, pointers);
  }
  Result<std::monostate> launch(const PlanStep &step);
  Result<std::monostate> launchOnDevice(const PlanStep &step);
  Result<std::monostate> callOut(const PlanStep &step);
  bool areApart(const PlanStep &step) const;

  const OpPlan &plan;
  std::span<void *const> pointers;
  char *arena;
  Pool &pool;
  void *stream;
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

/// Together where they can be; else a device's stream has an order, and a
/// launch there does not wait.
Result<std::monostate> Run::launchOnDevice(const PlanStep &step) {
  std::vector<void *> places;
  for (const PlanTensor &tensor : step.tensors)
    places.push_back(address(tensor));
  if (step.kernels.size() > 1 && areApart(step))
    return ListedCalls::run(step.kernels, places, stream);
  std::span<void *const> left(places);
  for (BoundKernel kernel : step.kernels) {
    if (auto done = kernel.run(left.first(kernel.pointerCount()), stream);
        !done)
      return done;
    left = left.subspan(kernel.pointerCount());
  }
  return std::monostate();
}

/// Small kernels run side by side, one thread each; one that is more than a
/// thread's share takes all of them.
Result<std::monostate> Run::launch(const PlanStep &step) {
  if (plan.device)
    return launchOnDevice(step);
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

Error noMemory(std::int64_t bytes) {
  return Error{
      "no memory for " + std::to_string(bytes) + " bytes of temporaries", {}};
}

/// Aligned memory that goes with its last owner.
Result<std::shared_ptr<char>> allocate(const std::shared_ptr<Device> &device,
                                       std::int64_t bytes) {
  if (device) {
    auto made = device->allocate(static_cast<std::size_t>(bytes));
    if (!made)
      return made.error();
    auto owner = std::make_shared<Device::Memory>(std::move(*made));
    return std::shared_ptr<char>(owner, static_cast<char *>(owner->handle()));
  }
  std::size_t whole =
      (static_cast<std::size_t>(bytes) + alignment) / alignment * alignment;
  std::shared_ptr<char> memory(
      static_cast<char *>(std::aligned_alloc(alignment, whole)), &std::free);
  if (!memory)
    return noMemory(bytes);
  return memory;
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

std::vector<BoundKernel> OpPlan::kernels() const {
  std::vector<BoundKernel> all;
  for (const PlanStep &step : steps)
    all.insert(all.end(), step.kernels.begin(), step.kernels.end());
  return all;
}

Result<std::monostate> OpPlan::ready(std::stop_token stop) {
  for (PlanStep &step : steps)
    for (BoundKernel &kernel : step.kernels)
      if (auto done = kernel.ready(stop); !done)
        return done;
  return std::monostate();
}

bool OpPlan::readyAtOnce() {
  for (PlanStep &step : steps)
    for (BoundKernel &kernel : step.kernels)
      if (!kernel.readyAtOnce())
        return false;
  return true;
}

Result<std::monostate> OpPlan::run(std::span<void *const> pointers, Pool &pool,
                                   void *stream) {
  if (device) {
    RunMemory arena(*device, stream);
    if (arenaBytes > 0)
      if (auto taken = arena.take(arenaBytes); !taken)
        return taken;
    auto *begin = reinterpret_cast<char *>(arena.address);
    return Run(*this, pointers, begin, pool, stream).steps();
  }
  Scratch::Piece arena(pool.scratch(), arenaBytes);
  if (arenaBytes > 0 && !arena.memory)
    return noMemory(arenaBytes);
  return Run(*this, pointers, arena.memory, pool, stream).steps();
}

Result<std::monostate> OpPlan::advance(std::span<void *const> pointers,
                                       Pool &pool) {
  for (const PlanStep &step : steps)
    for (const PlanTensor &tensor : step.tensors) {
      PlanSlot &slot = slots[tensor.slot];
      if (slot.kind != PlanSlot::Kind::Temporary)
        continue;
      auto memory = allocate(device, slot.bytes);
      if (!memory)
        return memory.error();
      slot.memory = std::move(*memory);
      slot.kind = PlanSlot::Kind::Kept;
    }
  auto done = run(pointers, pool);
  steps.clear();
  hasRead = true;
  return done;
}
