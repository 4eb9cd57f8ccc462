// Concatenation, and the writes that functionalization leaves at a graph's end.
#include "backend-torch/ops/Placement.h"
#include "backend-torch/ops/Devices.h"
#include "backend-torch/ops/Promotion.h"

namespace quern {

using Kind = GraphArgument::Kind;

static bool isPlain(const TensorFacts *facts) {
  return facts && facts->isStrided && facts->type && isSupported(*facts->type);
}

static bool isEmpty(const Graph &graph, const TensorFacts &facts) {
  for (Size size : facts.sizes)
    if (graph.sizes.constantOf(size) == 0)
      return true;
  return false;
}

static std::optional<Placement> concatenation(const Graph &graph,
                                              const Node &node) {
  Placement result{.target = node.results[0], .parts = {}, .dim = 0};
  const TensorFacts *to = graph.values[result.target].tensor();
  const GraphArgument *tensors = graph.argument(node, "tensors");
  const GraphArgument *dim = graph.argument(node, "dim");
  if (!isPlain(to) || !tensors || (dim && dim->kind != Kind::Int))
    return std::nullopt;
  int rank = static_cast<int>(to->sizes.size());
  result.dim = dim ? static_cast<int>(dim->integer) : 0;
  if (result.dim < 0)
    result.dim += rank;
  for (const GraphArgument &each : tensors->list) {
    if (each.kind != Kind::Value)
      return std::nullopt;
    auto id = static_cast<ValueId>(each.integer);
    const TensorFacts *from = graph.values[id].tensor();
    if (!isPlain(from))
      return std::nullopt;
    // An empty part has no place, and may be of another rank.
    if (isEmpty(graph, *from))
      continue;
    if (from->sizes.size() != to->sizes.size())
      return std::nullopt;
    result.parts.push_back(id);
  }
  if (result.parts.empty())
    return std::nullopt;
  return result;
}

static std::optional<Placement> write(const Graph &graph, const Node &node) {
  const GraphArgument *self = graph.argument(node, "self");
  const GraphArgument *source = graph.argument(node, "src");
  if (!self || !source || self->kind != Kind::Value ||
      source->kind != Kind::Value)
    return std::nullopt;
  Placement result{.target = static_cast<ValueId>(self->integer),
                   .parts = {static_cast<ValueId>(source->integer)},
                   .dim = -1};
  const TensorFacts *to = graph.values[result.target].tensor();
  const TensorFacts *from = graph.values[result.parts[0]].tensor();
  if (!isPlain(to) || !isPlain(from) || from->sizes != to->sizes ||
      from->storage == to->storage)
    return std::nullopt;
  return result;
}

static std::optional<PlacementKind> kindOf(std::string_view overload) {
#define QN_PLACEMENT(name, kind)                                               \
  if (overload == name)                                                        \
    return PlacementKind::kind;
#include "backend-torch/ops/Primitives.def"
  return std::nullopt;
}

const char *nameOf(PlacementKind kind) {
#define QN_PLACEMENT(name, each)                                               \
  if (kind == PlacementKind::each)                                             \
    return name;
#include "backend-torch/ops/Primitives.def"
  return "";
}

std::optional<Placement> placementOf(const Graph &graph, const Node &node) {
  std::optional<PlacementKind> kind = kindOf(node.overload);
  if (!kind || node.results.size() != 1 || whyNoDevice(graph, node))
    return std::nullopt;
  return *kind == PlacementKind::Join ? concatenation(graph, node)
                                      : write(graph, node);
}

} // namespace quern
