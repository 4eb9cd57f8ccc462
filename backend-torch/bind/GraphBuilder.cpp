// Node by node, from the importer's Python values to a Graph.
#include "backend-torch/bind/GraphBuilder.h"
#include "backend-torch/graph/Readers.h"

namespace py = pybind11;

namespace quern {

Size GraphBuilder::apply(const std::string &op,
                         const std::vector<Size> &operands) {
  std::optional<SizeOp> found = sizeOpNamed(op);
  if (!found)
    raise("no size expression has the operation `" + op + "`");
  return graph.sizes.apply(*found, operands);
}

std::vector<ValueId> GraphBuilder::add(Node node, const py::list &facts) {
  int index = static_cast<int>(graph.nodes.size());
  int position = 0;
  for (py::handle fact : facts) {
    node.results.push_back(static_cast<ValueId>(graph.values.size()));
    graph.values.push_back({index, position++, factsFromPython(fact)});
  }
  std::vector<ValueId> ids = node.results;
  graph.nodes.push_back(std::move(node));
  return ids;
}

static py::list single(py::object facts) {
  py::list list;
  list.append(std::move(facts));
  return list;
}

static std::vector<NamedArgument> namedArguments(const py::list &pairs) {
  std::vector<NamedArgument> arguments;
  for (py::handle pair : pairs) {
    auto tuple = pair.cast<py::tuple>();
    NamedArgument argument{tuple[0].cast<std::string>(),
                           argumentFromPython(tuple[1])};
    argument.isTensor = tuple.size() > 2 && tuple[2].cast<bool>();
    argument.isDefault = tuple.size() > 3 && tuple[3].cast<bool>();
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

std::vector<ValueId> GraphBuilder::input(const std::string &name,
                                         py::object facts) {
  graph.inputs.push_back(static_cast<int>(graph.nodes.size()));
  Node node;
  node.kind = NodeKind::Input;
  node.name = name;
  return add(std::move(node), single(std::move(facts)));
}

std::vector<ValueId> GraphBuilder::constantNode(const std::string &name,
                                                py::object facts,
                                                py::object object) {
  Node node;
  node.kind = NodeKind::Constant;
  node.name = name;
  node.object = static_cast<int>(objects.size());
  objects.push_back(std::move(object));
  return add(std::move(node), single(std::move(facts)));
}

std::vector<ValueId>
GraphBuilder::call(const std::string &name, const std::string &overload,
                   const py::list &arguments, const py::list &results,
                   const py::dict &flags, const std::string &source) {
  Node node;
  node.kind = NodeKind::Call;
  node.name = name;
  node.overload = overload;
  node.arguments = namedArguments(arguments);
  node.mutates = flags["mutates"].cast<bool>();
  node.isRandom = flags["random"].cast<bool>();
  node.returnsList = flags["list"].cast<bool>();
  node.isRecomputed = flags["recomputed"].cast<bool>();
  node.source = source;
  return add(std::move(node), results);
}

std::vector<ValueId> GraphBuilder::scalar(const std::string &name,
                                          py::object facts) {
  Node node;
  node.kind = NodeKind::Scalar;
  node.name = name;
  return add(std::move(node), single(std::move(facts)));
}

std::vector<ValueId> GraphBuilder::seed(const std::string &name,
                                        py::object facts) {
  Node node;
  node.kind = NodeKind::Seed;
  node.name = name;
  return add(std::move(node), single(std::move(facts)));
}

std::vector<ValueId>
GraphBuilder::host(const std::string &name, const std::string &description,
                   const py::list &arguments, const py::list &results,
                   py::object callable, const std::string &source) {
  Node node;
  node.kind = NodeKind::Host;
  node.name = name;
  node.overload = description;
  node.arguments = namedArguments(arguments);
  node.mutates = true; // Nothing is known of it: nothing moves across it.
  node.object = static_cast<int>(objects.size());
  node.source = source;
  objects.push_back(std::move(callable));
  return add(std::move(node), results);
}

void GraphBuilder::output(const py::list &outputs) {
  for (py::handle output : outputs)
    graph.outputs.push_back(argumentFromPython(output));
}

void GraphBuilder::definesSizes(const std::string &assumed) {
  graph.nodes.back().definesSizes = true;
  graph.nodes.back().sizesAssumed = assumed;
}

void GraphBuilder::assume(Size holds, const std::vector<Size> &sides,
                          const std::string &text, const std::string &message,
                          const std::string &source) {
  graph.assumptions.push_back({holds, sides, text, message, source});
}

std::shared_ptr<const Graph> GraphBuilder::finish() {
  noteRead(graph);
  return std::make_shared<const Graph>(std::move(graph));
}

} // namespace quern
