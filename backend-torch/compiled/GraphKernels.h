// The kernels of one graph: made from its program, bound for given sizes.
#pragma once

#include "backend-torch/compiled/Compiler.h"
#include "backend-torch/compiled/SharedWork.h"
#include "backend-torch/program/Program.h"

#include <functional>

namespace quern {

/// Strides and extents of one kernel's tensors in numbers.
struct BoundShape {
  std::vector<std::int64_t> words; ///< the key: all numbers in a fixed order
  struct Tensor {
    std::vector<std::int64_t> extents, strides;
    std::int64_t offset = 0;
  };
  std::vector<Tensor> inputs, outputs;
  std::vector<Argument> arguments; ///< tensors among them by `inputs`
  std::vector<std::pair<std::string, Argument>> constants;
};

BoundShape shapeOf(const GroupKernel &kernel, const SizeTable &sizes,
                   std::span<const SizeValue> symbols);

/// One kernel of a graph for all sizes it is run with. Thread-safe, and so are
/// its handles.
class GraphKernel {
public:
  GraphKernel(GroupKernel kernel, std::shared_ptr<const CompiledModule> module)
      : group(std::move(kernel)), module(std::move(module)) {}

  const GroupKernel &operands() const { return group; }

  /// The handle for these sizes, bound when they are first asked for; its code
  /// may still have to be made.
  Result<std::shared_ptr<LaunchHandle>> handle(const BoundShape &shape);

private:
  Result<std::unique_ptr<LaunchHandle>> bind(const BoundShape &shape) const;

  GroupKernel group;
  std::shared_ptr<const CompiledModule> module;
  BriefMutex mutex;
  std::map<std::vector<std::int64_t>, std::shared_ptr<LaunchHandle>> handles;
};

/// What became of a graph's program.
struct GraphKernels {
  std::vector<std::unique_ptr<GraphKernel>> kernels; ///< one per group
  /// Groups that the compiler refused, with its words.
  std::vector<std::pair<int, std::string>> refused;
};

/// Compiles every declaration of the program and, where `codeNow` holds, its
/// code for the sizes that were traced. Several at a time.
GraphKernels compileProgram(const Program &program, const SizeTable &sizes,
                            Compiler &compiler, bool codeNow,
                            const Progress &progress = {});

/// Makes the code of kernels that have none for the sizes that were traced.
/// Several at a time; what is refused is said when it is launched.
void makeCode(std::span<const std::unique_ptr<GraphKernel>> kernels,
              const SizeTable &sizes, const Progress &progress);

} // namespace quern
