// A declaration as a Python callable, made for calls below a microsecond.
#include "python/bind/Function.h"

#include "python/bind/CallArguments.h"
#include "python/bind/ElementTypes.h"
#include "python/bind/Errors.h"
#include "python/bind/Waiting.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <new>
#include <numeric>

namespace quern::python {
namespace {

/// What `body` gives, for the interpreter, which no exception of C++ may go
/// through: null with a Python exception set where one is thrown.
template <typename Body> PyObject *forPython(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return PyErr_NoMemory();
  } catch (const std::exception &problem) {
    PyErr_SetString(PyExc_RuntimeError, problem.what());
    return nullptr;
  }
}

/// Bindings kept per callable; the oldest goes first.
constexpr std::size_t kBindings = 16;

/// Whether others may run Python meanwhile: letting them costs more than most
/// kernels on few elements take.
enum class Pace : std::uint8_t {
  Long,  ///< they may
  Few,   ///< they may, until a run has been seen to be short
  Brief, ///< they may not
};

struct Binding {
  std::vector<std::int64_t> signature;
  BoundKernel kernel;
  Pace pace;
};

struct FunctionObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject *errorClass, *callErrorClass;
  Module module;
  DeclarationInfo info;
  FrameworkCache frameworks;
  std::vector<Binding> bindings;
  std::size_t oldest;
  unsigned atOnce; ///< calls under way that read a binding where it lies
};

Binding *findBinding(FunctionObject &self, const Signature &signature) {
  auto found = std::ranges::find_if(self.bindings, [&](const Binding &binding) {
    return std::ranges::equal(binding.signature, signature.view());
  });
  return found == self.bindings.end() ? nullptr : &*found;
}

void remember(FunctionObject &self, const Binding &binding) {
  if (self.atOnce) // this call is one of a signal's handler
    return;
  if (self.bindings.size() < kBindings) {
    self.bindings.push_back(binding);
    return;
  }
  self.bindings[self.oldest] = binding;
  self.oldest = (self.oldest + 1) % kBindings;
}

/// Of a first run: an `op` may call anything, and what a device does is not
/// awaited.
Pace firstPace(const FunctionObject &self, const BoundKernel &kernel,
               const CallArguments &call) {
  constexpr std::int64_t few = 1 << 16;
  if (self.info.kind == DeclarationKind::Op || kernel.device() != DeviceId{})
    return Pace::Long;
  auto product = [](std::span<const std::int64_t> sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1},
                           std::multiplies<>());
  };
  std::int64_t count = 0;
  for (const Argument &argument : call.arguments())
    if (const auto *view = std::get_if<TensorView>(&argument))
      count += product(view->sizes);
  for (const TensorSpec &output : kernel.outputs())
    count += product(output.sizes);
  return count <= few ? Pace::Few : Pace::Long;
}

/// Solves without the interpreter's lock; nothing with an exception set.
std::optional<BoundKernel> bind(FunctionObject &self,
                                const CallArguments &call) {
  auto arguments = call.arguments();
  auto outs = call.outs();
  auto constants = call.constants();
  // `bind` lets nothing through that is thrown.
  PyThreadState *thread = PyEval_SaveThread();
  auto bound = self.module.bind(self.info.name, arguments, outs, constants);
  PyEval_RestoreThread(thread);
  if (bound)
    return std::move(*bound);
  if (!PyErr_Occurred()) // else the user has interrupted it
    raise(self.errorClass, bound.error());
  return std::nullopt;
}

/// Whether the code is there; else an exception is set.
bool isCompiled(FunctionObject &self, const BoundKernel &kernel) {
  auto ready = awaitCode({kernel});
  if (ready && !*ready)
    raise(self.errorClass, ready->error());
  return ready && *ready;
}

/// One object for each declared result: a list is a Python list, what is absent
/// is None. Steals references; with an exception set there is nothing.
std::vector<PyObject *> perResult(const FunctionObject &self,
                                  const BoundKernel &kernel,
                                  std::vector<PyObject *> outputs) {
  auto counts = kernel.outputCounts();
  if (counts.empty())
    return outputs;
  std::vector<PyObject *> results;
  auto next = outputs.begin();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!self.info.resultIsList[i]) {
      results.push_back(counts[i] ? *next++ : Py_NewRef(Py_None));
      continue;
    }
    PyObject *list = PyList_New(counts[i]);
    for (std::int64_t number = 0; number < counts[i]; ++number, ++next)
      if (list)
        PyList_SET_ITEM(list, number, *next);
      else
        Py_DECREF(*next);
    if (list)
      results.push_back(list);
  }
  if (!PyErr_Occurred())
    return results;
  for (PyObject *result : results)
    Py_DECREF(result);
  return {};
}

/// One result as it is, several as a tuple, none as None; steals references.
PyObject *packResults(const std::vector<PyObject *> &results) {
  if (PyErr_Occurred())
    return nullptr;
  if (results.empty())
    Py_RETURN_NONE;
  if (results.size() == 1)
    return results.front();
  PyObject *tuple = PyTuple_New(static_cast<Py_ssize_t>(results.size()));
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (tuple)
      PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), results[i]);
    else
      Py_DECREF(results[i]);
  }
  return tuple;
}

