// Finds the axes that `concat` joins lists along.
#include "frontend/typed/ListAxes.h"

#include "frontend/typed/Walk.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"

using namespace quern;
using namespace quern::typed;

bool typed::hasAxis(const Parameter &parameter, AxisId axis) {
  return llvm::any_of(parameter.dimensions, [axis](const Dimension &dimension) {
    return llvm::is_contained(dimension.parts, axis);
  });
}

llvm::SmallVector<AxisId, 2> typed::joinedAxes(const Declaration &declaration) {
  llvm::SmallVector<AxisId, 2> joined;
  if (llvm::none_of(declaration.parameters,
                    [](const Parameter &each) { return each.isList; }))
    return joined;
  walk(declaration.body, [&](const Expression &expression) {
    const auto *concat = llvm::dyn_cast<ConcatExpression>(&expression);
    if (!concat)
      return;
    for (auto [operand, axis] :
         llvm::zip_equal(concat->operands, concat->operandAxes))
      if (operand->type->isList() && !llvm::is_contained(joined, axis))
        joined.push_back(axis);
  });
  llvm::sort(joined, [](AxisId a, AxisId b) { return a.index < b.index; });
  return joined;
}
