// Walks from a row-wise operator back to one product and forward to another.
#include "backend-torch/ops/Attention.h"
#include "backend-torch/graph/Readers.h"

#include <algorithm>

namespace quern {

namespace {
class AttentionFinder {
public:
  AttentionFinder(const Graph &graph, const std::vector<Operation> &operations,
                  const OperatorTable &table)
      : graph(graph), operations(operations), table(table), readers(graph) {}
  std::vector<int> run();

private:
  bool isProduct(const Node &node) const;
  std::optional<ValueId> rowsOf(int index) const;
  bool isInner(ValueId value) const;
  bool isView(int index) const;
  bool isCopy(int index) const;
  bool findScores(ValueId value);
  bool findProduct(ValueId value);

  const Graph &graph;
  const std::vector<Operation> &operations;
  const OperatorTable &table;
  const Readers readers;
  std::vector<int> path; ///< the nodes of the attention that is looked for
};
} // namespace

static bool hasAxis(const TypePattern &pattern, const AxisPattern &axis) {
  return std::find(pattern.axes.begin(), pattern.axes.end(), axis) !=
         pattern.axes.end();
}

/// Two tensors, one result, and an axis of both that is summed away.
static bool isProductRow(const OperatorRow &row) {
  std::vector<TypePattern> tensors;
  for (const ParameterInfo &parameter : row.parameters)
    if (TypePattern pattern = parsePattern(parameter.type); pattern.hasAxes)
      tensors.push_back(std::move(pattern));
  if (tensors.size() != 2 || row.results.size() != 1)
    return false;
  TypePattern result = parsePattern(row.results[0]);
  return std::any_of(tensors[0].axes.begin(), tensors[0].axes.end(),
                     [&](const AxisPattern &axis) {
                       return hasAxis(tensors[1], axis) &&
                              !hasAxis(result, axis);
                     });
}

bool AttentionFinder::isProduct(const Node &node) const {
  const std::vector<const OperatorRow *> *rows = table.find(node.overload);
  return rows && isProductRow(*rows->front());
}

/// What a row-wise operator reads that works along its operand's last dimension
/// and keeps its shape; nothing for other nodes.
std::optional<ValueId> AttentionFinder::rowsOf(int index) const {
  const auto *call = std::get_if<LibraryCall>(&operations[index]);
  if (!call || !call->row || call->row->kind != DeclarationKind::Rowwise ||
      call->selected.size() != 1)
    return std::nullopt;
  const Node &node = graph.nodes[index];
  std::vector<ValueId> operands = graph.operands(node);
  if (operands.size() != 1 || node.results.size() != 1)
    return std::nullopt;
  const TensorFacts *from = graph.values[operands[0]].tensor();
  const TensorFacts *to = graph.values[node.results[0]].tensor();
  if (!from || !to || from->sizes != to->sizes || to->type != DType::F32 ||
      call->selected[0] + 1 != static_cast<int>(to->sizes.size()))
    return std::nullopt;
  return operands[0];
}

bool AttentionFinder::isView(int index) const {
  const auto *view = std::get_if<ViewOf>(&operations[index]);
  return view && view->kind != ViewKind::Retype;
}

bool AttentionFinder::isCopy(int index) const {
  const auto *primitive = std::get_if<PrimitiveCall>(&operations[index]);
  return primitive && primitive->kind == Primitive::Copy;
}

/// Computed by a plain call, and read by one.
bool AttentionFinder::isInner(ValueId value) const {
  const Node &node = graph.producer(value);
  return readers.nodes[value].size() == 1 && !readers.isOutput[value] &&
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
  for (ValueId operand : graph.operands(node))
    if (graph.values[operand].tensor() &&
        (isView(index) || isSameShape(graph, operand, value)) &&
        findScores(operand))
      return true;
  path.pop_back();
  return false;
}

/// On to the product that has the value, or a view of it, on its left.
bool AttentionFinder::findProduct(ValueId value) {
  while (isInner(value)) {
    int index = readers.nodes[value].front();
    const Node &node = graph.nodes[index];
    path.push_back(index);
    if (isProduct(node))
      return graph.operands(node).front() == value;
    if (!isView(index) && !isCopy(index))
      return false;
    value = node.results[0];
  }
  return false;
}

std::vector<int> AttentionFinder::run() {
  std::vector<int> result(graph.nodes.size(), -1);
  int count = 0;
  for (std::size_t i = 0; i != graph.nodes.size(); ++i) {
    int index = static_cast<int>(i);
    std::optional<ValueId> scores = rowsOf(index);
    if (!scores)
      continue;
    path = {index};
    if (!findScores(*scores) || !findProduct(graph.nodes[i].results[0]))
      continue;
    for (int member : path)
      result[member] = count;
    ++count;
  }
  return result;
}

std::vector<int> findAttention(const Graph &graph,
                               const std::vector<Operation> &operations,
                               const OperatorTable &table) {
  return AttentionFinder(graph, operations, table).run();
}

} // namespace quern
