// How a vendor's GPU spells thread numbers, barriers and shuffles.
#pragma once

#include "dsl/target/TargetInfo.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace quern {

/// Makes a vendor's intrinsics at the insertion point of a builder.
class Device {
public:
  Device(const TargetInfo &target, mlir::OpBuilder &builder)
      : target(target), builder(builder) {}

  const TargetInfo &target;

  /// Numbers of i32: of the thread in its block, of the block in the grid.
  mlir::Value threadNumber(mlir::Location loc);
  mlir::Value blockNumber(mlir::Location loc);
  void barrier(mlir::Location loc);
  /// What the lane `by` further holds; past the end of a warp anything.
  mlir::Value shuffleDown(mlir::Location loc, mlir::Value value,
                          mlir::Value lane, unsigned by);
  /// What the first lane of a warp holds.
  mlir::Value fromFirst(mlir::Location loc, mlir::Value value);

  /// Adds the product of two fragments, 16 by 16 and 16 by 8 elements of 16
  /// bits spread over a warp, to `sums`.
  void multiply(mlir::Location loc, mlir::ValueRange left,
                mlir::ValueRange right,
                llvm::MutableArrayRef<mlir::Value> sums);
  bool hasMatrices() const { return isNvptx(); }

  /// The memory the words of a launch lie in.
  unsigned parameterSpace() const;
  mlir::LLVM::CConv convention() const;
  /// Attributes of an entry for blocks of `threads`.
  mlir::ArrayAttr attributes(unsigned threads);
  /// How the parameter is handed over: by value, or by reference to a copy.
  llvm::StringRef passing() const;

private:
  mlir::Value call(mlir::Location loc, llvm::StringRef name, mlir::Type result,
                   mlir::ValueRange arguments);
  mlir::Value number(mlir::Location loc, std::int64_t value);
  /// Applies `one` to every 32 bits of a value.
  mlir::Value inWords(mlir::Location loc, mlir::Value value,
                      llvm::function_ref<mlir::Value(mlir::Value)> one);
  bool isNvptx() const { return target.kind == TargetKind::Nvptx; }

  mlir::OpBuilder &builder;
};

} // namespace quern
