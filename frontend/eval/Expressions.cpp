// Expressions without axes of their own: constants, names, operators, casts.
#include "frontend/eval/Complex.h"
#include "frontend/eval/Evaluator.h"
#include "frontend/typed/Arithmetic.h"

#include "llvm/ADT/Twine.h"

namespace quern::eval {

using namespace typed;

namespace {

Value applyBinary(BinaryOperator op, const Value &a, const Value &b) {
  if (a.isAggregate || b.isAggregate) {
    std::size_t count = a.isAggregate ? a.elements.size() : b.elements.size();
    std::vector<Value> elements;
    elements.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      elements.push_back(applyBinary(op, a.isAggregate ? a.elements[i] : a,
                                     b.isAggregate ? b.elements[i] : b));
    return Value::aggregate(std::move(elements));
  }
  if (a.isComplex())
    return complexBinary(op, a, b);
  ElementType result = isComparison(op) ? ElementType::Bool : a.type;
  return Value::of(result, apply(op, a.real, b.real, a.type));
}

} // namespace

Value Evaluator::fail(std::string message) {
  if (!failure)
    failure = std::move(message);
  return Value::integer(0);
}

Value Evaluator::constant(const ConstantExpression &node, const Frame &frame) {
  if (!node.type->isScalar())
    return Value::of(ElementType::Bool, node.value);
  ElementType type = frame.computeType(node.scalar());
  if (kindOf(type) == ElementKind::Complex)
    return Value::complex(
        type, convertLiteral(node.value, ElementType::F64).floating, 0);
  return Value::of(type, convertLiteral(node.value, type));
}

Value Evaluator::constantParameter(const ConstantParameterExpression &node,
                                   const Where &where) {
  const auto *value =
      std::get_if<Constant>(&where.frame.constants[node.parameter->index]);
  if (!value)
    return fail("a function parameter is used as a value");
  if (node.element) {
    Value element = expression(*node.element, where);
    return Value::boolean(value->string[element.asInteger()] == '1');
  }
  if (node.parameter->kind == ConstantParameterKind::Boolean)
    return Value::of(ElementType::Bool, *value);
  if (node.parameter->kind == ConstantParameterKind::Float)
    return Value::of(ElementType::F64, *value);
  return Value::of(ElementType::I64, *value);
}

Value Evaluator::variable(const VariableExpression &node, const Scope &scope,
                          const Point &point) {
  unsigned id = node.variable->id;
  for (const Environment *at = scope.get(); at; at = at->outer.get()) {
    if (at->locals)
      return (*at->locals)[id];
    if (at->id == id)
      return at->meaning ? at->meaning(point) : Value::absent();
  }
  return fail(("`" + node.variable->name + "` has no value").str());
}

Value Evaluator::binary(const BinaryExpression &node, const Where &where) {
  Value left = expression(*node.left, where);
  if (node.op == BinaryOperator::And && !left.truth())
    return left;
  if (node.op == BinaryOperator::Or && left.truth())
    return left;
  Value right = expression(*node.right, where);
  if (left.isAbsent)
    return right;
  if (right.isAbsent)
    return left;
  if (limits.isExact && left.real.kind == Constant::Kind::Integer)
    return exactly(node.op, left, right);
  return applyBinary(node.op, left, right);
}

/// Integers that sizes are made of.
Value Evaluator::exactly(BinaryOperator op, const Value &a, const Value &b) {
  bool divides = op == BinaryOperator::FloorDiv || op == BinaryOperator::Mod;
  if (divides && b.real.isZero())
    return fail("division by zero");
  if (a.type != ElementType::I64 || isComparison(op))
    return applyBinary(op, a, b);
  auto result = applyExactly(op, a.asInteger(), b.asInteger());
  return result ? Value::of(a.type, *result) : fail("an integer overflows");
}

Value Evaluator::cast(const CastExpression &node, const Where &where) {
  Value operand = expression(*node.operand, where);
  if (operand.isAbsent)
    return operand;
  // Rounds to the type written; the result computes in its compute type.
  ElementType written = node.scalar().substitute(where.frame.types);
  return eval::cast(eval::cast(operand, written), computeTypeOf(written));
}

Value Evaluator::tuple(const TupleExpression &node, const Where &where) {
  std::vector<Value> elements;
  for (const Expression *element : node.elements)
    elements.push_back(expression(*element, where));
  return Value::aggregate(std::move(elements));
}

namespace {

Value applyUnary(UnaryOperator op, const Value &operand) {
  if (operand.isAggregate) {
    std::vector<Value> elements;
    elements.reserve(operand.elements.size());
    for (const Value &element : operand.elements)
      elements.push_back(applyUnary(op, element));
    return Value::aggregate(std::move(elements));
  }
  if (operand.isComplex())
    return Value::complex(operand.type, -operand.real.floating,
                          -operand.imaginary);
  return Value::of(operand.type, apply(op, operand.real, operand.type));
}

Value packElement(const PackElementExpression &node, const Frame &frame,
                  const Point &point) {
  const auto &where = node.isIndex ? point : frame.extents;
  std::vector<Value> elements;
  if (auto found = where.find(node.pack.index); found != where.end())
    for (std::int64_t one : found->second)
      elements.push_back(Value::integer(one));
  return Value::aggregate(std::move(elements));
}

Value typeTest(const TypeTestExpression &node, const Frame &frame) {
  ElementType tested = node.tested.substitute(frame.types);
  return Value::boolean(node.againstConstraint
                            ? admits(node.constraint, tested)
                            : tested == node.other.substitute(frame.types));
}

} // namespace

/// The evaluator is a target of its own: no GPU, one lane.
Value Evaluator::targetQuery(const TargetExpression &node) {
  if (!limits.knowsTarget)
    return fail("it depends on the target");
  if (node.query == TargetQuery::IsGpu || node.query == TargetQuery::HasMma)
    return Value::boolean(false);
  return Value::integer(1);
}

bool Evaluator::spendStep() {
  if (limits.steps-- != 0)
    return spend(1);
  fail("it takes too many steps");
  return false;
}

bool Evaluator::spend(std::uint64_t count) {
  if (!limits.budget || limits.budget->spend(count))
    return true;
  fail("the constants of the text take more than " +
       std::to_string(limits.budget->limit()) +
       " steps; `QUERN_MOST_STEPS` sets the limit");
  return false;
}

/// Values that a copy copies.
static std::uint64_t sizeOf(const Value &value) {
  std::uint64_t size = 1;
  for (const Value &element : value.elements)
    size += sizeOf(element);
  return size;
}

/// A value of the type's kind, for what goes on until a failure is seen.
static Value meaningless(const Type &type, const Frame &frame) {
  if (type.isTuple()) {
    std::vector<Value> elements;
    for (const Type *element : type.elements)
      elements.push_back(meaningless(*element, frame));
    return Value::aggregate(std::move(elements));
  }
  if (!type.isScalar())
    return Value::integer(0);
  ElementType element = frame.computeType(type.scalar);
  if (kindOf(element) == ElementKind::Complex)
    return Value::complex(element, 0, 0);
  return Value::of(element, convertLiteral(Constant::ofInteger(0), element));
}

Value Evaluator::expression(const Expression &node, const Where &where) {
  if (failure || !spendStep())
    return meaningless(*node.type, where.frame);
  Value value = known(node, where);
  if (value.isAggregate && limits.budget)
    spend(sizeOf(value));
  return failure ? meaningless(*node.type, where.frame) : value;
}

Value Evaluator::known(const Expression &node, const Where &where) {
  switch (node.kind) {
  case ExpressionKind::Constant:
    return constant(llvm::cast<ConstantExpression>(node), where.frame);
  case ExpressionKind::ConstantParameter:
    return constantParameter(llvm::cast<ConstantParameterExpression>(node),
                             where);
  case ExpressionKind::TypeTest:
    return typeTest(llvm::cast<TypeTestExpression>(node), where.frame);
  case ExpressionKind::Target:
    return targetQuery(llvm::cast<TargetExpression>(node));
  case ExpressionKind::Present: {
    const auto &present = llvm::cast<PresentExpression>(node);
    VariableExpression name(node.span, node.type);
    name.variable = present.variable;
    return Value::boolean(!variable(name, where.scope, where.point).isAbsent);
  }
  case ExpressionKind::Variable:
    return variable(llvm::cast<VariableExpression>(node), where.scope,
                    where.point);
  case ExpressionKind::PackElement:
    return packElement(llvm::cast<PackElementExpression>(node), where.frame,
                       where.point);
  case ExpressionKind::Tuple:
    return tuple(llvm::cast<TupleExpression>(node), where);
  case ExpressionKind::Field: {
    const auto &field = llvm::cast<FieldExpression>(node);
    Value base = expression(*field.base, where);
    return failure ? base : base.elements[field.index];
  }
  case ExpressionKind::Unary: {
    const auto &unary = llvm::cast<UnaryExpression>(node);
    return applyUnary(unary.op, expression(*unary.operand, where));
  }
  case ExpressionKind::Binary:
    return binary(llvm::cast<BinaryExpression>(node), where);
  case ExpressionKind::Select: {
    const auto &select = llvm::cast<SelectExpression>(node);
    bool chosen = expression(*select.condition, where).truth();
    return expression(chosen ? *select.left : *select.right, where);
  }
  case ExpressionKind::Cast:
    return cast(llvm::cast<CastExpression>(node), where);
  default:
    return construct(node, where);
  }
}

Value Evaluator::construct(const Expression &node, const Where &where) {
  switch (node.kind) {
  case ExpressionKind::Builtin:
    return builtin(llvm::cast<BuiltinExpression>(node), where);
  case ExpressionKind::Load:
    return load(llvm::cast<LoadExpression>(node), where);
  case ExpressionKind::Call:
    return call(llvm::cast<CallExpression>(node), where);
  case ExpressionKind::IndirectCall:
    return indirectCall(llvm::cast<IndirectCallExpression>(node), where);
  case ExpressionKind::Reduce:
    return reduce(llvm::cast<ReduceExpression>(node), where);
  case ExpressionKind::Scan:
    return scan(llvm::cast<ScanExpression>(node), where);
  case ExpressionKind::Sort:
    return sort(llvm::cast<SortExpression>(node), where);
  case ExpressionKind::Scatter:
    return scatter(llvm::cast<ScatterExpression>(node), where);
  case ExpressionKind::Concat:
    return concat(llvm::cast<ConcatExpression>(node), where);
  default:
    return fail("the expression belongs to a `kernel` or an `op`, which the "
                "evaluator does not run");
  }
}

} // namespace quern::eval
