// Reads the table of operators that ATen is given.
#include "backend-torch/ops/Preferred.h"
#include "backend-torch/ops/Devices.h"

#include <algorithm>
#include <array>

namespace quern {

namespace {
/// Where a row of the table holds: whatever is preferred, for all shapes, or
/// for those that our own were not measured to win.
enum class Shapes : std::uint8_t { Host, All, Product, Attention, Gradients };

struct Preferred {
  std::string_view overload, what;
  Shapes shapes;
};

constexpr Preferred table[] = {
#define QN_PREFERRED(overload, what, shapes) {overload, what, Shapes::shapes},
#include "backend-torch/ops/Preferred.def"
};

/// A row of the library for a class of shapes, and only for it.
struct Measured {
  std::string_view overload, declaration;
  bool (*holds)(const Graph &graph, const Node &node,
                const MachineInfo &machine);
};

/// Of a product: columns are those of the second factor.
struct Extents {
  DType type = DType::F32;
  std::int64_t rows = 0, columns = 0, depth = 0;
  bool isBatch = false;
};
} // namespace

static const TensorFacts *operandOf(const Graph &graph, const Node &node,
                                    std::string_view name) {
  const GraphArgument *value = graph.argument(node, name);
  return value && value->kind == GraphArgument::Kind::Value
             ? graph.values[value->integer].tensor()
             : nullptr;
}

/// Those of a product in f32 or bf16 whose sizes are known.
static std::optional<Extents> extentsOf(const Graph &graph, const Node &node) {
  const TensorFacts *left = operandOf(graph, node, "self");
  const TensorFacts *right = operandOf(graph, node, "mat2");
  if (!left || !right || left->sizes.size() < 2 || right->sizes.size() < 2 ||
      (left->type != DType::F32 && left->type != DType::BF16))
    return std::nullopt;
  auto rows = graph.sizes.constantOf(left->sizes[left->sizes.size() - 2]);
  auto depth = graph.sizes.constantOf(left->sizes.back());
  auto columns = graph.sizes.constantOf(right->sizes.back());
  if (!rows || !columns || !depth)
    return std::nullopt;
  return Extents{*left->type, *rows, *columns, *depth, left->sizes.size() > 2};
}

/// Whether its vectors are of 64 bytes; other machines have classes of their
/// own.
static bool isWide(const MachineInfo &machine) {
  return machine.vectorBytes >= 64;
}

/// The class of products that ours were measured to win.
static bool isOurs(const Extents &product, const MachineInfo &machine) {
  constexpr std::int64_t most = 4 << 20, widest = 8192;
  if (product.type == DType::BF16 &&
      (!machine.hasTiles || product.columns > widest))
    return false;
  if (!isWide(machine) && !product.isBatch)
    return false;
  return product.rows >= 16 && product.columns >= 64 && product.depth >= 64 &&
         product.rows * product.depth * 4 <= most;
}

/// Products of a batch that read each element once, or are sums of one.
static bool isThinBatch(const Extents &product) {
  return product.type == DType::F32 && product.isBatch && product.rows >= 16 &&
         (product.columns == 1 || product.depth == 1);
}

static bool isList(const GraphArgument *argument, std::int64_t each) {
  return argument && argument->kind == GraphArgument::Kind::List &&
         std::all_of(argument->list.begin(), argument->list.end(),
                     [&](const GraphArgument &element) {
                       return element.kind == GraphArgument::Kind::Int &&
                              element.integer == each;
                     });
}

static bool isNumber(const GraphArgument *argument, std::int64_t number) {
  return argument &&
         (argument->kind == GraphArgument::Kind::Int ||
          argument->kind == GraphArgument::Kind::Bool) &&
         argument->integer == number;
}

/// A tensor of four axes with known sizes, of one of these types: its sizes,
/// else nothing.
static std::optional<std::array<std::int64_t, 4>>
imageOf(const Graph &graph, const TensorFacts *facts,
        std::initializer_list<DType> types = {DType::F32}) {
  std::array<std::int64_t, 4> sizes;
  if (!facts || !facts->type || facts->sizes.size() != 4 ||
      std::find(types.begin(), types.end(), *facts->type) == types.end())
    return std::nullopt;
  for (std::size_t axis = 0; axis != 4; ++axis) {
    auto size = graph.sizes.constantOf(facts->sizes[axis]);
    if (!size)
      return std::nullopt;
    sizes[axis] = *size;
  }
  return sizes;
}

/// Of channels-last images in f32; height and width of the results.
static bool paysByTiles(std::int64_t images, std::int64_t channels,
                        std::int64_t outputs, std::int64_t height,
                        std::int64_t width) {
  constexpr std::int64_t leastChannels = 64, leastTiles = 48;
  std::int64_t tiles = images * ((height + 3) / 4) * ((width + 3) / 4);
  return tiles >= leastTiles && std::min(channels, outputs) >= leastChannels;
}

/// One image is made of another, channels last both, by windows of 3 by 3
/// that are one apart: their extents, if enough to pay for evaluating them.
static bool isTiled(const Graph &graph, const Node &node,
                    const TensorFacts *from, const TensorFacts *to) {
  auto image = imageOf(graph, from);
  auto result = imageOf(graph, to);
  auto weight = imageOf(graph, operandOf(graph, node, "weight"));
  if (!image || !weight || !result ||
      graph.sizes.constantOf(from->strides[1]) != 1 ||
      !isNumber(graph.argument(node, "transposed"), 0) ||
      !isNumber(graph.argument(node, "groups"), 1) ||
      !isList(graph.argument(node, "stride"), 1) ||
      !isList(graph.argument(node, "dilation"), 1))
    return false;
  auto [images, filters, height, width] = *result;
  auto [outputs, channels, windowHeight, windowWidth] = *weight;
  return windowHeight == 3 && windowWidth == 3 &&
         paysByTiles(images, channels, outputs, height, width);
}

static bool isTiled(const Graph &graph, const Node &node,
                    const MachineInfo & /*all*/) {
  return isTiled(graph, node, operandOf(graph, node, "input"),
                 graph.values[node.results[0]].tensor());
}

/// The derivative for the input is a convolution of what comes back.
static bool isTiledForInput(const Graph &graph, const Node &node,
                            const MachineInfo & /*all*/) {
  const TensorFacts *result = graph.values[node.results[0]].tensor();
  const GraphArgument *padding = graph.argument(node, "padding");
  return result && graph.sizes.constantOf(result->strides[1]) == 1 && padding &&
         std::all_of(padding->list.begin(), padding->list.end(),
                     [](const GraphArgument &each) {
                       return each.kind == GraphArgument::Kind::Int &&
                              each.integer <= 2;
                     }) &&
         isTiled(graph, node, operandOf(graph, node, "grad_output"), result);
}

/// The derivative for the weights of a convolution of single channels that lie
/// side by side, whose windows are wider than those that ATen has code for.
static bool isWideDepthwise(const Graph &graph, const Node &node,
                            const MachineInfo & /*all*/) {
  constexpr std::int64_t leastChannels = 8, widestOfAten = 3;
  const TensorFacts *from = operandOf(graph, node, "input");
  const TensorFacts *back = operandOf(graph, node, "grad_output");
  auto image = imageOf(graph, from, {DType::F32, DType::BF16});
  auto weight = imageOf(graph, operandOf(graph, node, "weight"),
                        {DType::F32, DType::BF16});
  if (!image || !weight || !back || !graph.values[node.results[1]].tensor() ||
      graph.sizes.constantOf(from->strides[1]) != 1 ||
      graph.sizes.constantOf(back->strides[1]) != 1 ||
      !isNumber(graph.argument(node, "transposed"), 0) ||
      !isNumber(graph.argument(node, "groups"), (*image)[1]))
    return false;
  auto [outputs, each, windowHeight, windowWidth] = *weight;
  return outputs == (*image)[1] && outputs >= leastChannels && each == 1 &&
         std::min(windowHeight, windowWidth) > widestOfAten;
}

/// Images whose channels lie side by side.
static bool isChannelsLast(const Graph &graph, const TensorFacts *image) {
  return image && image->strides.size() == 4 &&
         graph.sizes.constantOf(image->strides[1]) == 1 &&
         graph.sizes.constantOf(image->strides[3]) != 1;
}

static bool isInputChannelsLast(const Graph &graph, const Node &node,
                                const MachineInfo & /*all*/) {
  return isChannelsLast(graph, operandOf(graph, node, "input"));
}

static bool isSelfChannelsLast(const Graph &graph, const Node &node,
                               const MachineInfo & /*all*/) {
  return isChannelsLast(graph, operandOf(graph, node, "self"));
}

static bool isGradientChannelsLast(const Graph &graph, const Node &node,
                                   const MachineInfo & /*all*/) {
  return isChannelsLast(graph, operandOf(graph, node, "grad_output"));
}

namespace {
/// The sizes and types that decide who makes attention.
struct AttentionClass {
  DType type = DType::F64;
  std::optional<std::int64_t> queries, keys;
  bool manyQueries = false; ///< enough that packing the keys for them pays
  bool fewQueries = false;  ///< keys are read where they lie
};
} // namespace

static std::optional<AttentionClass> attentionOf(const Graph &graph,
                                                 const Node &node) {
  constexpr std::int64_t inPlace = 32;
  const TensorFacts *query = operandOf(graph, node, "query");
  const TensorFacts *key = operandOf(graph, node, "key");
  if (!query || !key || query->sizes.size() != 4 || key->sizes.size() != 4 ||
      !key->type || key->type == DType::F64)
    return std::nullopt;
  AttentionClass found{*key->type, graph.sizes.constantOf(query->sizes[2]),
                       graph.sizes.constantOf(key->sizes[2])};
  found.manyQueries =
      query->sizes[2] == key->sizes[2] ||
      (found.queries && found.keys && 4 * *found.queries >= *found.keys);
  found.fewQueries = found.queries && *found.queries <= inPlace;
  return found;
}

/// The class of attention that ours was measured to win.
static bool isOurAttention(const Graph &graph, const Node &node,
                           const MachineInfo &machine) {
  constexpr std::int64_t fewKeys = 1024;
  std::optional<AttentionClass> of = attentionOf(graph, node);
  if (!of || !isWide(machine) || machine.hasTiles)
    return false;
  bool isSmall = of->keys && *of->keys <= fewKeys;
  return of->manyQueries || of->fewQueries ||
         (isSmall && of->type == DType::F16);
}

/// Its derivatives are where ATen adds them up in f16, and up to so many keys:
/// what a causal mask hides is not computed, a mask of numbers is read twice.
static bool areOurGradients(const Graph &graph, const Node &node,
                            const MachineInfo &machine) {
  std::optional<AttentionClass> of = attentionOf(graph, node);
  if (!of || !isWide(machine))
    return false;
  if (of->type == DType::F16)
    return true;
  std::int64_t most = of->type == DType::BF16 ? 4096 : 0;
  if (operandOf(graph, node, "attn_mask"))
    most /= 8;
  if (isNumber(graph.argument(node, "is_causal"), 1))
    most = std::max<std::int64_t>(most, 1536);
  return of->keys && *of->keys <= most && of->manyQueries && !machine.hasTiles;
}

static constexpr Measured measured[] = {
#define QN_MEASURED(overload, declaration, holds)                              \
  {overload, declaration, holds},
#include "backend-torch/ops/Preferred.def"
};

std::optional<std::string_view>
measuredRow(const Graph &graph, const Node &node, const MachineInfo &machine) {
  if (!isOnHost(graph, node))
    return std::nullopt;
  for (const Measured &row : measured)
    if (row.overload == node.overload && row.holds(graph, node, machine))
      return row.declaration;
  return std::nullopt;
}

bool isMeasuredOnly(std::string_view overload, std::string_view declaration) {
  return std::any_of(
      std::begin(measured), std::end(measured), [&](const Measured &row) {
        return row.overload == overload && row.declaration == declaration;
      });
}

static const Preferred *rowOf(const Node &node) {
  const auto *row = std::find_if(
      std::begin(table), std::end(table),
      [&](const Preferred &each) { return each.overload == node.overload; });
  return row == std::end(table) ? nullptr : row;
}

static std::string reason(const Preferred &row) {
  return "ATen is preferred for a " + std::string(row.what);
}

/// Whether the node is one of those that ours were measured to win.
static bool isWon(Shapes shapes, const Graph &graph, const Node &node,
                  const MachineInfo &machine) {
  switch (shapes) {
  case Shapes::Product: {
    std::optional<Extents> product = extentsOf(graph, node);
    return product && (isOurs(*product, machine) || isThinBatch(*product));
  }
  case Shapes::Attention:
    return isOurAttention(graph, node, machine);
  case Shapes::Gradients:
    return areOurGradients(graph, node, machine);
  case Shapes::Host:
  case Shapes::All:
    return false;
  }
  return false;
}

std::optional<std::string> whyAten(const Graph &graph, const Node &node,
                                   const MachineInfo &machine, bool prefer) {
  const Preferred *row = rowOf(node);
  if (!row || (row->shapes != Shapes::Host && !prefer))
    return std::nullopt;
  if (measuredRow(graph, node, machine))
    return std::nullopt;
  // The table's figures are those of processors.
  if (isOnHost(graph, node) && isWon(row->shapes, graph, node, machine))
    return std::nullopt;
  return reason(*row);
}

std::optional<std::string> whyAtenAlone(const Graph &graph, const Node &node,
                                        const MachineInfo &machine) {
  const Preferred *row = rowOf(node);
  if (!row || row->shapes != Shapes::Product ||
      (isWide(machine) && !machine.isIntel))
    return std::nullopt;
  std::optional<Extents> product = extentsOf(graph, node);
  if (!product || isThinBatch(*product))
    return std::nullopt;
  return reason(*row) + " that nothing joins";
}

std::vector<std::string> preferredAs(std::string_view what) {
  std::vector<std::string> names;
  for (const Preferred &row : table)
    if (row.what == what)
      names.emplace_back(row.overload);
  return names;
}

} // namespace quern
