// The meaning of scalar operations: what they fold to, against references.
#include "dsl/irgen/Scalar.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

namespace {

__int128 floorDivide(__int128 a, __int128 b) {
  __int128 quotient = a / b;
  return quotient - (a % b != 0 && (a % b < 0) != (b < 0));
}

/// `value` in the width and signedness of `type`.
std::int64_t wrap(__int128 value, ElementType type) {
  unsigned bits = bitsOf(type);
  auto low = static_cast<std::uint64_t>(value) << (64 - bits);
  if (kindOf(type) == ElementKind::Signed)
    return static_cast<std::int64_t>(low) >> (64 - bits);
  return static_cast<std::int64_t>(low >> (64 - bits));
}

class Scalars : public testing::Test {
protected:
  Scalars() : builder(&context), b(builder) {
    context.loadDialect<arith::ArithDialect, math::MathDialect>();
    module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
  }

  /// The constant that everything made so far comes to.
  Attribute fold(Scalar scalar) {
    llvm::DenseMap<Value, Attribute> known;
    for (Operation &operation : *module->getBody()) {
      SmallVector<Attribute, 4> operands;
      for (Value operand : operation.getOperands())
        operands.push_back(known.lookup(operand));
      if (auto round = dyn_cast<arith::TruncFOp>(operation)) {
        known[round] = rounded(cast<FloatAttr>(operands[0]), round.getType());
        continue;
      }
      SmallVector<OpFoldResult, 2> results;
      if (succeeded(operation.fold(operands, results)))
        for (auto [result, folded] : llvm::zip(operation.getResults(), results))
          known[result] = isa<Attribute>(folded)
                              ? cast<Attribute>(folded)
                              : known.lookup(cast<Value>(folded));
    }
    return known.lookup(scalar.value);
  }
  /// MLIR folds only roundings that lose nothing.
  static Attribute rounded(FloatAttr value, Type type) {
    APFloat number = value.getValue();
    bool losesInfo = false;
    number.convert(cast<FloatType>(type).getFloatSemantics(),
                   APFloat::rmNearestTiesToEven, &losesInfo);
    return FloatAttr::get(type, number);
  }
  std::int64_t integer(Scalar scalar) {
    APInt value = cast<IntegerAttr>(fold(scalar)).getValue();
    module->getBody()->clear();
    if (kindOf(scalar.type) == ElementKind::Signed)
      return value.getSExtValue();
    return static_cast<std::int64_t>(value.getZExtValue());
  }
  double number(Scalar scalar) {
    return cast<FloatAttr>(fold(scalar)).getValueAsDouble();
  }

  /// A value that folding does not see while the operations are made.
  std::vector<std::int64_t> edges(ElementType type) {
    unsigned bits = bitsOf(type);
    std::vector<std::int64_t> values = {0, 1, 2, 3, 5, 7, 8, 100};
    if (kindOf(type) == ElementKind::Signed) {
      for (std::int64_t value : {-1, -2, -3, -7, -8, -100})
        values.push_back(value);
      values.push_back(std::int64_t(-1) << (bits - 1));
    }
    values.push_back(wrap((__int128(1) << (bits - 1)) - 1, type));
    values.push_back(wrap(-1, type));
    return values;
  }

