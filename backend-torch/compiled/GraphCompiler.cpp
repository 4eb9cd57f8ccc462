// Fuses and compiles until the compiler takes every group.
#include "backend-torch/compiled/GraphCompiler.h"

namespace quern {

double lap(std::chrono::steady_clock::time_point &start) {
  auto now = std::chrono::steady_clock::now();
  std::chrono::duration<double> passed = now - start;
  start = now;
  return passed.count();
}

CompiledProgram compileGraph(std::shared_ptr<const Graph> graph,
                             const OperatorTable &table, Compiler *compiler,
                             FusionOptions options, bool codeNow,
                             const Progress &progress) {
  options.kernels = options.kernels && compiler;
  StageTimes times;
  auto clock = std::chrono::steady_clock::now();
  while (true) {
    CompiledProgram compiled;
    auto fusion =
        std::make_shared<FusionPlan>(planFusion(graph, table, options));
    times.groups += lap(clock);
    compiled.program = writeProgram(*fusion);
    times.program += lap(clock);
    if (!options.kernels) {
      compiled.times = times;
      compiled.fusion = std::move(fusion);
      return compiled;
    }
    GraphKernels kernels = compileProgram(compiled.program, *fusion->sizes,
                                          *compiler, codeNow, progress);
    times.compiled += lap(clock);
    if (kernels.refused.empty()) {
      compiled.times = times;
      compiled.kernels = std::move(kernels.kernels);
      compiled.fusion = std::move(fusion);
      return compiled;
    }
    // Each round takes nodes out, so that the loop ends.
    for (const auto &[group, reason] : kernels.refused)
      for (int node : fusion->groups[group].draft.nodes())
        options.refused.emplace(node, reason);
  }
}

} // namespace quern
