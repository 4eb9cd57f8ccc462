// One node against the `@aten` rows of its operator: as a call in a fused
// group, and as a launch of the declaration as it is.
#include "backend-torch/ops/Matcher.h"
#include "backend-torch/ops/Literals.h"
#include "backend-torch/ops/Preferred.h"
#include "backend-torch/ops/Promotion.h"
#include "backend-torch/ops/WholeMatcher.h"

#include <algorithm>

namespace quern {

namespace {
using Kind = GraphArgument::Kind;
using Reason = std::optional<std::string>;

/// Writes a bound row as a call in text.
class FusedMatcher {
public:
  FusedMatcher(const Graph &graph, const Node &node, const OperatorRow &row,
               const RowBinding &binding)
      : graph(graph), node(node), row(row), binding(binding) {}

  Reason run(LibraryCall &call);

private:
  Reason placeOperand(const RowArgument &given, LibraryCall &call);
  Reason whyNotChosen(const LibraryCall &call) const;
  Reason addConstants(LibraryCall &call) const;
  Reason typeResults(LibraryCall &call) const;
  void selectAll(LibraryCall &call) const;

  const Graph &graph;
  const Node &node;
  const OperatorRow &row;
  const RowBinding &binding;
};
} // namespace

Reason FusedMatcher::placeOperand(const RowArgument &given, LibraryCall &call) {
  const ParameterInfo &parameter = *given.parameter;
  const GraphArgument *value = given.value;
  CallOperand operand;
  operand.pattern = parsePattern(parameter.type);
  std::optional<DType> wanted = binding.typeNamed(operand.pattern.element);
  if (!wanted || operand.pattern.isIrregular || operand.pattern.isList ||
      parameter.isMutable)
    return "its kernel's parameter `" + parameter.name + ": " + parameter.type +
           "` is not one that fusion knows";
  if (!value || value->kind == Kind::None) {
    if (!operand.pattern.optional && parameter.isTensor)
      return "its kernel needs `" + parameter.name + "`";
  } else if (value->kind == Kind::Value) {
    operand.kind = CallOperand::Kind::Value;
    operand.value = static_cast<ValueId>(value->integer);
    const TensorFacts *facts = graph.values[operand.value].tensor();
    if (!facts || !facts->type || !isSupported(*facts->type))
      return "no kernel takes its element types";
    if (!isCast(*facts->type, *wanted))
      return "complex numbers do not become real";
    if (*facts->type != *wanted)
      operand.cast = wanted;
  } else if (value->kind == Kind::Size) {
    operand.kind = CallOperand::Kind::Symbolic;
    operand.size = static_cast<Size>(value->integer);
    if (*wanted != (graph.sizes.isReal(operand.size) ? DType::F64 : DType::I64))
      operand.cast = wanted;
  } else if (std::optional<std::string> literal =
                 literalOf(*value, *wanted, checkOf(node, given.source))) {
    operand.kind = CallOperand::Kind::Number;
    operand.literal = *literal;
  } else {
    return "its kernel's parameter `" + parameter.name + "` cannot be given " +
           print(graph, *value);
  }
  call.operands.push_back(std::move(operand));
  return std::nullopt;
}

/// A reduction of everything binds no `dim`: its one pack is all axes.
void FusedMatcher::selectAll(LibraryCall &call) const {
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

/// `[P: match p {…}]` is chosen in the text: by a `p` that stands there.
Reason FusedMatcher::whyNotChosen(const LibraryCall &call) const {
  const auto &given = binding.parameters();
  for (const ParameterInfo &parameter : row.parameters)
    for (std::size_t i = 0; i != call.operands.size(); ++i)
      if (parameter.type == "match " + given[i].parameter->name &&
          (call.operands[i].kind == CallOperand::Kind::Symbolic ||
           call.operands[i].kind == CallOperand::Kind::Value))
        return "its kernel is chosen by `" + given[i].parameter->name +
               "`, which is only known at run time";
  return std::nullopt;
}

/// Numbers, bools and words that stand in the call's `[ ]`.
Reason FusedMatcher::addConstants(LibraryCall &call) const {
  for (const RowArgument &given : binding.constants()) {
    const std::string &type = given.parameter->type;
    const GraphArgument &value = *given.value;
    std::optional<std::string> text;
    if (type == "str" && value.kind == Kind::String)
      text = '"' + value.text + '"';
    else if (type == "bool")
      text = literalOf(value, DType::Bool);
    else if (type == "int")
      text = literalOf(value, DType::I64);
    if (!text)
      return "its kernel takes the compile-time argument `" +
             given.parameter->name + "`";
    call.constants.emplace_back(given.parameter->name, *text);
  }
  return std::nullopt;
}

Reason FusedMatcher::typeResults(LibraryCall &call) const {
  if (row.results.size() < node.results.size())
    return "its kernel gives fewer results";
  for (const std::string &written : row.results) {
    TypePattern pattern = parsePattern(written);
    std::optional<DType> type = binding.typeNamed(pattern.element);
    if (!type || pattern.isIrregular || pattern.isList || pattern.optional)
      return "its kernel's result `" + written +
             "` is not one that fusion knows";
    call.results.push_back(std::move(pattern));
    call.resultTypes.push_back(*type);
  }
  return std::nullopt;
}

Reason FusedMatcher::run(LibraryCall &call) {
  if (row.kind != DeclarationKind::Elementwise &&
      row.kind != DeclarationKind::Rowwise)
    return "its kernel is a whole of its own";
  if (node.returnsList)
    return "it gives a list";
  if (node.isRandom)
    return "its numbers are counted along its own result";
  if (!binding.indexed.empty())
    return "its axes stand where the list of indices says";
  for (ValueId id : node.results)
    if (!graph.values[id].tensor())
      return "it returns no plain tensor";
  for (const RowArgument &given : binding.parameters())
    if (Reason why = placeOperand(given, call))
      return why;
  // What is not given at the end keeps its default.
  while (!call.operands.empty() &&
         call.operands.back().kind == CallOperand::Kind::Absent)
    call.operands.pop_back();
  selectAll(call);
  if (Reason why = whyNotChosen(call))
    return why;
  if (Reason why = addConstants(call))
    return why;
  return typeResults(call);
}

/// Both forms of a call, or why the row takes the node in neither.
static std::variant<LibraryCall, std::string>
matchRow(const Graph &graph, const Node &node, const OperatorRow &row) {
  RowBinding binding(graph, node, row);
  if (Reason why = binding.run())
    return *why;
  LibraryCall call;
  call.row = &row;
  call.axis = binding.axis;
  call.axisIsPack = binding.axisIsPack;
  call.selected = binding.selected;
  call.typeArguments = binding.typeArguments();
  if (Reason why = FusedMatcher(graph, node, row, binding).run(call))
    call.whyNotFused = *why;
  auto whole = matchWhole(graph, node, row, binding);
  if (auto *why = std::get_if<std::string>(&whole))
    call.whyNotWhole = *why;
  else
    call.whole = std::get<WholeCall>(std::move(whole));
  if (!call.whyNotFused.empty() && !call.whole)
    return call.whyNotFused == call.whyNotWhole
               ? call.whyNotFused
               : call.whyNotFused + "; launched by itself: " + call.whyNotWhole;
  return call;
}

Operation matchRows(const Graph &graph, const Node &node,
                    const OperatorTable &table, int refused) {
  auto *rows = table.find(node.overload);
  if (!rows)
    return Opaque{"the library has no kernel for it", OpaqueKind::Fallback};
  std::string reason;
  std::optional<LibraryCall> whole;
  std::optional<std::string_view> measured =
      measuredRow(graph, node, table.machine());
  for (const OperatorRow *row : *rows) {
    bool isMeasured = measured == row->declaration;
    if (!isMeasured && isMeasuredOnly(row->overload, row->declaration))
      continue;
    auto match = matchRow(graph, node, *row);
    if (auto *why = std::get_if<std::string>(&match)) {
      if (reason.empty())
        reason = std::move(*why);
      continue;
    }
    if (refused-- > 0)
      continue;
    auto &call = std::get<LibraryCall>(match);
    if (isMeasured || call.whyNotFused.empty())
      return std::move(call);
    if (!whole)
      whole = std::move(call);
  }
  if (whole)
    return std::move(*whole);
  return Opaque{reason, OpaqueKind::Fallback};
}

} // namespace quern
