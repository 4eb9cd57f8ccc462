// A small interpreter for the expressions that sizes are made of.
#include "jit/bind/HostEval.h"

#include "frontend/eval/Eval.h"
#include "frontend/typed/Arithmetic.h"
#include "frontend/typed/TypeValues.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

namespace {

class Evaluator {
public:
  Evaluator(const HostEnvironment &environment, std::string &problem)
      : environment(environment), problem(problem) {}

  std::optional<HostValue> value(const Expression &e);
  std::optional<std::vector<HostValue>> results(const CallExpression &e);

private:
  std::optional<HostValue> fail(llvm::StringRef reason) {
    if (problem.empty())
      problem = reason.str();
    return std::nullopt;
  }
  std::optional<HostValue> parameter(const ConstantParameterExpression &e);
  std::optional<HostValue> variable(const VariableExpression &e);
  std::optional<HostValue> entry(const LoadExpression &e);
  std::optional<HostValue> unary(const UnaryExpression &e);
  std::optional<HostValue> binary(const BinaryExpression &e);
  std::optional<HostValue> integers(BinaryOperator op, std::int64_t a,
                                    std::int64_t b, ElementType type);
  std::optional<HostValue> floats(BinaryOperator op, double a, double b);
  std::optional<HostValue> complexes(BinaryOperator op, std::complex<double> a,
                                     std::complex<double> b);
  std::optional<HostValue> select(const SelectExpression &e);
  std::optional<ElementType> element(ScalarType type);
  std::optional<HostValue> typeTest(const TypeTestExpression &e);
  std::optional<HostValue> cast(const CastExpression &e);
  std::optional<HostValue> builtin(const BuiltinExpression &e);
  std::optional<HostValue> function(Builtin builtin,
                                    llvm::ArrayRef<HostValue> operands);
  std::optional<HostValue> call(const CallExpression &e);
  std::optional<eval::Value> argument(const Expression *given,
                                      ElementType type);
  std::optional<eval::ConstantArgument>
  constantArgument(const Expression &given);

