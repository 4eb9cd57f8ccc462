// Reads NumPy's arrays by the part of their layout that its C API publishes.
#include "python/bind/NumpyArray.h"

#include <array>
#include <bit>
#include <cstring>

namespace quern::python {
namespace {

/// `PyArray_Descr` as far as it is the same in NumPy 1 and 2.
struct Description {
  PyObject_HEAD PyTypeObject *scalar;
  char kind, letter, order, former;
  int number;
};

/// `PyArrayObject_fields`, which modules compiled for any NumPy read in place.
struct Fields {
  PyObject_HEAD char *data;
  int rank;
  Py_ssize_t *sizes, *strides;
  PyObject *base;
  Description *description;
  unsigned flags;
};

constexpr unsigned kRows = 1, kColumns = 2; ///< contiguous, by that order
constexpr unsigned kWritable = 0x400, kWarnsOfWrites = 1U << 31;

struct Item {
  std::int8_t type; ///< a DType, or -1
  std::uint8_t bytes;
};

constexpr Item item(DType type, std::uint8_t bytes) {
  return {static_cast<std::int8_t>(type), bytes};
}

/// By NumPy's number of the type (`NPY_TYPES`).
constexpr auto items = [] {
  std::array<Item, 24> items;
  items.fill({-1, 1});
  items[0] = item(DType::Bool, 1);
  items[1] = item(DType::I8, 1);
  items[2] = item(DType::U8, 1);
  items[3] = item(DType::I16, 2);
  items[4] = item(DType::U16, 2);
  items[5] = item(DType::I32, 4);
  items[6] = item(DType::U32, 4);
  items[7] = items[9] = item(DType::I64, 8); // long and long long
  items[8] = items[10] = item(DType::U64, 8);
  items[11] = item(DType::F32, 4);
  items[12] = item(DType::F64, 8);
  items[14] = item(DType::C64, 8);
  items[15] = item(DType::C128, 16);
  items[23] = item(DType::F16, 2);
  return items;
}();
static_assert(sizeof(long) == 8 && sizeof(Py_ssize_t) == 8);

/// NumPy lets any stride stand at an axis that is never stepped along: of a
/// contiguous array the strides follow from the sizes.
void followSizes(const Fields &array, std::span<std::int64_t> strides) {
  std::int64_t stride = 1;
  for (int number = 0; number < array.rank; ++number) {
    int axis = array.flags & kRows ? array.rank - 1 - number : number;
    strides[axis] = stride;
    stride *= array.sizes[axis];
  }
}

/// A new reference to a module's class; null where nobody has imported it.
PyObject *importedClass(const char *module, const char *spelling) {
  PyObject *name = PyUnicode_FromString(module);
  PyObject *imported = name ? PyImport_GetModule(name) : nullptr;
  PyObject *found =
      imported ? PyObject_GetAttrString(imported, spelling) : nullptr;
  Py_XDECREF(imported);
  Py_XDECREF(name);
  PyErr_Clear();
  return found;
}

} // namespace

bool isNumpyArray(PyTypeObject *type) {
  if (std::strcmp(type->tp_name, "numpy.ndarray") != 0 ||
      type->tp_basicsize < static_cast<Py_ssize_t>(sizeof(Fields)))
    return false;
  PyObject *array = importedClass("numpy", "ndarray");
  bool isSame = array == reinterpret_cast<PyObject *>(type);
  Py_XDECREF(array);
  return isSame;
}

bool isMaskedArray(PyTypeObject *type) {
  PyObject *masked = importedClass("numpy.ma", "MaskedArray");
  bool isMasked =
      masked && PyType_Check(masked) &&
      PyType_IsSubtype(type, reinterpret_cast<PyTypeObject *>(masked));
  Py_XDECREF(masked);
  return isMasked;
}

std::optional<TensorView> readNumpyArray(PyObject *object,
                                         std::span<std::int64_t> sizes,
                                         std::span<std::int64_t> strides) {
  const auto &array = *reinterpret_cast<const Fields *>(object);
  const Description &type = *array.description;
  bool isNative = type.order == '=' || type.order == '|';
  if (!isNative || static_cast<unsigned>(type.number) >= items.size() ||
      static_cast<std::size_t>(array.rank) > sizes.size())
    return std::nullopt;
  Item item = items[type.number];
  if (item.type < 0)
    return std::nullopt;
  bool isContiguous = array.flags & (kRows | kColumns);
  int shift = std::countr_zero(item.bytes);
  for (int axis = 0; axis < array.rank; ++axis) {
    sizes[axis] = array.sizes[axis];
    strides[axis] = array.strides[axis] >> shift;
    if (!isContiguous && array.sizes[axis] > 1 &&
        array.strides[axis] % item.bytes != 0)
      return std::nullopt;
  }
  if (isContiguous)
    followSizes(array, strides);
  auto rank = static_cast<std::size_t>(array.rank);
  return TensorView{array.data, static_cast<DType>(item.type),
                    sizes.first(rank), strides.first(rank),
                    (array.flags & (kWritable | kWarnsOfWrites)) == kWritable};
}

} // namespace quern::python
