// A stable sort of words in memory by their bytes, as code.
#pragma once

#include "mlir/IR/Builders.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace quern {

/// Words of room that a sort by bytes needs for its table.
constexpr unsigned radixTable = 256;

/// The bits in which `count` words differ. Whole vectors of `lanes` words are
/// read, behind the last word too.
mlir::Value varyingBits(mlir::OpBuilder &builder, mlir::Location location,
                        mlir::Value words, mlir::Value count, unsigned lanes);

/// Whether a pass for each byte of the `varying` bits is done before `count`
/// words are ordered in runs of `run` and these merged.
mlir::Value radixPays(mlir::OpBuilder &builder, mlir::Location location,
                      mlir::Value count, mlir::Value varying, std::int64_t run);

/// Sorts `count` elements by those bytes of the unsigned 64-bit words at
/// `from[0]` that have a bit in `varying`; the other arrays move along. `to` is
/// room for as much, `table` for `radixTable` words. Gives the arrays that hold
/// the result: `from` or `to`.
llvm::SmallVector<mlir::Value, 4>
radixSort(mlir::OpBuilder &builder, mlir::Location location,
          llvm::ArrayRef<mlir::Value> from, llvm::ArrayRef<mlir::Value> to,
          mlir::Value table, mlir::Value count, mlir::Value varying);

} // namespace quern
