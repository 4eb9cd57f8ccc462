// One native call a graph: unpack, run without the GIL, pack.
#include "backend-torch/bind/CompiledGraph.h"
#include "backend-torch/bind/Interrupts.h"
#include "backend-torch/run/Raise.h"
#include "backend-torch/run/Stable.h"
#include "backend-torch/run/Threads.h"

namespace py = pybind11;

namespace quern {

#if defined(QUERN_HAS_COMPILER)
static Session &sessionOf(const Backend &backend) {
  return static_cast<const SessionCompiler &>(*backend.compiler).owner();
}

void Backend::readTable() {
  Result<std::vector<OperatorRow>> rows = compiler->operators();
  if (!rows)
    raise(rows.error().message);
  Result<MachineInfo> machine = sessionOf(*this).machine();
  if (!machine)
    raise(machine.error().message);
  table = std::make_shared<OperatorTable>(std::move(*rows), *machine);
}

void Backend::addModule(
    const std::string &name, const std::string &text,
    const std::vector<std::pair<std::string, std::string>> &rows) {
  std::vector<OperatorBinding> operators;
  operators.reserve(rows.size());
  for (const auto &[overload, declaration] : rows)
    operators.push_back({overload, declaration});
  if (auto added = sessionOf(*this).addModule(name, text, operators); !added)
    raise(added.error().message);
  readTable();
}

Counters Backend::sessionCounters() const {
  return sessionOf(*this).counters();
}

std::string Backend::identity() const {
  Result<std::string> name = sessionOf(*this).identity();
  if (!name)
    raise(name.error().message);
  return *name;
}

void Backend::giveBackMemory() { Session::giveBackMemory(); }

Backend::Backend()
    : recorder(std::make_shared<Recorder>()),
      user(std::make_shared<Interrupts>()) {
  SessionOptions options;
  options.threadsNow = torchThreads;
  options.team = onTorchThreads;
  Result<std::shared_ptr<Session>> session = Session::create(options);
  if (!session)
    raise(session.error().message);
  (*session)->setCodeWaiter(user);
  compiler = std::make_unique<SessionCompiler>(*session);
  checking = std::make_unique<SessionCompiler>(*session, /*keepsChecks=*/true);
  readTable();
}
#else
Backend::Backend()
    : recorder(std::make_shared<Recorder>()),
      user(std::make_shared<Interrupts>()) {}

void Backend::addModule(
    const std::string &, const std::string &,
    const std::vector<std::pair<std::string, std::string>> &) {
  raise("this build has no compiler");
}

Counters Backend::sessionCounters() const { return {}; }
void Backend::giveBackMemory() {}
std::string Backend::identity() const { return "no compiler"; }
#endif

ExecutorOptions CompiledGraph::executorOptions(const GraphOptions &chosen) {
  ExecutorOptions options;
  options.strict = chosen.strict;
  options.hostCall = [this](int callable, std::vector<c10::IValue> &stack) {
    callHost(callable, stack);
  };
  if (chosen.trace)
    options.trace = [log = *chosen.trace](const std::string &line) {
      py::gil_scoped_acquire gil;
      log(line);
    };
  if (chosen.observe)
    options.observe = [this, tell = *chosen.observe](const StepReport &report) {
      py::gil_scoped_acquire gil;
      tell(describe(report));
    };
  return options;
}

CompiledGraph::CompiledGraph(GraphBuilder &builder, Backend &backend,
                             GraphOptions chosen)
    : compilesInRun(!chosen.codeNow) {
  objects = builder.takeObjects();
  std::vector<c10::IValue> constants;
  constants.reserve(objects.size());
  for (const py::object &object : objects)
    constants.push_back(THPVariable_Check(object.ptr()) ? fromPython(object)
                                                        : c10::IValue());
  ExecutorOptions options = executorOptions(chosen);
  options.memory = backend.memory;
  options.user = backend.user;
  Watcher watcher;
  if (chosen.progress)
    watcher.progress = [&](std::size_t done, std::size_t total) {
      py::gil_scoped_acquire gil;
      (*chosen.progress)(done, total);
    };
  if (chosen.written)
    watcher.written = [&](const std::string &text) {
      py::gil_scoped_acquire gil;
      (*chosen.written)(text);
    };
  FusionOptions fusion;
  fusion.kernels = chosen.kernels;
  fusion.fuse = chosen.fuse;
  fusion.preferAten = chosen.preferAten;
  std::shared_ptr<const Graph> graph = builder.finish();
  std::shared_ptr<const OperatorTable> table = backend.table;
  Compiler *compiler =
      (chosen.keepsChecks ? backend.checking : backend.compiler).get();
  py::gil_scoped_release release;
  CompiledProgram program =
      compileGraph(std::move(graph), table, compiler, std::move(fusion),
                   chosen.codeNow, watcher);
  executor =
      std::make_unique<Executor>(std::move(program), std::move(constants),
                                 *backend.recorder, std::move(options));
}

void CompiledGraph::callHost(int callable,
                             std::vector<c10::IValue> &stack) const {
  py::gil_scoped_acquire gil;
  py::list arguments;
  for (const c10::IValue &value : stack)
    arguments.append(toPython(value));
  stack.clear();
  py::object results = objects[callable](*arguments);
  for (py::handle result : results)
    stack.push_back(fromPython(result));
}

/// Throws on with torch's own types (IndexError, NotImplementedError and so on)
/// and, as a note, the operator and the user's line.
[[noreturn]] static void throwInPython(const std::exception_ptr &cause,
                                       const std::string &place) {
  try {
    std::rethrow_exception(cause);
  } catch (py::error_already_set &error) {
    error.restore();
  } catch (const IndexRangeError &error) {
    auto report = py::module_::import("quern.torch_backend.report");
    PyErr_SetString(report.attr("IndexRangeError").ptr(), error.what());
  } catch (...) {
    torch::translate_exception_to_python(cause);
  }
  py::error_already_set error;
  if (!place.empty())
    error.value().attr("add_note")("while running " + place);
  throw error;
}

Executor::Values CompiledGraph::run(Executor::Values &&values) const {
  try {
    std::optional<py::gil_scoped_release> release;
    if (!executor->isBrief())
      release.emplace();
    // The tracer's own is free only now.
    bool isFirst = executor->isFresh();
    if (isFirst)
      Backend::giveBackMemory();
    if (isFirst && compilesInRun)
      executor->makeCode();
    Executor::Values results = executor->run(std::move(values));
    if (isFirst && compilesInRun)
      Backend::giveBackMemory();
    return results;
  } catch (const StepError &error) {
    if (auto interrupt = Interrupts::taken())
      throw *interrupt;
    throwInPython(error.cause, error.place);
  } catch (...) {
    if (auto interrupt = Interrupts::taken())
      throw *interrupt;
    throwInPython(std::current_exception(), "");
  }
}

py::object CompiledGraph::call(py::handle arguments) const {
  Executor::Values values;
  Py_ssize_t count = PyList_GET_SIZE(arguments.ptr());
  for (Py_ssize_t i = 0; i != count; ++i)
    values.push_back(fromPython(PyList_GET_ITEM(arguments.ptr(), i)));
  PyList_SetSlice(arguments.ptr(), 0, count, nullptr);
  Executor::Values outputs = run(std::move(values));
  py::tuple result(outputs.size());
  for (std::size_t i = 0; i != outputs.size(); ++i)
    PyTuple_SET_ITEM(result.ptr(), static_cast<Py_ssize_t>(i),
                     toPython(outputs[i]).release().ptr());
  return result;
}

std::string CompiledGraph::printGraph() const {
  return quern::print(*executor->plan().graph);
}

std::string CompiledGraph::printPlan() const {
  return quern::print(executor->plan());
}

std::string CompiledGraph::printAssumptions() const {
  return quern::printAssumptions(executor->plan());
}

std::string CompiledGraph::printGroups() const {
  return quern::print(*executor->plan().fusion);
}

std::map<std::string, double> CompiledGraph::times() const {
  const StageTimes &times = executor->times();
  return {{"groups", times.groups},
          {"program", times.program},
          {"compiled", times.compiled},
          {"plan", times.plan}};
}

std::map<std::string, std::vector<StageText>> CompiledGraph::stages() const {
  py::gil_scoped_release release;
  return executor->stages();
}

static std::string kindName(OpaqueKind kind) {
  switch (kind) {
  case OpaqueKind::Fallback:
    return "fallback";
  case OpaqueKind::Preferred:
    return "preferred";
  case OpaqueKind::Random:
    return "random";
  case OpaqueKind::Allocation:
    return "allocation";
  }
  return "";
}

std::vector<std::array<std::string, 5>> CompiledGraph::opaque() const {
  std::vector<std::array<std::string, 5>> result;
  const FusionPlan &fusion = *executor->plan().fusion;
  for (const auto &[index, opaque] : fusion.opaque) {
    const Node &node = fusion.graph->nodes[index];
    result.push_back({node.name, node.overload, node.source, opaque.reason,
                      kindName(opaque.kind)});
  }
  return result;
}

} // namespace quern
