// Scalar arithmetic against PyTorch's values and the specification's edges.
#include "frontend/typed/Arithmetic.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace quern;
using namespace quern::typed;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Constant integer(std::int64_t value) { return Constant::ofInteger(value); }

double floating(BinaryOperator op, double a, double b) {
  return apply(op, Constant::ofFloat(a), Constant::ofFloat(b), ElementType::F64)
      .floating;
}

std::int64_t integral(BinaryOperator op, std::int64_t a, std::int64_t b,
                      ElementType element = ElementType::I64) {
  return apply(op, integer(a), integer(b), element).integer;
}

// Expected values: torch.tensor(v, dtype=float64).to(dtype), torch 2.13.
TEST(RoundTo, MatchesPyTorch) {
  EXPECT_EQ(roundTo(0.1, ElementType::F16), 0.0999755859375);
  EXPECT_EQ(roundTo(0.1, ElementType::BF16), 0.10009765625);
  EXPECT_EQ(roundTo(0.1, ElementType::F8E4M3), 0.1015625);
  EXPECT_EQ(roundTo(0.1, ElementType::F8E5M2), 0.09375);
  EXPECT_EQ(roundTo(1.0 / 3, ElementType::F16), 0.333251953125);
  EXPECT_EQ(roundTo(1.0 / 3, ElementType::F8E4M3), 0.34375);
  EXPECT_EQ(roundTo(1e-8, ElementType::BF16), 1.0011717677116394e-08);
}

TEST(RoundTo, Overflow) {
  EXPECT_EQ(roundTo(65519, ElementType::F16), 65504);
  EXPECT_EQ(roundTo(65520, ElementType::F16), infinity);
  EXPECT_EQ(roundTo(65519, ElementType::F8E4M3), 448);
  EXPECT_EQ(roundTo(-infinity, ElementType::F8E4M3), -448);
  EXPECT_EQ(roundTo(65519, ElementType::F8E5M2), infinity);
  EXPECT_TRUE(std::isnan(roundTo(std::nan(""), ElementType::F8E4M3)));
}

// Expected values: torch.floor_divide and torch.remainder.
TEST(Apply, FloorDivisionOfFloats) {
  EXPECT_EQ(floating(BinaryOperator::FloorDiv, -7.5, 2), -4);
  EXPECT_EQ(floating(BinaryOperator::Mod, -7.5, 2), 0.5);
  EXPECT_EQ(floating(BinaryOperator::Mod, 7.5, -2), -0.5);
  EXPECT_EQ(floating(BinaryOperator::FloorDiv, -1, 0.1), -10);
  EXPECT_EQ(floating(BinaryOperator::Mod, -1, 0.1), 5.551115123125783e-17);
  EXPECT_EQ(floating(BinaryOperator::FloorDiv, 1, 0), infinity);
}

TEST(Apply, FloorDivisionOfIntegers) {
  EXPECT_EQ(integral(BinaryOperator::FloorDiv, -7, 2), -4);
  EXPECT_EQ(integral(BinaryOperator::Mod, -7, 2), 1);
  EXPECT_EQ(integral(BinaryOperator::FloorDiv, 7, -2), -4);
  EXPECT_EQ(integral(BinaryOperator::Mod, 7, -2), -1);
  EXPECT_EQ(integral(BinaryOperator::FloorDiv, 7, 0), 0);
  EXPECT_EQ(integral(BinaryOperator::Mod, 7, 0), 0);
}

TEST(Apply, SmallestByMinusOne) {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(integral(BinaryOperator::FloorDiv, least, -1), least);
  EXPECT_EQ(integral(BinaryOperator::Mod, least, -1), 0);
  EXPECT_EQ(integral(BinaryOperator::FloorDiv, -128, -1, ElementType::I8),
            -128);
}

TEST(Apply, IntegersWrap) {
  EXPECT_EQ(integral(BinaryOperator::Add, 127, 1, ElementType::I8), -128);
  EXPECT_EQ(integral(BinaryOperator::Sub, 0, 1, ElementType::U8), 255);
  EXPECT_EQ(integral(BinaryOperator::Mul, 300, 300, ElementType::U16), 24464);
}

TEST(Apply, ShiftsOut) {
  EXPECT_EQ(integral(BinaryOperator::ShiftLeft, 1, 32, ElementType::I32), 0);
  EXPECT_EQ(integral(BinaryOperator::ShiftRight, -8, 40, ElementType::I32), -1);
  EXPECT_EQ(integral(BinaryOperator::ShiftRight, 8, -1, ElementType::I32), 0);
  EXPECT_EQ(integral(BinaryOperator::ShiftRight, -8, 1, ElementType::I32), -4);
}

TEST(Convert, FloatsToIntegersSaturate) {
  auto to = [](double value, ElementType element) {
    return convert(Constant::ofFloat(value), ElementType::F64, element);
  };
  EXPECT_EQ(to(300, ElementType::I8).integer, 127);
  EXPECT_EQ(to(-300, ElementType::I8).integer, -128);
  EXPECT_EQ(to(-3, ElementType::U32).integer, 0);
  EXPECT_EQ(to(-2.9, ElementType::I32).integer, -2);
  EXPECT_EQ(to(std::nan(""), ElementType::I64).integer, 0);
  EXPECT_TRUE(to(1e30, ElementType::U64).isUnsigned);
  EXPECT_TRUE(to(std::nan(""), ElementType::Bool).boolean);
}

TEST(Convert, IntegersToFloatsRoundOnce) {
  // 2^53 + 2^29 + 1 lies above the middle of two f32; through f64 the one gets
  // lost, and the tie goes down to even.
  std::int64_t value = (1ll << 53) + (1ll << 29) + 1;
  Constant rounded =
      convert(integer(value), ElementType::I64, ElementType::F32);
  EXPECT_EQ(rounded.floating, static_cast<double>(static_cast<float>(value)));
}

TEST(ApplyExactly, RefusesOverflow) {
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE(applyExactly(BinaryOperator::Add, most, 1));
  EXPECT_EQ(applyExactly(BinaryOperator::Sub, 1, 3)->integer, -2);
}

} // namespace
