// Builtins that lifted text may call.
#include "dsl/irgen/Generator.h"

#include "frontend/diagnostics/Engine.h"
#include "frontend/typed/TypeValues.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace quern;
using namespace quern::irgen;
using typed::Builtin;
using typed::BuiltinGroup;

irgen::Value Generator::visit(const typed::BuiltinExpression &expression) {
  const typed::BuiltinInfo &info = typed::builtinInfo(expression.builtin);
  ElementType type = frame->type(expression.scalar());
  if (info.group == BuiltinGroup::TypeValue)
    return constant(typed::typeValue(expression.builtin,
                                     frame->type(expression.typeArgument)),
                    type);
  if (info.group == BuiltinGroup::Position) {
    ArrayRef<Place> places = frame->lifted;
    if (expression.axis.valid())
      places = frame->axes[expression.axis.index];
    bool isIndex = expression.builtin == Builtin::Index;
    return Scalar{ElementType::I64,
                  isIndex ? linearPosition(places) : linearSize(places),
                  nullptr};
  }
  if (info.group == BuiltinGroup::Thread && isThreadText())
    return threadBuiltin(expression);
  if (info.group == BuiltinGroup::Atomic && isThreadText())
    return atomic(expression);
  if (info.group == BuiltinGroup::Memory && isThreadText())
    return memoryBuiltin(expression);
  if (info.group != BuiltinGroup::Scalar)
    return unsupported(expression.span,
                       "`" + info.spelling + "` cannot be used here");
  SmallVector<Scalar, 3> operands;
  bool wasCoarse = b.isCoarse;
  bool isChoice = expression.builtin == Builtin::ExactOrCoarse;
  for (const Expression *operand : expression.operands) {
    // A CPU computes the exact one.
    if (isChoice && !operands.empty() && !request.target.isGpu())
      break;
    b.isCoarse = wasCoarse || (isChoice && !operands.empty());
    operands.push_back(scalar(*operand));
  }
  b.isCoarse = wasCoarse;
  at(expression.span);
  return scalarBuiltin(expression, operands);
}

/// Half-way cases go away from zero.
static Scalar roundAway(ScalarBuilder &b, Scalar x) {
  Scalar whole{x.type, b.create<math::TruncOp>(x.value), nullptr};
  Scalar rest{x.type, b.create<math::AbsFOp>(b.subtract(x, whole).value),
              nullptr};
  Scalar up = b.lessEqual(b.number(x.type, 0.5), rest);
  Scalar away{x.type,
              b.create<math::CopySignOp>(
                  b.select(up, b.number(x.type, 1), b.number(x.type, 0)).value,
                  x.value),
              nullptr};
  return b.add(whole, away);
}

static Scalar absolute(ScalarBuilder &b, Scalar x) {
  if (x.isFloat())
    return {x.type, b.create<math::AbsFOp>(x.value), nullptr};
  if (!x.isSigned())
    return x;
  return b.select(b.less(x, b.integer(x.type, 0)), b.negate(x), x);
}

/// The larger part times the square root of one plus the ratio's square.
static Scalar modulus(ScalarBuilder &b, Scalar z) {
  ElementType type = componentOf(z.type);
  Scalar re = absolute(b, {type, z.value, nullptr});
  Scalar im = absolute(b, {type, z.imaginary, nullptr});
  Scalar large = b.maximum(re, im), small = b.minimum(re, im);
  Scalar zero = b.number(type, 0);
  Scalar ratio = b.divide(small, large);
  Scalar sum = b.add(b.number(type, 1), b.multiply(ratio, ratio));
  Scalar root{type, b.create<math::SqrtOp>(sum.value), nullptr};
  Scalar infinity = b.number(type, std::numeric_limits<double>::infinity());
  Scalar trivial = b.bitOr(b.equal(large, zero), b.equal(re, infinity));
  trivial = b.bitOr(trivial, b.equal(im, infinity));
  Scalar plain = b.select(b.equal(large, zero), zero, infinity);
  return b.select(trivial, plain, b.multiply(large, root));
}

