// Looks at all tensors of a node.
#include "backend-torch/ops/Devices.h"

namespace quern {

static std::vector<const TensorFacts *> tensorsOf(const Graph &graph,
                                                  const Node &node) {
  std::vector<ValueId> ids = node.results;
  for (ValueId operand : graph.operands(node))
    ids.push_back(operand);
  std::vector<const TensorFacts *> tensors;
  for (ValueId id : ids)
    if (const TensorFacts *facts = graph.values[id].tensor())
      tensors.push_back(facts);
  return tensors;
}

DeviceId deviceOf(const Graph &graph, const Node &node) {
  for (const TensorFacts *facts : tensorsOf(graph, node))
    if (facts->memory)
      return *facts->memory;
  return {};
}

bool isOnHost(const Graph &graph, const Node &node) {
  return deviceOf(graph, node) == DeviceId();
}

bool isAtensOnDevice(const Graph &graph, const Node &node) {
  return node.overload.starts_with("aten::") && !isOnHost(graph, node);
}

std::optional<std::string> whyNoDevice(const Graph &graph, const Node &node) {
  std::vector<const TensorFacts *> tensors = tensorsOf(graph, node);
  for (const TensorFacts *facts : tensors) {
    if (!facts->memory)
      return "it runs on " + facts->device;
    if (facts->memory != tensors.front()->memory)
      return "its tensors lie on " + tensors.front()->device + " and on " +
             facts->device;
  }
  return std::nullopt;
}

} // namespace quern
