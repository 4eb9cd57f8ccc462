// Follows names to the scatters that a result or a `mut` parameter is.
#include "frontend/check/MetRows.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

namespace {

class RowFinder {
public:
  explicit RowFinder(const Declaration &declaration)
      : declaration(declaration) {}
  void follow(Block block);
  llvm::SmallVector<MetRows, 1> found;

private:
  void stored(const Expression *value, llvm::ArrayRef<Dimension> dimensions);
  void assign(const AssignStatement &statement);

  const Declaration &declaration;
  llvm::SmallDenseMap<const Variable *, const Expression *, 8> named;
};

} // namespace

void RowFinder::stored(const Expression *value,
                       llvm::ArrayRef<Dimension> dimensions) {
  // The cast is the store's: a sum becomes the result's type.
  if (const auto *cast = llvm::dyn_cast_if_present<CastExpression>(value))
    value = cast->operand;
  if (const auto *name = llvm::dyn_cast_if_present<VariableExpression>(value))
    value = named.lookup(name->variable);
  const auto *scatter = llvm::dyn_cast_if_present<ScatterExpression>(value);
  if (!scatter)
    return;
  for (const Dimension &dimension : dimensions)
    for (AxisId axis : dimension.parts)
      if (llvm::is_contained(scatter->over, axis) &&
          !llvm::is_contained(scatter->axes(), axis))
        found.push_back({scatter, axis});
}

void RowFinder::assign(const AssignStatement &statement) {
  if (statement.targets.size() != 1 || !statement.targets.front())
    return;
  const Variable *target = statement.targets.front();
  named[target] = statement.value;
  for (const Parameter &parameter : declaration.parameters)
    if (parameter.variable == target)
      stored(statement.value, parameter.dimensions);
}

void RowFinder::follow(Block block) {
  for (const Statement *statement : block) {
    if (const auto *let = llvm::dyn_cast<LetStatement>(statement)) {
      if (let->variables.size() == 1)
        named[let->variables.front()] = let->value;
    } else if (const auto *set = llvm::dyn_cast<AssignStatement>(statement)) {
      assign(*set);
    } else if (const auto *branch = llvm::dyn_cast<IfStatement>(statement)) {
      follow(branch->then);
      follow(branch->otherwise);
    } else if (const auto *end = llvm::dyn_cast<ReturnStatement>(statement)) {
      for (auto [value, result] : llvm::zip(end->values, declaration.results))
        stored(value, result.dimensions);
    }
  }
}

llvm::SmallVector<MetRows, 1> check::metRows(const Declaration &declaration) {
  RowFinder finder(declaration);
  finder.follow(declaration.body);
  return std::move(finder.found);
}
