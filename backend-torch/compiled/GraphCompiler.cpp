// Fuses and compiles until the compiler takes every group.
#include "backend-torch/compiled/GraphCompiler.h"
#include "backend-torch/ops/Parting.h"
#include "backend-torch/ops/Repeats.h"

namespace quern {

double lap(std::chrono::steady_clock::time_point &start) {
  auto now = std::chrono::steady_clock::now();
  std::chrono::duration<double> passed = now - start;
  start = now;
  return passed.count();
}

/// A refused group is tried node by node, then as declarations of the library,
/// row by row, then left to ATen.
static void restrict(const FusionPlan &fusion, const Group &group,
                     const std::string &reason, FusionOptions &options) {
  using Level = Restriction::Level;
  const std::vector<int> &nodes = group.draft.nodes();
  for (int node : nodes) {
    auto *call = std::get_if<LibraryCall>(&fusion.analysis->operations[node]);
    Restriction &restriction = options.restricted[node];
    restriction.reason = reason;
    restriction.level = nodes.size() > 1      ? Level::Alone
                        : call && call->whole ? Level::Whole
                                              : Level::Aten;
    restriction.rows += nodes.size() == 1 && group.draft.isWhole();
  }
}

CompiledProgram compileGraph(std::shared_ptr<const Graph> graph,
                             const std::shared_ptr<const OperatorTable> &table,
                             Compiler *compiler, FusionOptions options,
                             bool codeNow, const Watcher &watcher) {
  options.kernels = options.kernels && compiler;
  StageTimes times;
  auto clock = std::chrono::steady_clock::now();
  if (options.kernels)
    graph = partedByRows(withoutRepeats(std::move(graph)), *table);
  while (true) {
    CompiledProgram compiled;
    compiled.table = table;
    auto fusion =
        std::make_shared<FusionPlan>(planFusion(graph, *table, options));
    times.groups += lap(clock);
    compiled.program = writeProgram(*fusion);
    if (watcher.written)
      watcher.written(compiled.program.text);
    times.program += lap(clock);
    if (!options.kernels) {
      compiled.times = times;
      compiled.fusion = std::move(fusion);
      return compiled;
    }
    GraphKernels kernels = compileProgram(compiled.program, *fusion->sizes,
                                          *compiler, codeNow, watcher.progress);
    times.compiled += lap(clock);
    if (kernels.refused.empty()) {
      compiled.times = times;
      compiled.kernels = std::move(kernels.kernels);
      compiled.fusion = std::move(fusion);
      return compiled;
    }
    // Each round takes freedom from nodes, so that the loop ends.
    for (const auto &[group, reason] : kernels.refused)
      restrict(*fusion, fusion->groups[group], reason, options);
  }
}

} // namespace quern
