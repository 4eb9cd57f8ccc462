// Written casts and bit casts.
#include "dsl/irgen/Scalar.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

/// Saturates, and takes NaN to 0. What `fptosi` gives out of range is never
/// selected.
Value ScalarBuilder::floatToInteger(Scalar operand, ElementType type) {
  bool isSigned = kindOf(type) == ElementKind::Signed;
  unsigned bits = bitsOf(type);
  Type integerType = valueType(builder.getContext(), type);
  // Both bounds are powers of two, hence exact: the least value, and one more
  // than the greatest.
  double least = isSigned ? -std::ldexp(1.0, bits - 1) : 0.0;
  double beyond = std::ldexp(1.0, isSigned ? bits - 1 : bits);
  std::int64_t greatest =
      static_cast<std::int64_t>(~std::uint64_t(0) >> (64 - bits + isSigned));
  Scalar floor = number(operand.type, least);
  Scalar clamped = select(less(floor, operand), operand, floor);
  Value converted;
  if (isSigned)
    converted = create<arith::FPToSIOp>(integerType, clamped.value);
  else
    converted = create<arith::FPToUIOp>(integerType, clamped.value);
  Scalar result{type, converted, nullptr};
  Scalar tooLarge = lessEqual(number(operand.type, beyond), operand);
  result = select(tooLarge, integer(type, greatest), result);
  if (!isSigned) // NaN was clamped to 0
    return result.value;
  return select(equal(operand, operand), result, integer(type, 0)).value;
}

/// What was widened from `type`, or chosen among such values and zeros, as it
/// was before; null for anything else. A choice is then a move.
Value ScalarBuilder::unrounded(Type type, Value value) {
  Operation *op = value.getDefiningOp();
  if (auto wider = dyn_cast_or_null<arith::ExtFOp>(op))
    return wider.getIn().getType() == type ? wider.getIn() : Value();
  if (matchPattern(value, m_PosZeroFloat()))
    return create<arith::ConstantOp>(builder.getFloatAttr(type, 0.0));
  auto choice = dyn_cast_or_null<arith::SelectOp>(op);
  Value yes = choice ? unrounded(type, choice.getTrueValue()) : Value();
  Value no = yes ? unrounded(type, choice.getFalseValue()) : Value();
  if (!no)
    return Value();
  return create<arith::SelectOp>(choice.getCondition(), yes, no);
}

/// Rounds. The mode is said so that nothing takes this rounding and that of an
/// integer on its way to f32 together.
Value ScalarBuilder::narrow(Type type, Value value) {
  if (Value before = unrounded(type, value))
    return before;
  auto op = create<arith::TruncFOp>(type, value);
  op.setRoundingmode(arith::RoundingMode::to_nearest_even);
  return op;
}

/// Whether a value is one of `type` already: widened from it, or chosen among
/// such values up to their signs. A DAG's paths are many: only short ones
/// count.
static bool isExact(Type type, Value value, int steps = 6) {
  Operation *op = value.getDefiningOp();
  if (!op || steps == 0)
    return false;
  if (auto wider = dyn_cast<arith::ExtFOp>(op))
    return wider.getIn().getType() == type;
  if (FloatAttr number; matchPattern(value, m_Constant(&number))) {
    llvm::APFloat rounded = number.getValue();
    bool loses = false;
    rounded.convert(cast<FloatType>(type).getFloatSemantics(),
                    llvm::APFloat::rmNearestTiesToEven, &loses);
    return !loses;
  }
  bool isChoice = isa<arith::SelectOp, arith::MaximumFOp, arith::MinimumFOp,
                      arith::NegFOp, math::AbsFOp>(op);
  return isChoice && llvm::all_of(op->getOperands(), [&](Value operand) {
           return operand.getType().isInteger(1) ||
                  isExact(type, operand, steps - 1);
         });
}

/// Between floats; a small float stays in f32, with its value rounded.
Value ScalarBuilder::floatToFloat(Value value, ElementType from,
                                  ElementType to) {
  MLIRContext *context = builder.getContext();
  Type wanted = valueType(context, to);
  if (wanted.getIntOrFloatBitWidth() > value.getType().getIntOrFloatBitWidth())
    return create<arith::ExtFOp>(wanted, value);
  if (wanted != value.getType())
    value = narrow(wanted, value);
  Type stored = storageType(context, to);
  if (stored == wanted || isExact(stored, value))
    return value;
  return create<arith::ExtFOp>(wanted, narrow(stored, value));
}

