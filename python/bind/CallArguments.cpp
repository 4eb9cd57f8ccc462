// Sorts and reads the arguments of one Python call.
#include "python/bind/CallArguments.h"

#include "python/bind/ElementTypes.h"
#include "python/bind/Numbers.h"

#include <algorithm>
#include <bit>
#include <cctype>

namespace py = pybind11;

namespace quern::python {
namespace {

/// A list of numbers for `int[*S]`; floats when one of them is.
Argument toList(PyObject *object) {
  std::vector<std::int64_t> integers;
  std::vector<double> floats;
  bool isFloat = false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
    PyObject *element = PySequence_Fast_GET_ITEM(object, i);
    isFloat |= PyFloat_Check(element);
    floats.push_back(PyFloat_AsDouble(element));
    integers.push_back(PyLong_Check(element) ? static_cast<std::int64_t>(
                                                   PyLong_AsLongLong(element))
                                             : 0);
  }
  PyErr_Clear();
  if (isFloat)
    return floats;
  return integers;
}

std::string textOf(PyObject *object) {
  PyObject *text = PyObject_Str(object);
  Py_ssize_t size = 0;
  const char *data = text ? PyUnicode_AsUTF8AndSize(text, &size) : nullptr;
  std::string value = data ? std::string(data, size) : std::string();
  PyErr_Clear();
  Py_XDECREF(text);
  return value;
}

/// `torch.complex32` and its like, which say more than their type.
bool isName(const std::string &text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) &&
         std::ranges::all_of(text, [](unsigned char c) {
           return std::isalnum(c) || c == '_' || c == '.';
         });
}

/// `text` is the object's own.
void refuseNumber(PyObject *object, const std::string &text,
                  const std::string &name) {
  PyErr_Clear();
  if (PyType_Check(object))
    PyErr_Format(PyExc_TypeError,
                 "`%s` is a class; a type is given by its name, \"f32\"",
                 name.c_str());
  else if (isName(text))
    PyErr_Format(PyExc_TypeError, "`%s` is %s, which is no type here",
                 name.c_str(), text.c_str());
  else
    PyErr_Format(PyExc_TypeError, "`%s` must be a number, not %s", name.c_str(),
                 Py_TYPE(object)->tp_name);
}

std::complex<double> complexOf(PyObject *object) {
  return {PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)};
}

/// A Python object that is no tensor, as the binder takes it.
Argument toArgument(PyObject *object) {
  if (!object || object == Py_None)
    return std::monostate{};
  if (PyBool_Check(object))
    return object == Py_True;
  if (PyLong_Check(object))
    return static_cast<std::int64_t>(PyLong_AsLongLong(object));
  if (PyFloat_Check(object))
    return PyFloat_AS_DOUBLE(object);
  if (PyComplex_Check(object))
    return complexOf(object);
  if (PyList_Check(object) || PyTuple_Check(object))
    return toList(object);
  std::string value = textOf(object);
  if (auto spelling = languageSpelling(value))
    return std::string(*spelling);
  return value;
}

bool isScalar(PyObject *object) {
  return object == Py_None || PyFloat_Check(object) || PyLong_Check(object) ||
         PyUnicode_Check(object) || PyComplex_Check(object);
}

} // namespace

void Signature::add(const TensorView &view) {
  add(static_cast<std::int64_t>(view.type) |
      static_cast<std::int64_t>(view.writable) << 8 |
      static_cast<std::int64_t>(view.sizes.size()) << 16 |
      static_cast<std::int64_t>(view.device.kind) << 32 |
      static_cast<std::int64_t>(view.device.number) << 40);
  for (std::int64_t size : view.sizes)
    add(size);
  for (std::int64_t stride : view.strides)
    add(stride);
}

CallArguments::CallArguments(const DeclarationInfo &info, FrameworkCache &cache)
    : info(info), cache(cache), slots(info.parameters.size(), nullptr, &memory),
      named(&memory), held(&memory), pointers(&memory),
      operandOf(info.parameters.size(), nullptr, &memory),
      outOperands(&memory) {}

