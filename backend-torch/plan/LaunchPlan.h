// The flat list of steps that runs a graph: what the executor walks through.
#pragma once

#include "backend-torch/groups/FusionPlan.h"
#include "backend-torch/program/Program.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <memory>

namespace quern {

/// An argument as a step needs it: a ready value, or how to make one.
struct ArgumentTemplate {
  enum class Kind : std::uint8_t {
    Fixed,
    Slot,
    Turned, ///< a slot's matrix, transposed
    Number,
    List
  };
  Kind kind = Kind::Fixed;
  c10::IValue fixed;
  ValueId slot = -1;
  Size size = 0;
  c10::TypePtr type; ///< of a number; of the elements of a list
  std::vector<ArgumentTemplate> list;
};

/// Gives a symbol its value from what a step or the caller brought.
struct SymbolBinding {
  enum class From : std::uint8_t { Scalar, Extent, Stride, Offset };
  int symbol = 0;
  ValueId slot = 0;
  From from = From::Scalar;
  int axis = 0;
  std::int64_t divisor = 1; ///< what was brought is so many times the symbol
};

/// What a step leaves behind, and the strides the tracer promised for it.
struct StepResult {
  ValueId slot = -1;
  /// The traced program relies on these strides; empty: not checked.
  std::vector<Size> strides;
  /// torch's number of the type that the traced program relies on, -1: on none.
  std::int8_t scalarType = -1;
  /// Whether a kernel reads it, or nobody but the tracer says what it is: it is
  /// compared with what was traced.
  bool isChecked = false;
};

/// A call through the dispatcher, or of a Python callable (`host`); or memory
/// for the results.
struct CallStep {
  std::optional<c10::OperatorHandle> op;
  int host = -1;
  std::vector<ArgumentTemplate> arguments;
  std::vector<StepResult> results;
  bool returnsList = false;
  int given = -1;  ///< the argument that the executor makes for the result
  int viewOf = -1; ///< the argument that results are views of, by the schema

  bool isAllocation() const { return !op && host < 0; }
};

struct Step {
  CallStep call;
  int kernel = -1; ///< a launch of this kernel instead of a call
  int node = -1;   ///< of the graph, for messages and traces
  bool isView = false;
  std::vector<SymbolBinding> bindings; ///< after the step ran
  std::vector<int> assumptions;        ///< of the graph, looked at after that
  std::vector<ValueId> frees;          ///< read for the last time here
};

struct LaunchPlan {
  std::shared_ptr<const FusionPlan> fusion;
  std::shared_ptr<const Graph> graph;
  /// Graph inputs that kernels read: their strides are looked at in each call.
  std::vector<ValueId> kernelInputs;
  /// Graph inputs that kernels write.
  std::vector<ValueId> kernelTargets;
  std::vector<SymbolBinding> inputBindings;
  std::vector<int> inputAssumptions;
  std::vector<ValueId> unusedInputs;
  std::vector<ValueId> seeds; ///< drawn when the call begins
  std::vector<Step> steps;
  /// By kernel, the inputs that it reads through an `as_strided`, which may
  /// look at memory behind the tensor.
  std::vector<std::vector<std::size_t>> windows;
  /// By kernel, the inputs whose memory nothing reads after it, nor the kernel
  /// itself through another input.
  std::vector<std::vector<std::size_t>> dying;
};

/// Lays out the steps of a graph. Throws what libtorch throws where an
/// operator is not known to the dispatcher.
LaunchPlan makePlan(std::shared_ptr<const FusionPlan> fusion,
                    const Program &program);

std::string print(const LaunchPlan &plan);
/// What every call is compared with, a line each.
std::string printAssumptions(const LaunchPlan &plan);

} // namespace quern
