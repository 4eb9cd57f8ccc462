// The callable that AOTAutograd is given for a graph.
#pragma once

#include "backend-torch/bind/GraphBuilder.h"
#include "backend-torch/run/Executor.h"

#include <array>

namespace quern {

/// The compiler and its table of operators, shared by all graphs.
struct Backend {
  std::shared_ptr<Recorder> recorder;
  std::shared_ptr<Memory> memory = std::make_shared<Memory>();
  std::shared_ptr<CodeWaiter> user;
  std::unique_ptr<Compiler> compiler; ///< null in a build without one
  std::unique_ptr<Compiler> checking; ///< the same, keeping bounds checks
  /// Another one once a module was added.
  std::shared_ptr<const OperatorTable> table =
      std::make_shared<OperatorTable>(std::vector<OperatorRow>());

  Backend();
  /// Adds a user's module of kernels; operators that later graphs may use.
  void addModule(const std::string &name, const std::string &text,
                 const std::vector<std::pair<std::string, std::string>> &rows);
  Counters sessionCounters() const;
  std::string identity() const;
  /// What tracing and compiling took and no longer need goes back to the
  /// system.
  static void giveBackMemory();

private:
  void readTable();
};

struct GraphOptions {
  bool kernels = true, fuse = true;
  bool preferAten = true;   ///< where it was measured to be faster
  bool codeNow = true;      ///< false: code is made when it is first run
  bool strict = false;      ///< a kernel that cannot be made is an error
  bool keepsChecks = false; ///< every bounds check of a kernel stays
  std::optional<pybind11::function> trace;
  /// Called with a dictionary after every step.
  std::optional<pybind11::function> observe;
  /// Called between kernels with how many are done and how many there are.
  std::optional<pybind11::function> progress;
  /// Called with the program before its kernels are made.
  std::optional<pybind11::function> written;
};

class CompiledGraph {
public:
  CompiledGraph(GraphBuilder &builder, Backend &backend, GraphOptions options);

  /// Takes the list of arguments and empties it, so that nothing outlives its
  /// last use.
  pybind11::object call(pybind11::handle arguments) const;

  std::string printGraph() const;
  std::string printPlan() const;
  std::string printAssumptions() const;
  std::string printGroups() const;
  std::string programText() const { return executor->program().text; }
  /// The plan's steps, a dictionary each.
  pybind11::list steps() const;
  /// Seconds of each stage by its name.
  std::map<std::string, double> times() const;
  /// Every stage of each distinct kernel, by its declaration.
  std::map<std::string, std::vector<StageText>> stages() const;
  /// Name, operator, source line, reason and kind of every node that runs
  /// through ATen.
  std::vector<std::array<std::string, 5>> opaque() const;

private:
  Executor::Values run(Executor::Values &&values) const;
  void callHost(int callable, std::vector<c10::IValue> &stack) const;
  ExecutorOptions executorOptions(const GraphOptions &chosen);
  pybind11::dict describe(const StepReport &report) const;

  std::vector<pybind11::object> objects;
  std::unique_ptr<Executor> executor;
  bool compilesInRun; ///< its first run makes the code
};

/// A built-in function that calls the graph of a Python object and keeps it.
pybind11::object entryOf(const pybind11::object &graph);

} // namespace quern