bool CallArguments::place(PyObject *const *args, Py_ssize_t count,
                          PyObject *names) {
  std::size_t next = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    while (next < slots.size() && info.parameters[next].compileTime)
      ++next;
    if (next == slots.size()) {
      auto taken = std::ranges::count(info.parameters, false,
                                      &ParameterInfo::compileTime);
      PyErr_Format(PyExc_TypeError, "%s takes %zd argument%s, %zd are given",
                   info.name.c_str(), Py_ssize_t(taken), taken == 1 ? "" : "s",
                   count);
      return false;
    }
    slots[next++] = args[i];
  }
  Py_ssize_t namedCount = names ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < namedCount; ++i)
    if (!placeNamed(PyTuple_GET_ITEM(names, i), args[count + i]))
      return false;
  return true;
}

bool CallArguments::placeNamed(PyObject *name, PyObject *value) {
  if (PyUnicode_CompareWithASCIIString(name, "out") == 0) {
    outObject = value == Py_None ? nullptr : value;
    return true;
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const ParameterInfo &parameter = info.parameters[i];
    if (parameter.compileTime ||
        PyUnicode_CompareWithASCIIString(name, parameter.name.c_str()) != 0)
      continue;
    if (slots[i]) {
      PyErr_Format(PyExc_TypeError, "%s was given `%U` twice",
                   info.name.c_str(), name);
      return false;
    }
    slots[i] = value;
    return true;
  }
  // Whatever is no parameter may be a compile-time one: the binder knows.
  named.emplace_back(name, value);
  return true;
}

bool CallArguments::read() {
  pointers.reserve(slots.size() + info.results.size());
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (!info.parameters[i].compileTime && !readParameter(i))
      return false;
  for (auto &[name, value] : named) {
    key.add(PyObject_Hash(name));
    const char *text = PyUnicode_AsUTF8(name);
    if (!text || !scalarSignature(value, text))
      return false;
  }
  return readOuts();
}

bool CallArguments::readParameter(std::size_t index) {
  const ParameterInfo &parameter = info.parameters[index];
  PyObject *object = slots[index];
  if (!object && !parameter.optional) {
    refuseAbsent(parameter.name);
    return false;
  }
  if (!object || isScalar(object) || !parameter.isTensor)
    return scalarSignature(slots[index], parameter.name);
  if (parameter.isList)
    return readList(index);
  operandOf[index] = readTensor(object, parameter.name);
  return operandOf[index] != nullptr;
}

/// Of a misspelt parameter the name that was given says more.
void CallArguments::refuseAbsent(const std::string &name) {
  for (auto [given, value] : named) {
    auto isGiven = [given = given](const ParameterInfo &parameter) {
      return PyUnicode_CompareWithASCIIString(given, parameter.name.c_str()) ==
             0;
    };
    if (std::ranges::any_of(info.parameters, isGiven))
      continue;
    PyErr_Format(PyExc_TypeError,
                 "%s has no parameter `%U`, and is not given `%s`",
                 info.name.c_str(), given, name.c_str());
    return;
  }
  PyErr_Format(PyExc_TypeError, "%s is not given `%s`", info.name.c_str(),
               name.c_str());
}

Borrowed *CallArguments::readTensor(PyObject *object, const std::string &name) {
  Borrowed *operand = nextOperand();
  if (!operand->read(object, cache, name.c_str()))
    return nullptr;
  if (!maker.type)
    maker = operand->framework();
  pointers.push_back(operand->view().data);
  key.add(operand->view());
  return operand;
}

bool CallArguments::readList(std::size_t index) {
  const std::string &name = info.parameters[index].name;
  PyObject *list = slots[index];
  if (!PyList_Check(list) && !PyTuple_Check(list)) {
    PyErr_Format(PyExc_TypeError, "`%s` must be a list of tensors, not %s",
                 name.c_str(), Py_TYPE(list)->tp_name);
    return false;
  }
  auto &operands = lists.emplace_back(index, std::vector<const Borrowed *>());
  // A tensor's own methods may change the list while it is read.
  PyObject *own = PySequence_Tuple(list);
  if (!take(py::reinterpret_steal<py::object>(own), own))
    return false;
  Py_ssize_t size = PyTuple_GET_SIZE(own);
  key.add(-7);
  key.add(size);
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject *element = PyTuple_GET_ITEM(own, i);
    const Borrowed *operand = readTensor(element, name);
    if (!operand) { // its number is spelt only where a message needs it
      PyErr_Clear();
      readTensor(element, name + "[" + std::to_string(i) + "]");
      return false;
    }
    operands.second.push_back(operand);
  }
  return true;
}

bool CallArguments::take(py::object number, PyObject *&place) {
  if (!number)
    return false;
  place = number.ptr();
  held.push_back(std::move(number));
  return true;
}