bool allocateResults(const BoundKernel &kernel, CallArguments &call,
                     std::vector<PyObject *> &results) {
  results.reserve(kernel.outputs().size());
  for (const TensorSpec &spec : kernel.outputs()) {
    Allocated result = allocate(call.framework(), spec, kernel.device());
    if (!result.object) {
      for (PyObject *object : results)
        Py_DECREF(object);
      return false;
    }
    results.push_back(result.object);
    call.add(result.data);
  }
  return true;
}

/// The stream that the framework works in now; null on the CPU.
bool currentStream(const BoundKernel &kernel, const Framework &framework,
                   void **stream) {
  DLDevice device = toDlpack(kernel.device());
  if (device.type == kCpuDevice || !framework.api ||
      !framework.api->currentStream)
    return true;
  return framework.api->currentStream(device.type, device.id, stream) == 0;
}

Result<std::monostate> run(FunctionObject &self, BoundKernel &kernel, Pace pace,
                           const CallArguments &call, void *stream) {
  using Clock = std::chrono::steady_clock;
  constexpr auto brief = std::chrono::microseconds(10);
  if (pace == Pace::Brief)
    return kernel.run(call.data(), stream);
  bool isTimed = pace == Pace::Few;
  PyThreadState *thread = PyEval_SaveThread();
  auto start = isTimed ? Clock::now() : Clock::time_point{};
  auto status = kernel.run(call.data(), stream);
  bool isBrief = isTimed && Clock::now() - start <= brief;
  PyEval_RestoreThread(thread);
  if (isBrief)
    if (Binding *known = findBinding(self, call.signature()))
      known->pace = Pace::Brief;
  return status;
}

PyObject *launch(FunctionObject &self, const Binding &binding,
                 CallArguments &call) {
  // Another thread may drop the binding while this one runs.
  BoundKernel kernel = binding.kernel;
  Pace pace = binding.pace;
  std::vector<PyObject *> results;
  if (!call.out() && !allocateResults(kernel, call, results)) {
    explain("the results cannot be allocated");
    refuseCall(self.errorClass); // no fault of the call's
    return nullptr;
  }
  void *stream = nullptr;
  if (!currentStream(kernel, call.framework(), &stream)) {
    for (PyObject *object : results)
      Py_DECREF(object);
    return nullptr;
  }
  auto status = run(self, kernel, pace, call, stream);
  if (!status) {
    for (PyObject *object : results)
      Py_DECREF(object);
    if (!PyErr_Occurred()) // else the user has interrupted it
      raise(self.errorClass, status.error());
    return nullptr;
  }
  if (call.out())
    return Py_NewRef(call.out());
  for (PyObject *&object : results)
    object = finish(call.framework(), object);
  return packResults(perResult(self, kernel, std::move(results)));
}

/// A brief run into a given output: nothing drops the binding meanwhile, so
/// that it need not be held.
PyObject *launchAtOnce(FunctionObject &self, Binding &binding,
                       const CallArguments &call) {
  ++self.atOnce;
  auto status = binding.kernel.run(call.data());
  --self.atOnce;
  if (status)
    return Py_NewRef(call.out());
  if (!PyErr_Occurred()) // else the user has interrupted it
    raise(self.errorClass, status.error());
  return nullptr;
}

PyObject *callChecked(FunctionObject &self, PyObject *const *args,
                      std::size_t flags, PyObject *names) {
  CallArguments call(self.info, self.frameworks);
  if (!call.place(args, PyVectorcall_NARGS(flags), names) || !call.read()) {
    refuseCall(self.callErrorClass);
    return nullptr;
  }
  if (Binding *known = findBinding(self, call.signature()))
    return known->pace == Pace::Brief && call.out()
               ? launchAtOnce(self, *known, call)
               : launch(self, *known, call);
  auto bound = bind(self, call);
  if (!bound || !isCompiled(self, *bound))
    return nullptr;
  auto words = call.signature().view();
  Binding fresh{
      {words.begin(), words.end()}, *bound, firstPace(self, *bound, call)};
  if (bound->isReusable())
    remember(self, fresh);
  return launch(self, fresh, call);
}

PyObject *callFunction(PyObject *object, PyObject *const *args,
                       std::size_t flags, PyObject *names) {
  return forPython([&] {
    return callChecked(*reinterpret_cast<FunctionObject *>(object), args, flags,
                       names);
  });
}

PyObject *describeSpec(const TensorSpec &spec) {
  PyObject *sizes = PyList_New(static_cast<Py_ssize_t>(spec.sizes.size()));
  for (std::size_t axis = 0; sizes && axis < spec.sizes.size(); ++axis)
    PyList_SET_ITEM(sizes, static_cast<Py_ssize_t>(axis),
                    PyLong_FromLongLong(spec.sizes[axis]));
  return sizes ? Py_BuildValue("(sN)", numpyName(spec.type), sizes) : nullptr;
}

