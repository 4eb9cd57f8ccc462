// One pass over the nodes and the outputs.
#include "backend-torch/graph/Readers.h"

namespace quern {

Readers::Readers(const Graph &graph)
    : nodes(graph.values.size()), isOutput(graph.values.size()) {
  for (std::size_t i = 0; i != graph.nodes.size(); ++i)
    for (ValueId operand : graph.operands(graph.nodes[i]))
      nodes[operand].push_back(static_cast<int>(i));
  for (const GraphOutput &output : graph.outputs)
    if (output.kind == GraphArgument::Kind::Value)
      isOutput[output.integer] = true;
}

void noteRead(Graph &graph) {
  Readers readers(graph);
  for (std::size_t id = 0; id != graph.values.size(); ++id)
    graph.values[id].isRead =
        readers.isOutput[id] || !readers.nodes[id].empty();
}

} // namespace quern
