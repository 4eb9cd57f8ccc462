// Expressions: the dispatch over node kinds, and the simple ones.
#include "dsl/dialect/Steps.h"
#include "dsl/irgen/Generator.h"

#include <utility>

using namespace mlir;
using namespace quern;
using namespace quern::irgen;
using llvm::cast;

irgen::Value Generator::evaluate(const Expression &expression) {
  at(expression.span);
  Budget *budget = budgetOf(*builder.getContext());
  if (budget && !budget->spend(1)) {
    // The walk unwinds through what it has begun; once is enough.
    if (errors.empty() || errors.back().code != tooLargeCode)
      complain(expression.span, tooLargeText(*budget), tooLargeCode,
               tooLargeHint);
    return zeroOf(*expression.type);
  }
  switch (expression.kind) {
#define QN_EXPRESSION(enumerator)                                              \
  case typed::ExpressionKind::enumerator:                                      \
    return visit(cast<typed::enumerator##Expression>(expression));
#include "frontend/typed/Expressions.def"
  }
  llvm_unreachable("every kind of expression is evaluated");
}

irgen::Value Generator::visit(const typed::ConstantExpression &expression) {
  return constant(expression.value, frame->type(expression.scalar()));
}

irgen::Value Generator::compileTimeValue(const Expression &expression) {
  if (auto value = known(expression))
    return constant(*value, frame->type(expression.scalar()));
  return unsupported(expression.span, "this value is not known here");
}

irgen::Value
Generator::visit(const typed::ConstantParameterExpression &expression) {
  return compileTimeValue(expression);
}

irgen::Value Generator::visit(const typed::TypeTestExpression &expression) {
  return compileTimeValue(expression);
}

irgen::Value Generator::visit(const typed::TargetExpression &expression) {
  return compileTimeValue(expression);
}

irgen::Value Generator::visit(const typed::PresentExpression &expression) {
  return compileTimeValue(expression);
}

irgen::Value Generator::visit(const typed::VariableExpression &expression) {
  Value value = lookup(*expression.variable);
  if (expression.variable->type->pack.valid() &&
      value.kind == Value::Kind::List)
    return Value(value.elements[frame->packElement]);
  return value;
}

irgen::Value Generator::visit(const typed::PackElementExpression &expression) {
  const Place &place = frame->axes[expression.pack.index][frame->packElement];
  return Scalar{ElementType::I64,
                expression.isIndex ? positionOf(place) : sizeOf(place),
                nullptr};
}

irgen::Value Generator::visit(const typed::TupleExpression &expression) {
  std::vector<Value> elements;
  for (const Expression *element : expression.elements)
    elements.push_back(evaluate(*element));
  return Value::list(std::move(elements));
}

irgen::Value Generator::visit(const typed::FieldExpression &expression) {
  Value base = evaluate(*expression.base);
  if (base.kind != Value::Kind::List)
    return base;
  return Value(base.elements[expression.index]);
}

irgen::Value Generator::visit(const typed::CastExpression &expression) {
  Value operand = whole(evaluate(*expression.operand));
  if (operand.isAbsent())
    return operand;
  if (!operand.isScalar())
    return unsupported(expression.span, "one value is expected here");
  at(expression.span);
  return b.cast(operand.scalar, frame->type(expression.scalar()));
}

irgen::Value Generator::visit(const typed::ScatterExpression &expression) {
  Value value;
  auto [under, isNew] = scatterConditions.try_emplace(
      {frame, &expression}, conditions.begin(), conditions.end());
  if (!isNew) // made again: what holds at all of its places
    llvm::erase_if(under->second, [&](const Condition &condition) {
      return !llvm::is_contained(conditions, condition);
    });
  value.kind = Value::Kind::Scatter;
  value.scatter = &expression;
  value.scatterFrame = frame;
  return value;
}

irgen::Value
Generator::visit(const typed::ConstantTableExpression &expression) {
  return unsupported(expression.span, "a table is read by an index");
}

irgen::Value
Generator::visit(const typed::FunctionReferenceExpression &expression) {
  return unsupported(expression.span, "a function is not a value");
}

irgen::Value Generator::visit(const typed::ListExpression &expression) {
  return unsupported(expression.span, "a list belongs into an `op`");
}

irgen::Value Generator::visit(const typed::ExternExpression &expression) {
  return unsupported(expression.span, "`extern` belongs into an `op`");
}

Scalar Generator::scalar(const Expression &expression) {
  Value value = whole(evaluate(expression));
  if (value.isScalar())
    return value.scalar;
  return unsupported(expression.span, "one value is expected here").scalar;
}

irgen::Value Generator::evaluateRanks(const Expression &expression,
                                      unsigned rank) {
  std::vector<Value> elements;
  unsigned outer = frame->packElement;
  for (unsigned number = 0; number != rank; ++number) {
    frame->packElement = number;
    elements.push_back(evaluate(expression));
  }
  frame->packElement = outer;
  return Value::list(std::move(elements));
}

irgen::Value Generator::constant(const typed::Constant &constant,
                                 ElementType type) {
  switch (constant.kind) {
  case typed::Constant::Kind::Boolean:
    return b.integer(type, constant.boolean);
  case typed::Constant::Kind::Float:
    return b.number(type, constant.floating);
  case typed::Constant::Kind::Integer:
    if (constant.isUnsigned && kindOf(type) == ElementKind::Float)
      return b.number(type, static_cast<double>(
                                static_cast<std::uint64_t>(constant.integer)));
    return b.integer(type, constant.integer);
  case typed::Constant::Kind::String:
    break;
  }
  return b.integer(ElementType::I64, 0);
}

irgen::Value Generator::zeroOf(ElementType type) { return b.integer(type, 0); }

irgen::Value Generator::zeroOf(const typed::Type &type) {
  if (!type.isTuple())
    return zeroOf(frame->type(type.scalar));
  std::vector<Value> elements;
  for (const typed::Type *element : type.elements)
    elements.push_back(zeroOf(*element));
  return Value::list(std::move(elements));
}

Scalar Generator::coerce(Scalar scalar, ElementType type) {
  if (scalar.type == type)
    return scalar;
  Scalar wanted{type, scalar.value, scalar.imaginary};
  bool sameValue =
      valueType(builder.getContext(), type) == scalar.value.getType() &&
      wanted.isComplex() == scalar.isComplex();
  return sameValue ? wanted : b.cast(scalar, type);
}

irgen::Value Generator::coerce(Value value, const typed::Type &type) {
  if (value.isScalar() && type.isScalar())
    return coerce(value.scalar, frame->type(type.scalar));
  if (value.kind == Value::Kind::List && type.isTuple())
    for (auto [element, elementType] : llvm::zip(value.elements, type.elements))
      element = coerce(std::move(element), *elementType);
  return value;
}
