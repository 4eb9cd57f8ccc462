// Reads the table of operators that ATen is given.
#include "backend-torch/ops/Preferred.h"

#include <algorithm>

namespace quern {

namespace {
/// Where a row of the table holds: whatever is preferred, for all shapes, or
/// for products that our own were not measured to win, or for large tables.
enum class Shapes : std::uint8_t { Host, All, Product, Table };

struct Preferred {
  std::string_view overload, what;
  Shapes shapes;
};

constexpr Preferred table[] = {
#define QN_PREFERRED(overload, what, shapes) {overload, what, Shapes::shapes},
#include "backend-torch/ops/Preferred.def"
};

/// Of a product: columns are those of the second factor.
struct Extents {
  std::int64_t rows = 0, columns = 0, depth = 0;
};
} // namespace

static const TensorFacts *operandOf(const Graph &graph, const Node &node,
                                    std::string_view name) {
  const GraphArgument *value = graph.argument(node, name);
  return value && value->kind == GraphArgument::Kind::Value
             ? graph.values[value->integer].tensor()
             : nullptr;
}

/// Those of a product in f32 whose sizes are known.
static std::optional<Extents> extentsOf(const Graph &graph, const Node &node) {
  const TensorFacts *left = operandOf(graph, node, "self");
  const TensorFacts *right = operandOf(graph, node, "mat2");
  if (!left || !right || left->type != DType::F32 || left->sizes.size() < 2 ||
      right->sizes.size() < 2)
    return std::nullopt;
  auto rows = graph.sizes.constantOf(left->sizes[left->sizes.size() - 2]);
  auto depth = graph.sizes.constantOf(left->sizes.back());
  auto columns = graph.sizes.constantOf(right->sizes.back());
  if (!rows || !columns || !depth)
    return std::nullopt;
  return Extents{*rows, *columns, *depth};
}

/// The class of products that ours were measured to win.
static bool isOurs(const Extents &product) {
  constexpr std::int64_t most = 4 << 20;
  return product.rows >= 16 && product.columns >= 64 && product.depth >= 64 &&
         product.rows * product.depth * 4 <= most;
}

/// Of few rows, and few indices into them.
static bool isSmallTable(const Graph &graph, const Node &node) {
  constexpr std::int64_t most = 1 << 16;
  const TensorFacts *indices = operandOf(graph, node, "indices");
  const GraphArgument *rows = graph.argument(node, "num_weights");
  if (!indices || !rows || rows->kind != GraphArgument::Kind::Int)
    return false;
  std::int64_t work = rows->integer;
  for (Size size : indices->sizes)
    work *= graph.sizes.constantOf(size).value_or(most);
  return work <= most;
}

std::optional<std::string> whyAten(const Graph &graph, const Node &node,
                                   bool prefer) {
  auto row = std::find_if(
      std::begin(table), std::end(table),
      [&](const Preferred &each) { return each.overload == node.overload; });
  if (row == std::end(table) || (row->shapes != Shapes::Host && !prefer))
    return std::nullopt;
  if (row->shapes == Shapes::Product) {
    std::optional<Extents> product = extentsOf(graph, node);
    if (product && isOurs(*product))
      return std::nullopt;
  }
  if (row->shapes == Shapes::Table && isSmallTable(graph, node))
    return std::nullopt;
  return "ATen is preferred for a " + std::string(row->what);
}

std::vector<std::string> preferredAs(std::string_view what) {
  std::vector<std::string> names;
  for (const Preferred &row : table)
    if (row.what == what)
      names.emplace_back(row.overload);
  return names;
}

} // namespace quern
