// Tables of views and primitives, and which of all kinds a node is.
#include "backend-torch/ops/Devices.h"
#include "backend-torch/ops/Literals.h"
#include "backend-torch/ops/Matcher.h"
#include "backend-torch/ops/Placement.h"
#include "backend-torch/ops/Preferred.h"
#include "backend-torch/ops/Promotion.h"

#include <algorithm>

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

bool isAssertion(std::string_view overload) {
#define QN_ASSERTION(name)                                                     \
  if (overload == name)                                                        \
    return true;
#include "backend-torch/ops/Allocations.def"
  return false;
}

/// Whether its strides count places in memory.
static bool countsMemory(std::string_view overload) {
#define QN_IN_MEMORY(name)                                                     \
  if (overload == name)                                                        \
    return true;
#include "backend-torch/ops/Primitives.def"
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
      return std::ranges::any_of(sizes, [&](Size each) {
        auto scaled = graph.sizes.scaledSymbol(each);
        return scaled && scaled->first == symbol;
      });
    };
    auto binds = [&](const Value &value) {
      if (const ScalarFacts *number = value.scalar())
        return number->value == symbol;
      const TensorFacts *facts = value.tensor();
      return facts && (holds(facts->sizes) || holds(facts->strides) ||
                       holds({facts->offset}));
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

static Operation classifyPrimitive(const Graph &graph, const Node &node,
                                   Primitive kind) {
  PrimitiveCall call{.kind = kind, .operand = -1, .literal = ""};
  if (kind == Primitive::Fill) {
    const TensorFacts *facts = graph.values[node.results[0]].tensor();
    // ATen checks what fills a tensor, and the integers that become one; it
    // rounds the floats that do.
    const GraphArgument *value = graph.argument(node, "fill_value");
    bool mustFit = value || (facts->type && isInteger(*facts->type));
    NumberCheck check = mustFit ? NumberCheck::MustFit : NumberCheck::Rounds;
    if (!value)
      value = graph.argument(node, "s");
    std::optional<std::string> literal =
        value ? literalOf(*value, *facts->type, check) : std::nullopt;
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

/// Whether only its step can tell where a view looks: `x[n.item()]`.
static bool dependsOnValues(const Graph &graph, const Node &node) {
  ValueId first = node.results.front();
  return !std::ranges::all_of(node.results, [&](ValueId id) {
    const TensorFacts *facts = graph.values[id].tensor();
    auto isKnown = [&](Size size) { return isKnownBefore(graph, first, size); };
    return facts && isKnown(facts->offset) &&
           std::ranges::all_of(facts->sizes, isKnown) &&
           std::ranges::all_of(facts->strides, isKnown);
  });
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
    if (!from || !to || dependsOnValues(graph, node))
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

/// Whether calls like this one are computed here: what ATen refuses for its
/// types it refuses without an element too.
static bool isTaken(const Graph &graph, const Node &node,
                    const OperatorTable &table) {
  return isAllocation(node.overload) || primitiveOf(node.overload) ||
         placementOf(graph, node) ||
         std::holds_alternative<LibraryCall>(matchRows(graph, node, table));
}

/// Whether the elements lie one behind the other in logical order.
static bool isRowMajor(SizeTable sizes, const TensorFacts &facts) {
  Size stride = sizes.constant(1);
  for (std::size_t i = facts.sizes.size(); i != 0; --i) {
    if (sizes.constantOf(facts.sizes[i - 1]) != 1 &&
        facts.strides[i - 1] != stride)
      return false;
    stride = sizes.multiply(stride, facts.sizes[i - 1]);
  }
  return true;
}

/// Strides that a call gives count places in memory, from its beginning; a
/// kernel of the library counts elements of a copy.
static std::optional<std::string> whyInMemory(const Graph &graph,
                                              const Node &node) {
  if (!countsMemory(node.overload) ||
      node.arguments[0].value.kind != GraphArgument::Kind::Value)
    return std::nullopt;
  const TensorFacts *facts =
      graph.values[node.arguments[0].value.integer].tensor();
  bool isFirst = facts && graph.sizes.constantOf(facts->offset) == 0;
  if (isFirst && isRowMajor(graph.sizes, *facts))
    return std::nullopt;
  return "it writes to places in memory, which are not those of a copy";
}

/// Whether a callable of Python's gives numbers alone: sizes.
static bool isOfNumbers(const Graph &graph, const Node &node) {
  return node.kind == NodeKind::Host && !node.results.empty() &&
         std::ranges::all_of(node.results, [&](ValueId id) {
           return graph.values[id].scalar() != nullptr;
         });
}

Operation classify(const Graph &graph, const Node &node,
                   const OperatorTable &table, bool preferAten, int refused) {
  if (node.kind == NodeKind::Call)
    if (std::optional<ViewOf> view = viewOf(graph, node))
      return *view;
  if (node.kind == NodeKind::Call && viewKindOf(node.overload) &&
      !node.results.empty() && dependsOnValues(graph, node))
    return Opaque{"where it looks depends on values", OpaqueKind::Preferred};
  if (isOfNumbers(graph, node))
    return Opaque{"Python computes the number", OpaqueKind::Preferred};
  // Where nothing is drawn the numbers may still be refused.
  if (node.isRandom && !graph.named(node, seedArgument))
    return Opaque{"it draws from torch's generator", OpaqueKind::Random};
  if (onlyTakesMemory(graph, node) && isTaken(graph, node, table))
    return Opaque{"it only takes memory", OpaqueKind::Allocation};
  if (!table.hasKernels())
    return Opaque{"kernels are switched off", OpaqueKind::Preferred};
  if (auto why = whyInMemory(graph, node))
    return Opaque{*why, OpaqueKind::Preferred};
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
