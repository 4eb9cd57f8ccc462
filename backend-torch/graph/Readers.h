// Who reads each value of a graph.
#pragma once

#include "backend-torch/graph/Graph.h"

namespace quern {

struct Readers {
  explicit Readers(const Graph &graph);

  std::vector<std::vector<int>> nodes; ///< that read each value, in order
  std::vector<bool> isOutput;          ///< of each value
};

/// Says of every value whether anybody reads it.
void noteRead(Graph &graph);

} // namespace quern
