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
  /// An output that goes into memory others write to as well, or that exists
  /// already.
  bool isPlaced = false;
};

/// What a parameter is given.
struct KernelArgument {
  enum class Kind : std::uint8_t {
    Absent,
    Tensor,
    Integers,
    Reals,
    Bool,
    Text
  };
  Kind kind = Kind::Absent;
  bool isList = false;             ///< Tensor, Integers, Reals
  std::size_t input = 0;           ///< Tensor: which of the inputs
  std::size_t count = 1;           ///< Tensor: how many from there, of a list
  std::vector<Size> integers = {}; ///< known when the kernel is bound
  std::vector<Size> reals = {};    ///< likewise
  bool truth = false;
  std::string text = {};
};

/// A group bound to a declaration of the program or of the library.
struct GroupKernel {
  std::string declaration;
  std::string module; ///< of the library; empty: the program's own
  std::vector<KernelOperand> inputs;
  std::vector<KernelArgument> arguments; ///< one per run-time parameter
  std::vector<std::pair<std::string, KernelArgument>> constants;
  std::vector<KernelOperand> outputs;
  DeviceId device; ///< where all of them are
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
