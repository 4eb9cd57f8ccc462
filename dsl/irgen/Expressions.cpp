// Expressions: the dispatch over node kinds, and the simple ones.
#include "dsl/irgen/Generator.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;
using llvm::cast;
using typed::ExpressionKind;

irgen::Value Generator::evaluate(const Expression &expression) {
  at(expression.span);
  switch (expression.kind) {
  case ExpressionKind::Constant:
    return constant(cast<typed::ConstantExpression>(expression).value,
                    frame->type(expression.scalar()));
  case ExpressionKind::ConstantParameter:
  case ExpressionKind::TypeTest:
  case ExpressionKind::Target:
  case ExpressionKind::Present:
    if (auto value = known(expression))
      return constant(*value, frame->type(expression.scalar()));
    return unsupported(expression.span, "this value is not known here");
  case ExpressionKind::Variable: {
    const auto &node = cast<typed::VariableExpression>(expression);
    Value value = lookup(*node.variable);
    if (node.variable->type->pack.valid() && value.kind == Value::Kind::List)
      return Value(value.elements[frame->packElement]);
    return value;
  }
  case ExpressionKind::PackElement: {
    const auto &node = cast<typed::PackElementExpression>(expression);
    const Place &place = frame->axes[node.pack.index][frame->packElement];
    return Scalar{ElementType::I64,
                  node.isIndex ? positionOf(place) : sizeOf(place), nullptr};
  }
  case ExpressionKind::Tuple: {
    std::vector<Value> elements;
    for (const Expression *element :
         cast<typed::TupleExpression>(expression).elements)
      elements.push_back(evaluate(*element));
    return Value::list(std::move(elements));
  }
  case ExpressionKind::Field: {
    const auto &node = cast<typed::FieldExpression>(expression);
    Value base = evaluate(*node.base);
    if (base.kind != Value::Kind::List)
      return base;
    return Value(base.elements[node.index]);
  }
  case ExpressionKind::Unary:
    return unary(cast<typed::UnaryExpression>(expression));
  case ExpressionKind::Binary:
    return binary(cast<typed::BinaryExpression>(expression));
  case ExpressionKind::Select:
    return select(cast<typed::SelectExpression>(expression));
  case ExpressionKind::Cast: {
    const auto &node = cast<typed::CastExpression>(expression);
    Scalar operand = scalar(*node.operand);
    at(expression.span);
    return b.cast(operand, frame->type(node.scalar()));
  }
  case ExpressionKind::Builtin:
    return builtin(cast<typed::BuiltinExpression>(expression));
  case ExpressionKind::Load:
    return load(cast<typed::LoadExpression>(expression));
  case ExpressionKind::Call:
    return call(cast<typed::CallExpression>(expression));
  case ExpressionKind::IndirectCall:
    return indirectCall(cast<typed::IndirectCallExpression>(expression));
  case ExpressionKind::Reduce:
    return reduce(cast<typed::ReduceExpression>(expression));
  case ExpressionKind::Scan:
    return scan(cast<typed::ScanExpression>(expression));
  case ExpressionKind::Concat:
    return concat(cast<typed::ConcatExpression>(expression));
  case ExpressionKind::Scatter: {
    Value value;
    value.kind = Value::Kind::Scatter;
    value.scatter = &cast<typed::ScatterExpression>(expression);
    value.scatterFrame = frame;
    return value;
  }
  case ExpressionKind::Sort:
    return unsupported(expression.span, "`sort_by` cannot be compiled yet");
  case ExpressionKind::ConstantTable:
    return unsupported(expression.span, "a table is read by an index");
  case ExpressionKind::FunctionReference:
    return unsupported(expression.span, "a function is not a value");
  case ExpressionKind::Extern:
    return unsupported(expression.span, "`extern` belongs into an `op`");
  }
  llvm_unreachable("every kind of expression is evaluated");
}

Scalar Generator::scalar(const Expression &expression) {
  Value value = evaluate(expression);
  if (value.isScalar())
    return value.scalar;
  if (value.kind == Value::Kind::Scatter)
    return unsupported(expression.span,
                       "a scatter can only be returned or stored")
        .scalar;
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
