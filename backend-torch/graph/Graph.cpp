// Queries on a Graph and its printed form.
#include "backend-torch/graph/Graph.h"

namespace quern {

static void collect(const GraphArgument &argument, std::vector<ValueId> &ids) {
  if (argument.kind == GraphArgument::Kind::Value)
    ids.push_back(static_cast<ValueId>(argument.integer));
  for (const GraphArgument &element : argument.list)
    collect(element, ids);
}

std::vector<ValueId> Graph::operands(const Node &node) const {
  std::vector<ValueId> ids;
  for (const NamedArgument &argument : node.arguments)
    collect(argument.value, ids);
  return ids;
}

const NamedArgument *Graph::named(const Node &node,
                                  std::string_view name) const {
  for (const NamedArgument &argument : node.arguments)
    if (argument.name == name)
      return &argument;
  return nullptr;
}

const GraphArgument *Graph::argument(const Node &node,
                                     std::string_view name) const {
  const NamedArgument *found = named(node, name);
  return found ? &found->value : nullptr;
}

void renumber(Graph &graph) {
  graph.inputs.clear();
  for (std::size_t i = 0; i != graph.nodes.size(); ++i) {
    for (ValueId id : graph.nodes[i].results)
      graph.values[id].node = static_cast<int>(i);
    if (graph.nodes[i].kind == NodeKind::Input)
      graph.inputs.push_back(static_cast<int>(i));
  }
}

namespace {
struct TypeRow {
  std::int8_t scalarType;
  DType type;
  std::string_view spelling;
};
// torch's numbers are part of its serialized format and do not change.
constexpr TypeRow typeRows[] = {
    {0, DType::U8, "u8"},          {1, DType::I8, "i8"},
    {2, DType::I16, "i16"},        {3, DType::I32, "i32"},
    {4, DType::I64, "i64"},        {5, DType::F16, "f16"},
    {6, DType::F32, "f32"},        {7, DType::F64, "f64"},
    {9, DType::C64, "c64"},        {10, DType::C128, "c128"},
    {11, DType::Bool, "bool"},     {15, DType::BF16, "bf16"},
    {23, DType::F8E5M2, "f8e5m2"}, {24, DType::F8E4M3, "f8e4m3"},
    {27, DType::U16, "u16"},       {28, DType::U32, "u32"},
    {29, DType::U64, "u64"}};
} // namespace

std::optional<DType> dtypeOf(std::int8_t scalarType) {
  for (const TypeRow &row : typeRows)
    if (row.scalarType == scalarType)
      return row.type;
  return std::nullopt;
}

std::string_view spelling(DType type) {
  for (const TypeRow &row : typeRows)
    if (row.type == type)
      return row.spelling;
  return "?";
}

static std::string valueName(const Graph &graph, ValueId id) {
  const Value &value = graph.values[id];
  const Node &node = graph.nodes[value.node];
  if (node.results.size() == 1 && !node.returnsList)
    return "%" + node.name;
  return "%" + node.name + "#" + std::to_string(value.index);
}

static std::string printSizes(const Graph &graph, std::span<const Size> sizes) {
  std::string text;
  for (Size size : sizes)
    text += (text.empty() ? "" : ", ") + graph.sizes.print(size);
  return text;
}

std::string print(const Graph &graph, const Facts &facts) {
  if (auto *scalar = std::get_if<ScalarFacts>(&facts))
    return "= " + graph.sizes.print(scalar->value);
  auto *tensor = std::get_if<TensorFacts>(&facts);
  if (!tensor)
    return "none";
  std::string type = tensor->type ? std::string(spelling(*tensor->type))
                                  : "type" + std::to_string(tensor->scalarType);
  return type + "[" + printSizes(graph, tensor->sizes) + "] strides (" +
         printSizes(graph, tensor->strides) + ") storage " +
         std::to_string(tensor->storage);
}

std::string print(const Graph &graph, const GraphArgument &argument) {
  using Kind = GraphArgument::Kind;
  switch (argument.kind) {
  case Kind::None:
    return "none";
  case Kind::Value:
    return valueName(graph, static_cast<ValueId>(argument.integer));
  case Kind::Size:
    return graph.sizes.print(static_cast<Size>(argument.integer));
  case Kind::Int:
    return std::to_string(argument.integer);
  case Kind::Float:
    return std::to_string(argument.real);
  case Kind::Bool:
    return argument.integer ? "true" : "false";
  case Kind::Complex:
    return std::to_string(argument.real) + "+" +
           std::to_string(argument.imaginary) + "j";
  case Kind::String:
    return '"' + argument.text + '"';
  case Kind::Device:
    return argument.text;
  case Kind::ScalarType:
    return "type" + std::to_string(argument.integer);
  case Kind::Layout:
    return "layout" + std::to_string(argument.integer);
  case Kind::MemoryFormat:
    return "format" + std::to_string(argument.integer);
  case Kind::Object:
    return "object" + std::to_string(argument.integer);
  case Kind::List:
    break;
  }
  std::string text;
  for (const GraphArgument &element : argument.list)
    text += (text.empty() ? "" : ", ") + print(graph, element);
  return "[" + text + "]";
}

static std::string_view kindName(NodeKind kind) {
  switch (kind) {
  case NodeKind::Input:
    return "input";
  case NodeKind::Constant:
    return "constant";
  case NodeKind::Call:
    return "call";
  case NodeKind::Scalar:
    return "scalar";
  case NodeKind::Seed:
    return "seed";
  case NodeKind::Host:
    return "host";
  }
  return "";
}

std::string print(const Graph &graph) {
  std::string text = "graph " + graph.name + "\n";
  for (const Node &node : graph.nodes) {
    text += "  " + std::string(kindName(node.kind)) + " %" + node.name;
    if (!node.overload.empty())
      text += " = " + node.overload;
    text += "(";
    for (std::size_t i = 0; i != node.arguments.size(); ++i)
      text += (i ? ", " : "") + node.arguments[i].name + "=" +
              print(graph, node.arguments[i].value);
    text += ")";
    for (ValueId id : node.results)
      text += " " + print(graph, graph.values[id].facts);
    if (node.mutates)
      text += " mutates";
    if (!node.source.empty())
      text += "  # " + node.source;
    text += "\n";
  }
  text += "  return";
  for (const GraphOutput &output : graph.outputs)
    text += " " + print(graph, output);
  return text + "\n";
}

} // namespace quern
