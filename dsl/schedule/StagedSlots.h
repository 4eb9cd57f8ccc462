// Which staged operands share a place in the workspace.
#pragma once

#include "dsl/schedule/KernelModel.h"

namespace quern {

/// Bytes of one element in the workspace.
unsigned storedBytes(mlir::Type element);

/// Staged operands of one shape take one slot, one after the other: the next
/// is written when nothing reads the one before it any more.
class StagedSlots {
public:
  StagedSlots() = default;
  /// Slots by the lives of what the kernel stages.
  explicit StagedSlots(const KernelModel &model);
  /// The slots that a schedule gives.
  StagedSlots(const KernelModel &model, llvm::ArrayRef<std::int64_t> slots);

  /// The slot of a staged operand.
  unsigned slotOf(mlir::BlockArgument operand) const;
  /// The slot of each staged operand.
  llvm::ArrayRef<std::int64_t> numbers() const { return slotOfOperand; }
  /// The operands that the slots are as large as, in the order of the slots.
  llvm::ArrayRef<qn::OperandType> slots() const { return types; }

private:
  struct Life {
    unsigned begin = ~0u, end = 0; ///< numbers of operations of the body
  };
  void findLives(const KernelModel &model);
  void read(const KernelModel &model, mlir::Operation *op, unsigned at,
            llvm::SmallPtrSetImpl<mlir::Operation *> &seen);

  llvm::SmallVector<qn::OperandType> types;
  llvm::SmallVector<std::int64_t> slotOfOperand;
  llvm::SmallVector<Life> lives;
  unsigned first = 0; ///< the number of the first staged argument
};

} // namespace quern
