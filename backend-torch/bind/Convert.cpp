// Conversions at the border to Python.
#include "backend-torch/bind/Convert.h"
#include "backend-torch/run/TorchDevices.h"

namespace py = pybind11;

namespace quern {

static std::vector<Size> sizesFromPython(py::handle sizes) {
  std::vector<Size> result;
  for (py::handle size : sizes)
    result.push_back(size.cast<Size>());
  return result;
}

static std::int8_t scalarTypeOf(py::handle dtype) {
  return static_cast<std::int8_t>(
      reinterpret_cast<THPDtype *>(dtype.ptr())->scalar_type);
}

static Facts scalarFromPython(const py::tuple &tuple) {
  ScalarFacts facts;
  std::string kind = tuple[1].cast<std::string>();
  facts.kind = kind == "int"     ? ScalarFacts::Kind::Int
               : kind == "float" ? ScalarFacts::Kind::Float
                                 : ScalarFacts::Kind::Bool;
  facts.value = tuple[2].cast<Size>();
  return facts;
}

/// Where torch was built for ROCm, its CUDA devices are HIP's.
static std::optional<DeviceId> memoryOf(const std::string &name) {
  static const bool isHip =
      !py::module_::import("torch").attr("version").attr("hip").is_none();
  c10::Device device = deviceNamed(name);
  if (device.is_cpu())
    return DeviceId();
  if (!device.is_cuda())
    return std::nullopt;
  return DeviceId{isHip ? DeviceKind::Hip : DeviceKind::Cuda,
                  device.has_index() ? device.index() : 0};
}

Facts factsFromPython(py::handle object) {
  if (object.is_none())
    return std::monostate();
  auto tuple = object.cast<py::tuple>();
  if (tuple[0].cast<std::string>() == "number")
    return scalarFromPython(tuple);
  TensorFacts facts;
  facts.scalarType = scalarTypeOf(tuple[1]);
  facts.type = dtypeOf(facts.scalarType);
  facts.bytes = static_cast<std::int8_t>(
      c10::elementSize(static_cast<c10::ScalarType>(facts.scalarType)));
  facts.sizes = sizesFromPython(tuple[2]);
  facts.strides = sizesFromPython(tuple[3]);
  facts.offset = tuple[4].cast<Size>();
  facts.device = tuple[5].cast<std::string>();
  facts.memory = memoryOf(facts.device);
  facts.storage = tuple[6].cast<int>();
  facts.isStrided = tuple[7].cast<bool>();
  return facts;
}

using Kind = GraphArgument::Kind;

static GraphArgument numbered(Kind kind, std::int64_t number) {
  GraphArgument argument;
  argument.kind = kind;
  argument.integer = number;
  return argument;
}

static GraphArgument torchEnumeration(py::handle object) {
  PyObject *o = object.ptr();
  if (THPDtype_Check(o))
    return numbered(Kind::ScalarType, scalarTypeOf(object));
  if (THPLayout_Check(o))
    return numbered(Kind::Layout,
                    static_cast<int>(reinterpret_cast<THPLayout *>(o)->layout));
  if (THPMemoryFormat_Check(o))
    return numbered(Kind::MemoryFormat,
                    static_cast<int>(
                        reinterpret_cast<THPMemoryFormat *>(o)->memory_format));
  if (THPDevice_Check(o)) {
    GraphArgument device = numbered(Kind::Device, 0);
    device.text = reinterpret_cast<THPDevice *>(o)->device.str();
    return device;
  }
  raise("an argument of a traced operator has the unexpected type " +
        py::str(py::type::of(object)).cast<std::string>());
}

static GraphArgument listFromPython(py::handle object) {
  GraphArgument list = numbered(Kind::List, 0);
  for (py::handle element : object)
    list.list.push_back(argumentFromPython(element));
  return list;
}

static GraphArgument complexFromPython(py::handle object) {
  GraphArgument result = numbered(Kind::Complex, 0);
  result.real = PyComplex_RealAsDouble(object.ptr());
  result.imaginary = PyComplex_ImagAsDouble(object.ptr());
  return result;
}

GraphArgument argumentFromPython(py::handle object) {
  PyObject *o = object.ptr();
  if (object.is_none())
    return {};
  if (PyBool_Check(o))
    return numbered(Kind::Bool, o == Py_True);
  if (PyLong_Check(o))
    return numbered(Kind::Int, object.cast<std::int64_t>());
  if (PyFloat_Check(o)) {
    GraphArgument result = numbered(Kind::Float, 0);
    result.real = PyFloat_AsDouble(o);
    return result;
  }
  if (PyComplex_Check(o))
    return complexFromPython(object);
  if (PyUnicode_Check(o)) {
    GraphArgument result = numbered(Kind::String, 0);
    result.text = object.cast<std::string>();
    return result;
  }
  if (PyTuple_Check(o)) {
    auto tuple = object.cast<py::tuple>();
    auto kind = tuple[0].cast<std::string>();
    GraphArgument result = numbered(kind == "value" ? Kind::Value : Kind::Size,
                                    tuple[1].cast<std::int64_t>());
    if (kind == "truth")
      result.text = kind;
    return result;
  }
  if (PyList_Check(o))
    return listFromPython(object);
  return torchEnumeration(object);
}

/// What only Python understands, on its way through a graph.
class PythonObject final : public c10::ivalue::PyObjectHolder {
public:
  explicit PythonObject(py::handle object) : object(object.inc_ref().ptr()) {}
  ~PythonObject() override {
    py::gil_scoped_acquire gil;
    py::handle(object).dec_ref();
  }

  PyObject *getPyObject() override { return object; }
  std::string toStr() override {
    py::gil_scoped_acquire gil;
    return py::str(py::handle(object)).cast<std::string>();
  }
  c10::InferredType tryToInferType() override {
    return {"an object of Python's"};
  }
  c10::IValue toIValue(const c10::TypePtr &,
                       std::optional<std::int32_t>) override {
    raise("an operator of a compiled graph was given the object " + toStr());
  }
  std::vector<at::Tensor> extractTensors() override { return {}; }

private:
  PyObject *object;
};

py::object toPython(const c10::IValue &value) {
  if (value.isTensor()) {
    if (!value.toTensor().defined())
      return py::none();
    return py::reinterpret_steal<py::object>(
        THPVariable_Wrap(value.toTensor()));
  }
  if (value.isInt())
    return py::int_(value.toInt());
  if (value.isDouble())
    return py::float_(value.toDouble());
  if (value.isBool())
    return py::bool_(value.toBool());
  if (value.isString())
    return py::str(value.toStringRef());
  if (value.isNone())
    return py::none();
  if (value.isList() || value.isTensorList() || value.isIntList()) {
    py::list list;
    for (const c10::IValue &element : value.toListRef())
      list.append(toPython(element));
    return list;
  }
  if (value.isPyObject())
    return py::reinterpret_borrow<py::object>(value.toPyObject());
  raise("a value of kind " + value.tagKind() + " cannot go to Python");
}

c10::IValue fromPython(py::handle object) {
  PyObject *o = object.ptr();
  if (THPVariable_Check(o))
    return THPVariable_Unpack(o);
  if (object.is_none())
    return {};
  if (PyBool_Check(o))
    return o == Py_True;
  if (PyLong_Check(o))
    return object.cast<std::int64_t>();
  if (PyFloat_Check(o))
    return PyFloat_AsDouble(o);
  return c10::intrusive_ptr<c10::ivalue::PyObjectHolder>(
      c10::make_intrusive<PythonObject>(object));
}

} // namespace quern
