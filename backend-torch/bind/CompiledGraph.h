// The callable that AOTAutograd is given for a graph.
#pragma once

#include "backend-torch/bind/GraphBuilder.h"
#include "backend-torch/run/Executor.h"

namespace quern {

class CompiledGraph {
public:
  CompiledGraph(GraphBuilder &builder, std::shared_ptr<Recorder> recorder,
                std::optional<pybind11::function> trace);

  /// Takes the list of arguments and empties it, so that nothing outlives its
  /// last use.
  pybind11::object call(pybind11::list arguments) const;

  std::string printGraph() const;
  std::string printPlan() const;
  /// Operator, number of calls.
  std::map<std::string, std::int64_t> operatorCalls() const;

private:
  void callHost(int callable, std::vector<c10::IValue> &stack) const;

  std::vector<pybind11::object> objects;
  std::unique_ptr<Executor> executor;
};

} // namespace quern