Scalar Generator::complexBuiltin(Builtin builtin, ArrayRef<Scalar> operands,
                                 ElementType type) {
  Scalar x = operands.front();
  switch (builtin) {
  case Builtin::MakeComplex:
    return {type, x.value, operands[1].value};
  case Builtin::Conj:
    if (x.isComplex())
      x.imaginary = b.create<arith::NegFOp>(x.imaginary);
    return x;
  case Builtin::Re:
    return {type, x.value, nullptr};
  default:
    if (x.isComplex())
      return {type, x.imaginary, nullptr};
    return b.integer(type, 0);
  }
}

Scalar Generator::floatBuiltin(Builtin builtin, ArrayRef<Scalar> operands) {
  Scalar x = operands.front();
  auto same = [&](mlir::Value value) { return Scalar{x.type, value, nullptr}; };
  switch (builtin) {
  case Builtin::Fma:
    return same(
        b.create<math::FmaOp>(x.value, operands[1].value, operands[2].value));
  case Builtin::Sqrt:
    return same(b.create<math::SqrtOp>(x.value));
  case Builtin::Floor:
    return same(b.create<math::FloorOp>(x.value));
  case Builtin::Ceil:
    return same(b.create<math::CeilOp>(x.value));
  case Builtin::Trunc:
    return same(b.create<math::TruncOp>(x.value));
  case Builtin::Rint:
    return same(b.create<math::RoundEvenOp>(x.value));
  case Builtin::Round:
    return roundAway(b, x);
  default:
    return same(b.create<math::CopySignOp>(
        x.value, operands[1].value,
        b.isCoarse ? arith::FastMathFlags::afn : arith::FastMathFlags::none));
  }
}

/// What one instruction of a GPU yields. `arcp` tells an estimate from a
/// division that may be one.
Scalar Generator::estimate(const typed::BuiltinExpression &expression,
                           Scalar x) {
  if (!request.target.isGpu() || x.type == ElementType::F64) {
    StringRef name = typed::builtinInfo(expression.builtin).spelling;
    StringRef exact = typed::exactForm(expression.builtin);
    std::string hint =
        llvm::formatv("write `{0}`, or `exact_or_coarse({0}, {1}(x))`, which "
                      "is the estimate only where a GPU may take it",
                      exact, name);
    return unsupported(expression.span,
                       "`" + name + "` is an instruction of GPUs on `f32`",
                       "QN2060", hint)
        .scalar;
  }
  auto flags = arith::FastMathFlags::afn | arith::FastMathFlags::arcp;
  if (expression.builtin == Builtin::Exp2Estimate)
    return {x.type, b.create<math::Exp2Op>(x.value, flags), nullptr};
  if (expression.builtin == Builtin::Log2Estimate)
    return {x.type, b.create<math::Log2Op>(x.value, flags), nullptr};
  Scalar one = b.number(x.type, 1);
  return {x.type, b.create<arith::DivFOp>(one.value, x.value, flags), nullptr};
}

Scalar Generator::exactOrCoarse(ArrayRef<Scalar> operands) {
  Scalar exact = operands.front();
  if (operands.size() > 1 && exact.value.getType().isF32())
    exact.value = b.create<qn::ExactOrCoarseOp>(exact.value, operands[1].value)
                      .getResult();
  return exact;
}

Scalar Generator::integerBuiltin(Builtin builtin, ArrayRef<Scalar> operands) {
  Scalar x = operands.front();
  auto same = [&](mlir::Value value) { return Scalar{x.type, value, nullptr}; };
  if (builtin == Builtin::Clz)
    return same(b.create<math::CountLeadingZerosOp>(x.value));
  if (builtin == Builtin::Ctz)
    return same(b.create<math::CountTrailingZerosOp>(x.value));
  if (builtin == Builtin::Popcount)
    return same(b.create<math::CtPopOp>(x.value));
  mlir::Value y = operands[1].value;
  if (x.isSigned())
    return same(b.create<arith::MulSIExtendedOp>(x.value, y).getHigh());
  return same(b.create<arith::MulUIExtendedOp>(x.value, y).getHigh());
}

