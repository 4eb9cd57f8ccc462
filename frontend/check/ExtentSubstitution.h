// Rewrites an extent expression of a callee in the caller's terms.
#pragma once

#include "frontend/check/DeclarationChecker.h"

namespace quern::check {

struct ExtentSubstitution {
  typed::ModuleBuilder &builder;
  typed::TypeContext &types;
  const typed::Declaration &callee;
  BoundAxes bound;
  Expressions arguments, constants;

  /// `element` says for which axis of a pack.
  const Expression *apply(const Expression &expression, std::size_t element);

private:
  const Expression *builtin(const typed::BuiltinExpression &expression,
                            std::size_t element);
  Expressions list(Expressions expressions, std::size_t element);
  const Expression *size(const typed::BuiltinExpression &expression);
  const Expression *sizeOf(AxisId axis, Span span);
  const Expression *variable(const typed::VariableExpression &expression,
                             std::size_t element);
  template <typename Node> Node *copy(const Node &node) {
    return builder.make<Node>(node);
  }
};

} // namespace quern::check
