// A call solved: what the code depends on, and the words of its packet.
#pragma once

#include "dsl/Specialization.h"
#include "frontend/typed/Declaration.h"
#include "jit/Jit.h"
#include "jit/bind/Report.h"

#include "llvm/ADT/SmallVector.h"

#include <string>
#include <utility>
#include <vector>

namespace quern::jit {

using Extents = llvm::SmallVector<std::int64_t, 6>;

/// One operand of the Specialization: tensor parameters, then results.
struct Operand {
  std::string name;
  ElementType type = ElementType::F32;
  bool present = true;
  bool isResult = false;
  bool isWritten = false;
  bool isNumber = false; ///< given as a number: `bits` holds the element
  std::uint64_t bits[2] = {0, 0};
  Extents sizes, strides; ///< as given, one per axis
  void *data = nullptr;   ///< null while only shapes are known
  Span span;
};

/// The concrete axes of one declared axis, or the axes of an `elementwise`.
struct AxisGroup {
  Extents extents;
  bool solved = false;
  std::string origin; ///< the parameter that said so
};

/// An axis that `concat` joins lists along: its extent in every tensor of them.
struct JoinedAxis {
  typed::AxisId axis;
  std::vector<AxisGroup> parts;
};

/// Everything known after types and axes are solved, before collapsing.
struct Solution {
  std::vector<ElementType> types;
  std::vector<ConstantArgument> constants;
  std::vector<AxisGroup> axes; ///< by AxisId; local axes stay empty
  std::vector<JoinedAxis> joined;
  std::vector<std::uint16_t> listLengths; ///< of the lists in order
  AxisGroup lifted;                       ///< of an `elementwise`
  std::vector<Operand> operands;
  /// Flat, lists spread; behind them the extents of parts of joined axes.
  std::vector<std::uint64_t> scalars;
};

/// The call in the compiler's terms.
struct Binding {
  Specialization specialization;
  Extents extents; ///< of every concrete axis
  std::vector<llvm::SmallVector<std::int64_t, 4>> strides; ///< per operand
  std::vector<std::uint64_t> scalars;
  std::vector<Operand> operands;
  std::vector<TensorSpec> outputs;
  /// There is no element to compute.
  bool isEmpty = false;
};

/// The request as it came.
struct CallRequest {
  const typed::Declaration &declaration;
  llvm::ArrayRef<Argument> arguments;
  llvm::ArrayRef<TensorView> outs;
  llvm::ArrayRef<std::pair<std::string, Argument>> constants;
  /// Without `outs`: what the results are to lie like, by number. One of
  /// another shape or type, or that leaves memory out, is contiguous.
  llvm::ArrayRef<TensorView> likes = {};
  /// Others that are images lie channels-last where an argument does, as a step
  /// inside an `op` may: nobody sees how its temporaries lie.
  bool keepsImages = false;
};

/// A tensor of these sizes can lie in memory, each element in a place of its
/// own: strides, counts and distances in bytes are numbers of 63 bits.
bool isAddressable(llvm::ArrayRef<std::int64_t> sizes, ElementType type);

/// Whether a tensor has every element of its memory once: it is contiguous with
/// its axes in some order.
bool isDense(llvm::ArrayRef<std::int64_t> sizes,
             llvm::ArrayRef<std::int64_t> strides);

/// The tensors of an argument: one, those of a list, or none.
llvm::ArrayRef<TensorView> tensorsOf(const Argument &argument);

/// "the CPU", "CUDA device 1".
std::string deviceText(DeviceId device);

/// Where all tensors of a call are; nothing after a report.
std::optional<DeviceId> commonDevice(const CallRequest &request,
                                     DiagnosticEngine &report);

/// Which axes code may see the positions of, so that they must stay as they
/// are; found once for each declaration.
struct Observed {
  std::vector<bool> axes; ///< by AxisId
  /// Axes that the text names otherwise than in joining a list along them.
  std::vector<bool> named;
  /// Packs that something portable is added up along: the order of its steps
  /// follows their extents, whatever layout the operands have.
  std::vector<bool> inOrder;
  bool linearIndex = false; ///< an `elementwise` asks for `index()`
  std::vector<bool> own;    ///< by parameter, of the declaration itself
};
Observed observe(const typed::Declaration &declaration);

/// By parameter, whether it is read only where the element that is written
/// lies, before that is written: a result that lies as it does may take its
/// memory. Of an `elementwise` all are, of a `rowwise` those that it reads at
/// no other position, if it makes no value of several elements and all results
/// lie along the parameter's axes.
std::vector<bool> ownElements(const typed::Declaration &declaration);

/// The steps of a binding; each reports what is wrong and returns false.
bool solveTypes(const CallRequest &request, Solution &solution,
                DiagnosticEngine &report);
bool solveConstants(const CallRequest &request, Solution &solution,
                    DiagnosticEngine &report);
bool solveScalars(const CallRequest &request, Solution &solution,
                  DiagnosticEngine &report);
bool solveAxes(const CallRequest &request, Solution &solution,
               DiagnosticEngine &report);
bool solveOutputs(const CallRequest &request, Solution &solution,
                  DiagnosticEngine &report);
/// Broadcasts, merges and drops axes, and chooses stride classes.
Binding collapse(const typed::Declaration &declaration,
                 const Observed &observed, Solution solution);

/// All of it.
std::optional<Binding> bindCall(const CallRequest &request,
                                const Observed &observed,
                                DiagnosticEngine &report);

} // namespace quern::jit
