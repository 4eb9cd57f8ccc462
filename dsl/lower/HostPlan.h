// What the host computes from a packet before it launches anything.
#pragma once

#include "dsl/KernelAbi.h"
#include "dsl/dialect/Dialect.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "llvm/ADT/DenseMap.h"

namespace quern {

/// What is said of values that are no such steps.
constexpr llvm::StringLiteral notOfHost =
    "how a kernel is launched is computed from integers by arithmetic and "
    "comparisons";

/// Makes steps for the host of operations on integers.
class HostPlanBuilder {
public:
  /// The number of the packet's word that a value is; nothing for others.
  using WordOf = llvm::function_ref<std::optional<unsigned>(mlir::Value)>;

  explicit HostPlanBuilder(WordOf wordOf) : wordOf(wordOf) {}

  /// Steps whose results are `values`; nothing where one of them is not made
  /// of words by integer arithmetic and comparisons.
  std::optional<HostPlan> build(mlir::ValueRange values);

private:
  using Kind = HostStep::Kind;
  std::optional<std::uint32_t> stepOf(mlir::Value value);
  std::optional<std::uint32_t> make(mlir::Operation *op);
  std::uint32_t add(Kind kind, llvm::ArrayRef<std::uint32_t> operands,
                    std::int64_t value = 0);
  std::uint32_t signedFrom(std::uint32_t step, unsigned width);
  std::optional<std::uint32_t> divided(mlir::Operation *op, std::uint32_t a,
                                       std::uint32_t b);
  std::uint32_t leadingZeros(std::uint32_t step, unsigned width);
  std::uint32_t compared(mlir::Operation *op, std::uint32_t a, std::uint32_t b);

  WordOf wordOf;
  HostPlan made;
  llvm::DenseMap<mlir::Value, std::uint32_t> steps;
};

/// The steps that compute what a function of a packet and numbers writes to the
/// numbers, from the words that it loads; nothing after a diagnostic.
std::optional<HostPlan> readPlan(mlir::LLVM::LLVMFuncOp function);

/// The name of the plan function of the launch that has the task.
std::string planOf(llvm::StringRef task);

/// Reads the plan function of a launch; false after a diagnostic.
bool takePlan(mlir::ModuleOp module, LaunchEntry &launch);

/// Erases the plan functions of a kernel once they have been read.
void erasePlans(mlir::ModuleOp module, const KernelAbi &abi);

} // namespace quern
