// Attribute, schema and declaration brought together.
#include "backend-torch/ops/RowBinding.h"
#include "backend-torch/ops/Promotion.h"

#include <algorithm>
#include <functional>

namespace quern {

using Kind = GraphArgument::Kind;

static std::optional<DType> typeSpelt(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(DType::C128); ++i)
    if (spelling(static_cast<DType>(i)) == name)
      return static_cast<DType>(i);
  return std::nullopt;
}

std::optional<std::string>
whyNotAllResults(const Graph &graph, const Node &node, const OperatorRow &row) {
  bool givesList =
      row.results.size() == 1 && parsePattern(row.results[0]).isList;
  if (node.returnsList != givesList)
    return node.returnsList ? "its kernel gives no list"
                            : "its kernel gives a list";
  if (givesList)
    return std::nullopt;
  std::string gives = std::to_string(row.results.size());
  if (row.results.size() > node.results.size())
    return "its kernel gives " + gives + " results, not " +
           std::to_string(node.results.size());
  for (std::size_t i = row.results.size(); i != node.results.size(); ++i) {
    const Value &value = graph.values[node.results[i]];
    if (value.isRead && !std::holds_alternative<std::monostate>(value.facts))
      return "its kernel gives only the first " + gives + " of its results";
  }
  return std::nullopt;
}

static bool isMissing(const GraphArgument *argument) {
  return !argument || argument->kind == Kind::None ||
         (argument->kind == Kind::List && argument->list.empty());
}

static bool isConstant(const GraphArgument *argument, std::string text);

/// `dims = none`, `output_mask = (true, false)`, or `dilation = 1` where the
/// schema wants one for each axis.
static bool isConstantList(const std::vector<GraphArgument> &list,
                           const std::string &text) {
  if (list.empty())
    return text == "none";
  std::vector<std::string_view> parts = {text};
  if (text.starts_with('('))
    parts = splitAtCommas(std::string_view(text).substr(1, text.size() - 2));
  if (parts.size() != 1 && parts.size() != list.size())
    return false;
  for (std::size_t i = 0; i != list.size(); ++i)
    if (!isConstant(&list[i], std::string(parts[parts.size() == 1 ? 0 : i])))
      return false;
  return true;
}

/// Whether an argument is what a row's attribute declares it to be.
static bool isConstant(const GraphArgument *argument, std::string text) {
  if (!argument || argument->kind == Kind::None)
    return text == "none" || (!argument && text != "none");
  if (text.size() >= 2 && text.front() == '"')
    text = text.substr(1, text.size() - 2);
  switch (argument->kind) {
  case Kind::Bool:
    return text == (argument->integer ? "true" : "false");
  case Kind::Int:
    return text == std::to_string(argument->integer);
  case Kind::Float: {
    char *end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    return end != text.c_str() && value == argument->real;
  }
  case Kind::String:
    return text == argument->text;
  case Kind::List:
    return isConstantList(argument->list, text);
  default:
    return false;
  }
}

const ParameterInfo *RowBinding::parameterNamed(std::string_view name) const {
  for (const ParameterInfo &parameter : row.parameters)
    if (parameter.name == name)
      return &parameter;
  return nullptr;
}

bool RowBinding::isAxis(std::string_view name) const {
  auto has = [&](const std::string &type) {
    for (const AxisPattern &axis : parsePattern(type).axes)
      if (axis.name == name)
        return true;
    return false;
  };
  return std::any_of(
      row.parameters.begin(), row.parameters.end(),
      [&](const ParameterInfo &p) { return !p.compileTime && has(p.type); });
}

/// Dimensions that the axis binding picks: all where ATen names none, the last
/// ones where it gives their extents (`normalized_shape`).
static std::vector<int> pickedDimensions(const NamedArgument &argument,
                                         int rank) {
  const GraphArgument &dims = argument.value;
  std::vector<int> picked;
  // A 0-d tensor takes `dim = 0` and has no such dimension.
  if (rank == 0)
    return picked;
  if (argument.name.ends_with("_shape")) {
    for (int d = rank - static_cast<int>(dims.list.size()); d < rank; ++d)
      picked.push_back(d);
    return picked;
  }
  if (dims.kind == Kind::Int)
    picked.push_back(static_cast<int>(dims.integer));
  for (const GraphArgument &each : dims.list)
    picked.push_back(static_cast<int>(each.integer));
  // An empty `dims` is no axis; an empty or missing `dim` is every one.
  if (picked.empty() && argument.name != "dims")
    for (int d = 0; d != rank; ++d)
      picked.push_back(d);
  for (int &d : picked)
    d = d < 0 ? d + rank : d;
  return picked;
}