  MLIRContext context;
  OpBuilder builder;
  ScalarBuilder b;
  OwningOpRef<ModuleOp> module;
};

const ElementType integers[] = {ElementType::I8, ElementType::I32,
                                ElementType::I64, ElementType::U8,
                                ElementType::U64};

__int128 wide(std::int64_t value, ElementType type) {
  if (kindOf(type) == ElementKind::Signed)
    return value;
  return static_cast<std::uint64_t>(value);
}

TEST_F(Scalars, DivisionFloorsAndByZeroIsZero) {
  for (ElementType type : integers)
    for (std::int64_t x : edges(type))
      for (std::int64_t y : edges(type)) {
        __int128 a = wide(x, type), d = wide(y, type);
        std::int64_t quotient = d == 0 ? 0 : wrap(floorDivide(a, d), type);
        std::int64_t rest = d == 0 ? 0 : wrap(a - floorDivide(a, d) * d, type);
        auto operand = [&](std::int64_t value) {
          return b.integer(type, value);
        };
        EXPECT_EQ(integer(b.floorDivide(operand(x), operand(y))), quotient)
            << spelling(type) << ' ' << x << " // " << y;
        EXPECT_EQ(integer(b.floorModulo(operand(x), operand(y))), rest)
            << spelling(type) << ' ' << x << " % " << y;
      }
}

TEST_F(Scalars, ShiftsBeyondTheWidthShiftEverythingOut) {
  for (ElementType type : integers)
    for (std::int64_t x : edges(type))
      for (std::int64_t amount : edges(type)) {
        __int128 a = wide(x, type), by = wide(amount, type);
        bool inside = by >= 0 && by < bitsOf(type);
        __int128 right = inside ? a >> int(by) : (a < 0 ? -1 : 0);
        __int128 left = inside ? a << int(by) : 0;
        auto operand = [&](std::int64_t value) {
          return b.integer(type, value);
        };
        EXPECT_EQ(integer(b.shiftRight(operand(x), operand(amount))),
                  wrap(right, type));
        EXPECT_EQ(integer(b.shiftLeft(operand(x), operand(amount))),
                  wrap(left, type));
      }
}

TEST_F(Scalars, FloatToIntegerSaturates) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double values[] = {0.0,    -0.0,  0.9,      -0.9,     127.0, 128.0,
                           -129.0, 255.5, 256.,     3e9,      -3e9,  9.3e18,
                           1.9e19, -1e30, infinity, -infinity};
  for (ElementType from : {ElementType::F32, ElementType::F64})
    for (ElementType to : integers)
      for (double x : values) {
        double given = from == ElementType::F32 ? double(float(x)) : x;
        unsigned bits = bitsOf(to);
        bool isSigned = kindOf(to) == ElementKind::Signed;
        long double least = isSigned ? -std::ldexp(1.0L, bits - 1) : 0;
        long double greatest = std::ldexp(1.0L, bits - isSigned) - 1;
        long double kept =
            std::min(greatest, std::max<long double>(least, given));
        auto expected = wrap(static_cast<__int128>(kept), to);
        EXPECT_EQ(integer(b.cast(b.number(from, x), to)), expected)
            << x << " as " << spelling(to);
      }
  auto nan = [&] { return b.number(ElementType::F32, std::nan("")); };
  EXPECT_EQ(integer(b.cast(nan(), ElementType::I32)), 0);
  EXPECT_EQ(integer(b.cast(nan(), ElementType::U8)), 0);
  EXPECT_EQ(integer(b.cast(nan(), ElementType::Bool)), 1);
}

TEST_F(Scalars, WrittenCastsRoundToNearestEven) {
  struct Case {
    ElementType type;
    double value, expected;
  };
  const Case cases[] = {
      {ElementType::BF16, 1.00390625, 1.0},      // half way, to even
      {ElementType::BF16, 1.01171875, 1.015625}, // half way, to even
      {ElementType::BF16, 1.004, 1.0078125},
      {ElementType::F16, 65519.0, 65504.0},
      {ElementType::F16, 65520.0, std::numeric_limits<double>::infinity()},
      {ElementType::F16, 0.1, 0.0999755859375},
      {ElementType::F8E5M2, 1.1, 1.0},
      {ElementType::F8E4M3, 1.1, 1.125},
      {ElementType::F32, 0.1, 0.10000000149011612}};
  for (const Case &c : cases) {
    Scalar rounded = b.cast(b.number(ElementType::F64, c.value), c.type);
    EXPECT_EQ(number(rounded), c.expected) << c.value;
    EXPECT_EQ(rounded.type, c.type);
  }
}

TEST_F(Scalars, ComplexQuotientsDoNotOverflow) {
  ElementType type = ElementType::C128;
  Scalar left = b.number(type, 1e300), right = b.number(type, 1e300);
  left.imaginary = b.number(ElementType::F64, 1e300).value;
  Scalar quotient = b.divide(left, right);
  EXPECT_EQ(number({ElementType::F64, quotient.value, {}}), 1.0);
  EXPECT_EQ(number({ElementType::F64, quotient.imaginary, {}}), 1.0);
}

} // namespace
