// Arguments and results of a declaration that is launched by itself.
#include "backend-torch/ops/WholeMatcher.h"
#include "backend-torch/ops/AxisPlaces.h"
#include "backend-torch/ops/Literals.h"
#include "backend-torch/ops/Promotion.h"
#include "backend-torch/ops/Spreading.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace quern {

namespace {
using Kind = GraphArgument::Kind;
using Reason = std::optional<std::string>;

class WholeMatcher {
public:
  WholeMatcher(const Graph &graph, const Node &node, const OperatorRow &row,
               const RowBinding &binding)
      : graph(graph), node(node), row(row), binding(binding),
        extents(graph, binding) {}

  Reason run();
  WholeCall take() { return std::move(call); }

private:
  const TensorFacts *factsOf(const GraphArgument &argument) const;
  Reason placeAxes();
  Reason addArgument(const RowArgument &given);
  Reason addTensor(const RowArgument &given, const GraphArgument &value,
                   const TypePattern &pattern, WholeArgument &argument);
  Reason listArgument(const RowArgument &given, const TypePattern &pattern,
                      WholeArgument &argument);
  Reason plainArgument(const RowArgument &given, const TypePattern &pattern,
                       WholeArgument &argument);
  Reason addConstants();
  bool isSwitchedOff(std::size_t result) const;
  Reason addResults();
  Reason addResult(std::size_t index);
  Reason order(const TypePattern &pattern, const TensorFacts &facts,
               WholeTensor &tensor) const;
  Reason orderIndexed(const TypePattern &pattern, std::size_t rank,
                      WholeTensor &tensor) const;
  bool isMisplacedMask(const TypePattern &pattern) const;
  Reason cannotBeGiven(const RowArgument &given) const;

  const Graph &graph;
  const Node &node;
  const OperatorRow &row;
  const RowBinding &binding;
  AxisExtents extents;
  std::optional<AxisPlaces> places; ///< where the call names an axis
  WholeCall call;
};
} // namespace

const TensorFacts *WholeMatcher::factsOf(const GraphArgument &argument) const {
  return argument.kind == Kind::Value ? graph.values[argument.integer].tensor()
                                      : nullptr;
}

/// The first tensor that has the chosen axis says where all axes lie.
Reason WholeMatcher::placeAxes() {
  if (binding.axis.empty())
    return std::nullopt;
  for (const RowArgument &given : binding.parameters()) {
    const TensorFacts *facts = given.value ? factsOf(*given.value) : nullptr;
    if (!facts || !given.parameter->isTensor)
      continue;
    TypePattern pattern = parsePattern(given.parameter->type);
    for (const AxisPattern &axis : pattern.axes)
      if (axis.name == binding.axis) {
        places = AxisPlaces::find(pattern, facts->sizes.size(), binding.axis,
                                  binding.selected);
        if (!places)
          return "its kernel's axes cannot be told apart";
        // Two packs in one shape: the binder is told how long each is.
        for (const auto &[name, dims] : places->packs()) {
          WholeArgument rank{.kind = WholeArgument::Kind::Integers};
          rank.integers.emplace_back();
          rank.integers.back().kind = Kind::Int;
          rank.integers.back().integer = static_cast<std::int64_t>(dims.size());
          call.constants.emplace_back(name, std::move(rank));
        }
        return std::nullopt;
      }
  }
  return "its kernel works along an axis of no tensor";
}

/// What is indexed has its indexed axes first, `[A, B, *R]`; what is read or
/// written there has those of the indices first, `[*I, *R]`.
Reason WholeMatcher::orderIndexed(const TypePattern &pattern, std::size_t rank,
                                  WholeTensor &tensor) const {
  std::vector<int> first = binding.indexed;
  if (pattern.axes[0].isPack) {
    first.resize(binding.indexRank);
    std::iota(first.begin(), first.end(), binding.place);
  }
  if (!first.empty() && first.back() >= static_cast<int>(rank))
    return "its kernel's indices are of more axes than a tensor has";
  tensor.dims = first;
  for (int d = 0; d != static_cast<int>(rank); ++d)
    if (std::find(first.begin(), first.end(), d) == first.end())
      tensor.dims.push_back(d);
  return std::nullopt;
}

/// A mask of the shape of the indices lies along the last axes of what they
/// read: they must be of the last ones.
bool WholeMatcher::isMisplacedMask(const TypePattern &pattern) const {
  if (binding.indexed.empty() || pattern.element != "bool")
    return false;
  const TensorFacts *self = factsOf(*binding.parameters().front().value);
  return binding.place + binding.indexed.size() != self->sizes.size();
}

