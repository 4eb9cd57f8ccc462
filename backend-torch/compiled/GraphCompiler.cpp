// Fuses and compiles until the compiler takes every group.
#include "backend-torch/compiled/GraphCompiler.h"

namespace quern {

/// A refused group is tried node by node, then as declarations of the library,
/// then left to ATen.
static void restrict(const FusionPlan &fusion, const Draft &draft,
                     const std::string &reason, FusionOptions &options) {
  using Level = Restriction::Level;
  for (int node : draft.nodes()) {
    auto *call = std::get_if<LibraryCall>(&fusion.analysis->operations[node]);
    Level level = draft.isWhole()            ? Level::Aten
                  : draft.nodes().size() > 1 ? Level::Alone
                  : call && call->whole      ? Level::Whole
                                             : Level::Aten;
    options.restricted[node] = {level, reason};
  }
}

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
    // Each round takes freedom from nodes, so that the loop ends.
    for (const auto &[group, reason] : kernels.refused)
      restrict(*fusion, fusion->groups[group].draft, reason, options);
  }
}

} // namespace quern
