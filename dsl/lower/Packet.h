// Where the words of a kernel's packet lie.
#pragma once

#include "dsl/KernelAbi.h"
#include "dsl/dialect/Dialect.h"

#include "llvm/ADT/DenseMap.h"

namespace quern {

class Packet {
public:
  explicit Packet(qn::RowwiseOp kernel);
  explicit Packet(qn::KernelOp kernel);

  static constexpr unsigned errorWord = 0, workspaceWord = 1;
  std::vector<PacketWord> words;

  /// The pointer or value of argument `argument`.
  unsigned argumentWord(unsigned argument) const { return arguments[argument]; }
  unsigned extentWord(unsigned axis) const { return extents + axis; }
  /// The stride of a tensor argument along its own axis number `axis`; only
  /// run-time strides have a word.
  unsigned strideWord(unsigned argument, unsigned axis) const {
    return strides.lookup({argument, axis});
  }

private:
  template <typename Op> void layOut(Op kernel);
  unsigned add(PacketWord word);

  llvm::SmallVector<unsigned> arguments;
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> strides;
  unsigned extents = 0;
};

/// Writes what a kernel's plan says: how many units it has, how many of them
/// are worth a task, the bytes of workspace for all and for one task, and how
/// many units run at first without asking whether the call goes on.
void writePlan(mlir::OpBuilder &b, mlir::Location loc, mlir::Value plan,
               llvm::ArrayRef<mlir::Value> words);

} // namespace quern
