// The kernels of one graph: made from its program, bound for given sizes.
#pragma once

#include "backend-torch/compiled/Compiler.h"
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
  std::vector<std::int64_t> numbers;
};

BoundShape shapeOf(const GroupKernel &kernel, const SizeTable &sizes,
                   std::span<const SizeValue> symbols);

/// One kernel of a graph for all sizes it is run with. Thread-safe: handles are
/// lent to one call at a time.
class GraphKernel {
public:
  GraphKernel(GroupKernel kernel, std::shared_ptr<const CompiledModule> module)
      : group(std::move(kernel)), module(std::move(module)) {}

  const GroupKernel &operands() const { return group; }

  class Lease {
  public:
    Lease(GraphKernel &owner, const BoundShape &shape,
          std::unique_ptr<LaunchHandle> handle)
        : owner(owner), shape(shape), handle(std::move(handle)) {}
    Lease(Lease &&) = default;
    ~Lease();
    LaunchHandle *operator->() { return handle.get(); }

  private:
    GraphKernel &owner;
    const BoundShape &shape;
    std::unique_ptr<LaunchHandle> handle;
  };
  /// A handle for these sizes, ready to run or not; `shape` must outlive it.
  Result<Lease> lease(const BoundShape &shape);

private:
  Result<std::unique_ptr<LaunchHandle>> bind(const BoundShape &shape) const;
  void giveBack(const BoundShape &shape, std::unique_ptr<LaunchHandle> handle);

  GroupKernel group;
  std::shared_ptr<const CompiledModule> module;
  std::mutex mutex;
  std::map<std::vector<std::int64_t>,
           std::vector<std::unique_ptr<LaunchHandle>>>
      idle;
};

/// What became of a graph's program.
struct GraphKernels {
  std::vector<std::unique_ptr<GraphKernel>> kernels; ///< one per group
  /// Groups that the compiler refused, with its words.
  std::vector<std::pair<int, std::string>> refused;
};

/// Told before each kernel that the calling thread takes up: how many are done,
/// and of how many. What it throws stops the work and reaches the caller.
using Progress = std::function<void(std::size_t done, std::size_t total)>;

/// Compiles every declaration of the program and, where `codeNow` holds, its
/// code for the sizes that were traced. Several at a time.
GraphKernels compileProgram(const Program &program, const SizeTable &sizes,
                            Compiler &compiler, bool codeNow,
                            const Progress &progress = {});

} // namespace quern