bool CallArguments::numbersSignature(PyObject *&object,
                                     const std::string &name) {
  take(ownNumbers(object), object);
  Py_ssize_t size = PySequence_Fast_GET_SIZE(object);
  key.add(-6);
  key.add(size);
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject *element = PySequence_Fast_GET_ITEM(object, i);
    if (!PyFloat_Check(element) && !PyLong_Check(element)) {
      PyErr_Format(PyExc_TypeError, "`%s` must hold numbers, not %s",
                   name.c_str(), Py_TYPE(element)->tp_name);
      return false;
    }
    if (!scalarSignature(element, name))
      return false;
  }
  return true;
}

bool CallArguments::scalarSignature(PyObject *&object,
                                    const std::string &name) {
  if (!object || object == Py_None) {
    key.add(-1);
    return true;
  }
  if (PyFloat_Check(object)) {
    key.add(-2);
    key.add(std::bit_cast<std::int64_t>(PyFloat_AS_DOUBLE(object)));
    return true;
  }
  if (PyComplex_Check(object)) {
    std::complex<double> number = complexOf(object);
    key.add(-8);
    key.add(std::bit_cast<std::int64_t>(number.real()));
    key.add(std::bit_cast<std::int64_t>(number.imag()));
    return true;
  }
  if (PyLong_Check(object)) {
    key.add(PyBool_Check(object) ? -3 : -4);
    long long value = PyLong_AsLongLong(object);
    key.add(value);
    if (value != -1 || !PyErr_Occurred())
      return true;
    PyErr_Clear();
    PyErr_Format(PyExc_OverflowError, "`%s` is %S, must fit 64 bits",
                 name.c_str(), object);
    return false;
  }
  if (PyList_Check(object) || PyTuple_Check(object))
    return numbersSignature(object, name);
  if (take(ownNumber(object), object))
    return scalarSignature(object, name);
  std::string text = textOf(object);
  bool isWord = PyUnicode_Check(object) || languageSpelling(text);
  Py_hash_t hash = isWord ? PyObject_Hash(object) : -1;
  if (hash == -1) {
    refuseNumber(object, text, name);
    return false;
  }
  key.add(-5);
  key.add(hash);
  return true;
}

bool CallArguments::readOuts() {
  if (!outObject)
    return true;
  bool several = PyTuple_Check(outObject) || PyList_Check(outObject);
  PyObject *own = several ? PySequence_Tuple(outObject) : nullptr;
  if (several && !take(py::reinterpret_steal<py::object>(own), own))
    return false;
  Py_ssize_t count = several ? PyTuple_GET_SIZE(own) : 1;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *object = several ? PyTuple_GET_ITEM(own, i) : outObject;
    Borrowed *operand = nextOperand();
    if (!operand->read(object, cache, "out"))
      return false;
    outOperands.push_back(operand);
    pointers.push_back(operand->view().data);
    key.add(operand->view());
  }
  return true;
}

Borrowed *CallArguments::nextOperand() {
  if (operandCount < kInline)
    return &inlineOperands[operandCount++].emplace();
  return moreOperands.emplace_back(std::make_unique<Borrowed>()).get();
}

std::vector<Argument> CallArguments::arguments() const {
  std::vector<Argument> result;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (info.parameters[i].compileTime)
      continue;
    if (operandOf[i])
      result.emplace_back(operandOf[i]->view());
    else if (info.parameters[i].isList)
      result.emplace_back();
    else
      result.push_back(toArgument(slots[i]));
  }
  // Compile-time parameters stand behind all others.
  for (const auto &[index, operands] : lists) {
    std::vector<TensorView> views;
    views.reserve(operands.size());
    for (const Borrowed *operand : operands)
      views.push_back(operand->view());
    result[index] = std::move(views);
  }
  return result;
}

std::vector<TensorView> CallArguments::outs() const {
  std::vector<TensorView> result;
  result.reserve(outOperands.size());
  for (const Borrowed *operand : outOperands)
    result.push_back(operand->view());
  return result;
}

std::vector<std::pair<std::string, Argument>> CallArguments::constants() const {
  std::vector<std::pair<std::string, Argument>> result;
  for (auto [name, value] : named)
    if (const char *text = PyUnicode_AsUTF8(name))
      result.emplace_back(text, toArgument(value));
  return result;
}

} // namespace quern::python
