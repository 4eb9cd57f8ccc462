// Group by group, from fused nodes to a readable declaration.
#include "backend-torch/ops/Devices.h"
#include "backend-torch/ops/Promotion.h"
#include "backend-torch/program/Layout.h"
#include "backend-torch/program/Whole.h"

#include <algorithm>

namespace quern {

using Imports = std::set<std::pair<std::string, std::string>>;

/// A value in another type as ATen has it, which is not the language's cast
/// where a part of a number or the low bits of one are asked for.
static std::string castText(DType from, DType to, const std::string &value,
                            Imports &imports) {
  std::string target(spelling(to));
  if (!isCast(from, to))
    return target + "(re(" + value + "))";
  bool isShort = to == DType::I8 || to == DType::I16 || to == DType::U8 ||
                 to == DType::U16;
  if (!isFloat(from) || !isShort)
    return target + "(" + value + ")";
  imports.insert({"copies", "converted"});
  return "converted[" + std::string(spelling(from)) + ", " + target + "](" +
         value + ")";
}

/// The bits of a value as one of another type.
static std::string bitsText(DType from, DType to, const std::string &value,
                            Imports &imports) {
  if (from == to)
    return value;
  std::string target(spelling(to));
  if (from == DType::Bool || to == DType::Bool)
    return target + "(" + value + ")";
  imports.insert({"copies", "reinterpreted"});
  return "reinterpreted[" + std::string(spelling(from)) + ", " + target + "](" +
         value + ")";
}

namespace {
class GroupWriter {
public:
  GroupWriter(const FusionPlan &plan, const Group &group)
      : plan(plan), graph(*plan.graph), group(group), layout(plan, group),
        decisive(findDecisive()) {}

  /// Signature and body without the name, which equal groups share.
  std::string write();
  GroupKernel kernel() const;
  bool isRowwise() const { return group.draft.hasReduction(); }
  const Imports &imports() const { return used; }
  std::string suggestedName() const;

private:
  std::string typeOf(ValueId value) const;
  std::string name(ValueId value);
  std::set<ValueId> findDecisive() const;
  bool rounds(const Node &node, ValueId value) const;
  std::string resultText(ValueId output);
  void writeNode(int index);
  void writeResults(const Node &node, const LibraryCall &call,
                    const std::string &text);
  std::string callText(int node, const LibraryCall &call);
  std::string operandText(const CallOperand &operand);
  std::string axisArgument(const AxisPattern &pattern,
                           const Dimensions &dims) const;
  std::vector<std::string> axisArguments(int node,
                                         const LibraryCall &call) const;
  std::string brackets(int node, const LibraryCall &call) const;
  std::string number(Size size);

