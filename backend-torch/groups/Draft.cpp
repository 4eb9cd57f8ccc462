// How each kind of operation relates the axes of its operands and results.
#include "backend-torch/groups/Draft.h"
#include "backend-torch/ops/Promotion.h"

#include <algorithm>

namespace quern {

ValueId Analysis::baseOf(ValueId value) const {
  while (auto *view = std::get_if<ViewOf>(&producerOperation(value)))
    value = view->source;
  return value;
}

Dimensions Draft::dimensionsOf(ValueId value) const {
  Dimensions result;
  for (const Dimension &dimension : dimensions.at(value))
    result.push_back(axes.resolve(dimension));
  return result;
}

std::set<Atom> Draft::variation(ValueId value) const {
  const std::set<Atom> &all = varies.at(value);
  Dimension resolved = axes.resolve(Dimension(all.begin(), all.end()));
  return {resolved.begin(), resolved.end()};
}

std::vector<Atom> Draft::space() const {
  std::vector<Atom> result;
  auto take = [&](ValueId value) {
    for (const Dimension &dimension : dimensionsOf(value))
      for (Atom atom : dimension)
        if (std::find(result.begin(), result.end(), atom) == result.end())
          result.push_back(atom);
  };
  // A value with all axes gives the order, if there is one: it comes first.
  std::vector<ValueId> values;
  values.reserve(dimensions.size());
  for (const auto &[value, dims] : dimensions)
    values.push_back(value);
  auto count = [&](ValueId value) {
    std::ptrdiff_t n = 0;
    for (const Dimension &dimension : dimensionsOf(value))
      n += static_cast<std::ptrdiff_t>(dimension.size());
    return n;
  };
  std::sort(values.begin(), values.end(), [&](ValueId a, ValueId b) {
    return std::pair(-count(a), a) < std::pair(-count(b), b);
  });
  for (ValueId value : values)
    take(value);
  return result;
}

void Draft::compute(ValueId value, Dimensions dims, std::set<Atom> along) {
  dimensions[value] = std::move(dims);
  varies[value] = std::move(along);
  computed.insert(value);
}

static std::set<Atom> allOf(const Dimensions &dims) {
  std::set<Atom> atoms;
  for (const Dimension &dimension : dims)
    atoms.insert(dimension.begin(), dimension.end());
  return atoms;
}

std::set<Atom> Draft::resultSpace(bool rows) const {
  std::vector<Atom> order = space();
  std::set<Atom> result(order.begin(), order.end());
  for (Atom atom : axes.resolve(picked))
    result.erase(atom);
  for (Atom atom : reducedAxes())
    if (rows)
      result.erase(atom);
  return result;
}

/// Takes the node of a fill in, before the one that reads it.
void Draft::refill(ValueId value) {
  Dimensions dims;
  for (Size size : analysis->graph->values[value].tensor()->sizes)
    dims.push_back(axes.fresh(size));
  compute(value, std::move(dims), {});
  int node = analysis->graph->values[value].node;
  members.insert(members.end() - 1, node);
  refilled.insert(node);
}

/// Gives dimensions to a value that a node of the group reads.
Draft::Reason Draft::place(ValueId value) {
  ValueId base = analysis->baseOf(value);
  if (takesFills && !computed.contains(base) &&
      analysis->fills[analysis->graph->values[base].node])
    refill(base);
  if (dimensions.contains(value))
    return std::nullopt;
  const Operation &producer = analysis->producerOperation(value);
  auto *view = std::get_if<ViewOf>(&producer);
  if (view && computed.contains(base))
    return placeView(value, *view);
  const TensorFacts *facts = analysis->graph->values[value].tensor();
  Dimensions dims;
  for (Size size : facts->sizes)
    dims.push_back(axes.fresh(size));
  varies[value] = allOf(dims);
  dimensions[value] = std::move(dims);
  outside.insert(value);
  return std::nullopt;
}

static std::int64_t wrapped(std::int64_t dim, std::size_t rank) {
  return dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim;
}

static Size countOf(SizeTable &sizes, const TensorFacts &facts) {
  Size count = sizes.constant(1);
  for (Size size : facts.sizes)
    count = sizes.multiply(count, size);
  return count;
}

static bool isReinterpreted(const Graph &graph, ValueId from, ValueId to) {
  std::optional<DType> source = graph.values[from].tensor()->type;
  std::optional<DType> target = graph.values[to].tensor()->type;
  return source && target && isReinterpreted(*source, *target);
}

static Dimensions transposed(const Graph &graph, const Node &node,
                             Dimensions dims) {
  const GraphArgument *first = graph.argument(node, "dim0");
  const GraphArgument *second = graph.argument(node, "dim1");
  if (dims.size() > 1)
    std::swap(dims[wrapped(first ? first->integer : 0, dims.size())],
              dims[wrapped(second ? second->integer : 1, dims.size())]);
  return dims;
}

Draft::Reason Draft::placeView(ValueId value, const ViewOf &view) {
  if (Reason why = place(view.source))
    return why;
  const Graph &graph = *analysis->graph;
  const Node &node = graph.producer(value);
  const TensorFacts *facts = graph.values[value].tensor();
  Dimensions from = dimensionsOf(view.source), to;
  switch (view.kind) {
  case ViewKind::Window:
    return "a part of its own result is read";
  case ViewKind::Retype:
    if (!isReinterpreted(graph, view.source, value))
      return "its result is read as elements of another width";
    to = from;
    break;
  case ViewKind::Part:
    if (countOf(*analysis->sizes, *facts) !=
        countOf(*analysis->sizes, *graph.values[view.source].tensor()))
      return "a part of its own result is read";
    [[fallthrough]];
  case ViewKind::Reshape: {
    std::optional<Dimensions> dims = axes.reshape(from, facts->sizes);
    if (!dims)
      return "a view of its result does not follow its axes";
    to = std::move(*dims);
    break;
  }
  case ViewKind::Permute:
    for (const GraphArgument &dim : graph.argument(node, "dims")->list)
      to.push_back(from[wrapped(dim.integer, from.size())]);
    break;
  case ViewKind::Transpose:
    to = transposed(graph, node, from);
    break;
  case ViewKind::Expand: {
    std::size_t added = facts->sizes.size() - from.size();
    for (std::size_t d = 0; d != facts->sizes.size(); ++d)
      to.push_back(d < added || from[d - added].empty()
                       ? axes.fresh(facts->sizes[d])
                       : from[d - added]);
    break;
  }
  }
  varies[value] = varies.at(view.source);
  dimensions[value] = std::move(to);
  return std::nullopt;
}

/// Aligns the operands of lifted scalar code, from the last dimension.
Draft::Reason Draft::alignOperands(const Node &node,
                                   const std::vector<ValueId> &operands) {
  const Graph &graph = *analysis->graph;
  for (ValueId operand : operands)
    if (Reason why = place(operand))
      return why;
  const TensorFacts *facts = graph.values[node.results[0]].tensor();
  std::size_t rank = facts->sizes.size();
  Dimensions dims(rank);
  for (std::size_t d = 0; d != rank; ++d) {
    for (ValueId operand : operands) {
      Dimensions own = dimensionsOf(operand);
      if (own.size() < rank - d || own[own.size() - (rank - d)].empty())
        continue;
      const Dimension &other = own[own.size() - (rank - d)];
      if (dims[d].empty())
        dims[d] = other;
      else if (!axes.unify(dims[d], other))
        return "extents of its operands do not factor alike";
    }
    if (dims[d].empty())
      dims[d] = axes.fresh(facts->sizes[d]);
  }
  std::set<Atom> along;
  for (ValueId operand : operands)
    along.merge(variation(operand));
  for (ValueId result : node.results)
    compute(result, dims, along);
  return std::nullopt;
}

Draft::Reason Draft::addPrimitive(const Node &node, const PrimitiveCall &call) {
  std::vector<ValueId> operands;
  if (call.kind != Primitive::Fill)
    operands.push_back(call.operand);
  return alignOperands(node, operands);
}

Draft::Reason Draft::addElementwise(const Node &node, const LibraryCall &call) {
  std::vector<ValueId> operands;
  for (const CallOperand &operand : call.operands)
    if (operand.kind == CallOperand::Kind::Value)
      operands.push_back(operand.value);
  return alignOperands(node, operands);
}

static std::optional<std::vector<std::vector<int>>>
listsOf(const Graph &graph, ValueId value, const TypePattern &pattern,
        const AxisPlaces &places) {
  const TensorFacts *facts = graph.values[value].tensor();
  return places.dimensions(pattern, facts->sizes.size(), [&](int d) {
    return graph.sizes.constantOf(facts->sizes[d]) == 1;
  });
}

/// Makes an operand's dimensions those that its axes have by name.
Draft::Reason Draft::bindOperand(const CallOperand &operand,
                                 const AxisPlaces &places, NamedAxes &names) {
  auto lists =
      listsOf(*analysis->graph, operand.value, operand.pattern, places);
  if (!lists)
    return "an operand has another number of axes than its kernel's";
  Dimensions own = dimensionsOf(operand.value);
  for (std::size_t i = 0; i != lists->size(); ++i) {
    const AxisPattern &axis = operand.pattern.axes[i];
    Dimensions dims;
    for (int d : (*lists)[i])
      dims.push_back(d < 0 ? Dimension() : own[d]);
    if (!axis.isPack && (dims[0].empty() || !axes.keepWhole(dims[0])))
      return "the axis it works along is not one axis here";
    auto [it, isNew] = names.try_emplace(axis.name, dims);
    if (isNew)
      continue;
    if (it->second.size() != dims.size())
      return "an operand has another number of axes than its kernel's";
    for (std::size_t k = 0; k != dims.size(); ++k) {
      if (dims[k].empty() != it->second[k].empty())
        return "an operand of its kernel is broadcast along an axis";
      if (!axes.unify(dims[k], it->second[k]))
        return "extents of its operands do not factor alike";
    }
  }
  return std::nullopt;
}

Draft::Reason Draft::bindResult(ValueId value, const TypePattern &pattern,
                                const AxisPlaces &places,
                                const NamedAxes &names) {
  auto lists = listsOf(*analysis->graph, value, pattern, places);
  if (!lists)
    return "its result has another number of axes than its kernel's";
  Dimensions dims(analysis->graph->values[value].tensor()->sizes.size());
  for (std::size_t i = 0; i != lists->size(); ++i) {
    auto known = names.find(pattern.axes[i].name);
    if (known == names.end() || known->second.size() != (*lists)[i].size())
      return "its result has an axis that no operand has";
    for (std::size_t k = 0; k != known->second.size(); ++k)
      if ((*lists)[i][k] >= 0)
        dims[(*lists)[i][k]] = known->second[k];
  }
  compute(value, dims, allOf(dims));
  return std::nullopt;
}

/// Whether all that reduces here is of the same attention as the latest node.
bool Draft::continuesAttention() const {
  int own = analysis->attention[members.back()];
  return own >= 0 &&
         std::all_of(named.begin(), named.end(), [&](const auto &entry) {
           return analysis->attention[entry.first] == own;
         });
}

static bool hasAxis(const TypePattern &pattern, const std::string &name) {
  return std::ranges::any_of(
      pattern.axes, [&](const AxisPattern &axis) { return axis.name == name; });
}

/// Where the call names no axis, it works along those that some result lacks.
/// Where the one that it names is in every result, it reads its operands at
/// places along those that no result has.
Draft::Reason Draft::chooseReduced(const LibraryCall &call,
                                   const NamedAxes &names) {
  Dimension chosen;
  auto lacks = [&](const std::string &name) {
    return std::ranges::any_of(call.results, [&](const TypePattern &result) {
      return !hasAxis(result, name);
    });
  };
  auto choose = [&](auto isMeant, Dimension &into) {
    for (const auto &[name, dims] : names)
      for (const Dimension &dimension : dims)
        if (isMeant(name))
          into.insert(into.end(), dimension.begin(), dimension.end());
  };
  isRowwise = true;
  if (!call.axis.empty() && !lacks(call.axis) && !call.row->isSerial) {
    std::size_t before = picked.size();
    choose(lacks, picked);
    if (picked.size() != before)
      return std::nullopt;
  }
  choose(
      [&](const std::string &name) {
        return call.axis.empty() ? lacks(name) : name == call.axis;
      },
      chosen);
  chosen = axes.resolve(chosen);
  if (chosen.empty() && !call.axis.empty())
    return "the axis it works along has extent 1";
  if (chosen.empty())
    return std::nullopt;
  std::set<Atom> before, now(chosen.begin(), chosen.end());
  for (Atom atom : reducedAxes())
    before.insert(atom);
  if (!before.empty() && before != now && !continuesAttention())
    return "the group already works along other axes";
  for (Atom atom : chosen)
    if (!before.contains(atom))
      reduced.push_back(atom);
  return std::nullopt;
}

Draft::Reason Draft::addRowwise(const Node &node, const LibraryCall &call) {
  const CallOperand *main = nullptr;
  for (const CallOperand &operand : call.operands) {
    if (operand.kind != CallOperand::Kind::Value)
      continue;
    for (const AxisPattern &axis : operand.pattern.axes)
      if (!main && (call.axis.empty() || axis.name == call.axis))
        main = &operand;
    if (Reason why = place(operand.value))
      return why;
  }
  if (!main)
    return "its kernel has no tensor with axes";
  AxisPlaces places;
  if (!call.axis.empty()) {
    auto found =
        AxisPlaces::find(main->pattern, dimensionsOf(main->value).size(),
                         call.axis, call.selected);
    if (!found)
      return "its kernel's axes cannot be told apart";
    places = std::move(*found);
  }
  NamedAxes names;
  for (const CallOperand &operand : call.operands)
    if (operand.kind == CallOperand::Kind::Value)
      if (Reason why = bindOperand(operand, places, names))
        return why;
  if (Reason why = chooseReduced(call, names))
    return why;
  for (std::size_t i = 0; i != node.results.size(); ++i)
    if (Reason why =
            bindResult(node.results[i], call.results[i], places, names))
      return why;
  named[members.back()] = std::move(names);
  return std::nullopt;
}

void Draft::addWhole(int node, const WholeCall &call) {
  members.push_back(node);
  for (const WholeArgument &argument : call.arguments)
    for (const WholeTensor &tensor : argument.tensors)
      outside.insert(tensor.value);
  for (const WholeTensor &result : call.results)
    computed.insert(result.value);
  whole = true;
}

void Draft::addPlacement(int node, const Placement &placement) {
  members.push_back(node);
  outside.insert(placement.parts.begin(), placement.parts.end());
  computed.insert(placement.target);
  whole = true;
}

/// A value and its transpose have met where two of its dimensions became one:
/// no loop over the group's axes computes both.
bool Draft::meetsItself() const {
  return std::any_of(
      dimensions.begin(), dimensions.end(), [this](const auto &entry) {
        std::set<Atom> seen;
        for (const Dimension &dimension : dimensionsOf(entry.first))
          for (Atom atom : dimension)
            if (!seen.insert(atom).second)
              return true;
        return false;
      });
}

std::optional<std::string> Draft::add(int index) {
  if (Reason why = take(index))
    return why;
  if (meetsItself())
    return "a result meets its own transpose";
  return std::nullopt;
}

Draft::Reason Draft::take(int index) {
  const Node &node = analysis->graph->nodes[index];
  const Operation &operation = analysis->operations[index];
  members.push_back(index);
  if (auto *primitive = std::get_if<PrimitiveCall>(&operation))
    return addPrimitive(node, *primitive);
  auto *call = std::get_if<LibraryCall>(&operation);
  if (!call)
    return "it is not computed by a kernel";
  if (!call->whyNotFused.empty())
    return call->whyNotFused;
  if (call->row->kind == DeclarationKind::Elementwise)
    return addElementwise(node, *call);
  return addRowwise(node, *call);
}

} // namespace quern
