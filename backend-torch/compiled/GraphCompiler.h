// Graph → fused, printed and compiled: the stages of one graph in order.
#pragma once

#include "backend-torch/compiled/GraphKernels.h"

#include <chrono>

namespace quern {

/// Seconds that the stages of one graph took.
struct StageTimes {
  double groups = 0, program = 0, compiled = 0, plan = 0;
};

struct CompiledProgram {
  /// The fusion's calls point to its rows: a later module makes a new table.
  std::shared_ptr<const OperatorTable> table;
  std::shared_ptr<const FusionPlan> fusion;
  Program program;
  std::vector<std::unique_ptr<GraphKernel>> kernels;
  StageTimes times;
};

/// Who looks on while a graph is compiled.
struct Watcher {
  /// Told the text of the program before any kernel of it is made.
  std::function<void(const std::string &text)> written;
  Progress progress;
};

/// Groups that the compiler refuses go to ATen with its words as the reason.
/// `compiler` is null where every node is to run through ATen.
CompiledProgram compileGraph(std::shared_ptr<const Graph> graph,
                             const std::shared_ptr<const OperatorTable> &table,
                             Compiler *compiler, FusionOptions options,
                             bool codeNow, const Watcher &watcher = {});

/// Seconds since `start`, which becomes now.
double lap(std::chrono::steady_clock::time_point &start);

} // namespace quern
