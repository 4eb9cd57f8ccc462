// Tables of views and primitives, and which of all kinds a node is.
#include "backend-torch/ops/Devices.h"
#include "backend-torch/ops/Matcher.h"
#include "backend-torch/ops/Placement.h"
#include "backend-torch/ops/Preferred.h"
#include "backend-torch/ops/Promotion.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace quern {

std::optional<ViewKind> viewKindOf(std::string_view overload) {
#define QN_VIEW(name, kind)                                                    \
  if (overload == name)                                                        \
    return ViewKind::kind;
#define QN_MAYBE_VIEW(name, kind) QN_VIEW(name, kind)
#include "backend-torch/ops/Views.def"
  return std::nullopt;
}

const char *nameOf(ViewKind kind) {
#define QN_VIEW(name, each)                                                    \
  if (kind == ViewKind::each)                                                  \
    return name;
#define QN_MAYBE_VIEW(name, each) QN_VIEW(name, each)
#include "backend-torch/ops/Views.def"
  return "";
}

/// Whether an operator of the table may have to copy.
static bool mayCopy(std::string_view overload) {
#define QN_VIEW(name, kind)
#define QN_MAYBE_VIEW(name, kind)                                              \
  if (overload == name)                                                        \
    return true;
#include "backend-torch/ops/Views.def"
  return false;
}

std::optional<Primitive> primitiveOf(std::string_view overload) {
#define QN_PRIMITIVE(name, kind)                                               \
  if (overload == name)                                                        \
    return Primitive::kind;
#include "backend-torch/ops/Primitives.def"
  return std::nullopt;
}

const char *nameOf(Primitive kind) {
#define QN_PRIMITIVE(name, each)                                               \
  if (kind == Primitive::each)                                                 \
    return name;
#include "backend-torch/ops/Primitives.def"
  return "";
}

bool isAllocation(std::string_view overload) {
#define QN_ALLOCATION(name)                                                    \
  if (overload == name)                                                        \
    return true;
#include "backend-torch/ops/Allocations.def"
  return false;
}

bool isSymbolic(std::string_view overload) {
#define QN_SYMBOLIC(name)                                                      \
  if (overload == name)                                                        \
    return true;
#include "backend-torch/ops/Allocations.def"
  return false;
}

static bool sharesMemory(const Graph &graph, const Node &node, int storage) {
  for (ValueId operand : graph.operands(node))
    if (const TensorFacts *facts = graph.values[operand].tensor();
        facts && facts->storage == storage)
      return true;
  return false;
}

/// Whether a size is known before the node runs: constant, or of symbols that
/// values before it bind.
static bool isKnownBefore(const Graph &graph, ValueId first, Size size) {
  std::vector<Size> symbols = graph.sizes.symbolsIn(size);
  return std::all_of(symbols.begin(), symbols.end(), [&](Size symbol) {
    auto holds = [&](const std::vector<Size> &sizes) {
      return std::find(sizes.begin(), sizes.end(), symbol) != sizes.end();
    };
    auto binds = [&](const Value &value) {
      if (const ScalarFacts *number = value.scalar())
        return number->value == symbol;
      const TensorFacts *facts = value.tensor();
      return facts && (holds(facts->sizes) || holds(facts->strides));
    };
    return std::any_of(graph.values.begin(), graph.values.begin() + first,
                       binds);
  });
}

/// No element, whatever sizes the operator itself decides (`nonzero`).
static bool isEmpty(const Graph &graph, const Node &node,
                    const TensorFacts &facts) {
  bool hasZero = false;
  for (Size size : facts.sizes) {
    if (!isKnownBefore(graph, node.results.front(), size))
      return false;
    hasZero |= graph.sizes.constantOf(size) == 0;
  }
  return hasZero;
}

/// Whether a step need only take memory for the results as they were traced:
/// the operator computes nothing, or there is no element to compute.
static bool onlyTakesMemory(const Graph &graph, const Node &node) {
  if (node.kind != NodeKind::Call || node.mutates || node.returnsList ||
      node.results.empty())
    return false;
  bool computesNothing = isAllocation(node.overload);
  return std::all_of(node.results.begin(), node.results.end(), [&](ValueId id) {
    const TensorFacts *facts = graph.values[id].tensor();
    return facts && facts->isStrided && facts->memory &&
           !sharesMemory(graph, node, facts->storage) &&
           (computesNothing || isEmpty(graph, node, *facts));
  });
}

OperatorTable::OperatorTable(std::vector<OperatorRow> rowsGiven,
                             MachineInfo machine)
    : rows(std::move(rowsGiven)), ownMachine(machine) {
  for (const OperatorRow &row : rows)
    byName[row.overload].push_back(&row);
}

