// Small graphs and a small library for the tests, made by hand.
#pragma once

#include "backend-torch/groups/FusionPlan.h"
#include "backend-torch/ops/Promotion.h"

#include <utility>

namespace quern::testing {

/// Contiguous f32 tensors unless said.
class GraphMaker {
public:
  Size size(std::int64_t extent) { return graph.sizes.constant(extent); }
  Size symbol(const std::string &name) { return graph.sizes.symbol(name); }

  ValueId input(std::vector<Size> sizes, DType type = DType::F32) {
    graph.inputs.push_back(static_cast<int>(graph.nodes.size()));
    return add(NodeKind::Input, "", {}, std::move(sizes), type, -1);
  }

  ValueId call(const std::string &overload,
               std::vector<NamedArgument> arguments, std::vector<Size> sizes,
               DType type = DType::F32) {
    return add(NodeKind::Call, overload, std::move(arguments), std::move(sizes),
               type, -1);
  }

  /// A result that lies in the memory of `base`.
  ValueId view(const std::string &overload, ValueId base,
               std::vector<NamedArgument> more, std::vector<Size> sizes) {
    std::vector<NamedArgument> arguments = {tensor("self", base)};
    for (NamedArgument &argument : more)
      arguments.push_back(std::move(argument));
    const TensorFacts *facts = graph.values[base].tensor();
    return add(NodeKind::Call, overload, std::move(arguments), std::move(sizes),
               *facts->type, facts->storage);
  }

  /// Another result of the last node.
  ValueId further(std::vector<Size> sizes, DType type = DType::F32) {
    return addResult(graph.nodes.back(), std::move(sizes), type, -1);
  }

  Node &last() { return graph.nodes.back(); }

  static NamedArgument tensor(const std::string &name, ValueId value) {
    NamedArgument argument{name, {}, true, false};
    argument.value.kind = GraphArgument::Kind::Value;
    argument.value.integer = value;
    return argument;
  }

  static NamedArgument tensors(const std::string &name,
                               const std::vector<ValueId> &values) {
    NamedArgument argument{name, {}, false, false};
    argument.value.kind = GraphArgument::Kind::List;
    for (ValueId value : values)
      argument.value.list.push_back(tensor("", value).value);
    return argument;
  }

  static GraphArgument integer(std::int64_t value) {
    GraphArgument argument;
    argument.kind = GraphArgument::Kind::Int;
    argument.integer = value;
    return argument;
  }

  static NamedArgument number(const std::string &name, double value) {
    NamedArgument argument{name, {}, true, false};
    argument.value.kind = GraphArgument::Kind::Float;
    argument.value.real = value;
    return argument;
  }

  static NamedArgument integer(const std::string &name, std::int64_t value) {
    return {name, integer(value), false, false};
  }

  static NamedArgument integers(const std::string &name,
                                const std::vector<std::int64_t> &values) {
    NamedArgument argument{name, {}, false, false};
    argument.value.kind = GraphArgument::Kind::List;
    for (std::int64_t value : values)
      argument.value.list.push_back(integer(value));
    return argument;
  }

  static NamedArgument truth(const std::string &name, bool value) {
    NamedArgument argument{name, {}, false, false};
    argument.value.kind = GraphArgument::Kind::Bool;
    argument.value.integer = value;
    return argument;
  }

  std::shared_ptr<const Graph> finish(const std::vector<ValueId> &outputs) {
    for (ValueId output : outputs)
      graph.outputs.push_back(tensor("", output).value);
    return std::make_shared<const Graph>(std::move(graph));
  }

  Graph graph;
  /// Where tensors are from now on.
  std::string device = "cpu";
  std::optional<DeviceId> memory = DeviceId();

private:
  ValueId addResult(Node &node, std::vector<Size> sizes, DType type,
                    int storage) {
    TensorFacts facts;
    facts.type = type;
    facts.bytes = type == DType::I64 || type == DType::F64 ? 8 : 4;
    for (int code = 0; code != 30; ++code)
      if (dtypeOf(static_cast<std::int8_t>(code)) == type)
        facts.scalarType = static_cast<std::int8_t>(code);
    facts.strides.resize(sizes.size());
    Size stride = graph.sizes.constant(1);
    for (std::size_t i = sizes.size(); i != 0; --i) {
      facts.strides[i - 1] = stride;
      stride = graph.sizes.multiply(stride, sizes[i - 1]);
    }
    facts.sizes = std::move(sizes);
    facts.offset = graph.sizes.constant(0);
    facts.device = device;
    facts.memory = memory;
    auto id = static_cast<ValueId>(graph.values.size());
    facts.storage = storage < 0 ? id : storage;
    graph.values.push_back({static_cast<int>(graph.nodes.size()) - 1,
                            static_cast<int>(node.results.size()),
                            std::move(facts)});
    node.results.push_back(id);
    return id;
  }

