// One node against one `@aten` row: parameters, constants, axes and types.
#include "backend-torch/ops/Matcher.h"
#include "backend-torch/ops/Promotion.h"

#include <algorithm>
#include <set>

namespace quern {

namespace {
using Kind = GraphArgument::Kind;

class RowMatcher {
public:
  RowMatcher(const Graph &graph, const Node &node, const OperatorRow &row)
      : graph(graph), node(node), row(row) {
    call.row = &row;
  }

  /// The reason why the row does not fit, or nothing.
  std::optional<std::string> run();
  LibraryCall take() { return std::move(call); }

private:
  std::optional<std::string> readBindings();
  std::optional<std::string> bindParameters();
  std::optional<std::string> solveTypes();
  std::optional<DType> solveType(const std::string &name);
  void selectAll();
  std::optional<std::string> placeOperands();
  std::optional<std::string> typeResults();
  std::optional<std::string> selectAxes(const NamedArgument &dims,
                                        const std::string &axis);
  bool isTypeParameter(std::string_view name) const;
  bool isAxis(std::string_view name) const;
  std::optional<DType> typeNamed(std::string_view element) const;

  const Graph &graph;
  const Node &node;
  const OperatorRow &row;
  LibraryCall call;
  std::string promotion = "default";
  std::set<std::string> usedArguments;
  std::map<std::string, std::string> parameterSources;
  std::map<std::string, const GraphArgument *> typeArguments;
  std::vector<std::pair<const ParameterInfo *, const GraphArgument *>> bound;
  std::map<std::string, DType> types;
};
} // namespace

static std::optional<DType> typeSpelt(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(DType::C128); ++i)
    if (spelling(static_cast<DType>(i)) == name)
      return static_cast<DType>(i);
  return std::nullopt;
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
  default:
    return false;
  }
}

bool RowMatcher::isTypeParameter(std::string_view name) const {
  return std::any_of(
      row.parameters.begin(), row.parameters.end(),
      [&](const ParameterInfo &p) { return p.compileTime && p.name == name; });
}

bool RowMatcher::isAxis(std::string_view name) const {
  for (const ParameterInfo &parameter : row.parameters)
    for (const AxisPattern &axis : parsePattern(parameter.type).axes)
      if (axis.name == name)
        return true;
  return false;
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
  if (picked.empty())
    for (int d = 0; d != rank; ++d)
      picked.push_back(d);
  for (int &d : picked)
    d = d < 0 ? d + rank : d;
  std::sort(picked.begin(), picked.end());
  return picked;
}

std::optional<std::string> RowMatcher::selectAxes(const NamedArgument &dims,
                                                  const std::string &axis) {
  call.axisIsPack = axis.starts_with('*');
  call.axis = call.axisIsPack ? axis.substr(1) : axis;
  const TensorFacts *facts = nullptr;
  for (const NamedArgument &argument : node.arguments)
    if (!facts && argument.value.kind == Kind::Value)
      facts = graph.values[argument.value.integer].tensor();
  if (!facts)
    return "it has no tensor argument";
  call.selected = pickedDimensions(dims, static_cast<int>(facts->sizes.size()));
  if (!call.axisIsPack && call.selected.size() != 1)
    return "its kernel takes one axis, the call names " +
           std::to_string(call.selected.size());
  return std::nullopt;
}

std::optional<std::string> RowMatcher::readBindings() {
  for (const auto &[left, text] : row.bindings) {
    if (left.starts_with("promotes")) {
      promotion = text;
      continue;
    }
    if (left.starts_with('('))
      return "its kernel takes apart the argument `" + text + "`";
    bool isParameter = std::any_of(
        row.parameters.begin(), row.parameters.end(),
        [&, name = left](const ParameterInfo &p) { return p.name == name; });
    if (isParameter && graph.named(node, text)) {
      parameterSources[left] = text;
      continue;
    }
    usedArguments.insert(left);
    const NamedArgument *argument = graph.named(node, left);
    std::string name = text.starts_with('*') ? text.substr(1) : text;
    if (argument && isAxis(name)) {
      if (auto why = selectAxes(*argument, text))
        return why;
    } else if (isTypeParameter(text)) {
      typeArguments[text] = argument ? &argument->value : nullptr;
    } else if (!isConstant(argument ? &argument->value : nullptr, text)) {
      return "its kernel is for " + left + " = " + text;
    }
  }
  return std::nullopt;
}