const std::vector<const OperatorRow *> *
OperatorTable::find(std::string_view overload) const {
  auto it = byName.find(overload);
  return it == byName.end() ? nullptr : &it->second;
}

std::vector<std::string> OperatorTable::overloads() const {
  std::vector<std::string> names;
  names.reserve(byName.size());
  for (const auto &[name, found] : byName)
    names.push_back(name);
  return names;
}

static std::string realLiteral(double real) {
  if (std::isnan(real))
    return "nan";
  if (std::isinf(real))
    return real > 0 ? "inf" : "-inf";
  char text[40];
  std::snprintf(text, sizeof(text), "%.17g", real);
  std::string result = text;
  bool isPlain = result.find_first_of(".e") == std::string::npos;
  return isPlain ? result + ".0" : result;
}

/// As the type holds it: torch lets negative numbers wrap in unsigned types.
static std::int64_t heldBy(DType type, std::int64_t number) {
  std::int64_t values = type == DType::U8    ? 1ll << 8
                        : type == DType::U16 ? 1ll << 16
                        : type == DType::U32 ? 1ll << 32
                                             : 0;
  return number < 0 && number > -values ? number + values : number;
}

/// The number with the same low bits that the type has.
static std::int64_t wrappedTo(DType type, std::int64_t number) {
  switch (type) {
  case DType::I8:
    return static_cast<std::int8_t>(number);
  case DType::I16:
    return static_cast<std::int16_t>(number);
  case DType::I32:
    return static_cast<std::int32_t>(number);
  case DType::U8:
    return static_cast<std::uint8_t>(number);
  case DType::U16:
    return static_cast<std::uint16_t>(number);
  case DType::U32:
    return static_cast<std::uint32_t>(number);
  default:
    return number;
  }
}

std::optional<std::string> literalOf(const GraphArgument &argument, DType type,
                                     bool wraps) {
  using Kind = GraphArgument::Kind;
  bool isNumber = argument.kind == Kind::Int || argument.kind == Kind::Float ||
                  argument.kind == Kind::Bool;
  if (argument.kind == Kind::Complex && isComplex(type))
    return std::string(spelling(type)) + "(complex(f64(" +
           realLiteral(argument.real) + "), f64(" +
           realLiteral(argument.imaginary) + ")))";
  if (!isNumber)
    return std::nullopt;
  double real =
      argument.kind == Kind::Float ? argument.real : double(argument.integer);
  if (type == DType::Bool)
    return real != 0 ? "true" : "false";
  if (isInteger(type)) {
    if (argument.kind == Kind::Float)
      return std::nullopt;
    return std::to_string(wraps ? wrappedTo(type, argument.integer)
                                : heldBy(type, argument.integer));
  }
  return realLiteral(real);
}

static Operation classifyPrimitive(const Graph &graph, const Node &node,
                                   Primitive kind) {
  PrimitiveCall call{.kind = kind, .operand = -1, .literal = ""};
  if (kind == Primitive::Fill) {
    const TensorFacts *facts = graph.values[node.results[0]].tensor();
    const GraphArgument *value = graph.argument(node, "fill_value");
    if (!value)
      value = graph.argument(node, "s");
    std::optional<std::string> literal =
        value ? literalOf(*value, *facts->type) : std::nullopt;
    if (value && value->kind == GraphArgument::Kind::Size) {
      call.size = static_cast<Size>(value->integer);
      return call;
    }
    if (!literal)
      return Opaque{"its value is only known at run time", {}};
    call.literal = *literal;
    return call;
  }
  if (node.arguments.empty() ||
      node.arguments[0].value.kind != GraphArgument::Kind::Value)
    return Opaque{"it has no tensor argument", {}};
  call.operand = static_cast<ValueId>(node.arguments[0].value.integer);
  const TensorFacts *facts = graph.values[call.operand].tensor();
  if (!facts || !facts->type || !isSupported(*facts->type))
    return Opaque{"no kernel takes its element type", {}};
  return call;
}

std::optional<PrimitiveCall> fillOf(const Graph &graph, const Node &node,
                                    const Operation &operation) {
  if (auto *primitive = std::get_if<PrimitiveCall>(&operation))
    return primitive->kind == Primitive::Fill ? std::optional(*primitive)
                                              : std::nullopt;
  if (!std::holds_alternative<LibraryCall>(operation))
    return std::nullopt;
  GraphArgument number;
#define QN_NUMBER(name, value)                                                 \
  if (node.overload == name) {                                                 \
    number.kind = GraphArgument::Kind::Int;                                    \
    number.integer = value;                                                    \
  }
#include "backend-torch/ops/Primitives.def"
  DType type = *graph.values[node.results[0]].tensor()->type;
  std::optional<std::string> literal = literalOf(number, type);
  if (!literal)
    return std::nullopt;
  return PrimitiveCall{Primitive::Fill, -1, *literal};
}