  ValueId add(NodeKind kind, const std::string &overload,
              std::vector<NamedArgument> arguments, std::vector<Size> sizes,
              DType type, int storage) {
    Node node;
    node.kind = kind;
    node.overload = overload;
    node.arguments = std::move(arguments);
    node.name = "n" + std::to_string(graph.nodes.size());
    graph.nodes.push_back(std::move(node));
    return addResult(graph.nodes.back(), std::move(sizes), type, storage);
  }
};

inline ParameterInfo parameter(const std::string &name, const std::string &type,
                               bool isTensor = true) {
  ParameterInfo info;
  info.name = name;
  info.type = type;
  info.isTensor = isTensor;
  info.optional = type.ends_with('?');
  info.compileTime = isConstraint(type);
  return info;
}

inline OperatorRow
row(const std::string &overload, const std::string &declaration,
    const std::string &module, std::vector<ParameterInfo> parameters,
    std::vector<std::string> results,
    std::vector<std::pair<std::string, std::string>> bindings = {},
    DeclarationKind kind = DeclarationKind::Elementwise,
    const std::string &constraint = "Float") {
  OperatorRow row;
  row.overload = overload;
  row.declaration = declaration;
  row.module = module;
  row.kind = kind;
  row.parameters.push_back(parameter("T", constraint, false));
  for (ParameterInfo &each : parameters)
    row.parameters.push_back(std::move(each));
  row.results = std::move(results);
  row.bindings = std::move(bindings);
  return row;
}

/// Rows as a library has them.
inline OperatorTable smallLibrary() {
  std::vector<OperatorRow> rows;
  rows.push_back(
      row("aten::silu", "silu", "activations", {parameter("x", "T")}, {"T"}));
  rows.push_back(row("aten::sin", "sin", "math", {parameter("x", "T")}, {"T"},
                     {{"promotes", "int_to_float"}}));
  rows.push_back(row("aten::mul.Tensor", "mul", "arithmetic",
                     {parameter("x", "T"), parameter("y", "T")}, {"T"}, {},
                     DeclarationKind::Elementwise, "Number"));
  rows.push_back(row("aten::lt.Tensor", "less", "comparison",
                     {parameter("x", "T"), parameter("y", "T")}, {"bool"}, {},
                     DeclarationKind::Elementwise, "Any"));
  rows.push_back(row("aten::_softmax", "softmax", "softmax",
                     {parameter("x", "T[*R, C]")}, {"T[*R, C]"},
                     {{"dim", "C"}, {"half_to_float", "false"}},
                     DeclarationKind::Rowwise));
  rows.push_back(row("aten::sum.dim_IntList", "sum_dims", "reductions",
                     {parameter("x", "T[*R, *C]")}, {"T[*R]"}, {{"dim", "*C"}},
                     DeclarationKind::Rowwise));
  rows.push_back(
      row("aten::native_layer_norm", "layer_norm", "norms",
          {parameter("x", "T[*R, *C]"), parameter("w", "T[*C]?"),
           parameter("b", "T[*C]?"), parameter("eps", "acc(T)", false)},
          {"T[*R, *C]", "acc(T)[*R]", "acc(T)[*R]"},
          {{"normalized_shape", "*C"}}, DeclarationKind::Rowwise));
  rows.push_back(
      row("aten::slice_scatter", "slice_scatter", "slices",
          {parameter("x", "T[*R, N]"), parameter("src", "T[*R, M]"),
           parameter("start", "int", false), parameter("end", "int", false),
           parameter("step", "int", false)},
          {"T[*R, N]"}, {{"dim", "N"}}, DeclarationKind::Rowwise, "Any"));
  rows.push_back(row("aten::msort", "sorted", "sort",
                     {parameter("x", "T[C, *R]")}, {"T[C, *R]"}, {},
                     DeclarationKind::Rowwise));
  rows.back().isSerial = true;
  return OperatorTable(std::move(rows));
}

/// Plans point to the rows that they use.
inline FusionPlan fused(GraphMaker &maker,
                        const std::vector<ValueId> &outputs) {
  static const OperatorTable table = smallLibrary();
  return planFusion(maker.finish(outputs), table, {});
}

} // namespace quern::testing
