// Kinds of tensors whose elements are not placed by strides.
#include "python/bind/Refusal.h"

#include "python/bind/Errors.h"

#include <string>
#include <string_view>

namespace quern::python {
namespace {

struct Kind {
  const char *attribute, *begins; ///< the begin of the attribute's text
  const char *text, *mend;
};

constexpr Kind kinds[] = {
    {"layout", "torch.sparse", "is sparse", "to_dense()"},
    {"layout", "torch._mkldnn", "is laid out for oneDNN", "to_dense()"},
    {"layout", "torch.jagged", "is nested", "values()"},
    {"is_nested", "True", "is nested", "to_padded_tensor(0)"},
    {"is_quantized", "True", "is quantized", "dequantize()"},
    {"_masked_data", "", "is masked", "to_tensor(0)"},
};

bool is(PyObject *object, const Kind &kind) {
  PyObject *value = PyObject_GetAttrString(object, kind.attribute);
  PyObject *text = value ? PyObject_Str(value) : nullptr;
  const char *words = text ? PyUnicode_AsUTF8(text) : nullptr;
  bool begins = words && std::string_view(words).starts_with(kind.begins);
  Py_XDECREF(text);
  Py_XDECREF(value);
  PyErr_Clear();
  return begins;
}

/// Tensors without elements: `meta` ones, and those by which torch follows code
/// (`torch.func`, fake tensors).
bool standsForOthers(PyObject *object) {
  PyObject *address = PyObject_CallMethod(object, "data_ptr", nullptr);
  bool isNowhere = !address || PyObject_IsTrue(address) == 0;
  Py_XDECREF(address);
  PyErr_Clear();
  return isNowhere;
}

/// Sets the error that tells of a kind of tensor; false where it is none.
bool saysWhy(PyObject *object, const char *parameter) {
  for (const Kind &kind : kinds)
    if (is(object, kind)) {
      PyErr_Format(PyExc_TypeError,
                   "`%s` %s, and kernels read what strides place; pass `%s.%s`",
                   parameter, kind.text, parameter, kind.mend);
      return true;
    }
  if (!standsForOthers(object))
    return false;
  PyErr_Format(PyExc_ValueError,
               "`%s` has no elements (torch asks for shapes alone, or maps "
               "the call as `torch.func.vmap` does); make the kernel an "
               "operator with `quern.op`, which torch can follow",
               parameter);
  return true;
}

} // namespace

void explainRefusal(PyObject *object, const char *parameter) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  if (saysWhy(object, parameter)) {
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return;
  }
  PyErr_Restore(type, value, trace);
  explain(("`" + std::string(parameter) + "` cannot be read").c_str());
}

} // namespace quern::python
