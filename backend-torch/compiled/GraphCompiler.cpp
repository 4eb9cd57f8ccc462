// Fuses and compiles until the compiler takes every group.
#include "backend-torch/compiled/GraphCompiler.h"

namespace quern {

CompiledProgram compileGraph(std::shared_ptr<const Graph> graph,
                             const OperatorTable &table, Compiler *compiler,
                             FusionOptions options, bool codeNow) {
  options.kernels = options.kernels && compiler;
  while (true) {
    CompiledProgram compiled;
    auto fusion =
        std::make_shared<FusionPlan>(planFusion(graph, table, options));
    compiled.program = writeProgram(*fusion);
    if (!options.kernels) {
      compiled.fusion = std::move(fusion);
      return compiled;
    }
    GraphKernels kernels =
        compileProgram(compiled.program, *fusion->sizes, *compiler, codeNow);
    if (kernels.refused.empty()) {
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
