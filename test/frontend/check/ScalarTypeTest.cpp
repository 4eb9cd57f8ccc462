// Symbolic scalar types: substitution, constraints, interning.
#include "frontend/typed/Builtin.h"
#include "frontend/typed/TypeContext.h"

#include <gtest/gtest.h>

using namespace quern;
using namespace quern::typed;

namespace {

TEST(ScalarType, AccumulatorOfConcreteTypes) {
  auto acc = [](ElementType element) {
    return ScalarType::concrete(element).accumulator().element();
  };
  EXPECT_EQ(acc(ElementType::F16), ElementType::F32);
  EXPECT_EQ(acc(ElementType::F64), ElementType::F64);
  EXPECT_EQ(acc(ElementType::Bool), ElementType::I64);
  EXPECT_EQ(acc(ElementType::C64), ElementType::C64);
}

TEST(ScalarType, SubstitutesElements) {
  ScalarType t = ScalarType::parameter(1);
  llvm::SmallVector<ElementType> arguments{ElementType::I32, ElementType::BF16};
  EXPECT_EQ(substitute(t, arguments), ElementType::BF16);
  EXPECT_EQ(substitute(t.accumulator(), arguments), ElementType::F32);
  EXPECT_EQ(substitute(t.bits(), arguments), ElementType::U16);
  arguments[1] = ElementType::C128;
  EXPECT_EQ(substitute(t.component(), arguments), ElementType::F64);
}

TEST(ScalarType, SubstitutesSymbols) {
  ScalarType callee = ScalarType::parameter(0).accumulator();
  llvm::SmallVector<ScalarType> arguments{ScalarType::parameter(2)};
  EXPECT_EQ(callee.substitute(llvm::ArrayRef(arguments)),
            ScalarType::parameter(2).accumulator());
  arguments[0] = ScalarType::concrete(ElementType::F16);
  EXPECT_EQ(callee.substitute(llvm::ArrayRef(arguments)),
            ScalarType::concrete(ElementType::F32));
}

TEST(ScalarType, AccumulatorTwiceIsOnce) {
  ScalarType acc = ScalarType::parameter(0).accumulator();
  EXPECT_EQ(acc.accumulator(), acc);
  EXPECT_NE(acc, ScalarType::parameter(0));
  EXPECT_FALSE(acc.isBareParameter());
}

TEST(Constraint, AdmitsKinds) {
  EXPECT_TRUE(admits(Constraint::Any, ElementType::Bool));
  EXPECT_FALSE(admits(Constraint::Number, ElementType::Bool));
  EXPECT_TRUE(admits(Constraint::Number, ElementType::C64));
  EXPECT_FALSE(admits(Constraint::Ordered, ElementType::C64));
  EXPECT_TRUE(admitsAll(Constraint::Number, Constraint::Float));
  EXPECT_FALSE(admitsAll(Constraint::Float, Constraint::Number));
}

TEST(TypeContext, EqualTypesHaveOneAddress) {
  llvm::BumpPtrAllocator allocator;
  TypeContext types(allocator);
  ScalarType f32 = ScalarType::concrete(ElementType::F32);
  AxisId r{0}, c{1};
  EXPECT_EQ(types.scalar(f32), types.scalar(f32));
  EXPECT_EQ(types.scalar(f32, {r, c}), types.scalar(f32, {r, c}));
  EXPECT_NE(types.scalar(f32, {r, c}), types.scalar(f32, {c, r}));
  EXPECT_NE(types.scalar(f32), types.scalar(f32, {}, r));
  const Type *pair[] = {types.boolean(), types.integer()};
  EXPECT_EQ(types.tuple(pair), types.tuple(pair));
  EXPECT_NE(types.tuple(pair), types.tuple(pair, {"a", "b"}));
}

TEST(Builtin, MethodsAndFunctionsAreApart) {
  EXPECT_EQ(builtinNamed("fma"), Builtin::Fma);
  EXPECT_EQ(viewNamed("fma"), std::nullopt);
  EXPECT_EQ(viewNamed("permute"), Builtin::Permute);
  EXPECT_EQ(builtinNamed("permute"), std::nullopt);
  EXPECT_EQ(builtinNamed(""), std::nullopt);
}

} // namespace