const TensorFacts *RowBinding::firstTensor() const {
  const TensorFacts *facts = nullptr;
  for (const NamedArgument &argument : node.arguments)
    if (!facts && argument.value.kind == Kind::Value)
      facts = graph.values[argument.value.integer].tensor();
  return facts;
}

/// Whether a parameter has a number for each of the axes that are picked.
bool RowBinding::hasNumbersAlong(const std::string &pack) const {
  return std::ranges::any_of(row.parameters, [&](const ParameterInfo &each) {
    return !each.isTensor && each.type == "int[" + pack + "]";
  });
}

std::optional<std::string> RowBinding::selectAxes(const NamedArgument &dims,
                                                  const std::string &name) {
  axisIsPack = name.starts_with('*');
  axis = axisIsPack ? name.substr(1) : name;
  const TensorFacts *facts = firstTensor();
  if (!facts)
    return "its kernel works along an axis of no tensor";
  int rank = static_cast<int>(facts->sizes.size());
  selected = pickedDimensions(dims, rank);
  auto falls = std::ranges::adjacent_find(selected, std::greater_equal<>());
  if (falls != selected.end() && hasNumbersAlong(name))
    return "its kernel takes the axes in their order, each of them once";
  std::ranges::sort(selected);
  for (int d : selected)
    if (d < 0 || d >= rank)
      return "the call names an axis that its tensor does not have";
  bool isScalar = rank == 0 && dims.value.kind == Kind::Int;
  if (!axisIsPack && selected.size() != 1 && !isScalar)
    return "its kernel takes one axis, the call names " +
           std::to_string(selected.size());
  return std::nullopt;
}

/// `promotes(args = (self, other))` leaves the other arguments out.
void RowBinding::readPromotion(std::string_view text) {
  if (!text.starts_with("promotes(")) {
    promotion = text;
    return;
  }
  promotion = "default";
  for (std::string_view part :
       splitAtCommas(text.substr(9, text.size() - 10))) {
    std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      promotion = part;
      continue;
    }
    std::string_view names = trimmed(part.substr(equals + 1));
    if (names.starts_with('('))
      names = names.substr(1, names.size() - 2);
    for (std::string_view name : splitAtCommas(names))
      promoted.emplace(name);
  }
}

/// `stride or kernel_size`: the second where the first was not given.
/// `generator`: the node's own seed.
const NamedArgument *RowBinding::sourceOf(std::string_view text) const {
  if (text == "generator")
    return graph.named(node, seedArgument);
  std::size_t bar = text.find(" or ");
  const NamedArgument *first = graph.named(node, trimmed(text.substr(0, bar)));
  if (bar == std::string_view::npos || (first && !isMissing(&first->value)))
    return first;
  return graph.named(node, trimmed(text.substr(bar + 4)));
}

static bool isIndexList(const GraphArgument &value) {
  auto isTensor = [](const GraphArgument &each) {
    return each.kind == Kind::Value;
  };
  return value.kind == Kind::List &&
         std::any_of(value.list.begin(), value.list.end(), isTensor);
}

/// A list of index tensors, `none` for axes that are kept whole.
std::optional<std::string>
RowBinding::takeIndices(const std::vector<std::string_view> &names,
                        const NamedArgument &source) {
  const TensorFacts *first = nullptr;
  const std::vector<GraphArgument> &list = source.value.list;
  for (std::size_t d = 0; d != list.size(); ++d) {
    if (list[d].kind != Kind::Value)
      continue;
    const TensorFacts *facts = graph.values[list[d].integer].tensor();
    if (!facts || (first && facts->sizes != first->sizes))
      return "its kernel's indices are tensors of one shape";
    first = facts;
    if (indexed.size() < names.size())
      chosen[std::string(names[indexed.size()])] = {nullptr, &list[d],
                                                    source.name};
    indexed.push_back(static_cast<int>(d));
  }
  if (indexed.size() != names.size())
    return "its kernel takes " + std::to_string(names.size()) +
           " tensors of indices, the call gives " +
           std::to_string(indexed.size());
  indexRank = static_cast<int>(first->sizes.size());
  bool isRun =
      indexed.back() - indexed.front() + 1 == static_cast<int>(indexed.size());
  place = isRun ? indexed.front() : 0;
  return std::nullopt;
}