std::optional<std::string> RowMatcher::bindParameters() {
  for (const ParameterInfo &parameter : row.parameters) {
    if (parameter.compileTime)
      continue;
    auto source = parameterSources.find(parameter.name);
    const std::string &name =
        source == parameterSources.end() ? parameter.name : source->second;
    const NamedArgument *argument = graph.named(node, name);
    if (argument && !usedArguments.contains(name)) {
      usedArguments.insert(name);
      bound.emplace_back(&parameter, &argument->value);
    } else {
      bound.emplace_back(&parameter, nullptr);
    }
  }
  // The rest by position: tensors among tensors first, then in order.
  for (bool tensors : {true, false})
    for (auto &[parameter, value] : bound) {
      if (value || (tensors && !parameter->isTensor))
        continue;
      for (const NamedArgument &argument : node.arguments) {
        if (usedArguments.contains(argument.name) ||
            (tensors && !argument.isTensor) || (!tensors && argument.isDefault))
          continue;
        usedArguments.insert(argument.name);
        value = &argument.value;
        break;
      }
    }
  for (const NamedArgument &argument : node.arguments)
    if (!argument.isDefault && argument.name != "keepdim" &&
        argument.value.kind != Kind::None &&
        !usedArguments.contains(argument.name))
      return "its kernel has no parameter for `" + argument.name + "`";
  return std::nullopt;
}

/// The type variable in `T` or `acc(T)`.
static std::string variableOf(const std::string &element) {
  if (element.starts_with("acc(") && element.ends_with(')'))
    return element.substr(4, element.size() - 5);
  return element;
}

/// The type of one parameter from its operands, or from a dtype argument.
std::optional<DType> RowMatcher::solveType(const std::string &name) {
  std::vector<const GraphArgument *> operands, weaker;
  for (auto &[other, value] : bound) {
    std::string element = parsePattern(other->type).element;
    if (value && value->kind != Kind::None && variableOf(element) == name)
      (element == name ? operands : weaker).push_back(value);
  }
  if (operands.empty())
    operands = weaker;
  if (!operands.empty())
    return promote(graph, operands, promotion);
  auto given = typeArguments.find(name);
  if (given == typeArguments.end())
    return std::nullopt;
  std::optional<DType> type = graph.values[node.results[0]].tensor()->type;
  if (given->second && given->second->kind == Kind::ScalarType)
    type = dtypeOf(static_cast<std::int8_t>(given->second->integer));
  if (type)
    call.typeArguments.emplace_back(name, *type);
  return type;
}