  const HostEnvironment &environment;
  std::string &problem;
};

/// The least integer has no negative, and stays.
std::int64_t magnitude(std::int64_t value) {
  auto bits = static_cast<std::uint64_t>(value);
  return static_cast<std::int64_t>(value < 0 ? 0 - bits : bits);
}

Constant constantOf(const HostValue &value) {
  return value.isFloat ? Constant::ofFloat(value.floating)
                       : Constant::ofInteger(value.integer);
}

HostValue fromConstant(const Constant &constant) {
  switch (constant.kind) {
  case Constant::Kind::Float:
    return HostValue::of(constant.floating);
  case Constant::Kind::Boolean:
    return HostValue::of(static_cast<std::int64_t>(constant.boolean));
  case Constant::Kind::Integer:
  case Constant::Kind::String:
    break;
  }
  return HostValue::of(constant.integer);
}

std::optional<HostValue> Evaluator::value(const Expression &e) {
  switch (e.kind) {
  case ExpressionKind::Constant: {
    const Constant &constant = llvm::cast<ConstantExpression>(e).value;
    HostValue value = fromConstant(constant);
    bool wantsFloat = e.type && e.type->isScalar() &&
                      e.type->scalar.isConcrete() &&
                      kindOf(e.type->scalar.element()) == ElementKind::Float;
    return wantsFloat ? HostValue::of(value.asDouble()) : value;
  }
  case ExpressionKind::Variable:
    return variable(llvm::cast<VariableExpression>(e));
  case ExpressionKind::ConstantParameter:
    return parameter(llvm::cast<ConstantParameterExpression>(e));
  case ExpressionKind::PackElement:
    if (auto extent = environment.extent(
            llvm::cast<PackElementExpression>(e).pack, environment.element))
      return HostValue::of(*extent);
    return fail("the extent of an axis is not known");
  case ExpressionKind::Unary:
    return unary(llvm::cast<UnaryExpression>(e));
  case ExpressionKind::Binary:
    return binary(llvm::cast<BinaryExpression>(e));
  case ExpressionKind::Select:
    return select(llvm::cast<SelectExpression>(e));
  case ExpressionKind::TypeTest:
    return typeTest(llvm::cast<TypeTestExpression>(e));
  case ExpressionKind::Cast:
    return cast(llvm::cast<CastExpression>(e));
  case ExpressionKind::Builtin:
    return builtin(llvm::cast<BuiltinExpression>(e));
  case ExpressionKind::Call:
    return call(llvm::cast<CallExpression>(e));
  case ExpressionKind::Load:
    return entry(llvm::cast<LoadExpression>(e));
  default:
    if (environment.other)
      if (auto known = environment.other(e))
        return known;
    return fail("it is no arithmetic on host values");
  }
}

/// An entry of a `const` table.
std::optional<HostValue> Evaluator::entry(const LoadExpression &e) {
  const auto *base = llvm::dyn_cast<ConstantTableExpression>(e.base);
  if (!base || e.when || e.outside || base->table->values.empty())
    return fail("it is no arithmetic on host values");
  std::int64_t place = 0;
  for (auto [axis, extent] :
       llvm::zip_equal(e.positions, base->table->extents)) {
    auto position = value(*axis);
    if (!position)
      return std::nullopt;
    place = place * extent +
            std::clamp<std::int64_t>(position->integer, 0, extent - 1);
  }
  return fromConstant(base->table->values[place]);
}

std::optional<HostValue>
Evaluator::parameter(const ConstantParameterExpression &e) {
  unsigned element = environment.element;
  if (e.element) {
    auto which = value(*e.element);
    if (!which)
      return std::nullopt;
    element = static_cast<unsigned>(which->integer);
  }
  if (auto known = environment.constant(*e.parameter, element))
    return known;
  return fail("a compile-time parameter is not known");
}

std::optional<HostValue> Evaluator::variable(const VariableExpression &e) {
  if (auto known = environment.variable(*e.variable, environment.element))
    return known;
  return fail("a value is not known to the host");
}

std::optional<HostValue> Evaluator::unary(const UnaryExpression &e) {
  auto operand = value(*e.operand);
  if (!operand)
    return std::nullopt;
  auto type = element(e.operand->type->scalar);
  if (!type)
    return std::nullopt;
  if (operand->isComplex || kindOf(*type) == ElementKind::Complex)
    return HostValue::of(-operand->asComplex());
  if (operand->isFloat)
    return HostValue::of(-operand->floating);
  return fromConstant(
      apply(e.op, convertLiteral(Constant::ofInteger(operand->integer), *type),
            *type));
}

std::optional<HostValue> Evaluator::binary(const BinaryExpression &e) {
  auto a = value(*e.left);
  bool isOr = e.op == BinaryOperator::Or;
  if (a && (isOr || e.op == BinaryOperator::And) && (a->integer != 0) == isOr)
    return a;
  auto b = a ? value(*e.right) : std::nullopt;
  if (!b)
    return std::nullopt;
  auto type = element(e.left->type->scalar);
  if (!type)
    return std::nullopt;
  // A whole number may be given for a complex one.
  if (a->isComplex || b->isComplex || kindOf(*type) == ElementKind::Complex)
    return complexes(e.op, a->asComplex(), b->asComplex());
  if (a->isFloat || b->isFloat || kindOf(*type) == ElementKind::Float)
    return floats(e.op, a->asDouble(), b->asDouble());
  return integers(e.op, a->integer, b->integer, *type);
}

/// Integers and bools of any width; `int`s do not wrap.
std::optional<HostValue> Evaluator::integers(BinaryOperator op, std::int64_t a,
                                             std::int64_t b, ElementType type) {
  if (op == BinaryOperator::Div)
    return floats(op, static_cast<double>(a), static_cast<double>(b));
  bool divides = op == BinaryOperator::FloorDiv || op == BinaryOperator::Mod;
  if (divides && b == 0)
    return fail("division by zero");
  if (type == ElementType::I64 && !isComparison(op)) {
    auto exact = applyExactly(op, a, b);
    return exact ? HostValue::of(exact->integer) : fail("an integer overflows");
  }
  return fromConstant(apply(op, convertLiteral(Constant::ofInteger(a), type),
                            convertLiteral(Constant::ofInteger(b), type),
                            type));
}

/// What real and complex numbers share: the operators of a field.
template <typename Number>
std::optional<HostValue> inField(BinaryOperator op, Number a, Number b) {
  switch (op) {
  case BinaryOperator::Add:
    return HostValue::of(a + b);
  case BinaryOperator::Sub:
    return HostValue::of(a - b);
  case BinaryOperator::Mul:
    return HostValue::of(a * b);
  case BinaryOperator::Div:
    return HostValue::of(a / b);
  case BinaryOperator::Equal:
    return HostValue::of(std::int64_t{a == b});
  case BinaryOperator::NotEqual:
    return HostValue::of(std::int64_t{a != b});
  default:
    return std::nullopt;
  }
}

std::optional<HostValue> Evaluator::floats(BinaryOperator op, double a,
                                           double b) {
  switch (op) {
  case BinaryOperator::Less:
    return HostValue::of(std::int64_t{a < b});
  case BinaryOperator::LessEqual:
    return HostValue::of(std::int64_t{a <= b});
  case BinaryOperator::Greater:
    return HostValue::of(std::int64_t{a > b});
  case BinaryOperator::GreaterEqual:
    return HostValue::of(std::int64_t{a >= b});
  default:
    if (auto result = inField(op, a, b))
      return result;
    return fail("it is no arithmetic on host values");
  }
}

std::optional<HostValue> Evaluator::complexes(BinaryOperator op,
                                              std::complex<double> a,
                                              std::complex<double> b) {
  if (auto result = inField(op, a, b))
    return result;
  return fail("it is no arithmetic on complex numbers");
}

std::optional<HostValue> Evaluator::select(const SelectExpression &e) {
  auto condition = value(*e.condition);
  if (!condition)
    return std::nullopt;
  return value(condition->integer ? *e.left : *e.right);
}

std::optional<ElementType> Evaluator::element(ScalarType type) {
  if (type.isConcrete() || type.parameterIndex() < environment.types.size())
    return type.substitute(environment.types);
  fail("a type is not known to the host");
  return std::nullopt;
}

std::optional<HostValue> Evaluator::typeTest(const TypeTestExpression &e) {
  auto tested = element(e.tested);
  if (!tested)
    return std::nullopt;
  if (e.againstConstraint)
    return HostValue::of(std::int64_t{admits(e.constraint, *tested)});
  auto other = element(e.other);
  if (!other)
    return std::nullopt;
  return HostValue::of(std::int64_t{*tested == *other});
}

std::optional<HostValue> Evaluator::cast(const CastExpression &e) {
  auto operand = value(*e.operand);
  if (!operand || !e.type->scalar.isConcrete())
    return operand;
  ElementKind kind = kindOf(e.type->scalar.element());
  if (kind == ElementKind::Complex)
    return operand;
  if (operand->isComplex)
    return fail("a complex number is not cast to a real one");
  if (kind == ElementKind::Float)
    return HostValue::of(operand->asDouble());
  if (kind == ElementKind::Bool)
    return HostValue::of(std::int64_t{operand->asDouble() != 0});
  if (!operand->isFloat)
    return fromConstant(convertLiteral(Constant::ofInteger(operand->integer),
                                       e.type->scalar.element()));
  if (!(std::abs(operand->floating) < 0x1p63))
    return fail("a float is out of range for an integer");
  return HostValue::of(static_cast<std::int64_t>(operand->floating));
}

std::optional<HostValue> Evaluator::builtin(const BuiltinExpression &e) {
  if (environment.other)
    if (auto known = environment.other(e))
      return known;
  if (e.builtin == Builtin::Size) {
    // In an expression that aligns with the pack, of one of its axes.
    std::optional<unsigned> which;
    if (e.type->pack.valid())
      which = environment.element;
    if (auto extent = environment.extent(e.axis, which))
      return HostValue::of(*extent);
    return fail("the extent of an axis is not known");
  }
  if (builtinInfo(e.builtin).group == BuiltinGroup::TypeValue) {
    auto type = element(e.typeArgument);
    if (!type)
      return std::nullopt;
    return fromConstant(typeValue(e.builtin, *type));
  }
  llvm::SmallVector<HostValue, 2> operands;
  for (const Expression *operand : e.operands) {
    auto known = value(*operand);
    if (!known)
      return std::nullopt;
    if (known->isComplex)
      return fail("it is no arithmetic on complex numbers");
    operands.push_back(*known);
  }
  if (e.requiresPosition()) {
    std::int64_t at = operands[0].integer, extent = operands[1].integer;
    if (at < 0 || at >= extent)
      return fail("index " + std::to_string(at) +
                  " is out of range for axis `" + e.text.str() +
                  "` of extent " + std::to_string(extent));
  } else if (e.builtin == Builtin::Require && !operands[1].integer) {
    return fail(e.text);
  }
  return function(e.builtin, operands);
}

std::optional<HostValue>
Evaluator::function(Builtin builtin, llvm::ArrayRef<HostValue> operands) {
  auto less = [](HostValue a, HostValue b) {
    return a.isFloat || b.isFloat ? a.asDouble() < b.asDouble()
                                  : a.integer < b.integer;
  };
  switch (builtin) {
  case Builtin::Require:
    return operands[0];
  case Builtin::MakeComplex:
    return HostValue::of(
        std::complex<double>(operands[0].asDouble(), operands[1].asDouble()));
  case Builtin::Min:
    return less(operands[1], operands[0]) ? operands[1] : operands[0];
  case Builtin::Max:
    return less(operands[0], operands[1]) ? operands[1] : operands[0];
  case Builtin::Abs:
    return operands[0].isFloat ? HostValue::of(std::abs(operands[0].floating))
                               : HostValue::of(magnitude(operands[0].integer));
  case Builtin::Floor:
    return HostValue::of(std::floor(operands[0].asDouble()));
  case Builtin::Ceil:
    return HostValue::of(std::ceil(operands[0].asDouble()));
  case Builtin::Trunc:
    return HostValue::of(std::trunc(operands[0].asDouble()));
  case Builtin::Sqrt:
    return HostValue::of(std::sqrt(operands[0].asDouble()));
  default:
    return fail("it is no arithmetic on host values");
  }
}

std::optional<HostValue> Evaluator::call(const CallExpression &e) {
  if (e.callee->kind == typed::DeclarationKind::Op && environment.other)
    if (auto known = environment.other(e))
      return known;
  auto all = results(e);
  if (!all)
    return std::nullopt;
  return all->size() == 1 ? std::optional(all->front())
                          : fail("a tuple is no host value");
}

std::optional<eval::Value> Evaluator::argument(const Expression *given,
                                               ElementType type) {
  if (!given)
    return eval::Value::absent();
  auto known = value(*given);
  if (!known)
    return std::nullopt;
  if (kindOf(type) == ElementKind::Complex)
    return eval::Value::complex(type, known->asDouble(), known->imaginary);
  return eval::Value::of(type, convertLiteral(constantOf(*known), type));
}

std::optional<eval::ConstantArgument>
Evaluator::constantArgument(const Expression &given) {
  if (auto *function = llvm::dyn_cast<FunctionReferenceExpression>(&given))
    return function->function;
  if (auto *literal = llvm::dyn_cast<ConstantExpression>(&given))
    return literal->value;
  auto known = value(given);
  return known ? std::optional(constantOf(*known)) : std::nullopt;
}

/// Expressions that a `fn` evaluates on the host; more is one without an end.
constexpr std::uint64_t mostSteps = 1000000;

/// The front end's evaluator runs the body.
std::optional<std::vector<HostValue>>
Evaluator::results(const CallExpression &e) {
  if (e.callee->kind != typed::DeclarationKind::Function)
    return fail("it is no arithmetic on host values"), std::nullopt;
  eval::FunctionCall call;
  call.function = e.callee;
  call.steps = mostSteps;
  for (ScalarType type : e.typeArguments) {
    auto known = element(type);
    if (!known)
      return std::nullopt;
    call.typeArguments.push_back(*known);
  }
  for (const Expression *given : e.constantArguments) {
    auto known = given ? constantArgument(*given) : std::nullopt;
    if (given && !known)
      return std::nullopt;
    call.constantArguments.push_back(known);
  }
  for (auto [parameter, given] :
       llvm::zip_equal(e.callee->parameters, e.arguments)) {
    auto known =
        argument(given, parameter.element.substitute(call.typeArguments));
    if (!known)
      return std::nullopt;
    call.arguments.push_back(*known);
  }
  auto returned = eval::call(call);
  if (auto *failure = std::get_if<std::string>(&returned))
    return fail(*failure), std::nullopt;
  std::vector<HostValue> values;
  for (const eval::Value &one : std::get<0>(returned))
    values.push_back(one.isComplex()
                         ? HostValue::of({one.real.floating, one.imaginary})
                         : fromConstant(one.real));
  return values;
}

} // namespace

std::optional<HostValue>
quern::jit::evaluateHost(const Expression &expression,
                         const HostEnvironment &environment,
                         std::string &problem) {
  return Evaluator(environment, problem).value(expression);
}

std::optional<std::vector<HostValue>>
quern::jit::callHost(const CallExpression &call,
                     const HostEnvironment &environment, std::string &problem) {
  return Evaluator(environment, problem).results(call);
}