  const FusionPlan &plan;
  const Graph &graph;
  const Group &group;
  Layout layout;
  const std::set<ValueId> decisive;
  std::map<ValueId, std::string> names;
  std::vector<Size> numbers;
  std::string body;
  Imports used; ///< module, declaration
};
} // namespace

/// Element type and, in a rowwise declaration, the axes.
std::string GroupWriter::typeOf(ValueId value) const {
  std::string text(spelling(*graph.values[value].tensor()->type));
  if (!isRowwise())
    return text;
  std::string axes;
  for (int axis : layout.axesOf(value))
    axes += (axes.empty() ? "" : ", ") + layout.axes()[axis].name;
  return text + "[" + axes + "]";
}

/// A view inside the group is the value it looks at: its axes have names.
std::string GroupWriter::name(ValueId value) {
  auto it = names.find(value);
  if (it != names.end())
    return it->second;
  ValueId base = plan.analysis->baseOf(value);
  return bitsText(*graph.values[base].tensor()->type,
                  *graph.values[value].tensor()->type, names.at(base), used);
}

/// A returned value has all axes of its result: those that it does not vary
/// along are written.
std::string GroupWriter::resultText(ValueId output) {
  std::string text = name(output);
  std::set<Atom> varies;
  if (isRowwise())
    varies = group.draft.variation(output);
  if (varies.empty()) // one number, which goes with every element
    return text;
  std::string missing;
  int count = 0;
  for (int axis : layout.axesOf(output)) {
    const std::vector<Atom> &atoms = layout.axes()[axis].atoms;
    bool isThere = std::any_of(atoms.begin(), atoms.end(), [&](Atom atom) {
      return varies.contains(atom);
    });
    if (isThere)
      continue;
    ++count;
    missing += (missing.empty() ? "" : ", ") + layout.axes()[axis].name;
  }
  if (missing.empty())
    return text;
  return "expand(" + text + " over " +
         (count > 1 ? "(" + missing + ")" : missing) + ")";
}

std::string GroupWriter::number(Size size) {
  auto it = std::find(numbers.begin(), numbers.end(), size);
  if (it == numbers.end())
    it = numbers.insert(numbers.end(), size);
  return "n" + std::to_string(it - numbers.begin());
}

std::string GroupWriter::operandText(const CallOperand &operand) {
  std::string text;
  switch (operand.kind) {
  case CallOperand::Kind::Absent:
    return "none";
  case CallOperand::Kind::Number:
    return operand.literal;
  case CallOperand::Kind::Symbolic:
    text = number(operand.size);
    break;
  case CallOperand::Kind::Value:
    text = name(operand.value);
    break;
  }
  if (!operand.cast)
    return text;
  return std::string(spelling(*operand.cast)) + "(" + text + ")";
}

/// What the group's own comparisons and searches read: what gives no floats
/// decides as ATen does, on rounded numbers.
std::set<ValueId> GroupWriter::findDecisive() const {
  std::set<ValueId> found;
  for (int index : group.draft.nodes()) {
    const Node &node = graph.nodes[index];
    bool decides = std::ranges::any_of(node.results, [&](ValueId id) {
      const TensorFacts *facts = graph.values[id].tensor();
      return facts && facts->type && !isFloat(*facts->type);
    });
    if (decides)
      for (ValueId operand : graph.operands(node))
        found.insert(plan.analysis->baseOf(operand));
  }
  return found;
}

/// Whether readers in the group are given a node's value as its type has it,
/// not the wider one that it is computed in. What is stored all readers see
/// alike, and so do the two graphs that make a value each for itself; f16
/// overflows where eager's does.
bool GroupWriter::rounds(const Node &node, ValueId value) const {
  DType type = *graph.values[value].tensor()->type;
  if (!isFloat(type) || accumulatorOf(type) == type)
    return false;
  return type != DType::BF16 || node.isRecomputed || decisive.contains(value) ||
         std::ranges::find(group.outputs, value) != group.outputs.end();
}

/// `C = R1`, `*C = (R0, R1)`; nothing for an axis of extent 1.
std::string GroupWriter::axisArgument(const AxisPattern &pattern,
                                      const Dimensions &dims) const {
  std::vector<int> axes;
  for (const Dimension &dimension : dims)
    for (Atom atom : group.draft.table().resolve(dimension)) {
      int axis = layout.axisOf(atom);
      if (axes.empty() || axes.back() != axis)
        axes.push_back(axis);
    }
  std::string list;
  for (int axis : axes)
    list += (list.empty() ? "" : ", ") + layout.axes()[axis].name;
  if (list.empty())
    return "";
  if (!pattern.isPack)
    return pattern.name + " = " + list;
  return "*" + pattern.name + " = " +
         (axes.size() > 1 ? "(" + list + ")" : list);
}

/// Every axis, but for packs that follow where the call names an axis.
std::vector<std::string>
GroupWriter::axisArguments(int node, const LibraryCall &call) const {
  std::vector<std::string> result;
  if (call.row->kind != DeclarationKind::Rowwise)
    return result;
  std::set<std::string> done;
  const NamedAxes &names = group.draft.namedAxes(node);
  for (const CallOperand &operand : call.operands)
    for (const AxisPattern &axis : operand.pattern.axes) {
      auto dims = names.find(axis.name);
      bool isTold = axis.isPack && !call.axis.empty();
      if (dims == names.end() || !done.insert(axis.name).second ||
          (isTold && axis.name != call.axis))
        continue;
      std::string text = axisArgument(axis, dims->second);
      if (!text.empty())
        result.push_back(std::move(text));
    }
  return result;
}

std::string GroupWriter::brackets(int node, const LibraryCall &call) const {
  std::string text;
  auto add = [&](const std::string &argument) {
    text += (text.empty() ? "" : ", ") + argument;
  };
  for (const auto &[name, value] : call.constants)
    add(name + " = " + value);
  for (const auto &[name, type] : call.typeArguments)
    add(name + " = " + std::string(spelling(type)));
  for (const std::string &axis : axisArguments(node, call))
    add(axis);
  return text.empty() ? "" : "[" + text + "]";
}

/// Operands stand in order, by name behind one that keeps its default.
std::string GroupWriter::callText(int node, const LibraryCall &call) {
  used.insert({call.row->module, call.row->declaration});
  std::string text;
  bool byName = false;
  auto operand = call.operands.begin();
  for (const ParameterInfo &parameter : call.row->parameters) {
    if (parameter.compileTime || operand == call.operands.end())
      continue;
    const CallOperand &given = *operand++;
    if (given.kind == CallOperand::Kind::Absent && !given.pattern.optional) {
      byName = true;
      continue;
    }
    text += text.empty() ? "" : ", ";
    text += (byName ? parameter.name + " = " : "") + operandText(given);
  }
  return call.row->declaration + brackets(node, call) + "(" + text + ")";
}

void GroupWriter::writeNode(int index) {
  const Node &node = graph.nodes[index];
  std::vector<std::string> results;
  for (ValueId id : node.results) {
    names[id] = "v" + std::to_string(names.size());
    results.push_back(names[id]);
  }
  DType type = *graph.values[node.results[0]].tensor()->type;
  std::string cast(spelling(type));
  if (auto *primitive = plan.analysis->primitiveAt(index)) {
    std::string text = primitive->size ? number(*primitive->size)
                       : primitive->kind == Primitive::Fill
                           ? primitive->literal
                           : name(primitive->operand);
    if (primitive->kind == Primitive::Cast)
      text = castText(*graph.values[primitive->operand].tensor()->type, type,
                      text, used);
    else if (primitive->kind == Primitive::Fill)
      text = cast + "(" + text + ")";
    body += "    let " + results[0] + " = " + text + "\n";
    return;
  }
  const auto &call = std::get<LibraryCall>(plan.analysis->operations[index]);
  std::string text = callText(index, call);
  if (call.results.size() > 1) {
    writeResults(node, call, text);
    return;
  }
  if (call.resultTypes[0] != type || rounds(node, node.results[0]))
    text = cast + "(" + text + ")";
  body += "    let " + results[0] + " = " + text + "\n";
}

/// Several results; roundings stand behind the call.
void GroupWriter::writeResults(const Node &node, const LibraryCall &call,
                               const std::string &text) {
  std::string list, roundings;
  for (std::size_t i = 0; i != call.results.size(); ++i) {
    std::string result = "unused" + std::to_string(i);
    if (i < node.results.size()) {
      ValueId value = node.results[i];
      const TensorFacts *facts = graph.values[value].tensor();
      result = names.at(value);
      if (facts && rounds(node, value)) {
        std::string wide = "w" + result.substr(1);
        roundings += "    let " + result + " = " +
                     std::string(spelling(*facts->type)) + "(" + wide + ")\n";
        result = wide;
      }
    }
    list += (i ? ", " : "") + result;
  }
  body += "    let " + list + " = " + text + "\n" + roundings;
}

std::string GroupWriter::write() {
  std::string parameters;
  auto addParameter = [&](const std::string &text) {
    parameters += (parameters.empty() ? "" : ", ") + text;
  };
  for (std::size_t i = 0; i != group.inputs.size(); ++i) {
    names[group.inputs[i]] = "x" + std::to_string(i);
    addParameter("x" + std::to_string(i) + ": " + typeOf(group.inputs[i]));
  }
  for (int node : group.draft.nodes())
    writeNode(node);
  for (std::size_t i = 0; i != numbers.size(); ++i)
    addParameter("n" + std::to_string(i) +
                 (plan.sizes->isReal(numbers[i]) ? ": f64" : ": int"));
  std::string types, values;
  for (ValueId output : group.outputs) {
    types += (types.empty() ? "" : ", ") + typeOf(output);
    values += (values.empty() ? "" : ", ") + resultText(output);
  }
  if (group.outputs.size() > 1)
    types = "(" + types + ")";
  return "(" + parameters + ") -> " + types + ":\n" + body + "    return " +
         values + "\n";
}

GroupKernel GroupWriter::kernel() const {
  GroupKernel kernel;
  for (ValueId input : group.inputs)
    kernel.inputs.push_back(layout.operand(input, !isRowwise()));
  for (ValueId output : group.outputs)
    kernel.outputs.push_back(layout.operand(output, !isRowwise()));
  for (std::size_t i = 0; i != kernel.inputs.size(); ++i)
    kernel.arguments.push_back(
        {.kind = KernelArgument::Kind::Tensor, .input = i});
  for (Size number : numbers)
    if (plan.sizes->isReal(number))
      kernel.arguments.push_back(
          {.kind = KernelArgument::Kind::Reals, .reals = {number}});
    else
      kernel.arguments.push_back(
          {.kind = KernelArgument::Kind::Integers, .integers = {number}});
  return kernel;
}

std::string GroupWriter::suggestedName() const {
  std::string text = "fused";
  int count = 0;
  for (int node : group.draft.nodes()) {
    auto *call = std::get_if<LibraryCall>(&plan.analysis->operations[node]);
    if (call && !group.draft.isRefilled(node) && count++ < 4)
      text += "_" + call->row->declaration;
  }
  return text;
}

static std::string importText(const Imports &imports) {
  std::map<std::string, std::string> lines;
  for (const auto &[module, declaration] : imports) {
    std::string &line = lines[module];
    line += (line.empty() ? "" : ", ") + declaration;
  }
  std::string text;
  for (const auto &[module, names] : lines)
    text += "from " + module + " use " + names + "\n";
  return text;
}

namespace {
/// Puts declarations together, equal ones once.
class ProgramWriter {
public:
  explicit ProgramWriter(const FusionPlan &plan) : plan(plan) {}
  Program run();

private:
  std::string declare(const std::string &kind, const std::string &name,
                      const std::string &text, const Imports &imports);
  GroupKernel write(const Group &group);

