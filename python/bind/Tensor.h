// Python tensors seen as TensorViews for the length of one call, and new ones.
#pragma once

#include "jit/Jit.h"
#include "python/bind/Dlpack.h"

#include <Python.h>
#include <array>
#include <optional>

namespace quern::python {

/// Enough for every framework that allocates no memory to describe a tensor.
inline constexpr int kMaxRank = 32;

/// Who made a tensor, so that results can be made alike.
struct Framework {
  PyTypeObject *type = nullptr;       ///< borrowed: the tensors keep it
  unsigned version = 0;               ///< the type's, when it was looked at
  const DLExchangeApi *api = nullptr; ///< null: no C exchange
  bool buffer = false;                ///< speaks the buffer protocol: NumPy
  bool fields = false;                ///< NumPy's own type, see NumpyArray.h
  bool masks = false;   ///< NumPy's masked arrays, which no kernel reads
  bool derives = false; ///< its tensors say whether they require gradients
  const PyGetSetDef *derivesBy = nullptr; ///< their property, if it is native
  PyObject *forward = nullptr; ///< names of torch's forward mode, borrowed
};

/// Looks up what a type offers; remembers the last few, since the arguments of
/// a call are of one or two: tensors and parameters, arrays and tensors. By
/// version, as a type may be changed, or lie where another has been.
class FrameworkCache {
public:
  const Framework &of(PyTypeObject *type) {
    for (const Framework &known : last)
      if (known.type == type && known.version == type->tp_version_tag &&
          known.version != 0)
        return known;
    return lookUp(type);
  }

private:
  const Framework &lookUp(PyTypeObject *type);

  std::array<Framework, 4> last;
  std::size_t oldest = 0;
};

/// One Python tensor, looked at for one call; gives it back when destroyed.
class Borrowed {
public:
  Borrowed() = default;
  Borrowed(const Borrowed &) = delete;
  Borrowed &operator=(const Borrowed &) = delete;
  ~Borrowed();

  /// False with a Python exception set if the object is no CPU tensor of an
  /// element type of the language. `what` names the parameter.
  bool read(PyObject *object, FrameworkCache &cache, const char *what);
  const TensorView &view() const { return tensor; }
  const Framework &framework() const { return maker; }

private:
  bool readFields(PyObject *object);
  bool readBuffer(PyObject *object, const char *what);
  bool readCapsule(PyObject *object, const char *what);
  bool take(const DLTensor &source, const char *what);
  void layRows(std::size_t rank);

  TensorView tensor;
  Framework maker;
  PyObject *capsule = nullptr;
  std::optional<Py_buffer> held;
  std::array<std::int64_t, kMaxRank> sizes, strides;
};

/// A tensor of a result: a new reference and where its data is.
struct Allocated {
  PyObject *object = nullptr;
  void *data = nullptr;
};

DLDevice toDlpack(DeviceId device);

/// A new contiguous tensor of the framework's kind on a device; for a framework
/// without C exchange a NumPy array, which `finish` turns into its own kind.
/// `object` is null with a Python exception set on failure.
Allocated allocate(const Framework &framework, const TensorSpec &spec,
                   DeviceId device);

/// The framework's own tensor over a result that `allocate` made; steals the
/// reference. Null with a Python exception set on failure.
PyObject *finish(const Framework &framework, PyObject *object);

} // namespace quern::python
