// Graph → fused, printed and compiled: the stages of one graph in order.
#pragma once

#include "backend-torch/compiled/GraphKernels.h"

namespace quern {

struct CompiledProgram {
  std::shared_ptr<const FusionPlan> fusion;
  Program program;
  std::vector<std::unique_ptr<GraphKernel>> kernels;
};

/// Groups that the compiler refuses go to ATen with its words as the reason.
/// `compiler` is null where every node is to run through ATen.
CompiledProgram compileGraph(std::shared_ptr<const Graph> graph,
                             const OperatorTable &table, Compiler *compiler,
                             FusionOptions options, bool codeNow);

} // namespace quern
