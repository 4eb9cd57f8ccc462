// One traced graph as plain data: nodes, tensor facts, aliases, sizes.
#pragma once

#include "backend-torch/graph/SizeTable.h"
#include "jit/Jit.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace quern {

/// Index of a value of a Graph.
using ValueId = std::int32_t;

/// What the tracer promised of a tensor.
struct TensorFacts {
  std::int8_t scalarType = 0; ///< torch's own number of the element type
  std::optional<DType> type;  ///< absent: a type the compiler does not know
  std::int8_t bytes = 0;      ///< of one element
  std::vector<Size> sizes;
  std::vector<Size> strides;
  Size offset = 0;
  std::string device;             ///< as torch names it
  std::optional<DeviceId> memory; ///< absent: one where no kernel can run
  /// Values with one number share their memory.
  int storage = -1;
  bool isStrided = true; ///< false: sparse, quantized and the like
};

/// A host number: a SymInt, SymFloat or SymBool.
struct ScalarFacts {
  enum class Kind : std::uint8_t { Int, Float, Bool } kind = Kind::Int;
  Size value = 0;
};

/// A tensor, a host number, or something only the runtime understands.
using Facts = std::variant<std::monostate, TensorFacts, ScalarFacts>;

/// An argument of a node. `integer` also holds the number of a value, of a size
/// expression (with the text "truth" where it is a condition), of a torch
/// enumeration, or of an object kept by the importer.
struct GraphArgument {
  enum class Kind : std::uint8_t {
    None,
    Value,
    Size,
    Int,
    Float,
    Bool,
    Complex,
    String,
    ScalarType,
    Layout,
    MemoryFormat,
    Device,
    Object,
    List
  };
  Kind kind = Kind::None;
  std::int64_t integer = 0;
  double real = 0, imaginary = 0;
  std::string text;
  std::vector<GraphArgument> list;
};

struct NamedArgument {
  std::string name; ///< as in the operator's schema
  GraphArgument value;
  bool isTensor = false;  ///< the schema wants a tensor
  bool isDefault = false; ///< not given: the schema's own value
};

enum class NodeKind : std::uint8_t {
  Input,    ///< an argument of the call
  Constant, ///< a tensor or object owned by the graph
  Call,     ///< an operator of the dispatcher
  Scalar,   ///< host arithmetic on sizes; its facts say all
  Seed,     ///< 63 bits from torch's generator, drawn anew for every call
  Host      ///< a Python callable: a higher-order operator
};

/// What the traced program relies on of sizes that only a call knows.
struct Assumption {
  Size holds = 0;          ///< the condition
  std::vector<Size> sides; ///< what it compares, for the message
  std::string text;        ///< "u0 <= s1"
  std::string message;     ///< the user's own, or empty
  std::string source;      ///< "model.py:12" or empty
};

struct Node {
  NodeKind kind = NodeKind::Call;
  std::string name;     ///< as in the FX graph
  std::string overload; ///< "aten::add.Tensor"; for Host the callable's name
  std::vector<NamedArgument> arguments;
  std::vector<ValueId> results;
  bool mutates = false;  ///< writes one of its arguments
  bool isRandom = false; ///< draws from a generator
  /// A forward and its backward make the same value each for itself.
  bool isRecomputed = false;
  int object = -1;    ///< Constant, Host: number of the importer's object
  std::string source; ///< "model.py:12" or empty
  /// Results come as one list: split and the like.
  bool returnsList = false;
  /// Sizes of the results depend on data: what tracing found out about them.
  bool definesSizes = false;
  std::string sizesAssumed; ///< "u0 == 4" or empty
};

struct Value {
  int node = 0;
  int index = 0; ///< among the node's results
  Facts facts;
  bool isRead = true; ///< by a node, or an output

  const TensorFacts *tensor() const { return std::get_if<TensorFacts>(&facts); }
  const ScalarFacts *scalar() const { return std::get_if<ScalarFacts>(&facts); }
};

/// An output: a value, or nothing, or a number known at compile time.
using GraphOutput = GraphArgument;

/// Under this name a random node reads the Seed that is its own, if kernels are
/// to draw its numbers.
inline constexpr std::string_view seedArgument = "generator.seed";

/// Nodes are in execution order. Immutable once the importer is done.
struct Graph {
  std::string name;
  SizeTable sizes;
  std::vector<Node> nodes;
  std::vector<Value> values;
  std::vector<int> inputs; ///< nodes, in the order of the call's arguments
  std::vector<GraphOutput> outputs;
  std::vector<Assumption> assumptions;

  const Node &producer(ValueId id) const { return nodes[values[id].node]; }
  /// Every value a node reads, lists included.
  std::vector<ValueId> operands(const Node &node) const;
  /// The argument called `name`, or null.
  const NamedArgument *named(const Node &node, std::string_view name) const;
  const GraphArgument *argument(const Node &node, std::string_view name) const;
};

/// After nodes have moved, values and inputs know them by their new places.
void renumber(Graph &graph);

/// The element type that torch numbers `scalarType`.
std::optional<DType> dtypeOf(std::int8_t scalarType);
std::string_view spelling(DType type);

/// A table for people: one line a node.
std::string print(const Graph &graph);
std::string print(const Graph &graph, const GraphArgument &argument);
std::string print(const Graph &graph, const Facts &facts);

} // namespace quern