Value ScalarBuilder::integerToInteger(Scalar operand, ElementType type) {
  Type wanted = valueType(builder.getContext(), type);
  unsigned from = operand.value.getType().getIntOrFloatBitWidth();
  unsigned to = wanted.getIntOrFloatBitWidth();
  if (from == to)
    return operand.value;
  if (from > to)
    return create<arith::TruncIOp>(wanted, operand.value);
  if (operand.isSigned())
    return create<arith::ExtSIOp>(wanted, operand.value);
  return create<arith::ExtUIOp>(wanted, operand.value);
}

Scalar ScalarBuilder::cast(Scalar operand, ElementType type) {
  if (kindOf(type) == ElementKind::Complex) {
    Scalar real = cast(realPart(operand), componentOf(type));
    Scalar imaginary = number(componentOf(type), 0);
    if (operand.isComplex())
      imaginary = cast({componentOf(operand.type), operand.imaginary, nullptr},
                       componentOf(type));
    return {type, real.value, imaginary.value};
  }
  if (operand.type == type && !operand.isFloat())
    return operand;
  if (type == ElementType::Bool)
    return notEqual(operand, number(operand.type, 0));
  if (operand.isComplex())
    return cast(realPart(operand), type);
  bool toFloat = kindOf(type) == ElementKind::Float;
  if (operand.isFloat())
    return {type,
            toFloat ? floatToFloat(operand.value, operand.type, type)
                    : floatToInteger(operand, type),
            nullptr};
  if (!toFloat)
    return {type, integerToInteger(operand, type), nullptr};
  Type wanted = valueType(builder.getContext(), type);
  Value converted;
  if (operand.isSigned())
    converted = create<arith::SIToFPOp>(wanted, operand.value);
  else
    converted = create<arith::UIToFPOp>(wanted, operand.value);
  return {type, floatToFloat(converted, computeTypeOf(type), type), nullptr};
}

/// The bits of a complex number of 64 bits, the real part's in the lower half,
/// as in memory.
Scalar ScalarBuilder::bitsOfHalves(Scalar operand) {
  auto half = [&](Value part) {
    Scalar whole{componentOf(operand.type), part, nullptr};
    return cast(bitcast(whole, ElementType::U32), ElementType::U64).value;
  };
  Value shift = integer(ElementType::U64, 32).value;
  Value upper = create<arith::ShLIOp>(half(operand.imaginary), shift);
  Value all = create<arith::OrIOp>(half(operand.value), upper);
  return {ElementType::U64, all, nullptr};
}

/// A complex number of such bits.
Scalar ScalarBuilder::halvesOfBits(Scalar bits, ElementType type) {
  Value shift = integer(ElementType::U64, 32).value;
  Value upper = create<arith::ShRUIOp>(bits.value, shift);
  auto half = [&](Value part) {
    Scalar low = cast({ElementType::U64, part, nullptr}, ElementType::U32);
    return bitcast(low, componentOf(type)).value;
  };
  return {type, half(bits.value), half(upper)};
}

Scalar ScalarBuilder::bitcast(Scalar operand, ElementType type) {
  if (operand.type == type)
    return operand;
  if (operand.isComplex())
    return bitcast(bitsOfHalves(operand), type);
  if (kindOf(type) == ElementKind::Complex)
    return halvesOfBits(bitcast(operand, ElementType::U64), type);
  Type wanted = storageType(builder.getContext(), type);
  Value stored = toStorage(operand);
  // A bool is a byte of 0 or 1.
  if (stored.getType().isInteger(1) && !wanted.isInteger(1))
    stored = create<arith::ExtUIOp>(builder.getI8Type(), stored);
  if (wanted.isInteger(1) && stored.getType() != wanted)
    return notEqual({ElementType::U8, stored, nullptr},
                    integer(ElementType::U8, 0));
  if (stored.getType() != wanted)
    stored = create<arith::BitcastOp>(wanted, stored);
  return fromStorage(stored, type);
}