Reason WholeMatcher::order(const TypePattern &pattern, const TensorFacts &facts,
                           WholeTensor &tensor) const {
  std::size_t rank = facts.sizes.size();
  if (isMisplacedMask(pattern))
    return "its mask is of other axes than its indices";
  if (!binding.indexed.empty() && pattern.axes.size() > 1) {
    return orderIndexed(pattern, rank, tensor);
  }
  // Shapes alone say where the axes lie; an elementwise has none.
  if (!places) {
    for (std::size_t d = 0; d != rank; ++d)
      tensor.dims.push_back(static_cast<int>(d));
    return std::nullopt;
  }
  auto lists = places->dimensions(pattern, rank, [&](int d) {
    return graph.sizes.constantOf(facts.sizes[d]) == 1;
  });
  if (!lists)
    return "a tensor's axes are not its kernel's `" + pattern.element + "[…]`";
  for (const std::vector<int> &dims : *lists)
    tensor.dims.insert(tensor.dims.end(), dims.begin(), dims.end());
  return std::nullopt;
}

Reason WholeMatcher::cannotBeGiven(const RowArgument &given) const {
  return "its kernel's parameter `" + given.parameter->name +
         "` cannot be given " + print(graph, *given.value);
}

/// A tensor, or one of a list.
Reason WholeMatcher::addTensor(const RowArgument &given,
                               const GraphArgument &value,
                               const TypePattern &pattern,
                               WholeArgument &argument) {
  const TensorFacts *facts = factsOf(value);
  std::optional<DType> wanted = binding.typeNamed(pattern.element);
  if (!facts || !facts->isStrided || pattern.isList != argument.isList)
    return cannotBeGiven(given);
  if (!facts->type || !isSupported(*facts->type))
    return "no kernel takes its element types";
  if (facts->type != wanted)
    return "its kernel's parameter `" + given.parameter->name +
           "` would need a cast from " + std::string(spelling(*facts->type));
  argument.kind = WholeArgument::Kind::Tensor;
  WholeTensor tensor;
  tensor.value = static_cast<ValueId>(value.integer);
  bool mayBeSpread = !places && binding.indexed.empty() && !pattern.isList &&
                     !given.parameter->isMutable &&
                     row.kind != DeclarationKind::Elementwise;
  if (mayBeSpread)
    if (auto spread = extents.spread(pattern, tensor.value, *facts)) {
      argument.tensors.push_back(std::move(*spread));
      return std::nullopt;
    }
  Reason why = order(pattern, *facts, tensor);
  argument.tensors.push_back(std::move(tensor));
  return why;
}

/// A list is as long as the call makes it: an empty one says nothing of its
/// elements' type.
Reason WholeMatcher::listArgument(const RowArgument &given,
                                  const TypePattern &pattern,
                                  WholeArgument &argument) {
  argument.kind = WholeArgument::Kind::Tensor;
  argument.isList = true;
  for (const GraphArgument &each : given.value->list)
    if (Reason why = addTensor(given, each, pattern, argument))
      return why;
  return std::nullopt;
}

/// Whether an f64 is an integer that it holds exactly.
static bool isWhole(double value) {
  return std::trunc(value) == value && std::abs(value) <= 1LL << 53;
}

/// Numbers as the parameter's element type takes them.
static bool addNumber(const Graph &graph, const GraphArgument &value,
                      bool wantsReal, WholeArgument &argument) {
  // Padding integers, torch writes 0.0.
  if (value.kind == Kind::Float && !wantsReal && isWhole(value.real)) {
    GraphArgument whole = value;
    whole.kind = Kind::Int;
    whole.integer = static_cast<std::int64_t>(value.real);
    return addNumber(graph, whole, wantsReal, argument);
  }
  bool isReal = value.kind == Kind::Float ||
                (value.kind == Kind::Size &&
                 graph.sizes.isReal(static_cast<Size>(value.integer)));
  bool isNumber = isReal || value.kind == Kind::Int ||
                  value.kind == Kind::Bool || value.kind == Kind::Size;
  if (!isNumber || (isReal && !wantsReal))
    return false;
  argument.kind =
      wantsReal ? WholeArgument::Kind::Reals : WholeArgument::Kind::Integers;
  (wantsReal ? argument.reals : argument.integers).push_back(value);
  return true;
}

static bool isPlainNumber(const GraphArgument &value) {
  return value.kind == Kind::Bool || value.kind == Kind::Int ||
         value.kind == Kind::Float;
}

Reason WholeMatcher::plainArgument(const RowArgument &given,
                                   const TypePattern &pattern,
                                   WholeArgument &argument) {
  // `(k) = kernel_size`.
  bool isOne = given.value->kind == Kind::List && !pattern.hasAxes &&
               given.value->list.size() == 1;
  const GraphArgument &value = isOne ? given.value->list[0] : *given.value;
  if (value.kind == Kind::String) {
    argument.kind = WholeArgument::Kind::Text;
    argument.text = value.text;
    return std::nullopt;
  }
  std::optional<DType> type = binding.typeNamed(pattern.element);
  if (type == DType::Bool && isPlainNumber(value)) {
    argument.kind = WholeArgument::Kind::Bool;
    argument.truth = value.kind == Kind::Float ? value.real != 0 //
                                               : value.integer != 0;
    return std::nullopt;
  }
  bool wantsReal = pattern.element == "float" ||
                   (type && (isFloat(*type) || isComplex(*type)));
  argument.isList = value.kind == Kind::List;
  if (argument.isList && !pattern.hasAxes)
    return cannotBeGiven(given);
  bool isTooLarge = type && isFloat(*type) && isPlainNumber(value) &&
                    !literalOf(value, *type, checkOf(node, given.source));
  if (isTooLarge)
    return cannotBeGiven(given);
  if (!argument.isList)
    return addNumber(graph, value, wantsReal, argument) ? std::nullopt
                                                        : cannotBeGiven(given);
  argument.kind =
      wantsReal ? WholeArgument::Kind::Reals : WholeArgument::Kind::Integers;
  for (const GraphArgument &each : value.list)
    if (!addNumber(graph, each, wantsReal, argument))
      return cannotBeGiven(given);
  return std::nullopt;
}

