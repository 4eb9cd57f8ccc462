// Nodes against rows: types, numbers, axes, and the reasons why not.
#include "backend-torch/ops/Matcher.h"
#include "test/backend-torch/GraphMaker.h"

#include <gtest/gtest.h>

using namespace quern;
using namespace quern::testing;

namespace {

LibraryCall matched(const GraphMaker &maker, const Node &node) {
  static const OperatorTable table = smallLibrary();
  Operation operation = matchRows(maker.graph, node, table);
  if (auto *opaque = std::get_if<Opaque>(&operation))
    ADD_FAILURE() << opaque->reason;
  auto *call = std::get_if<LibraryCall>(&operation);
  return call ? *call : LibraryCall();
}

std::string refusal(const GraphMaker &maker, const Node &node) {
  static const OperatorTable table = smallLibrary();
  Operation operation = matchRows(maker.graph, node, table);
  auto *opaque = std::get_if<Opaque>(&operation);
  return opaque ? opaque->reason : "";
}

TEST(Matcher, IntegersBecomeFloats) {
  GraphMaker maker;
  ValueId x = maker.input({maker.size(4)}, DType::I64);
  maker.call("aten::sin", {maker.tensor("self", x)}, {maker.size(4)});
  LibraryCall call = matched(maker, maker.last());
  ASSERT_EQ(call.operands.size(), 1u);
  EXPECT_EQ(call.operands[0].cast, DType::F32);
}

TEST(Matcher, NumbersAreWeak) {
  GraphMaker maker;
  ValueId x = maker.input({maker.size(4)}, DType::BF16);
  maker.call("aten::mul.Tensor",
             {maker.tensor("self", x), maker.number("other", 2)},
             {maker.size(4)}, DType::BF16);
  LibraryCall call = matched(maker, maker.last());
  EXPECT_FALSE(call.operands[0].cast);
  EXPECT_EQ(call.operands[1].literal, "2.0");
}

TEST(Matcher, ZeroDimensionalTensorsAreWeakWithinTheirKind) {
  GraphMaker maker;
  ValueId x = maker.input({maker.size(4)}, DType::F32);
  ValueId y = maker.input({}, DType::F64);
  maker.call("aten::mul.Tensor",
             {maker.tensor("self", x), maker.tensor("other", y)},
             {maker.size(4)});
  LibraryCall call = matched(maker, maker.last());
  EXPECT_FALSE(call.operands[0].cast);
  EXPECT_EQ(call.operands[1].cast, DType::F32);
}

TEST(Matcher, ComparisonGivesBool) {
  GraphMaker maker;
  ValueId x = maker.input({maker.size(4)});
  maker.call("aten::lt.Tensor",
             {maker.tensor("self", x), maker.number("other", 0)},
             {maker.size(4)}, DType::Bool);
  EXPECT_EQ(matched(maker, maker.last()).resultTypes,
            std::vector<DType>{DType::Bool});
}

TEST(Matcher, NegativeDimensionsWrap) {
  GraphMaker maker;
  ValueId x = maker.input({maker.size(4), maker.size(5)});
  maker.call("aten::_softmax",
             {maker.tensor("self", x), maker.integer("dim", -1),
              maker.truth("half_to_float", false)},
             {maker.size(4), maker.size(5)});
  EXPECT_EQ(matched(maker, maker.last()).selected, std::vector<int>{1});
}

OperatorTable tableOf(OperatorRow row) {
  std::vector<OperatorRow> rows;
  rows.push_back(std::move(row));
  return OperatorTable(std::move(rows));
}

TEST(Matcher, OperandsThatLackAxesAreSpreadAlongThem) {
  OperatorTable table =
      tableOf(row("aten::addmm", "addmm", "matmul",
                  {parameter("c", "T[M, N]"), parameter("a", "T[M, K]"),
                   parameter("b", "T[K, N]")},
                  {"T[M, N]"}, {}, DeclarationKind::Rowwise));
  for (bool hasOne : {false, true}) {
    GraphMaker maker;
    std::vector<Size> sizes = {maker.size(5)};
    if (hasOne)
      sizes.insert(sizes.begin(), maker.size(1));
    ValueId c = maker.input(sizes);
    ValueId a = maker.input({maker.size(3), maker.size(4)});
    ValueId b = maker.input({maker.size(4), maker.size(5)});
    maker.call("aten::addmm",
               {maker.tensor("self", c), maker.tensor("mat1", a),
                maker.tensor("mat2", b)},
               {maker.size(3), maker.size(5)});
    Operation operation = matchRows(maker.graph, maker.last(), table);
    const WholeCall &whole = *std::get<LibraryCall>(operation).whole;
    const WholeTensor &spread = whole.arguments[0].tensors[0];
    EXPECT_EQ(spread.dims, (std::vector<int>{-1, hasOne}));
    EXPECT_EQ(maker.graph.sizes.constantOf(*spread.along[0]), 3);
    EXPECT_FALSE(spread.along[1]);
    EXPECT_EQ(whole.arguments[1].tensors[0].along.size(), 0u);
  }
}

TEST(Matcher, FewerResultsAreForCallsWhoseOthersNobodyReads) {
  OperatorTable table =
      tableOf(row("aten::mode", "most", "ranks", {parameter("x", "T[N, M]")},
                  {"T[N]"}, {}, DeclarationKind::Rowwise));
  for (bool isRead : {false, true}) {
    GraphMaker maker;
    ValueId x = maker.input({maker.size(4), maker.size(6)});
    maker.call("aten::mode", {maker.tensor("self", x)}, {maker.size(4)});
    ValueId places = maker.further({maker.size(4)}, DType::I64);
    maker.graph.values[places].isRead = isRead;
    Operation operation = matchRows(maker.graph, maker.last(), table);
    EXPECT_EQ(std::holds_alternative<LibraryCall>(operation), !isRead);
  }
}

TEST(Matcher, ListsAreOneNumberForEachOrOneForAll) {
  OperatorTable table =
      tableOf(row("aten::pad", "pad", "layout", {parameter("x", "T")}, {"T"},
                  {{"pad", "(1, 2)"}}));
  for (std::int64_t second : {2, 3}) {
    GraphMaker maker;
    ValueId x = maker.input({maker.size(4)});
    maker.call("aten::pad",
               {maker.tensor("self", x), maker.integers("pad", {1, second})},
               {maker.size(4)});
    Operation operation = matchRows(maker.graph, maker.last(), table);
    EXPECT_EQ(std::holds_alternative<LibraryCall>(operation), second == 2);
  }
}

TEST(Matcher, ZeroDimensionalTensorIsBoundWithAnAxis) {
  GraphMaker maker;
  ValueId x = maker.input({});
  maker.call("aten::_softmax",
             {maker.tensor("self", x), maker.integer("dim", -1),
              maker.truth("half_to_float", false)},
             {});
  LibraryCall call = matched(maker, maker.last());
  ASSERT_TRUE(call.whole) << call.whyNotWhole;
  EXPECT_EQ(call.whole->arguments[0].tensors[0].dims, std::vector<int>{-1});
  EXPECT_EQ(call.whole->results[0].dims, std::vector<int>{-1});
}

TEST(Matcher, ConstantMustAgree) {
  GraphMaker maker;
  ValueId x = maker.input({maker.size(4), maker.size(5)});
  maker.call("aten::_softmax",
             {maker.tensor("self", x), maker.integer("dim", 0),
              maker.truth("half_to_float", true)},
             {maker.size(4), maker.size(5)});
  EXPECT_EQ(refusal(maker, maker.last()),
            "its kernel is for half_to_float = false");
}

TEST(Matcher, NormalizedShapeTakesTheLastAxes) {
  GraphMaker maker;
  ValueId x = maker.input({maker.size(2), maker.size(4), maker.size(5)});
  ValueId w = maker.input({maker.size(4), maker.size(5)});
  maker.call("aten::native_layer_norm",
             {maker.tensor("input", x),
              maker.integers("normalized_shape", {4, 5}),
              maker.tensor("weight", w),
              {"bias", {}, true, false},
              maker.number("eps", 1e-5)},
             {maker.size(2), maker.size(4), maker.size(5)});
  maker.further({maker.size(2), maker.size(1), maker.size(1)});
  maker.further({maker.size(2), maker.size(1), maker.size(1)});
  LibraryCall call = matched(maker, maker.last());
  EXPECT_EQ(call.selected, (std::vector<int>{1, 2}));
  EXPECT_EQ(call.operands[2].kind, CallOperand::Kind::Absent);
}

TEST(Matcher, ConstraintIsHeld) {
  GraphMaker maker;
  ValueId x = maker.input({maker.size(4)}, DType::Bool);
  maker.call("aten::mul.Tensor",
             {maker.tensor("self", x), maker.tensor("other", x)},
             {maker.size(4)}, DType::Bool);
  EXPECT_EQ(refusal(maker, maker.last()),
            "its kernel is for Number, not for bool");
}

} // namespace
