// Symbolic sizes: equal expressions are one, and evaluate as Python does.
#include "backend-torch/graph/SizeTable.h"

#include <cmath>
#include <gtest/gtest.h>

#include <cmath>

using namespace quern;

namespace {

SizeValue integer(std::int64_t value) { return {false, value, 0}; }

TEST(SizeTable, ProductsHaveOneForm) {
  SizeTable sizes;
  Size s = sizes.symbol("s0"), four = sizes.constant(4);
  EXPECT_EQ(sizes.multiply(s, four), sizes.multiply(four, s));
  EXPECT_EQ(sizes.multiply(sizes.multiply(s, four), sizes.constant(3)),
            sizes.multiply(sizes.constant(12), s));
  EXPECT_EQ(sizes.multiply(sizes.constant(1), s), s);
}

TEST(SizeTable, ConstantsFold) {
  SizeTable sizes;
  Size sum = sizes.apply(SizeOp::Add, {sizes.constant(2), sizes.constant(5)});
  EXPECT_EQ(sizes.constantOf(sum), 7);
}

TEST(SizeTable, DividesExactly) {
  SizeTable sizes;
  Size s = sizes.symbol("s0"), t = sizes.symbol("s1");
  Size product = sizes.multiply(sizes.multiply(s, t), sizes.constant(12));
  EXPECT_EQ(sizes.divideExactly(product, sizes.multiply(t, sizes.constant(4))),
            sizes.multiply(s, sizes.constant(3)));
  EXPECT_FALSE(sizes.divideExactly(product, sizes.constant(5)));
  EXPECT_FALSE(sizes.divideExactly(s, t));
}

TEST(SizeTable, FloorsAsPythonDoes) {
  SizeTable sizes;
  Size s = sizes.symbol("s0");
  Size quotient = sizes.apply(SizeOp::FloorDiv, {s, sizes.constant(2)});
  Size rest = sizes.apply(SizeOp::Mod, {s, sizes.constant(3)});
  SizeValue minusSeven[] = {integer(-7)};
  EXPECT_EQ(sizes.evaluate(quotient, minusSeven).integer, -4);
  EXPECT_EQ(sizes.evaluate(rest, minusSeven).integer, 2);
}

TEST(SizeTable, BitsAndFunctionsAreThoseOfPython) {
  SizeTable sizes;
  Size s = sizes.symbol("s0"), t = sizes.symbol("s1");
  SizeValue both[] = {integer(-13), integer(5)};
  auto value = [&](SizeOp op, std::vector<Size> operands) {
    return sizes.evaluate(sizes.apply(op, std::move(operands)), both);
  };
  EXPECT_EQ(value(SizeOp::Abs, {s}).integer, 13);
  EXPECT_EQ(value(SizeOp::BitAnd, {s, t}).integer, 1);
  EXPECT_EQ(value(SizeOp::BitOr, {s, t}).integer, -9);
  EXPECT_EQ(value(SizeOp::BitXor, {s, t}).integer, -10);
  EXPECT_EQ(value(SizeOp::ShiftLeft, {s, t}).integer, -416);
  EXPECT_EQ(value(SizeOp::ShiftRight, {s, t}).integer, -1);
  EXPECT_DOUBLE_EQ(value(SizeOp::Sinh, {t}).real, 74.20321057778875);
  EXPECT_DOUBLE_EQ(value(SizeOp::Atan, {t}).real, 1.373400766945016);
}

TEST(SizeTable, LargeResultsStayLarge) {
  SizeTable sizes;
  Size s = sizes.symbol("s0");
  constexpr std::int64_t most = INT64_MAX, least = INT64_MIN;
  auto value = [&](SizeOp op, std::int64_t number, std::int64_t other) {
    SizeValue symbol[] = {integer(number)};
    Size size = sizes.apply(op, {s, sizes.constant(other)});
    return sizes.evaluate(size, symbol).integer;
  };
  EXPECT_EQ(value(SizeOp::Add, most - 1, 5), most);
  EXPECT_EQ(value(SizeOp::Add, least + 1, -5), least);
  EXPECT_EQ(value(SizeOp::Mul, most / 2, 3), most);
  EXPECT_EQ(value(SizeOp::Mul, most / 2, -3), least);
  EXPECT_EQ(value(SizeOp::Power, 10, 40), most);
  EXPECT_EQ(value(SizeOp::ShiftLeft, 3, 200), most);
  EXPECT_EQ(value(SizeOp::ShiftLeft, 3, 62), most);
  EXPECT_EQ(value(SizeOp::ShiftRight, -3, 200), -1);
  EXPECT_EQ(value(SizeOp::Mod, least, -1), 0);
  SizeValue nothing = {true, 0, std::nan("")};
  EXPECT_EQ(nothing.asInt(), least);
}

TEST(SizeTable, FindsASymbolTimesAConstant) {
  SizeTable sizes;
  Size s = sizes.symbol("s0"), t = sizes.symbol("s1");
  auto scaled = sizes.scaledSymbol(sizes.multiply(s, sizes.constant(6)));
  ASSERT_TRUE(scaled);
  EXPECT_EQ(scaled->first, s);
  EXPECT_EQ(scaled->second, 6);
  EXPECT_EQ(sizes.scaledSymbol(s)->second, 1);
  EXPECT_FALSE(sizes.scaledSymbol(sizes.multiply(s, t)));
  EXPECT_FALSE(sizes.scaledSymbol(sizes.multiply(s, sizes.constant(-2))));
  EXPECT_FALSE(sizes.scaledSymbol(sizes.constant(3)));
}

/// A double has 53 digits.
TEST(SizeTable, IntegersAreExact) {
  SizeTable sizes;
  Size s = sizes.symbol("s0"), t = sizes.symbol("s1");
  std::int64_t large = (std::int64_t(1) << 53) + 1;
  SizeValue both[] = {integer(large), integer(large - 1)};
  auto value = [&](SizeOp op, std::vector<Size> operands) {
    return sizes.evaluate(sizes.apply(op, std::move(operands)), both).integer;
  };
  EXPECT_EQ(value(SizeOp::Equal, {s, t}), 0);
  EXPECT_EQ(value(SizeOp::Greater, {s, t}), 1);
  EXPECT_EQ(value(SizeOp::Min, {s, t}), large - 1);
  EXPECT_EQ(value(SizeOp::Max, {t, s}), large);
  EXPECT_EQ(value(SizeOp::Floor, {s}), large);
  SizeValue cube[] = {integer(300001), integer(3)};
  EXPECT_EQ(sizes.evaluate(sizes.apply(SizeOp::Power, {s, t}), cube).integer,
            27000270000900001);
  SizeValue least[] = {integer(INT64_MIN), integer(-1)};
  EXPECT_EQ(
      sizes.evaluate(sizes.apply(SizeOp::FloorDiv, {s, t}), least).integer,
      INT64_MIN);
}

/// Neither NaN nor the zeros can be told from others by their order.
TEST(SizeTable, RealNumbersAreKeptApart) {
  SizeTable sizes;
  Size three = sizes.real(3), nan = sizes.real(NAN), zero = sizes.real(0.0);
  EXPECT_TRUE(std::isnan(sizes.evaluate(nan, {}).real));
  EXPECT_EQ(sizes.evaluate(three, {}).real, 3);
  EXPECT_TRUE(std::signbit(sizes.evaluate(sizes.real(-0.0), {}).real));
  EXPECT_FALSE(std::signbit(sizes.evaluate(zero, {}).real));
  EXPECT_EQ(sizes.real(NAN), nan);
}

TEST(SizeTable, SelectsByCondition) {
  SizeTable sizes;
  Size s = sizes.symbol("s0");
  Size isLarge = sizes.apply(SizeOp::Greater, {s, sizes.constant(8)});
  Size chosen = sizes.apply(SizeOp::Select, {isLarge, s, sizes.constant(8)});
  SizeValue three[] = {integer(3)}, nine[] = {integer(9)};
  EXPECT_EQ(sizes.evaluate(chosen, three).integer, 8);
  EXPECT_EQ(sizes.evaluate(chosen, nine).integer, 9);
}

} // namespace
