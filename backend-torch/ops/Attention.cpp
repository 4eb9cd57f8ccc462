// Walks from a softmax back to one product and forward to another.
#include "backend-torch/ops/Attention.h"
#include "backend-torch/ops/Operation.h"

#include <algorithm>

namespace quern {

namespace {
class AttentionFinder {
public:
  explicit AttentionFinder(const Graph &graph);
  std::vector<int> run();

private:
  bool isInner(ValueId value) const;
  bool findScores(ValueId value);
  bool findProduct(ValueId value);

  const Graph &graph;
  std::vector<std::vector<int>> users; ///< of each value
  std::vector<bool> isOutput;
  std::vector<int> path; ///< the nodes of the attention that is looked for
};
} // namespace

AttentionFinder::AttentionFinder(const Graph &graph)
    : graph(graph), users(graph.values.size()), isOutput(graph.values.size()) {
  for (std::size_t i = 0; i != graph.nodes.size(); ++i)
    for (ValueId operand : graph.operands(graph.nodes[i]))
      users[operand].push_back(static_cast<int>(i));
  for (const GraphOutput &output : graph.outputs)
    if (output.kind == GraphArgument::Kind::Value)
      isOutput[output.integer] = true;
}

static bool isProduct(const Node &node) {
  return node.overload == "aten::mm" || node.overload == "aten::bmm";
}

static bool isSoftmax(const Graph &graph, const Node &node) {
  if (node.overload != "aten::_softmax")
    return false;
  const TensorFacts *facts = graph.values[node.results[0]].tensor();
  const GraphArgument *dim = graph.argument(node, "dim");
  if (!facts || facts->type != DType::F32 || !dim)
    return false;
  auto rank = static_cast<std::int64_t>(facts->sizes.size());
  return dim->integer == -1 || dim->integer == rank - 1;
}

/// Computed by a plain call, and read by one.
bool AttentionFinder::isInner(ValueId value) const {
  const Node &node = graph.producer(value);
  return users[value].size() == 1 && !isOutput[value] &&
         node.kind == NodeKind::Call && !node.mutates && !node.isRandom &&
         node.results.size() == 1 && graph.values[value].tensor();
}

static bool isSameShape(const Graph &graph, ValueId a, ValueId b) {
  return graph.values[a].tensor()->sizes == graph.values[b].tensor()->sizes;
}

/// Back from the softmax's operand, through views and whatever keeps the shape.
bool AttentionFinder::findScores(ValueId value) {
  constexpr std::size_t longest = 16;
  if (!isInner(value) || path.size() > longest)
    return false;
  int index = graph.values[value].node;
  const Node &node = graph.nodes[index];
  path.push_back(index);
  if (isProduct(node))
    return true;
  bool isView = viewKindOf(node.overload).has_value();
  for (ValueId operand : graph.operands(node))
    if (graph.values[operand].tensor() &&
        (isView || isSameShape(graph, operand, value)) && findScores(operand))
      return true;
  path.pop_back();
  return false;
}

/// On to the product that has the value, or a view of it, on its left.
bool AttentionFinder::findProduct(ValueId value) {
  while (isInner(value)) {
    int index = users[value].front();
    const Node &node = graph.nodes[index];
    path.push_back(index);
    if (isProduct(node))
      return graph.operands(node).front() == value;
    if (!viewKindOf(node.overload) && node.overload != "aten::clone")
      return false;
    value = node.results[0];
  }
  return false;
}

std::vector<int> AttentionFinder::run() {
  std::vector<int> result(graph.nodes.size(), -1);
  int count = 0;
  for (std::size_t i = 0; i != graph.nodes.size(); ++i) {
    const Node &node = graph.nodes[i];
    if (node.kind != NodeKind::Call || !isSoftmax(graph, node))
      continue;
    path = {static_cast<int>(i)};
    if (!findScores(
            static_cast<ValueId>(graph.argument(node, "self")->integer)) ||
        !findProduct(node.results[0]))
      continue;
    for (int member : path)
      result[member] = count;
    ++count;
  }
  return result;
}

std::vector<int> findAttention(const Graph &graph) {
  return AttentionFinder(graph).run();
}

} // namespace quern
