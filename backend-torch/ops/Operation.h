// What the compiler can do with a node: a library call, a primitive, a view,
// or nothing, with the reason.
#pragma once

#include "backend-torch/graph/Graph.h"
#include "backend-torch/ops/Pattern.h"

#include <map>

namespace quern {

enum class ViewKind : std::uint8_t {
  Reshape,
  Permute,
  Transpose,
  Expand,
  Part,
  Window,
  Retype
};
enum class Primitive : std::uint8_t { Copy, Cast, Fill };

std::optional<ViewKind> viewKindOf(std::string_view overload);

/// The first operator of the table that is a view of this kind.
const char *nameOf(ViewKind kind);
std::optional<Primitive> primitiveOf(std::string_view overload);
/// The first operator of that form.
const char *nameOf(Primitive kind);

/// One argument of a call in the generated program.
struct CallOperand {
  enum class Kind : std::uint8_t { Value, Number, Symbolic, Absent };
  Kind kind = Kind::Absent;
  ValueId value = -1;
  std::string literal; ///< Number: as the language writes it
  Size size = 0;       ///< Symbolic: an i64 or f64 given at run time
  TypePattern pattern; ///< of the parameter
  /// Value: the type it is cast to first.
  std::optional<DType> cast;
};

/// A tensor as a declaration's pattern names its dimensions.
struct WholeTensor {
  ValueId value = -1;
  /// The value's dimensions in the pattern's order; -1: an extent of 1.
  std::vector<int> dims;
  /// Where a dimension is -1: the extent it is spread along, if any. Empty
  /// where there is none.
  std::vector<std::optional<Size>> along = {};
};

/// One argument of a declaration that is launched as it is.
struct WholeArgument {
  enum class Kind : std::uint8_t {
    Absent,
    Tensor,
    Integers,
    Reals,
    Bool,
    Text
  };
  Kind kind = Kind::Absent;
  bool isList = false; ///< Tensor, Integers, Reals: several
  std::vector<WholeTensor> tensors = {};
  std::vector<GraphArgument> integers = {}, reals = {}; ///< numbers and sizes
  bool truth = false;
  std::string text = {};
};

/// A declaration of the library that is bound and launched by itself.
struct WholeCall {
  std::vector<WholeArgument> arguments; ///< of the run-time parameters
  /// Compile-time arguments, and the number of axes of packs: `R = 2`.
  std::vector<std::pair<std::string, WholeArgument>> constants;
  std::vector<WholeTensor> results; ///< those that are present
};

/// A node as a call of a library declaration.
struct LibraryCall {
  const OperatorRow *row = nullptr;
  /// How the declaration is launched by itself, or why it cannot be.
  std::optional<WholeCall> whole;
  std::string whyNotWhole;
  /// Why the call cannot be written into a fused group; else empty.
  std::string whyNotFused;
  std::vector<CallOperand> operands;
  std::vector<TypePattern> results;
  /// Type that the declaration gives each result before a cast to the traced.
  std::vector<DType> resultTypes;
  /// Type parameters that no operand decides: `[U = f32]`.
  std::vector<std::pair<std::string, DType>> typeArguments;
  /// Other compile-time arguments as the language writes them.
  std::vector<std::pair<std::string, std::string>> constants;
  /// Dimensions that the attribute's axis binding selects, in order.
  std::string axis;
  bool axisIsPack = false;
  std::vector<int> selected;
};

struct PrimitiveCall {
  Primitive kind = Primitive::Copy;
  ValueId operand = -1;                    ///< Copy, Cast
  std::string literal;                     ///< Fill, where the value is known
  std::optional<Size> size = std::nullopt; ///< Fill, where the call brings it
};

/// Why a node is no kernel's: for want of one, because ATen is faster, because
/// only ATen draws eager's random numbers, or because there is nothing to
/// compute.
enum class OpaqueKind : std::uint8_t {
  Fallback,
  Preferred,
  Random,
  Allocation
};

struct Opaque {
  std::string reason;
  OpaqueKind kind = OpaqueKind::Fallback;
};

/// Whether the overload asks for a number that the graph's sizes know.
bool isSymbolic(std::string_view overload);

/// Whether the overload only asserts a condition on sizes.
bool isAssertion(std::string_view overload);

/// Whether the overload only takes memory.
bool isAllocation(std::string_view overload);

struct ViewOf {
  ViewKind kind = ViewKind::Window;
  ValueId source = -1;
};

/// Tensors copied to their places in another: a concatenation, or a write into
/// an argument.
struct Placement {
  ValueId target = -1;
  std::vector<ValueId> parts;
  /// The dimension along which parts follow each other; -1: one part is all.
  int dim = -1;
};

using Operation =
    std::variant<Opaque, ViewOf, PrimitiveCall, LibraryCall, Placement>;

/// The rows of the library by overload, and the machine that they are made
/// code for.
class OperatorTable {
public:
  explicit OperatorTable(std::vector<OperatorRow> rows,
                         MachineInfo machine = {});
  const std::vector<const OperatorRow *> *find(std::string_view overload) const;
  std::vector<std::string> overloads() const;
  bool hasKernels() const { return !rows.empty(); }
  const MachineInfo &machine() const { return ownMachine; }

private:
  std::vector<OperatorRow> rows;
  MachineInfo ownMachine;
  std::map<std::string, std::vector<const OperatorRow *>, std::less<>> byName;
};

/// What a node fills its result with, if that is one number; a group may
/// compute such a result anew instead of reading it.
std::optional<PrimitiveCall> fillOf(const Graph &graph, const Node &node,
                                    const Operation &operation);

/// Finds out what a node of the graph is. The compiler has refused the first
/// `refused` rows that take it.
Operation classify(const Graph &graph, const Node &node,
                   const OperatorTable &table, bool preferAten,
                   int refused = 0);

} // namespace quern
