// An operator with a mask of results computes each of them by itself, so that
// one can be a kernel's and the others ATen's.
#include "backend-torch/ops/Parting.h"
#include "backend-torch/ops/Preferred.h"

#include <algorithm>

namespace quern {

namespace {
using Kind = GraphArgument::Kind;

class Parting {
public:
  Parting(Graph graph, const OperatorTable &table)
      : graph(std::move(graph)), table(table) {}

  /// Whether any node was taken apart.
  bool run();
  Graph take() { return std::move(graph); }

private:
  std::optional<std::vector<bool>> given(const Node &node) const;
  Node split(Node &node, const std::vector<bool> &mask);

  Graph graph;
  const OperatorTable &table;
};
} // namespace

/// The argument that says which results are computed, one bool for each.
static NamedArgument *maskOf(Node &node) {
  for (NamedArgument &argument : node.arguments) {
    const std::vector<GraphArgument> &list = argument.value.list;
    if (argument.value.kind == Kind::List && node.results.size() > 1 &&
        list.size() == node.results.size() &&
        std::all_of(list.begin(), list.end(), [](const GraphArgument &each) {
          return each.kind == Kind::Bool;
        }))
      return &argument;
  }
  return nullptr;
}

/// The results that the row measured for a node gives, if the node computes
/// others besides.
std::optional<std::vector<bool>> Parting::given(const Node &node) const {
  Node copy = node;
  NamedArgument *mask = maskOf(copy);
  auto *rows = table.find(node.overload);
  std::optional<std::string_view> name =
      measuredRow(graph, node, table.machine());
  if (!mask || !rows || !name)
    return std::nullopt;
  auto row = std::find_if(rows->begin(), rows->end(), [&](const auto *each) {
    return each->declaration == *name;
  });
  if (row == rows->end())
    return std::nullopt;
  std::vector<bool> taken;
  bool hasAll = true, hasMore = false;
  for (const auto &[left, text] : (*row)->bindings)
    if (left == mask->name)
      for (std::string_view each :
           splitAtCommas(std::string_view(text).substr(1, text.size() - 2)))
        taken.push_back(each == "true");
  if (taken.size() != mask->value.list.size())
    return std::nullopt;
  for (std::size_t i = 0; i != taken.size(); ++i) {
    bool isWanted = mask->value.list[i].integer != 0;
    hasAll &= isWanted || !taken[i];
    hasMore |= isWanted && !taken[i];
  }
  if (!hasAll || !hasMore)
    return std::nullopt;
  return taken;
}

/// The results of `mask` as those of a node of their own, which is given back.
Node Parting::split(Node &node, const std::vector<bool> &mask) {
  Node part = node;
  part.name += "_part";
  for (std::size_t i = 0; i != mask.size(); ++i) {
    maskOf(mask[i] ? node : part)->value.list[i].integer = 0;
    auto absent = static_cast<ValueId>(graph.values.size());
    graph.values.push_back({0, static_cast<int>(i), std::monostate(), false});
    (mask[i] ? node : part).results[i] = absent;
  }
  return part;
}

bool Parting::run() {
  std::vector<Node> nodes;
  bool isParted = false;
  for (Node &node : graph.nodes) {
    if (node.kind == NodeKind::Call)
      if (auto mask = given(node)) {
        nodes.push_back(split(node, *mask));
        isParted = true;
      }
    nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
  if (isParted)
    renumber(graph);
  return isParted;
}

std::shared_ptr<const Graph> partedByRows(std::shared_ptr<const Graph> graph,
                                          const OperatorTable &table) {
  bool mayPart = std::any_of(
      graph->nodes.begin(), graph->nodes.end(), [&](const Node &node) {
        return node.kind == NodeKind::Call && node.results.size() > 1 &&
               measuredRow(*graph, node, table.machine());
      });
  if (!mayPart)
    return graph;
  Parting parting(*graph, table);
  if (!parting.run())
    return graph;
  return std::make_shared<const Graph>(parting.take());
}

} // namespace quern
