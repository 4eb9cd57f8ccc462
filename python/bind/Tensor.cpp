// Looks at Python tensors through DLPack's C exchange, buffers or capsules.
#include "python/bind/Tensor.h"

#include "python/bind/ElementTypes.h"
#include "python/bind/Errors.h"
#include "python/bind/HostThreads.h"
#include "python/bind/NumpyArray.h"
#include "python/bind/Refusal.h"

#include <algorithm>
#include <string>

namespace quern::python {
namespace {

/// The interface's name for a DLPack device; nothing for memory that neither
/// the CPU nor a GPU of ours reads. Pinned memory is the host's.
std::optional<DeviceId> fromDlpack(DLDevice device) {
  switch (device.type) {
  case kCpuDevice:
  case kCudaHostDevice:
  case kRocmHostDevice:
    return DeviceId{};
  case kCudaDevice:
    return DeviceId{DeviceKind::Cuda, device.id};
  case kRocmDevice:
    return DeviceId{DeviceKind::Hip, device.id};
  default:
    return std::nullopt;
  }
}

} // namespace

DLDevice toDlpack(DeviceId device) {
  switch (device.kind) {
  case DeviceKind::Cpu:
    break;
  case DeviceKind::Cuda:
    return {kCudaDevice, device.number};
  case DeviceKind::Hip:
    return {kRocmDevice, device.number};
  }
  return {kCpuDevice, 0};
}

/// The attribute's name, made once.
static PyObject *requiresGrad() {
  static PyObject *const name = PyUnicode_InternFromString("requires_grad");
  return name;
}

static PyObject *currentLevel() {
  static PyObject *const name = PyUnicode_InternFromString("_current_level");
  return name;
}

/// What says whether tangents are being computed; modules stay.
static PyObject *forwardMode() {
  PyObject *name = PyUnicode_FromString("torch.autograd.forward_ad");
  PyObject *module = name ? PyImport_GetModule(name) : nullptr;
  PyObject *names = module ? PyModule_GetDict(module) : nullptr;
  Py_XDECREF(module);
  Py_XDECREF(name);
  PyErr_Clear();
  return names;
}

/// Whether a type has the property, and how it is read without looking it up.
static void findDerives(PyTypeObject *type, Framework &framework) {
  PyObject *property =
      PyObject_GetAttr(reinterpret_cast<PyObject *>(type), requiresGrad());
  PyErr_Clear();
  framework.derives = property != nullptr;
  framework.forward = property ? forwardMode() : nullptr;
  if (property && Py_IS_TYPE(property, &PyGetSetDescr_Type))
    framework.derivesBy =
        reinterpret_cast<PyGetSetDescrObject *>(property)->d_getset;
  Py_XDECREF(property); // the type keeps it
}

static void findExchange(PyTypeObject *type, Framework &framework) {
  PyObject *capsule = PyObject_GetAttrString(reinterpret_cast<PyObject *>(type),
                                             "__dlpack_c_exchange_api__");
  if (!capsule)
    return PyErr_Clear();
  auto *api = static_cast<const DLExchangeApi *>(
      PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
  if (!api)
    PyErr_Clear();
  else if (api->version.major == 1 && api->borrow)
    framework.api = api;
  Py_DECREF(capsule);
}

const Framework &FrameworkCache::lookUp(PyTypeObject *type) {
  Framework found = {.type = type,
                     .buffer = type->tp_as_buffer != nullptr &&
                               type->tp_as_buffer->bf_getbuffer != nullptr,
                     .fields = isNumpyArray(type),
                     .masks = isMaskedArray(type)};
  findDerives(type, found);
  findExchange(type, found);
  findHostThreads();
  // Looking for attributes has given it one, unless there are none left.
  found.version = type->tp_version_tag;
  Framework &place = last[oldest];
  oldest = (oldest + 1) % last.size();
  return place = found;
}

static bool isRecording() {
  PyObject *name = PyUnicode_FromString("torch");
  PyObject *torch = name ? PyImport_GetModule(name) : nullptr;
  PyObject *answer =
      torch ? PyObject_CallMethod(torch, "is_grad_enabled", nullptr) : nullptr;
  bool isOff = answer == Py_False;
  Py_XDECREF(answer);
  Py_XDECREF(torch);
  Py_XDECREF(name);
  PyErr_Clear();
  return !isOff;
}

/// A kernel's result has no derivative, and nothing else would say so; false
/// where warnings are errors.
static bool warnsOfGradients(PyObject *object, const Framework &maker,
                             const char *what) {
  PyObject *answer =
      maker.derivesBy ? maker.derivesBy->get(object, maker.derivesBy->closure)
                      : PyObject_GetAttr(object, requiresGrad());
  bool isWanted = answer == Py_True;
  Py_XDECREF(answer);
  PyErr_Clear();
  if (!isWanted || !isRecording())
    return true;
  return PyErr_WarnFormat(
             PyExc_UserWarning, 1,
             "`%s` requires gradients, and the result of a kernel has none; "
             "call it under `torch.no_grad()`, pass `%s.detach()`, or make "
             "it an operator with `quern.op` and `@backward`",
             what, what) == 0;
}

/// Likewise of a dual tensor's tangent.
static bool warnsOfTangents(PyObject *object, const Framework &maker,
                            const char *what) {
  PyObject *level =
      maker.forward ? PyDict_GetItem(maker.forward, currentLevel()) : nullptr;
  if (!level || PyLong_AsLong(level) < 0)
    return PyErr_Clear(), true;
  PyObject *unpack = PyDict_GetItemString(maker.forward, "unpack_dual");
  PyObject *dual = unpack ? PyObject_CallOneArg(unpack, object) : nullptr;
  PyObject *tangent = dual ? PyObject_GetAttrString(dual, "tangent") : nullptr;
  bool isDual = tangent && tangent != Py_None;
  Py_XDECREF(tangent);
  Py_XDECREF(dual);
  PyErr_Clear();
  return !isDual ||
         PyErr_WarnFormat(
             PyExc_UserWarning, 1,
             "`%s` has a tangent, and the result of a kernel has none; pass "
             "`torch.autograd.forward_ad.unpack_dual(%s).primal`, or compute "
             "the tangent by a kernel of its own",
             what, what) == 0;
}

/// True where a method of that name says so; an object without it has no such
/// state.
static bool isMarked(PyObject *object, const char *method) {
  PyObject *answer = PyObject_CallMethod(object, method, nullptr);
  bool marked = answer == Py_True;
  Py_XDECREF(answer);
  PyErr_Clear();
  return marked;
}

/// PyTorch conjugates and negates by a mark on the tensor, which DLPack does
/// not tell. What is marked as negated is half of a complex number: where it
/// steps at all, its strides are even.
static bool isPlain(PyObject *object, const TensorView &view,
                    const char *what) {
  bool isComplex = view.type == DType::C64 || view.type == DType::C128;
  bool mayBeHalf = view.type == DType::F16 || view.type == DType::F32 ||
                   view.type == DType::F64;
  for (std::size_t axis = 0; axis < view.sizes.size(); ++axis)
    mayBeHalf &= view.sizes[axis] <= 1 || view.strides[axis] % 2 == 0;
  const char *method = isComplex ? "is_conj" : mayBeHalf ? "is_neg" : nullptr;
  if (!method || !isMarked(object, method))
    return true;
  PyErr_Format(PyExc_ValueError,
               "`%s` is a view that is yet to be %s; call `.%s()` first", what,
               isComplex ? "conjugated" : "negated",
               isComplex ? "resolve_conj" : "resolve_neg");
  return false;
}

Borrowed::~Borrowed() {
  if (held)
    PyBuffer_Release(&*held);
  Py_XDECREF(capsule);
}

static bool hasElements(const DLTensor &tensor) {
  return std::find(tensor.shape, tensor.shape + tensor.ndim, 0) ==
         tensor.shape + tensor.ndim;
}

bool Borrowed::read(PyObject *object, FrameworkCache &cache, const char *what) {
  maker = cache.of(Py_TYPE(object));
  if (maker.api) {
    DLTensor source;
    bool isThere = maker.api->borrow(object, &source) == 0;
    if (!isThere || (!source.data && hasElements(source))) {
      explainRefusal(object, what);
      return false;
    }
    return take(source, what) && isPlain(object, tensor, what) &&
           (!maker.derives || (warnsOfGradients(object, maker, what) &&
                               warnsOfTangents(object, maker, what)));
  }
  if (maker.fields && readFields(object))
    return true;
  if (maker.masks) {
    PyErr_Format(PyExc_TypeError,
                 "`%s` is a masked array, and kernels know no masks; pass "
                 "`%s.filled(0)`, or its `.data` and `.mask`",
                 what, what);
    return false;
  }
  if (maker.buffer)
    return readBuffer(object, what);
  return readCapsule(object, what);
}

bool Borrowed::readFields(PyObject *object) {
  auto view = readNumpyArray(object, sizes, strides);
  if (view)
    tensor = *view;
  return view.has_value();
}

bool Borrowed::readBuffer(PyObject *object, const char *what) {
  Py_buffer &buffer = held.emplace();
  if (PyObject_GetBuffer(object, &buffer, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    held.reset();
    explain(("`" + std::string(what) + "` cannot be read").c_str());
    return false;
  }
  auto type = fromBufferFormat(buffer.format, buffer.itemsize);
  if (!type) {
    PyErr_Format(PyExc_TypeError,
                 "`%s` has items of format '%s', which is no element type of "
                 "this machine",
                 what, buffer.format ? buffer.format : "B");
    return false;
  }
  if (buffer.ndim > kMaxRank) {
    PyErr_Format(PyExc_ValueError, "`%s` has %d axes, at most %d are possible",
                 what, buffer.ndim, kMaxRank);
    return false;
  }
  std::size_t rank = static_cast<std::size_t>(buffer.ndim);
  // Some exporters (ctypes) give no strides although they are asked for, and a
  // plain run of bytes needs no shape.
  for (std::size_t axis = 0; axis < rank; ++axis)
    sizes[axis] =
        buffer.shape ? buffer.shape[axis] : buffer.len / buffer.itemsize;
  if (!buffer.strides)
    layRows(rank);
  for (std::size_t axis = 0; buffer.strides && axis < rank; ++axis) {
    bool isStepped = sizes[axis] > 1;
    if (isStepped && buffer.strides[axis] % buffer.itemsize != 0) {
      PyErr_Format(PyExc_ValueError,
                   "`%s` has a stride of %zd bytes for items of %zd", what,
                   buffer.strides[axis], buffer.itemsize);
      return false;
    }
    strides[axis] = buffer.strides[axis] / buffer.itemsize;
  }
  tensor = {buffer.buf,
            *type,
            {sizes.data(), rank},
            {strides.data(), rank},
            !buffer.readonly};
  return true;
}

bool Borrowed::readCapsule(PyObject *object, const char *what) {
  // A type has its tensors' methods, and some objects have any method.
  bool isType = PyType_Check(object);
  if (!isType)
    capsule = PyObject_CallMethod(object, "__dlpack__", nullptr);
  bool isOther = capsule && !PyCapsule_CheckExact(capsule);
  if (!capsule || isOther) {
    if (!isType && !isOther && !PyErr_ExceptionMatches(PyExc_AttributeError))
      return false;
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "`%s` must be a tensor, not %s", what,
                 Py_TYPE(object)->tp_name);
    return false;
  }
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    auto *managed = static_cast<DLManagedTensorVersioned *>(
        PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    // Of another version only its end lies where it did.
    if (managed->version.major != 1) {
      PyErr_Format(PyExc_TypeError,
                   "`%s` comes by version %u of DLPack, must be 1", what,
                   unsigned(managed->version.major));
      return false;
    }
    bool taken = take(managed->tensor, what);
    tensor.writable = (managed->flags & kReadOnlyFlag) == 0;
    return taken;
  }
  auto *managed =
      static_cast<DLManagedTensor *>(PyCapsule_GetPointer(capsule, "dltensor"));
  return managed && take(managed->tensor, what);
}

bool Borrowed::take(const DLTensor &source, const char *what) {
  auto type = fromDlpack(source.dtype);
  if (!type) {
    constexpr const char *kinds[] = {"int",    "uint",    "float", "opaque",
                                     "bfloat", "complex", "bool"};
    bool isKnown = source.dtype.code < std::size(kinds);
    PyErr_Format(PyExc_TypeError,
                 "`%s` has elements of type %s%d, which the language lacks",
                 what, isKnown ? kinds[source.dtype.code] : "unknown",
                 int(source.dtype.bits));
    return false;
  }
  auto device = fromDlpack(source.device);
  if (!device) {
    PyErr_Format(PyExc_ValueError,
                 "`%s` is neither in the CPU's memory nor in that of a CUDA or "
                 "HIP device",
                 what);
    return false;
  }
  if (source.ndim < 0 || source.ndim > kMaxRank) {
    PyErr_Format(PyExc_ValueError, "`%s` has %d axes, at most %d are possible",
                 what, source.ndim, kMaxRank);
    return false;
  }
  // Copied: another thread may resize the tensor while the call is bound, which
  // later calls of these sizes find by the sizes that were read here.
  std::size_t rank = static_cast<std::size_t>(source.ndim);
  std::copy_n(source.shape, rank, sizes.begin());
  if (source.strides)
    std::copy_n(source.strides, rank, strides.begin());
  else
    layRows(rank);
  tensor = {static_cast<char *>(source.data) + source.byteOffset,
            *type,
            {sizes.data(), rank},
            {strides.data(), rank},
            true,
            *device};
  return true;
}

/// The strides of rows that follow each other without a gap.
void Borrowed::layRows(std::size_t rank) {
  std::uint64_t stride = 1;
  for (std::size_t axis = rank; axis-- > 0;) {
    strides[axis] = static_cast<std::int64_t>(stride);
    stride *= static_cast<std::uint64_t>(sizes[axis]);
  }
}

} // namespace quern::python
