// What the importer in Python talks to while it describes a graph.
#pragma once

#include "backend-torch/bind/Convert.h"

#include <memory>

namespace quern {

class GraphBuilder {
public:
  explicit GraphBuilder(const std::string &name) { graph.name = name; }

  Size constant(std::int64_t value) { return graph.sizes.constant(value); }
  Size real(double value) { return graph.sizes.real(value); }
  Size symbol(const std::string &name,
              std::variant<std::int64_t, double> hint) {
    auto *real = std::get_if<double>(&hint);
    return graph.sizes.symbol(name,
                              real ? SizeValue{true, 0, *real}
                                   : SizeValue{false, std::get<0>(hint), 0});
  }
  Size apply(const std::string &op, const std::vector<Size> &operands);

  /// Each gives the ids of the values that the node makes.
  std::vector<ValueId> input(const std::string &name, pybind11::object facts);
  std::vector<ValueId> constantNode(const std::string &name,
                                    pybind11::object facts,
                                    pybind11::object object);
  std::vector<ValueId>
  call(const std::string &name, const std::string &overload,
       const pybind11::list &arguments, const pybind11::list &results,
       const pybind11::dict &flags, const std::string &source);
  std::vector<ValueId> scalar(const std::string &name, pybind11::object facts);
  std::vector<ValueId> seed(const std::string &name, pybind11::object facts);
  std::vector<ValueId>
  host(const std::string &name, const std::string &description,
       const pybind11::list &arguments, const pybind11::list &results,
       pybind11::object callable, const std::string &source);
  void output(const pybind11::list &outputs);
  /// What the last node gives has sizes that depend on data.
  void definesSizes(const std::string &assumed);
  /// Every call is to see whether `holds`; the sides are for the message.
  void assume(Size holds, const std::vector<Size> &sides,
              const std::string &text, const std::string &message,
              const std::string &source);

  /// Ends the description; the builder is empty afterwards.
  std::shared_ptr<const Graph> finish();
  std::vector<pybind11::object> takeObjects() { return std::move(objects); }
  std::string print() const { return quern::print(graph); }

private:
  std::vector<ValueId> add(Node node, const pybind11::list &facts);

  Graph graph;
  std::vector<pybind11::object> objects;
};

} // namespace quern