/// `(kh, kw) = kernel_size`, without the parentheses: one number stands for
/// all.
std::optional<std::string> RowBinding::takeApart(std::string_view names,
                                                 std::string_view text) {
  std::vector<std::string_view> parts = splitAtCommas(names);
  for (std::string_view each : {text.substr(0, text.find(" or ")), text})
    used.emplace(trimmed(each));
  const NamedArgument *source = sourceOf(text);
  if (!source || source->value.kind == Kind::None)
    return std::nullopt;
  used.insert(source->name);
  if (isIndexList(source->value))
    return takeIndices(parts, *source);
  const GraphArgument &value = source->value;
  bool isOne = value.kind != Kind::List || value.list.size() == 1;
  if (!isOne && value.list.size() != parts.size())
    return "its kernel takes " + std::to_string(parts.size()) +
           " numbers for `" + source->name + "`, the call gives " +
           std::to_string(value.list.size());
  for (std::size_t i = 0; i != parts.size(); ++i)
    chosen[std::string(parts[i])] = {
        nullptr, value.kind == Kind::List ? &value.list[isOne ? 0 : i] : &value,
        source->name};
  return std::nullopt;
}

std::optional<std::string> RowBinding::readBinding(const std::string &left,
                                                   const std::string &text) {
  if (left.starts_with("promotes")) {
    readPromotion(text);
    return std::nullopt;
  }
  if (left == "nonempty") {
    needed = text;
    return std::nullopt;
  }
  if (left.find(',') != std::string::npos)
    return takeApart(left, text);
  if (const ParameterInfo *parameter = parameterNamed(left))
    if (const NamedArgument *source = sourceOf(text)) {
      if (parameter->isTensor && !parsePattern(parameter->type).isList &&
          isIndexList(source->value))
        return takeApart(left, text);
      if (text.find(" or ") != std::string::npos)
        used.insert(text.substr(0, text.find(" or ")));
      used.insert(source->name);
      chosen[left] = {parameter, &source->value, source->name};
      return std::nullopt;
    }
  used.insert(left);
  const NamedArgument *argument = graph.named(node, left);
  const GraphArgument *value = argument ? &argument->value : nullptr;
  const ParameterInfo *parameter = parameterNamed(text);
  if (parameter && parameter->compileTime && isConstraint(parameter->type)) {
    dtypes[text] = value;
    return std::nullopt;
  }
  if (parameter) {
    chosen[text] = {parameter, value, left};
    return std::nullopt;
  }
  if (argument && isAxis(text.starts_with('*') ? text.substr(1) : text))
    return selectAxes(*argument, text);
  // `x = _` takes any value.
  if (text != "_" && !isConstant(value, text))
    return "its kernel is for " + left + " = " + text;
  return std::nullopt;
}

std::optional<std::string> RowBinding::readBindings() {
  for (const auto &[left, text] : row.bindings)
    if (Reason why = readBinding(left, text))
      return why;
  return whyEmpty();
}

/// An extremum of nothing is what ATen refuses. The axes are those that `dim`
/// selects, or all.
std::optional<std::string> RowBinding::whyEmpty() const {
  const TensorFacts *facts = needed.empty() ? nullptr : firstTensor();
  if (!facts)
    return std::nullopt;
  for (int d = 0; d != static_cast<int>(facts->sizes.size()); ++d) {
    bool isMeant = axis.empty() || std::ranges::count(selected, d) != 0;
    if (isMeant && graph.sizes.constantOf(facts->sizes[d]) == 0)
      return "its kernel needs an element along `" + needed + "`";
  }
  return std::nullopt;
}

void RowBinding::bindByName() {
  for (const ParameterInfo &parameter : row.parameters) {
    bool isType = parameter.compileTime && isConstraint(parameter.type);
    if (isType)
      continue;
    RowArgument argument{&parameter, nullptr, parameter.name};
    auto found = chosen.find(parameter.name);
    if (found != chosen.end()) {
      argument.value = found->second.value;
      argument.source = found->second.source;
    } else if (const NamedArgument *named = graph.named(node, parameter.name);
               named && !used.contains(parameter.name)) {
      used.insert(parameter.name);
      argument.value = &named->value;
    }
    if (!parameter.compileTime)
      bound.push_back(argument);
    else if (argument.value)
      constant.push_back(argument);
  }
}

/// The rest by position: tensors among tensors first, then in order.
void RowBinding::bindByPosition() {
  for (bool tensors : {true, false})
    for (RowArgument &each : bound) {
      if (each.value || (tensors && !each.parameter->isTensor))
        continue;
      for (const NamedArgument &argument : node.arguments) {
        if (used.contains(argument.name) || (tensors && !argument.isTensor) ||
            (!tensors && argument.isDefault))
          continue;
        used.insert(argument.name);
        each.value = &argument.value;
        each.source = argument.name;
        break;
      }
    }
}