/// Whether nothing of what a node gives has an element.
static bool givesNothing(const Graph &graph, const Node &node) {
  return std::ranges::all_of(node.results, [&](ValueId id) {
    const TensorFacts *facts = graph.values[id].tensor();
    return facts && std::ranges::any_of(facts->sizes, [&](Size size) {
             return graph.sizes.constantOf(size) == 0;
           });
  });
}

static std::optional<std::string> whyNotComputable(const Graph &graph,
                                                   const Node &node) {
  if (node.kind != NodeKind::Call)
    return "only Python can call it";
  if (node.mutates)
    return "it writes to an argument";
  if (node.results.empty())
    return "it returns no plain tensor";
  for (ValueId id : node.results) {
    const TensorFacts *facts = graph.values[id].tensor();
    // A result that an output mask switched off.
    if (node.results.size() > 1 &&
        std::holds_alternative<std::monostate>(graph.values[id].facts))
      continue;
    if (!facts || !facts->isStrided)
      return "it returns no plain tensor";
    if (!facts->type || !isSupported(*facts->type))
      return "no kernel gives its element type";
    for (Size size : facts->sizes)
      if (!isKnownBefore(graph, node.results.front(), size))
        return "how large its result is depends on values";
  }
  if (givesNothing(graph, node))
    return "its result is empty";
  return whyNoDevice(graph, node);
}

static std::optional<ViewOf> viewOf(const Graph &graph, const Node &node) {
  std::optional<ViewKind> kind = viewKindOf(node.overload);
  if (!kind || node.arguments.empty() || node.results.empty() ||
      node.arguments[0].value.kind != GraphArgument::Kind::Value)
    return std::nullopt;
  auto source = static_cast<ValueId>(node.arguments[0].value.integer);
  const TensorFacts *from = graph.values[source].tensor();
  for (ValueId id : node.results) {
    const TensorFacts *to = graph.values[id].tensor();
    if (!from || !to)
      return std::nullopt;
    // A tracer may give a view a storage of its own; only of a reshape does
    // that say that it had to copy.
    if (from->storage != to->storage && mayCopy(node.overload))
      return std::nullopt;
  }
  return ViewOf{*kind, source};
}

static Operation classifyComputed(const Graph &graph, const Node &node,
                                  const OperatorTable &table, int refused) {
  std::optional<Primitive> primitive = primitiveOf(node.overload);
  if (std::optional<std::string> why = whyNotComputable(graph, node)) {
    bool isMove = primitive && whyNoDevice(graph, node);
    return Opaque{*why, isMove ? OpaqueKind::Preferred : OpaqueKind::Fallback};
  }
  if (primitive)
    return classifyPrimitive(graph, node, *primitive);
  return matchRows(graph, node, table, refused);
}

/// ATen's kernels for a GPU sort and scatter with many threads.
static std::optional<std::string> whyAtenOnDevice(const Graph &graph,
                                                  const Node &node,
                                                  const Operation &operation) {
  auto *call = std::get_if<LibraryCall>(&operation);
  if (!call || !call->row->isSerial || !isAtensOnDevice(graph, node))
    return std::nullopt;
  return "ATen is preferred for what sorts or scatters on a GPU";
}

Operation classify(const Graph &graph, const Node &node,
                   const OperatorTable &table, bool preferAten, int refused) {
  if (node.kind == NodeKind::Call)
    if (std::optional<ViewOf> view = viewOf(graph, node))
      return *view;
  // Where nothing is drawn the numbers may still be refused.
  if (node.isRandom && !graph.named(node, seedArgument))
    return Opaque{"it draws from torch's generator", OpaqueKind::Random};
  if (onlyTakesMemory(graph, node))
    return Opaque{"it only takes memory", OpaqueKind::Allocation};
  if (!table.hasKernels())
    return Opaque{"kernels are switched off", OpaqueKind::Preferred};
  if (auto why = whyAten(graph, node, table.machine(), preferAten))
    return Opaque{*why, OpaqueKind::Preferred};
  if (node.kind == NodeKind::Call)
    if (std::optional<Placement> placement = placementOf(graph, node))
      return *placement;
  Operation operation = classifyComputed(graph, node, table, refused);
  if (preferAten)
    if (auto why = whyAtenOnDevice(graph, node, operation))
      return Opaque{*why, OpaqueKind::Preferred};
  if (auto *opaque = std::get_if<Opaque>(&operation); opaque && node.isRandom)
    opaque->kind = OpaqueKind::Random;
  return operation;
}

} // namespace quern
