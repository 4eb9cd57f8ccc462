// Children of every kind of expression and statement.
#include "frontend/typed/Walk.h"

using namespace quern;
using namespace quern::typed;

namespace {

struct Children {
  ExpressionVisitor visit;

  void one(const Expression *child) { walk(child, visit); }
  void all(Expressions children) {
    for (const Expression *child : children)
      one(child);
  }

  void of(const ConstantExpression &) {}
  void of(const ConstantParameterExpression &e) { one(e.element); }
  void of(const ConstantTableExpression &) {}
  void of(const TypeTestExpression &) {}
  void of(const TargetExpression &) {}
  void of(const PresentExpression &) {}
  void of(const VariableExpression &) {}
  void of(const PackElementExpression &) {}
  void of(const TupleExpression &e) { all(e.elements); }
  void of(const FieldExpression &e) { one(e.base); }
  void of(const UnaryExpression &e) { one(e.operand); }
  void of(const BinaryExpression &e) {
    one(e.left);
    one(e.right);
  }
  void of(const SelectExpression &e) {
    one(e.condition);
    one(e.left);
    one(e.right);
  }
  void of(const CastExpression &e) { one(e.operand); }
  void of(const BuiltinExpression &e) { all(e.operands); }
  void of(const LoadExpression &e) {
    one(e.base);
    all(e.positions);
    one(e.outside);
    one(e.when);
  }
  void of(const CallExpression &e) {
    all(e.constantArguments);
    all(e.arguments);
  }
  void of(const FunctionReferenceExpression &) {}
  void of(const IndirectCallExpression &e) { all(e.arguments); }
  void of(const ReduceExpression &e) {
    all(e.constantArguments);
    all(e.operands);
    all(e.parameters);
    one(e.where);
  }
  void of(const ScanExpression &e) {
    all(e.constantArguments);
    all(e.operands);
    all(e.parameters);
    one(e.where);
  }
  void of(const SortExpression &e) {
    all(e.operands);
    one(e.stable);
    one(e.descending);
  }
  void of(const ScatterExpression &e) {
    one(e.into);
    all(e.positions);
    one(e.value);
    one(e.includeSelf);
    one(e.where);
  }
  void of(const ConcatExpression &e) { all(e.operands); }
  void of(const ExternExpression &e) { all(e.arguments); }
  void of(const ListExpression &e) {
    all(e.elements);
    all(e.lists);
    all(e.range);
  }
};

struct Parts {
  ExpressionVisitor visit;

  void one(const Expression *child) { walk(child, visit); }
  void all(Expressions children) {
    for (const Expression *child : children)
      one(child);
  }

  void of(const LetStatement &s) { one(s.value); }
  void of(const AssignStatement &s) { one(s.value); }
  void of(const StoreStatement &s) {
    one(s.place);
    one(s.value);
  }
  void of(const IfStatement &s) {
    one(s.condition);
    walk(s.then, visit);
    walk(s.otherwise, visit);
  }
  void of(const ForStatement &s) {
    one(s.lower);
    one(s.upper);
    one(s.step);
    walk(s.body, visit);
  }
  void of(const WhileStatement &s) {
    one(s.condition);
    one(s.bound);
    walk(s.body, visit);
  }
  void of(const ReturnStatement &s) { all(s.values); }
  void of(const LaunchStatement &s) {
    all(s.grid);
    all(s.block);
  }
  void of(const StorageStatement &) {}
  void of(const ForEachStatement &s) {
    all(s.lists);
    walk(s.body, visit);
  }
  void of(const EvaluateStatement &s) { one(s.expression); }
};

} // namespace

void quern::typed::walk(const Expression *expression, ExpressionVisitor visit) {
  if (!expression)
    return;
  visit(*expression);
  Children children{visit};
  switch (expression->kind) {
#define QN_EXPRESSION(enumerator)                                              \
  case ExpressionKind::enumerator:                                             \
    return children.of(*llvm::cast<enumerator##Expression>(expression));
#include "frontend/typed/Expressions.def"
  }
}

void quern::typed::walk(Block block, ExpressionVisitor visit) {
  Parts parts{visit};
  for (const Statement *statement : block) {
    switch (statement->kind) {
#define QN_STATEMENT(enumerator)                                               \
  case StatementKind::enumerator:                                              \
    parts.of(*llvm::cast<enumerator##Statement>(statement));                   \
    break;
#include "frontend/typed/Statements.def"
    }
  }
}
