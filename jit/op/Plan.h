// What one call of an `op` does: steps over slots of memory.
#pragma once

#include "jit/Jit.h"
#include "jit/bind/Binding.h"

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
  bool isContiguous() const;
};

/// Strides of a tensor whose last axis has neighbouring elements.
Extents contiguousStrides(Numbers sizes);

/// Memory that steps read and write.
struct PlanSlot {
  enum class Kind : std::uint8_t { Given, Temporary };
  Kind kind = Kind::Temporary;
  unsigned pointer = 0;    ///< Given: which of the caller's pointers
  std::int64_t bytes = 0;  ///< Temporary
  std::int64_t offset = 0; ///< Temporary: in the arena
  std::size_t firstStep = 0, lastStep = 0; ///< Temporary: when it lives
};

struct PlanStep {
  enum class Kind : std::uint8_t { Launch, Fill, Copy };
  Kind kind = Kind::Launch;
  BoundKernel kernel;              ///< Launch
  std::vector<PlanTensor> tensors; ///< Launch: pointers; else target, source
  std::uint64_t bits[2] = {0, 0};  ///< Fill: the element
};

struct OpPlan {
  std::vector<PlanSlot> slots;
  std::vector<PlanStep> steps;
  std::int64_t arenaBytes = 0;

  /// Gives every temporary its place; those that never live together may share.
  void placeTemporaries();
  /// Waits for the code of every launch.
  Result<std::monostate> ready();
  Result<std::monostate> run(std::span<void *const> pointers);
};

} // namespace quern::jit
