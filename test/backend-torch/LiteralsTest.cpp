// Numbers in element types: ties, what is too large, how short the text is.
#include "backend-torch/ops/Literals.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace quern;

namespace {

GraphArgument number(double value) {
  GraphArgument argument;
  argument.kind = GraphArgument::Kind::Float;
  argument.real = value;
  return argument;
}

std::string text(double value, DType type) {
  return literalOf(number(value), type, NumberCheck::Rounds).value();
}

TEST(Literals, TextIsShort) {
  EXPECT_EQ(text(0.3, DType::F32), "0.3");
  EXPECT_EQ(text(0.3, DType::F64), "0.3");
  EXPECT_EQ(text(2, DType::BF16), "2.0");
  EXPECT_EQ(text(-1e9, DType::F32), "-1e+09");
}

TEST(Literals, TiesGoToEven) {
  EXPECT_EQ(text(1 + 0x1p-24, DType::F32), "1.0");
  EXPECT_EQ(text(16777217, DType::F32), "16777216.0");
  EXPECT_EQ(text(2049, DType::F16), "2048.0");
  EXPECT_EQ(text(2051, DType::F16), "2052.0");
  EXPECT_EQ(text(1 + 3 * 0x1p-8, DType::BF16), "1.015625");
}

TEST(Literals, SixteenBitsAreRoundedByWayOfThirtyTwo) {
  EXPECT_EQ(text(1 + 0x1p-11 + 0x1p-40, DType::F16), "1.0");
}

TEST(Literals, SmallNumbersKeepTheirSign) {
  EXPECT_EQ(text(0x1p-25, DType::F16), "0.0");
  EXPECT_EQ(text(-1e-8, DType::F16), "-0.0");
  EXPECT_EQ(std::strtof(text(6e-8, DType::F16).c_str(), nullptr), 0x1p-24f);
}

TEST(Literals, LargeNumbersAreInfiniteOrRefused) {
  EXPECT_EQ(text(65519, DType::F16), "65504.0");
  EXPECT_EQ(text(-65520, DType::F16), "-inf");
  EXPECT_EQ(text(1e39, DType::F32), "inf");
  EXPECT_FALSE(literalOf(number(65519), DType::F16));
  EXPECT_FALSE(literalOf(number(1e39), DType::BF16));
  EXPECT_EQ(literalOf(number(INFINITY), DType::F16), "inf");
  EXPECT_EQ(literalOf(number(NAN), DType::F16), "nan");
}

TEST(Literals, WhatAnOverloadChecks) {
  Node sum, choice;
  choice.arguments.resize(1);
  choice.arguments[0].name = "condition";
  EXPECT_EQ(checkOf(sum, "other"), NumberCheck::Rounds);
  EXPECT_EQ(checkOf(sum, "alpha"), NumberCheck::MustFit);
  EXPECT_EQ(checkOf(choice, "other"), NumberCheck::MustFit);
}

} // namespace
