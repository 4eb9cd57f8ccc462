// A walk over a function and those it calls.
#include "frontend/typed/SmallFloats.h"

#include "frontend/typed/Builtin.h"
#include "frontend/typed/Walk.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace quern;
using namespace quern::typed;

namespace {

class Search {
public:
  bool visit(const Declaration &function) {
    if (function.kind != DeclarationKind::Function ||
        !seen.insert(&function).second)
      return false;
    bool found = false;
    for (const Parameter &parameter : function.parameters)
      found |= parameter.element.isBits();
    for (const Result &result : function.results)
      found |= result.element.isBits();
    walk(function.body,
         [&](const Expression &node) { found = found || isAsked(node); });
    return found;
  }

private:
  bool isAsked(const Expression &node) {
    if (node.type && node.type->isScalar() && node.type->scalar.isBits())
      return true;
    if (const auto *test = llvm::dyn_cast<TypeTestExpression>(&node))
      return !test->againstConstraint && isSmall(test->other);
    if (const auto *builtin = llvm::dyn_cast<BuiltinExpression>(&node))
      return builtin->typeArgument.isParameter() && builtin->operands.empty();
    const auto *call = llvm::dyn_cast<CallExpression>(&node);
    return call && llvm::any_of(call->typeArguments, isOwn) &&
           visit(*call->callee);
  }

  /// A callee of other types asks nothing about those of the caller.
  static bool isOwn(ScalarType type) { return type.isParameter(); }

  static bool isSmall(ScalarType type) {
    return type.isParameter() ||
           computeTypeOf(type.element()) != type.element();
  }

  llvm::SmallPtrSet<const Declaration *, 8> seen;
};

} // namespace

bool quern::typed::tellsSmallFloats(const Declaration &function) {
  return Search().visit(function);
}
