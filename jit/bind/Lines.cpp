// Looks at the lines of a call's operands.
#include "jit/bind/Lines.h"

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

std::int64_t quern::jit::countOf(llvm::ArrayRef<std::int64_t> sizes) {
  std::int64_t count = 1;
  for (std::int64_t size : sizes)
    if (llvm::MulOverflow(count, std::max<std::int64_t>(size, 1), count))
      return std::numeric_limits<std::int64_t>::max();
  return count;
}

std::string quern::jit::axisText(const Declaration &declaration, AxisId axis) {
  const Axis &row = declaration.axis(axis);
  return (row.pack ? "*" : "") + (row.name + row.text).str();
}

std::string quern::jit::joinedText(const Declaration &declaration,
                                   const Dimension &dimension) {
  std::string text;
  for (AxisId part : dimension.parts)
    text += (text.empty() ? "(" : " ") + axisText(declaration, part);
  return text + ")";
}

std::optional<std::int64_t>
quern::jit::checkedProduct(llvm::ArrayRef<std::int64_t> sizes) {
  if (llvm::is_contained(sizes, 0))
    return 0;
  std::int64_t product = 1;
  for (std::int64_t size : sizes)
    if (llvm::MulOverflow(product, size, product))
      return std::nullopt;
  return product;
}

bool OperandLines::areRepeated() const {
  constexpr std::int64_t many = 8, small = 1 << 16;
  std::int64_t most = 0, least = small + 1;
  for (auto [operand, own, steps] :
       llvm::zip_equal(operands, extents, strides)) {
    if (!operand.present)
      continue;
    Extents moving;
    for (auto [extent, stride] : llvm::zip_equal(own, steps))
      moving.push_back(stride == 0 ? 1 : extent);
    std::int64_t count = countOf(moving);
    if (operand.isResult)
      most = std::max(most, count);
    else if (count > 1 && llvm::is_contained(steps, 1))
      least = std::min(least, count);
  }
  return least <= small && most / least >= many;
}

bool OperandLines::areFewAcross() const {
  constexpr std::int64_t few = 4;
  for (auto [operand, own, steps] : llvm::zip_equal(operands, extents, strides))
    if (operand.present && !operand.isResult)
      for (auto [extent, stride] : llvm::zip_equal(own, steps))
        if (stride == 1 && extent > 1 && extent <= few &&
            steps.back() == extent)
          return true;
  return false;
}

bool OperandLines::haveWindows(const Declaration &declaration,
                               const Observed &observed) const {
  constexpr std::int64_t few = 8, longWindows = 16;
  bool addsWindows = llvm::any_of(llvm::zip(declaration.axes, observed.reduced),
                                  [](auto pair) {
                                    auto [axis, isReduced] = pair;
                                    return isReduced && axis.upper;
                                  });
  if (!addsWindows)
    return false;
  std::int64_t line = 0, longest = 0;
  for (const Operand &each : operands)
    if (!each.sizes.empty() && each.strides.back() == 1)
      (each.isResult ? line : longest) =
          std::max(each.isResult ? line : longest, each.sizes.back());
  return line > 0 && (line < few || longest / line >= longWindows);
}