Reason WholeMatcher::addArgument(const RowArgument &given) {
  WholeArgument argument;
  Reason why;
  TypePattern pattern = parsePattern(given.parameter->type);
  if (!given.value || given.value->kind == Kind::None) {
    if (given.parameter->isTensor && !given.parameter->optional)
      why = "its kernel needs `" + given.parameter->name + "`";
  } else if (given.parameter->isTensor && given.value->kind == Kind::Value) {
    why = addTensor(given, *given.value, pattern, argument);
  } else if (pattern.isList && !given.parameter->isMutable &&
             given.value->kind == Kind::List) {
    why = listArgument(given, pattern, argument);
  } else if (given.parameter->isMutable ||
             (given.parameter->isTensor &&
              row.kind != DeclarationKind::Elementwise)) {
    why = cannotBeGiven(given);
  } else {
    why = plainArgument(given, pattern, argument);
  }
  call.arguments.push_back(std::move(argument));
  return why;
}

/// Types by name, digits of a `bool[n]`, numbers and words.
Reason WholeMatcher::addConstants() {
  for (const auto &[name, type] : binding.typeArguments())
    call.constants.emplace_back(
        name, WholeArgument{.kind = WholeArgument::Kind::Text,
                            .text = std::string(spelling(type))});
  for (const RowArgument &given : binding.constants()) {
    WholeArgument argument;
    TypePattern pattern = parsePattern(given.parameter->type);
    if (given.value->kind == Kind::None)
      continue;
    if (pattern.element == "bool" && given.value->kind == Kind::List) {
      argument.kind = WholeArgument::Kind::Text;
      for (const GraphArgument &digit : given.value->list)
        argument.text += digit.integer ? '1' : '0';
    } else if (Reason why = plainArgument(given, pattern, argument)) {
      return why;
    }
    call.constants.emplace_back(given.parameter->name, std::move(argument));
  }
  return std::nullopt;
}

/// Whether a `bool[n]` with a digit for every result has 0 for this one.
bool WholeMatcher::isSwitchedOff(std::size_t result) const {
  for (const RowArgument &given : binding.constants())
    if (given.value->kind == Kind::List &&
        parsePattern(given.parameter->type).element == "bool" &&
        given.value->list.size() == row.results.size())
      return !given.value->list[result].integer;
  return false;
}

Reason WholeMatcher::addResults() {
  if (Reason why = whyNotAllResults(graph, node, row))
    return why;
  std::size_t count = node.returnsList ? node.results.size() //
                                       : row.results.size();
  for (std::size_t i = 0; i != count; ++i)
    if (Reason why = addResult(i))
      return why;
  return std::nullopt;
}

/// A result of the node, or an element of the list that it gives.
Reason WholeMatcher::addResult(std::size_t index) {
  const std::string &written = row.results[node.returnsList ? 0 : index];
  ValueId id = node.results[index];
  TypePattern pattern = parsePattern(written);
  const TensorFacts *facts = graph.values[id].tensor();
  // ATen's own shapes may have a tensor for what the mask leaves out.
  bool isAbsent = !facts || (!node.returnsList && isSwitchedOff(index) &&
                             !graph.values[id].isRead);
  if (isAbsent && pattern.optional)
    return std::nullopt;
  // `keepdim` leaves extents of 1 behind, where nothing says which.
  bool isOne = facts && !places && pattern.axes.empty() &&
               row.kind != DeclarationKind::Elementwise;
  if (!facts || !facts->isStrided)
    return "it returns no plain tensor";
  std::optional<DType> type = binding.typeNamed(pattern.element);
  if (!type || facts->type != type)
    return "its kernel's result `" + written + "` would need a cast to " +
           (facts->type ? std::string(spelling(*facts->type)) : "it");
  WholeTensor result{id, {}};
  if (Reason why = isOne ? std::nullopt : order(pattern, *facts, result))
    return why;
  call.results.push_back(std::move(result));
  return std::nullopt;
}

Reason WholeMatcher::run() {
  if (Reason why = placeAxes())
    return why;
  for (const RowArgument &given : binding.parameters())
    if (Reason why = addArgument(given))
      return why;
  if (Reason why = addConstants())
    return why;
  return addResults();
}

std::variant<WholeCall, std::string> matchWhole(const Graph &graph,
                                                const Node &node,
                                                const OperatorRow &row,
                                                const RowBinding &binding) {
  WholeMatcher matcher(graph, node, row, binding);
  if (Reason why = matcher.run())
    return *why;
  return matcher.take();
}

} // namespace quern