/// What a call would give, as a list with an entry for each declared result.
PyObject *listResults(FunctionObject &self, PyObject *const *args,
                      Py_ssize_t count, PyObject *names) {
  CallArguments call(self.info, self.frameworks);
  if (!call.place(args, count, names) || !call.read()) {
    refuseCall(self.callErrorClass);
    return nullptr;
  }
  auto bound = bind(self, call);
  if (!bound)
    return nullptr;
  std::vector<PyObject *> results;
  for (const TensorSpec &spec : bound->outputs())
    if (PyObject *described = describeSpec(spec))
      results.push_back(described);
  results = perResult(self, *bound, std::move(results));
  PyObject *list = PyList_New(static_cast<Py_ssize_t>(results.size()));
  for (std::size_t i = 0; list && i < results.size(); ++i)
    PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), results[i]);
  return list;
}

PyObject *describeResults(PyObject *object, PyObject *const *args,
                          Py_ssize_t count, PyObject *names) {
  return forPython([&] {
    return listResults(*reinterpret_cast<FunctionObject *>(object), args, count,
                       names);
  });
}

void destroyFunction(PyObject *object) {
  auto *self = reinterpret_cast<FunctionObject *>(object);
  self->module.~Module();
  self->info.~DeclarationInfo();
  self->frameworks.~FrameworkCache();
  self->bindings.~vector();
  Py_TYPE(object)->tp_free(object);
}

PyObject *represent(PyObject *object) {
  auto &self = *reinterpret_cast<FunctionObject *>(object);
  return PyUnicode_FromFormat("<quern function %s at %s:%d>",
                              self.info.name.c_str(), self.info.file.c_str(),
                              self.info.line);
}

PyObject *getName(PyObject *object, void *) {
  auto &self = *reinterpret_cast<FunctionObject *>(object);
  return PyUnicode_FromString(self.info.name.c_str());
}

/// `name[K: int](x: T[R, C]) -> T[R]`, as the text declares it.
std::string signatureOf(const DeclarationInfo &info) {
  std::string inBrackets, inParentheses, results;
  auto add = [](std::string &list, const std::string &text) {
    list += (list.empty() ? "" : ", ") + text;
  };
  for (const ParameterInfo &parameter : info.parameters)
    add(parameter.compileTime ? inBrackets : inParentheses,
        parameter.name + ": " + parameter.type);
  for (const std::string &type : info.results)
    add(results, type);
  if (info.results.size() > 1)
    results = "(" + results + ")";
  return info.name + (inBrackets.empty() ? "" : "[" + inBrackets + "]") + "(" +
         inParentheses + ")" + (results.empty() ? "" : " -> " + results);
}

PyObject *getDocumentation(PyObject *object, void *) {
  auto &self = *reinterpret_cast<FunctionObject *>(object);
  return forPython([&] {
    std::string text = signatureOf(self.info);
    if (!self.info.documentation.empty())
      text += "\n\n" + self.info.documentation;
    return PyUnicode_FromString(text.c_str());
  });
}

PyGetSetDef properties[] = {
    {"__name__", getName, nullptr, "The declaration's name.", nullptr},
    {"__doc__", getDocumentation, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef methods[] = {
    {"results",
     reinterpret_cast<PyCFunction>(
         reinterpret_cast<void (*)()>(&describeResults)),
     METH_FASTCALL | METH_KEYWORDS,
     "Element types and sizes of what a call with these arguments gives."},
    {nullptr, nullptr, 0, nullptr}};

PyTypeObject &functionType() {
  // CPython keeps a static type for as long as the process lives.
  static PyTypeObject type{};
  return type;
}

} // namespace

bool readyFunctionType() {
  PyTypeObject &type = functionType();
  Py_SET_REFCNT(reinterpret_cast<PyObject *>(&type), 1);
  type.tp_name = "quern.Function";
  type.tp_basicsize = sizeof(FunctionObject);
  type.tp_dealloc = destroyFunction;
  type.tp_vectorcall_offset = offsetof(FunctionObject, call);
  type.tp_call = PyVectorcall_Call;
  type.tp_repr = represent;
  type.tp_getset = properties;
  type.tp_methods = methods;
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL;
  return PyType_Ready(&type) == 0;
}

PyObject *makeFunction(PyObject *errorClass, PyObject *callErrorClass,
                       const Module &module, const DeclarationInfo &info) {
  // Copied first: once there is an object nothing throws.
  DeclarationInfo own = info;
  PyTypeObject &type = functionType();
  PyObject *object = PyType_GenericAlloc(&type, 0);
  if (!object)
    return nullptr;
  auto *self = reinterpret_cast<FunctionObject *>(object);
  self->call = callFunction;
  self->errorClass = errorClass;
  self->callErrorClass = callErrorClass;
  new (&self->module) Module(module);
  new (&self->info) DeclarationInfo(std::move(own));
  new (&self->frameworks) FrameworkCache();
  new (&self->bindings) std::vector<Binding>();
  self->oldest = 0;
  self->atOnce = 0;
  return object;
}

} // namespace quern::python
