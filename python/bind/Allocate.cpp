// Makes the tensors that hold a call's results, in the caller's framework.
#include "python/bind/ElementTypes.h"
#include "python/bind/Tensor.h"

#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <sys/mman.h>
#include <vector>

namespace quern::python {
namespace {

/// Asks for large pages behind a large result that is about to be written for
/// the first time: a fault each 4 KiB costs more than most kernels do. Where
/// the system has none, nothing changes.
void adviseLargePages(const Allocated &result, const TensorSpec &spec) {
  constexpr std::uintptr_t page = 2 << 20, least = 2 * page;
  std::uintptr_t bytes =
      std::accumulate(spec.sizes.begin(), spec.sizes.end(),
                      std::uintptr_t{bytesOf(spec.type)}, std::multiplies<>());
  if (!result.data || bytes < least)
    return;
  auto begin = reinterpret_cast<std::uintptr_t>(result.data);
  std::uintptr_t end = (begin + bytes) / page * page;
  begin = (begin + page - 1) / page * page;
  madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
}

void setError(void *, const char *kind, const char *message) {
  PyErr_Format(PyExc_MemoryError, "%s: %s", kind, message);
}

Allocated allocateByExchange(const DLExchangeApi &api, const TensorSpec &spec,
                             DeviceId device) {
  std::vector<std::int64_t> sizes = spec.sizes;
  DLTensor prototype = {nullptr,
                        toDlpack(device),
                        static_cast<std::int32_t>(sizes.size()),
                        toDlpack(spec.type),
                        sizes.data(),
                        nullptr,
                        0};
  DLManagedTensorVersioned *managed = nullptr;
  if (api.allocate(&prototype, &managed, nullptr, setError) != 0)
    return {};
  void *data =
      static_cast<char *>(managed->tensor.data) + managed->tensor.byteOffset;
  void *object = nullptr;
  if (api.toObject(managed, &object) != 0)
    return {};
  Allocated result{static_cast<PyObject *>(object), data};
  if (device == DeviceId{}) // NumPy asks by itself
    adviseLargePages(result, spec);
  return result;
}

/// `numpy.empty`, looked up once; null with an exception without NumPy.
PyObject *numpyEmpty() {
  static PyObject *empty = nullptr;
  if (empty)
    return empty;
  if (PyObject *numpy = PyImport_ImportModule("numpy")) {
    empty = PyObject_GetAttrString(numpy, "empty");
    Py_DECREF(numpy);
  }
  return empty;
}

/// NumPy's object for the type, looked up once. A type that NumPy has not is
/// refused by name.
PyObject *numpyType(DType type) {
  static std::array<PyObject *, 256> types{};
  PyObject *&known = types[static_cast<std::uint8_t>(type)];
  if (known)
    return known;
  if (PyObject *numpy = PyImport_ImportModule("numpy")) {
    known = PyObject_CallMethod(numpy, "dtype", "s", numpyName(type));
    Py_DECREF(numpy);
  }
  return known;
}

Allocated allocateNumpy(const TensorSpec &spec) {
  PyObject *empty = numpyEmpty();
  PyObject *type = empty ? numpyType(spec.type) : nullptr;
  PyObject *shape =
      type ? PyTuple_New(static_cast<Py_ssize_t>(spec.sizes.size())) : nullptr;
  if (!shape)
    return {};
  for (std::size_t axis = 0; axis < spec.sizes.size(); ++axis)
    PyTuple_SET_ITEM(shape, static_cast<Py_ssize_t>(axis),
                     PyLong_FromLongLong(spec.sizes[axis]));
  PyObject *words[] = {shape, type};
  PyObject *array = PyObject_Vectorcall(empty, words, 2, nullptr);
  Py_DECREF(shape);
  if (!array)
    return {};
  Py_buffer buffer;
  if (PyObject_GetBuffer(array, &buffer, PyBUF_STRIDES) != 0) {
    Py_DECREF(array);
    return {};
  }
  void *data = buffer.buf;
  PyBuffer_Release(&buffer);
  return {array, data};
}

} // namespace

Allocated allocate(const Framework &framework, const TensorSpec &spec,
                   DeviceId device) {
  if (framework.api)
    return allocateByExchange(*framework.api, spec, device);
  if (device != DeviceId{}) {
    PyErr_SetString(PyExc_ValueError,
                    "results on a device need `out=`: the tensors' framework "
                    "has no DLPack exchange API");
    return {};
  }
  return allocateNumpy(spec);
}

PyObject *finish(const Framework &framework, PyObject *object) {
  if (framework.api || framework.buffer || !framework.type)
    return object;
  // By convention the module of the type, or one of its parents, has
  // `from_dlpack`.
  PyObject *name = PyObject_GetAttrString(
      reinterpret_cast<PyObject *>(framework.type), "__module__");
  PyObject *root =
      name ? PyObject_CallMethod(name, "split", "s", ".") : nullptr;
  Py_XDECREF(name);
  PyObject *module = root ? PyImport_Import(PyList_GetItem(root, 0)) : nullptr;
  Py_XDECREF(root);
  PyObject *result =
      module ? PyObject_CallMethod(module, "from_dlpack", "O", object)
             : nullptr;
  Py_XDECREF(module);
  if (!result) {
    PyErr_Clear();
    return object;
  }
  Py_DECREF(object);
  return result;
}

} // namespace quern::python
