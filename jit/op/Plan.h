// What one call of an `op` does: steps over slots of memory.
#pragma once

#include "jit/Jit.h"
#include "jit/bind/Binding.h"
#include "jit/device/Device.h"
#include "jit/pool/Pool.h"

#include <memory>
#include <vector>

namespace quern::jit {

using Numbers = llvm::ArrayRef<std::int64_t>;

/// A tensor in a slot; views of one slot share its memory.
struct PlanTensor {
  unsigned slot = 0;
  std::int64_t offset = 0; ///< in bytes
  ElementType type = ElementType::F32;
  Extents sizes, strides; ///< in elements

  std::int64_t elements() const;
  std::int64_t bytes() const { return elements() * bytesOf(type); }
  bool isContiguous() const;
  /// As a call sees it; without data while only shapes are known.
  TensorView view(void *data = nullptr) const;
};

/// Strides of a tensor whose last axis has neighbouring elements.
Extents contiguousStrides(Numbers sizes);

/// Memory that steps read and write. What steps that have run already wrote is
/// kept for those that follow.
struct PlanSlot {
  enum class Kind : std::uint8_t { Given, Temporary, Kept };
  Kind kind = Kind::Temporary;
  unsigned pointer = 0;    ///< Given: which of the caller's pointers
  std::int64_t bytes = 0;  ///< from where it begins
  std::int64_t offset = 0; ///< Temporary: in the arena
  std::size_t firstStep = 0, lastStep = 0; ///< Temporary: when it lives
  std::shared_ptr<char> memory;            ///< Kept
};

struct PlanStep {
  enum class Kind : std::uint8_t { Launch, Each, Extern, Fill, Copy };
  Kind kind = Kind::Launch;
  /// Launch: one; Each: any number that do not wait for one another.
  std::vector<BoundKernel> kernels;
  /// The kernels' pointers, one kernel's after the other's; else target,
  /// source.
  std::vector<PlanTensor> tensors;
  std::vector<bool> written; ///< of kernels and externs, by tensor
  /// Extern: whose tensors are `tensors`, those of the arguments first.
  ExternCall call;
  std::shared_ptr<ExternRunner> runner;
  std::uint64_t bits[2] = {0, 0}; ///< Fill: the element

  /// Whether the step writes its tensor `number`.
  bool writes(std::size_t number) const;
};

struct OpPlan {
  /// Where the tensors are; null: in the host's memory.
  std::shared_ptr<Device> device;
  std::vector<PlanSlot> slots;
  std::vector<PlanStep> steps;
  std::vector<std::int64_t> resultCounts; ///< outputs of each declared result
  std::int64_t arenaBytes = 0;
  bool hasRead = false; ///< it holds for the values of one call only
  std::shared_ptr<CodeWaiter> waiter; ///< asked between steps; may be null

  /// Leaves out the steps whose temporaries no later step reads.
  void dropUnread();
  /// Gives every temporary its place; those that never live together may share.
  void placeTemporaries();
  /// Those of all launches.
  std::vector<BoundKernel> kernels() const;
  /// Waits for the code of every launch.
  Result<std::monostate> ready(std::stop_token stop = {});
  /// False where code is to be made or loaded for one.
  bool readyAtOnce();
  /// On a device: in the order of `stream`.
  Result<std::monostate> run(std::span<void *const> pointers, Pool &pool,
                             void *stream = nullptr);
  /// Runs the steps there are and forgets them; what they wrote is kept.
  Result<std::monostate> advance(std::span<void *const> pointers, Pool &pool);
  /// Where a tensor's first element is, unless in the arena.
  char *address(const PlanTensor &tensor,
                std::span<void *const> pointers) const;
};

} // namespace quern::jit