std::optional<std::string> RowMatcher::solveTypes() {
  for (const ParameterInfo &parameter : row.parameters) {
    if (!parameter.compileTime)
      continue;
    if (!isConstraint(parameter.type))
      return "its kernel takes the compile-time argument `" + parameter.name +
             "`";
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

/// A reduction of everything binds no `dim`: its one pack is all axes.
void RowMatcher::selectAll() {
  if (row.kind != DeclarationKind::Rowwise || !call.axis.empty() ||
      call.operands.empty())
    return;
  const CallOperand &first = call.operands.front();
  if (first.kind != CallOperand::Kind::Value ||
      first.pattern.axes.size() != 1 || !first.pattern.axes[0].isPack)
    return;
  call.axis = first.pattern.axes[0].name;
  call.axisIsPack = true;
  std::size_t rank = graph.values[first.value].tensor()->sizes.size();
  for (std::size_t d = 0; d != rank; ++d)
    call.selected.push_back(static_cast<int>(d));
}

std::optional<DType> RowMatcher::typeNamed(std::string_view element) const {
  std::string variable = variableOf(std::string(element));
  auto it = types.find(variable);
  if (it != types.end())
    return variable == element ? it->second : accumulatorOf(it->second);
  if (element == "int")
    return DType::I64;
  return typeSpelt(element);
}

std::optional<std::string> RowMatcher::placeOperands() {
  for (auto &[parameter, value] : bound) {
    CallOperand operand;
    operand.pattern = parsePattern(parameter->type);
    std::optional<DType> wanted = typeNamed(operand.pattern.element);
    if (!wanted || operand.pattern.isIrregular)
      return "its kernel's parameter `" + parameter->name + ": " +
             parameter->type + "` is not one that fusion knows";
    if (!value || value->kind == Kind::None) {
      if (!operand.pattern.optional && parameter->isTensor)
        return "its kernel needs `" + parameter->name + "`";
    } else if (value->kind == Kind::Value) {
      operand.kind = CallOperand::Kind::Value;
      operand.value = static_cast<ValueId>(value->integer);
      const TensorFacts *facts = graph.values[operand.value].tensor();
      if (!facts || !facts->type || !isSupported(*facts->type))
        return "no kernel takes its element types";
      if (*facts->type != *wanted)
        operand.cast = *wanted;
    } else if (value->kind == Kind::Size) {
      operand.kind = CallOperand::Kind::Symbolic;
      operand.size = static_cast<Size>(value->integer);
      if (*wanted != DType::I64)
        operand.cast = *wanted;
    } else if (std::optional<std::string> literal =
                   literalOf(*value, *wanted)) {
      operand.kind = CallOperand::Kind::Number;
      operand.literal = *literal;
    } else {
      return "its kernel's parameter `" + parameter->name +
             "` cannot be given " + print(graph, *value);
    }
    call.operands.push_back(std::move(operand));
  }
  // What is not given at the end keeps its default.
  while (!call.operands.empty() &&
         call.operands.back().kind == CallOperand::Kind::Absent)
    call.operands.pop_back();
  selectAll();
  return std::nullopt;
}

std::optional<std::string> RowMatcher::typeResults() {
  if (row.results.size() < node.results.size())
    return "its kernel gives fewer results";
  for (const std::string &written : row.results) {
    TypePattern pattern = parsePattern(written);
    std::optional<DType> type = typeNamed(pattern.element);
    if (!type || pattern.isIrregular)
      return "its kernel's result `" + written +
             "` is not one that fusion knows";
    call.results.push_back(std::move(pattern));
    call.resultTypes.push_back(*type);
  }
  return std::nullopt;
}

std::optional<std::string> RowMatcher::run() {
  if (row.kind != DeclarationKind::Elementwise &&
      row.kind != DeclarationKind::Rowwise)
    return "its kernel is a whole of its own";
  using Stage = std::optional<std::string> (RowMatcher::*)();
  for (Stage stage : {&RowMatcher::readBindings, &RowMatcher::bindParameters,
                      &RowMatcher::solveTypes, &RowMatcher::placeOperands,
                      &RowMatcher::typeResults})
    if (std::optional<std::string> why = (this->*stage)())
      return why;
  return std::nullopt;
}

Operation matchRows(const Graph &graph, const Node &node,
                    const OperatorTable &table) {
  auto *rows = table.find(node.overload);
  if (!rows)
    return Opaque{"the library has no kernel for it", OpaqueKind::Fallback};
  std::string reason;
  for (const OperatorRow *row : *rows) {
    RowMatcher matcher(graph, node, *row);
    std::optional<std::string> why = matcher.run();
    if (!why)
      return matcher.take();
    if (reason.empty())
      reason = std::move(*why);
  }
  return Opaque{reason, OpaqueKind::Fallback};
}

} // namespace quern