/// Integers are never NaN or infinite.
Scalar Generator::classify(Builtin builtin, Scalar x) {
  if (builtin == Builtin::IsNan)
    return x.isFloat() || x.isComplex() ? b.notEqual(x, x) : b.boolean(false);
  if (builtin == Builtin::IsInf) {
    double infinity = std::numeric_limits<double>::infinity();
    return x.isFloat() ? b.equal(absolute(b, x), b.number(x.type, infinity))
                       : b.boolean(false);
  }
  if (!x.isFloat())
    return b.less(x, b.integer(x.type, 0));
  bool isDouble = x.type == ElementType::F64;
  ElementType bits = isDouble ? ElementType::I64 : ElementType::I32;
  Type type = valueType(builder.getContext(), bits);
  Scalar raw{bits, b.create<arith::BitcastOp>(type, x.value), nullptr};
  return b.less(raw, b.integer(bits, 0));
}

/// Nothing is asked where the text around does not run.
Scalar Generator::required(Scalar value, Scalar holds, StringRef text) {
  mlir::Value extent;
  if (holds.type != ElementType::Bool) {
    extent = holds.value;
    // As unsigned, so that one comparison sees both ends.
    holds = {
        ElementType::Bool,
        b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, value.value, extent),
        nullptr};
  }
  if (mlir::Value around = predicate())
    holds = b.bitOr(b.bitNot({ElementType::Bool, around, nullptr}), holds);
  for (mlir::Value *part : {&value.value, &value.imaginary})
    if (*part)
      *part = b.create<qn::RequireOp>(*part, holds.value, text, extent);
  return value;
}

/// Types that parameters stand for are known only here.
Scalar Generator::bitcast(const typed::BuiltinExpression &expression,
                          Scalar x) {
  ElementType type = frame->type(expression.scalar());
  bool isGood = holds([&](DiagnosticEngine &diagnostics) {
    if (bitsOf(x.type) == bitsOf(type))
      return true;
    diagnostics.report(expression.span, diag::BitcastWidth, bitsOf(x.type),
                       bitsOf(type));
    return false;
  });
  return isGood ? b.bitcast(x, type) : b.number(type, 0);
}

Scalar Generator::scalarBuiltin(const typed::BuiltinExpression &expression,
                                ArrayRef<Scalar> operands) {
  Scalar x = operands.front();
  switch (expression.builtin) {
  case Builtin::Min:
    return b.minimum(x, operands[1]);
  case Builtin::Max:
    return b.maximum(x, operands[1]);
  case Builtin::Bitcast:
    return bitcast(expression, x);
  case Builtin::IsNan:
  case Builtin::IsInf:
  case Builtin::SignBit:
    return classify(expression.builtin, x);
  case Builtin::MulHi:
  case Builtin::Clz:
  case Builtin::Ctz:
  case Builtin::Popcount:
    return integerBuiltin(expression.builtin, operands);
  case Builtin::MakeComplex:
  case Builtin::Conj:
  case Builtin::Re:
  case Builtin::Im:
    return complexBuiltin(expression.builtin, operands,
                          frame->type(expression.scalar()));
  case Builtin::Exp2Estimate:
  case Builtin::Log2Estimate:
  case Builtin::ReciprocalEstimate:
    return estimate(expression, x);
  case Builtin::ExactOrCoarse:
    return exactOrCoarse(operands);
  case Builtin::Require:
    return required(x, operands[1], expression.text);
  case Builtin::Abs:
    return x.isComplex() ? modulus(b, x) : absolute(b, x);
  default:
    return floatBuiltin(expression.builtin, operands);
  }
}