  const FusionPlan &plan;
  Program program;
  Imports allImports;
  std::map<std::string, std::string> declared; // text → name
  std::string declarations;
};
} // namespace

std::string ProgramWriter::declare(const std::string &kind,
                                   const std::string &name,
                                   const std::string &text,
                                   const Imports &imports) {
  allImports.insert(imports.begin(), imports.end());
  auto [it, isNew] = declared.try_emplace(kind + text);
  if (isNew) {
    it->second = name + "_" + std::to_string(declared.size() - 1);
    std::string declaration = "\n" + kind + " " + it->second + text;
    program.units[it->second] = importText(imports) + declaration;
    declarations += declaration;
  }
  return it->second;
}

GroupKernel ProgramWriter::write(const Group &group) {
  if (group.part >= 0) {
    GroupKernel kernel = placeKernel(plan, group);
    DType from = kernel.inputs[0].type, to = kernel.outputs[0].type;
    Imports imports;
    std::string value = from == to ? "x0" : castText(from, to, "x0", imports);
    kernel.declaration =
        declare("elementwise", "place",
                "(x0: " + std::string(spelling(from)) + ") -> " +
                    std::string(spelling(to)) + ":\n    return " + value + "\n",
                imports);
    return kernel;
  }
  if (group.draft.isWhole())
    return wholeKernel(plan, group);
  GroupWriter writer(plan, group);
  std::string text = writer.write();
  GroupKernel kernel = writer.kernel();
  kernel.declaration = declare(writer.isRowwise() ? "rowwise" : "elementwise",
                               writer.suggestedName(), text, writer.imports());
  return kernel;
}

Program ProgramWriter::run() {
  for (const Group &group : plan.groups) {
    program.kernels.push_back(write(group));
    int first = group.draft.nodes().front();
    program.kernels.back().device =
        deviceOf(*plan.graph, plan.graph->nodes[first]);
  }
  program.text = "\"\"\"Kernels of the compiled graph " + plan.graph->name +
                 ".\"\"\"\n\n" + importText(allImports) + declarations;
  return std::move(program);
}

Program writeProgram(const FusionPlan &plan) {
  return ProgramWriter(plan).run();
}

} // namespace quern
