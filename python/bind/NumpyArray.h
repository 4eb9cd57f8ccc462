// NumPy's arrays read by their fields, which costs less than asking for
// buffers.
#pragma once

#include "jit/Jit.h"

#include <Python.h>
#include <optional>

namespace quern::python {

/// Whether a type is `numpy.ndarray` itself; a subclass may mean something else
/// by its fields. NumPy is not imported for that.
bool isNumpyArray(PyTypeObject *type);

/// Whether a type's arrays have a mask: some of their elements count as absent.
bool isMaskedArray(PyTypeObject *type);

/// What the array's fields say, with `sizes` and `strides` filled. Nothing for
/// what is out of the ordinary (other types and byte orders, strides of parts
/// of items, very many axes): the buffer protocol says what it is.
std::optional<TensorView> readNumpyArray(PyObject *array,
                                         std::span<std::int64_t> sizes,
                                         std::span<std::int64_t> strides);

} // namespace quern::python
