// What lines of a call's operands are like, where code may have ways of its own
// for them.
#pragma once

#include "jit/bind/Binding.h"

namespace quern::jit {

/// The number of elements, or the largest number where there are more.
std::int64_t countOf(llvm::ArrayRef<std::int64_t> sizes);

/// `*S`, and `(A B)` of axes that are joined.
std::string axisText(const typed::Declaration &declaration, typed::AxisId axis);
std::string joinedText(const typed::Declaration &declaration,
                       const typed::Dimension &dimension);

/// The product of extents; nothing where it does not fit 64 bits.
std::optional<std::int64_t> checkedProduct(llvm::ArrayRef<std::int64_t> sizes);

struct OperandLines {
  llvm::ArrayRef<Operand> operands;
  llvm::ArrayRef<Extents> extents; ///< of each operand's axes
  llvm::ArrayRef<llvm::SmallVector<std::int64_t, 4>> strides;

  /// A small operand with neighbours is read for each of many rows of a result.
  bool areRepeated() const;
  /// An operand's lines are of few elements and follow each other along the
  /// last axis, as images have a few channels side by side.
  bool areFewAcross() const;
  /// Windows are added up, and lines of the results are shorter than vectors,
  /// or windows may be longer.
  bool haveWindows(const typed::Declaration &declaration,
                   const Observed &observed) const;
};

} // namespace quern::jit
