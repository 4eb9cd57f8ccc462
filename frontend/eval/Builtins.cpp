// Builtin functions on single values.
#include "frontend/eval/Complex.h"
#include "frontend/eval/Evaluator.h"

#include "frontend/typed/Arithmetic.h"
#include "frontend/typed/TypeValues.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace quern::eval {

using namespace typed;

namespace {

using Values = llvm::ArrayRef<Value>;

Value ofFloat(ElementType type, double value) {
  return Value::of(type, Constant::ofFloat(roundTo(value, type)));
}

Value fma(Values v) {
  double a = v[0].asDouble(), b = v[1].asDouble(), c = v[2].asDouble();
  if (v[0].type == ElementType::F64)
    return ofFloat(v[0].type, std::fma(a, b, c));
  return ofFloat(v[0].type,
                 std::fma(static_cast<float>(a), static_cast<float>(b),
                          static_cast<float>(c)));
}

bool isNan(const Value &v) {
  return v.real.kind == Constant::Kind::Float &&
         (std::isnan(v.real.floating) || std::isnan(v.imaginary));
}

/// The larger or smaller one; a NaN wins.
Value extremum(Values v, BinaryOperator better) {
  if (isNan(v[0]))
    return v[0];
  if (isNan(v[1]))
    return v[1];
  if (v[0].asDouble() == 0 && v[1].asDouble() == 0 &&
      v[0].real.kind == Constant::Kind::Float) {
    bool wantNegative = better == BinaryOperator::Less;
    return std::signbit(v[0].real.floating) == wantNegative ? v[0] : v[1];
  }
  return apply(better, v[0].real, v[1].real, v[0].type).boolean ? v[0] : v[1];
}

std::uint64_t wordOf(const Value &v) {
  Tensor cell{v.type, nullptr, {}, {}};
  std::uint64_t word = 0;
  cell.data = &word;
  writeElement(cell, 0, v);
  return word;
}

Value fromWord(std::uint64_t word, ElementType type) {
  return readElement(Tensor{type, &word, {}, {}}, 0);
}

Value mulHigh(Values v) {
  unsigned bits = bitsOf(v[0].type);
  bool isSigned = kindOf(v[0].type) == ElementKind::Signed;
  llvm::APInt a(128, v[0].real.integer, isSigned);
  llvm::APInt b(128, v[1].real.integer, isSigned);
  if (!isSigned) {
    a = llvm::APInt(128, wordOf(v[0]));
    b = llvm::APInt(128, wordOf(v[1]));
  }
  std::uint64_t high = (a * b).lshr(bits).trunc(64).getZExtValue();
  return fromWord(high, v[0].type);
}

Value countBits(Builtin builtin, const Value &v) {
  std::uint64_t word = wordOf(v);
  unsigned bits = bitsOf(v.type);
  std::int64_t count = llvm::popcount(word);
  if (builtin == Builtin::Clz)
    count = llvm::countl_zero(word) - (64 - static_cast<int>(bits));
  else if (builtin == Builtin::Ctz)
    count = word ? llvm::countr_zero(word) : static_cast<int>(bits);
  return Value::of(v.type, Constant::ofInteger(count));
}

Value absolute(const Value &v) {
  if (v.isComplex())
    return modulus(v);
  if (v.real.kind == Constant::Kind::Float)
    return ofFloat(v.type, std::fabs(v.real.floating));
  if (kindOf(v.type) != ElementKind::Signed || v.real.integer >= 0)
    return v;
  return Value::of(v.type, apply(UnaryOperator::Negate, v.real, v.type));
}

ElementType partOf(ElementType type) {
  if (type == ElementType::C64)
    return ElementType::F32;
  return type == ElementType::C128 ? ElementType::F64 : type;
}

Value oneFloat(Builtin builtin, const Value &v) {
  double x = v.asDouble();
  switch (builtin) {
  case Builtin::Sqrt:
    return ofFloat(v.type, std::sqrt(x));
  case Builtin::Exp2Estimate:
    return ofFloat(v.type, std::exp2(x));
  case Builtin::Log2Estimate:
    return ofFloat(v.type, std::log2(x));
  case Builtin::ReciprocalEstimate:
    return ofFloat(v.type, 1 / x);
  case Builtin::Floor:
    return ofFloat(v.type, std::floor(x));
  case Builtin::Ceil:
    return ofFloat(v.type, std::ceil(x));
  case Builtin::Trunc:
    return ofFloat(v.type, std::trunc(x));
  case Builtin::Round:
    return ofFloat(v.type, std::round(x));
  default:
    return ofFloat(v.type, std::nearbyint(x));
  }
}

Value complexPart(Builtin builtin, const Value &v) {
  if (!v.isComplex())
    return builtin == Builtin::Im ? ofFloat(v.type, 0) : v;
  if (builtin == Builtin::Conj)
    return Value::complex(v.type, v.real.floating, -v.imaginary);
  return ofFloat(partOf(v.type),
                 builtin == Builtin::Re ? v.real.floating : v.imaginary);
}

bool classify(Builtin builtin, const Value &v) {
  if (builtin == Builtin::IsNan)
    return isNan(v);
  bool isFloat = v.real.kind == Constant::Kind::Float;
  if (builtin == Builtin::IsInf)
    return isFloat && (std::isinf(v.real.floating) || std::isinf(v.imaginary));
  return isFloat ? std::signbit(v.real.floating) : v.asDouble() < 0;
}

std::optional<Value> scalarBuiltin(Builtin builtin, Values v) {
  switch (builtin) {
  case Builtin::Fma:
    return fma(v);
  case Builtin::Sqrt:
  case Builtin::Exp2Estimate:
  case Builtin::Log2Estimate:
  case Builtin::ReciprocalEstimate:
  case Builtin::Floor:
  case Builtin::Ceil:
  case Builtin::Trunc:
  case Builtin::Rint:
  case Builtin::Round:
    return oneFloat(builtin, v[0]);
  case Builtin::Abs:
    return absolute(v[0]);
  case Builtin::Copysign:
    return ofFloat(v[0].type, std::copysign(v[0].asDouble(), v[1].asDouble()));
  case Builtin::Min:
    return extremum(v, BinaryOperator::Less);
  case Builtin::Max:
    return extremum(v, BinaryOperator::Greater);
  case Builtin::IsNan:
  case Builtin::IsInf:
  case Builtin::SignBit:
    return Value::boolean(classify(builtin, v[0]));
  case Builtin::MulHi:
    return mulHigh(v);
  case Builtin::Clz:
  case Builtin::Ctz:
  case Builtin::Popcount:
    return countBits(builtin, v[0]);
  case Builtin::Conj:
  case Builtin::Re:
  case Builtin::Im:
    return complexPart(builtin, v[0]);
  case Builtin::Require:
    return v[0];
  case Builtin::MakeComplex:
    return Value::complex(v[0].type == ElementType::F64 ? ElementType::C128
                                                        : ElementType::C64,
                          v[0].asDouble(), v[1].asDouble());
  default:
    return std::nullopt;
  }
}

std::int64_t linear(const Positions &index, const Positions &extents) {
  std::int64_t result = 0;
  for (std::size_t i = 0; i < index.size(); ++i)
    result = result * extents[i] + index[i];
  return result;
}

} // namespace

