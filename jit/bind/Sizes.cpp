// Checked products, and texts of axes.
#include "jit/bind/Sizes.h"

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
