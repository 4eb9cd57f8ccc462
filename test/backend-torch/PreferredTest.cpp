// Who makes products, ATen or the library: by shape, type and machine.
#include "backend-torch/ops/Preferred.h"
#include "test/backend-torch/GraphMaker.h"

#include <gtest/gtest.h>

using namespace quern;
using namespace quern::testing;

namespace {

constexpr MachineInfo plain = {.vectorBytes = 64};
constexpr MachineInfo withTiles = {.vectorBytes = 64, .hasTiles = true};
constexpr MachineInfo narrow = {.vectorBytes = 32};
constexpr MachineInfo intel = {.vectorBytes = 64, .isIntel = true};

/// A graph of one product of these extents.
std::shared_ptr<const Graph> product(DType type, std::int64_t rows,
                                     std::int64_t columns, std::int64_t depth) {
  GraphMaker maker;
  ValueId a = maker.input({maker.size(rows), maker.size(depth)}, type);
  ValueId b = maker.input({maker.size(depth), maker.size(columns)}, type);
  ValueId c =
      maker.call("aten::mm", {maker.tensor("self", a), maker.tensor("mat2", b)},
                 {maker.size(rows), maker.size(columns)}, type);
  return maker.finish({c});
}

bool isAtens(const std::shared_ptr<const Graph> &graph,
             const MachineInfo &machine, bool prefer = true) {
  return whyAten(*graph, graph->nodes.back(), machine, prefer).has_value();
}

bool isAtensAlone(const std::shared_ptr<const Graph> &graph,
                  const MachineInfo &machine) {
  return whyAtenAlone(*graph, graph->nodes.back(), machine).has_value();
}

TEST(Preferred, ProductsOfMeasuredShapesAreOurs) {
  EXPECT_FALSE(isAtens(product(DType::F32, 512, 512, 512), plain));
  EXPECT_TRUE(isAtens(product(DType::F32, 8, 512, 512), plain));
  EXPECT_TRUE(isAtens(product(DType::F32, 512, 32, 512), plain));
  EXPECT_TRUE(isAtens(product(DType::F32, 512, 512, 16384), plain));
}

TEST(Preferred, ProductsOfBf16AreOursWhereThereAreTiles) {
  auto graph = product(DType::BF16, 512, 512, 512);
  EXPECT_TRUE(isAtens(graph, plain));
  EXPECT_FALSE(isAtens(graph, withTiles));
  EXPECT_TRUE(isAtens(product(DType::BF16, 512, 50257, 512), withTiles));
}

TEST(Preferred, ProductsThatNothingJoinsAreAtensOnIntel) {
  auto graph = product(DType::F32, 512, 512, 512);
  EXPECT_FALSE(isAtens(graph, intel));
  EXPECT_TRUE(isAtensAlone(graph, intel));
  EXPECT_FALSE(isAtensAlone(graph, plain));
}

TEST(Preferred, ProductsAreAtensWhereVectorsAreShort) {
  EXPECT_TRUE(isAtens(product(DType::F32, 512, 512, 512), narrow));
}

TEST(Preferred, BatchesThatOthersJoinAreOursEverywhere) {
  GraphMaker maker;
  std::vector<Size> sizes = {maker.size(32), maker.size(128), maker.size(128)};
  ValueId a = maker.input(sizes), b = maker.input(sizes);
  ValueId c = maker.call(
      "aten::bmm", {maker.tensor("self", a), maker.tensor("mat2", b)}, sizes);
  auto graph = maker.finish({c});
  for (const MachineInfo &machine : {plain, narrow, intel})
    EXPECT_FALSE(isAtens(graph, machine));
  EXPECT_FALSE(isAtensAlone(graph, plain));
  EXPECT_TRUE(isAtensAlone(graph, narrow));
}

/// The derivative for the weights of a convolution of single channels, channels
/// last, at 7 by 7 results.
std::shared_ptr<const Graph> depthwise(std::int64_t window,
                                       std::int64_t channels) {
  constexpr std::int64_t images = 8, side = 7;
  GraphMaker maker;
  std::vector<Size> sizes = {maker.size(images), maker.size(channels),
                             maker.size(side), maker.size(side)};
  std::vector<Size> filter = {maker.size(channels), maker.size(1),
                              maker.size(window), maker.size(window)};
  std::vector<ValueId> tensors = {maker.input(sizes), maker.input(sizes)};
  for (ValueId id : tensors)
    std::get<TensorFacts>(maker.graph.values[id].facts).strides = {
        maker.size(side * side * channels), maker.size(1),
        maker.size(side * channels), maker.size(channels)};
  ValueId weight = maker.input(filter);
  maker.call("aten::convolution_backward",
             {maker.tensor("grad_output", tensors[0]),
              maker.tensor("input", tensors[1]), maker.tensor("weight", weight),
              maker.truth("transposed", false),
              maker.integer("groups", channels)},
             sizes);
  ValueId result = maker.further(filter);
  return maker.finish({result});
}

TEST(Preferred, WideWindowsOfSingleChannelsAreOurs) {
  auto isOurs = [](std::int64_t window, const MachineInfo &machine,
                   std::int64_t channels = 256) {
    auto graph = depthwise(window, channels);
    return measuredRow(*graph, graph->nodes.back(), machine).has_value();
  };
  EXPECT_TRUE(isOurs(5, plain));
  EXPECT_TRUE(isOurs(5, narrow));
  EXPECT_TRUE(isOurs(7, plain));
  EXPECT_TRUE(isOurs(7, narrow));
  EXPECT_TRUE(isOurs(5, plain, /*channels=*/8));
  EXPECT_FALSE(isOurs(5, plain, /*channels=*/4));
  EXPECT_FALSE(isOurs(3, plain));
}

TEST(Preferred, OwnKernelsCanBeAskedFor) {
  auto graph = product(DType::F32, 8, 512, 512);
  EXPECT_FALSE(isAtens(graph, plain, /*prefer=*/false));
}

} // namespace