Value Evaluator::position(const BuiltinExpression &node, const Where &where) {
  bool isIndex = node.builtin == Builtin::Index;
  if (!node.axis.valid()) {
    Positions element = where.frame.element;
    std::int64_t count = 1;
    for (std::int64_t size : where.frame.elementSizes)
      count *= size;
    return Value::integer(isIndex ? linear(element, where.frame.elementSizes)
                                  : count);
  }
  Positions extents = extentOf(node.axis, where);
  if (isIndex)
    return Value::integer(linear(where.point.at(node.axis.index), extents));
  std::int64_t count = 1;
  for (std::int64_t extent : extents)
    count *= extent;
  return Value::integer(count);
}

Value Evaluator::builtin(const BuiltinExpression &node, const Where &where) {
  if (node.builtin == Builtin::Index || node.builtin == Builtin::Size)
    return position(node, where);
  if (node.operands.empty())
    return Value::of(where.frame.computeType(node.scalar()),
                     typeValue(node.builtin, node.typeArgument.substitute(
                                                 where.frame.types)));
  if (node.builtin == Builtin::ExactOrCoarse)
    return expression(*node.operands.front(), where);
  std::vector<Value> operands;
  for (const Expression *operand : node.operands)
    operands.push_back(expression(*operand, where));
  if (failure)
    return Value::integer(0);
  if (node.builtin == Builtin::Bitcast) {
    ElementType from = node.operands[0]->scalar().substitute(where.frame.types);
    std::uint64_t word = wordOf(eval::cast(operands[0], from));
    ElementType to = node.typeArgument.substitute(where.frame.types);
    return eval::cast(fromWord(word, to), computeTypeOf(to));
  }
  if (node.requiresPosition()) {
    std::int64_t at = operands[0].asInteger(), extent = operands[1].asInteger();
    if (at < 0 || at >= extent)
      return fail("index " + std::to_string(at) + " of axis `" +
                  node.text.str() + "` of extent " + std::to_string(extent));
  } else if (node.builtin == Builtin::Require && !operands[1].real.boolean) {
    return fail(node.text.str());
  }
  if (auto result = scalarBuiltin(node.builtin, operands))
    return *result;
  return fail(("`" + builtinInfo(node.builtin).spelling +
               "` belongs to a `kernel` or an `op`, which the evaluator does "
               "not run")
                  .str());
}

} // namespace quern::eval
