// The Quern text of a graph: one declaration per distinct group.
#pragma once

#include "backend-torch/groups/FusionPlan.h"

namespace quern {

/// A tensor of a group as its declaration sees it.
struct KernelOperand {
  ValueId value = -1;
  ValueId base = -1; ///< the tensor that owns the memory
  DType type = DType::F32;
  std::vector<Size> extents, strides; ///< of the declaration's axes
  Size offset = 0;                    ///< elements from the base's first one
};

/// A group bound to a declaration of the program.
struct GroupKernel {
  std::string declaration;
  std::vector<KernelOperand> inputs;
  std::vector<Size> numbers; ///< run-time integers, behind the tensors
  std::vector<KernelOperand> outputs;
};

struct Program {
  std::string text;
  /// Every declaration as a text of its own, by name.
  std::map<std::string, std::string> units;
  /// One per group of the plan, in its order. Equal groups share a declaration.
  std::vector<GroupKernel> kernels;
};

Program writeProgram(const FusionPlan &plan);

} // namespace quern
