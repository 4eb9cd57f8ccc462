// Checks lists of an `op`: literals, loops that make them, and loops over them.
#pragma once

#include "frontend/check/DeclarationChecker.h"

namespace quern::check {

class ListChecker {
public:
  explicit ListChecker(DeclarationChecker &checker) : checker(checker) {}

  /// `[a, b]`, `[]`, `[f(x) for x in xs]`.
  const Expression *value(const ast::ListExpr &expr);
  /// `xs + ys`, of which at least one is a list.
  const Expression *joined(Span span, const Expression *left,
                           const Expression *right);
  /// A tensor, or a list of them.
  static bool isObject(const typed::Type &type) {
    return type.isTensor() ||
           (type.isList() && type.elements.front()->isTensor());
  }
  /// `xs[i]`: one of its tensors; of a tensor a view.
  const Expression *element(const ast::IndexExpr &expr, const Expression *base);
  /// `value` as a list of such tensors; `text` is the type as written.
  const Expression *as(const Expression *value, ScalarType element,
                       llvm::StringRef text);
  /// For `let` and `var` without a type: an empty list says nothing about it.
  const Expression *typed(const Expression *value);
  /// `for (x, y) in zip(xs, ys)` and `each`.
  void statement(const ast::Pattern &pattern, const ast::Expr *iterable,
                 const ast::Block &body, Span span, bool isEach,
                 llvm::SmallVectorImpl<const typed::Statement *> &into);

private:
  /// What runs through the lists, or through a range.
  struct Loop {
    llvm::SmallVector<const Expression *, 4> lists, range;
    llvm::SmallVector<const typed::Variable *, 4> variables;
    bool isValid = true;
  };

  const Expression *literal(const ast::ListExpr &expr);
  const Expression *made(const ast::ListExpr &expr);
  Loop loopOver(const ast::Pattern &pattern, const ast::Expr *iterable,
                bool mayCount);
  bool counts(const ast::Pattern &pattern, const ast::CallExpr &range,
              Loop &loop);
  void bind(const ast::Pattern &pattern, Loop &loop);
  const typed::Type *listOf(ScalarType element);

  DeclarationChecker &checker;
};

} // namespace quern::check