std::optional<std::string> RowBinding::bindParameters() {
  bindByName();
  bindByPosition();
  for (const NamedArgument &argument : node.arguments)
    if (!argument.isDefault && argument.name != "keepdim" &&
        argument.value.kind != Kind::None && !used.contains(argument.name))
      return "its kernel has no parameter for `" + argument.name + "`";
  return std::nullopt;
}

/// The type variable in `T` or `acc(T)`.
static std::string variableOf(const std::string &element) {
  if (element.starts_with("acc(") && element.ends_with(')'))
    return element.substr(4, element.size() - 5);
  return element;
}

/// The traced type of the first result whose elements have that type.
std::optional<DType> RowBinding::typeOfResult(const std::string &name) const {
  std::size_t count = std::min(row.results.size(), node.results.size());
  for (std::size_t i = 0; i != count; ++i) {
    const TensorFacts *facts = graph.values[node.results[i]].tensor();
    if (facts && parsePattern(row.results[i]).element == name)
      return facts->type;
  }
  return std::nullopt;
}

/// The type of one parameter from its operands, or from a dtype argument.
std::optional<DType> RowBinding::solveType(const std::string &name) {
  std::vector<const GraphArgument *> operands, weaker;
  auto add = [&](const GraphArgument *value, bool isStrong) {
    (isStrong ? operands : weaker).push_back(value);
  };
  for (const RowArgument &each : bound) {
    if (isMissing(each.value))
      continue;
    std::string element = parsePattern(each.parameter->type).element;
    if (variableOf(element) != name)
      continue;
    bool isStrong =
        promoted.empty() ? element == name : promoted.contains(each.source);
    if (each.value->kind != Kind::List)
      add(each.value, isStrong);
    else
      for (const GraphArgument &value : each.value->list)
        add(&value, isStrong);
  }
  if (operands.empty())
    operands = weaker;
  auto given = dtypes.find(name);
  // A number takes the type that a dtype argument says.
  bool hasTensor = std::any_of(
      operands.begin(), operands.end(),
      [](const GraphArgument *each) { return each->kind == Kind::Value; });
  if (!operands.empty() && (hasTensor || given == dtypes.end()))
    return promote(graph, operands, promotion);
  std::optional<DType> type = typeOfResult(name);
  if (given != dtypes.end() && given->second &&
      given->second->kind == Kind::ScalarType)
    type = dtypeOf(static_cast<std::int8_t>(given->second->integer));
  if (type)
    undecided.emplace_back(name, *type);
  return type;
}

std::optional<std::string> RowBinding::solveTypes() {
  for (const ParameterInfo &parameter : row.parameters) {
    if (!parameter.compileTime || !isConstraint(parameter.type))
      continue;
    std::optional<DType> type = solveType(parameter.name);
    if (!type || !isSupported(*type))
      return "no kernel takes its element types";
    if (!admits(parameter.type, *type))
      return "its kernel is for " + parameter.type + ", not for " +
             std::string(spelling(*type));
    types[parameter.name] = *type;
  }
  return std::nullopt;
}

/// `y: acc(T)` of an elementwise declaration is one number for all elements,
/// not rounded to their type: ATen's kernels read it before it is. It stands
/// first where a row takes numbers, and a tensor without axes as well.
std::optional<std::string> RowBinding::whyNoNumber() const {
  if (row.kind != DeclarationKind::Elementwise)
    return std::nullopt;
  for (const RowArgument &each : bound) {
    std::string element = parsePattern(each.parameter->type).element;
    if (!each.value || each.value->kind != Kind::Value ||
        variableOf(element) == element)
      continue;
    const TensorFacts *facts = graph.values[each.value->integer].tensor();
    if (!facts || !facts->sizes.empty())
      return "its kernel's parameter `" + each.parameter->name +
             "` takes a number";
  }
  return std::nullopt;
}

std::optional<DType> RowBinding::typeNamed(std::string_view element) const {
  std::string variable = variableOf(std::string(element));
  auto it = types.find(variable);
  if (it != types.end())
    return variable == element ? it->second : accumulatorOf(it->second);
  if (element == "int")
    return DType::I64;
  return typeSpelt(element);
}

std::optional<std::string> RowBinding::run() {
  for (auto stage : {&RowBinding::readBindings, &RowBinding::bindParameters,
                     &RowBinding::solveTypes})
    if (Reason why = (this->*stage)())
      return why;
  return whyNoNumber();
}

} // namespace quern
