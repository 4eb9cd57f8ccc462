// Argument conversion, driven by the types of operator schemas.
#include "backend-torch/plan/Arguments.h"
#include "backend-torch/run/TorchDevices.h"

#include <ATen/ATen.h>
#include <ATen/ScalarOps.h>

namespace quern {

using Kind = GraphArgument::Kind;

static bool isTensor(const c10::TypePtr &type) {
  return type && type->kind() == c10::TypeKind::TensorType;
}

/// A number where the schema says tensor: 0-d, and weak in type promotion.
static c10::IValue wrappedNumber(const c10::Scalar &scalar) {
  // Made without the dispatcher: plans are made under a tracer's fake mode.
  at::Tensor tensor = c10::scalar_to_tensor(scalar);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

static c10::IValue fixedNumber(const GraphArgument &argument,
                               const c10::TypePtr &type) {
  bool wantsFloat = type && type->kind() == c10::TypeKind::FloatType;
  switch (argument.kind) {
  case Kind::Int:
    return wantsFloat ? c10::IValue(double(argument.integer))
                      : c10::IValue(argument.integer);
  case Kind::Bool:
    return argument.integer != 0;
  case Kind::Float:
    return argument.real;
  case Kind::Complex:
    return c10::complex<double>(argument.real, argument.imaginary);
  case Kind::String:
    return argument.text;
  case Kind::Device:
    return deviceNamed(argument.text);
  case Kind::ScalarType:
  case Kind::Layout:
  case Kind::MemoryFormat:
    return argument.integer;
  default:
    return {};
  }
}

ArgumentTemplate makeTemplate(const GraphArgument &argument,
                              const c10::TypePtr &declared) {
  ArgumentTemplate result;
  c10::TypePtr type = declared;
  if (type && argument.kind != Kind::None)
    if (auto optional = type->cast<c10::OptionalType>())
      type = optional->getElementType();
  switch (argument.kind) {
  case Kind::Value:
    result.kind = ArgumentTemplate::Kind::Slot;
    result.slot = static_cast<ValueId>(argument.integer);
    return result;
  case Kind::Size:
    result.kind = ArgumentTemplate::Kind::Number;
    result.size = static_cast<Size>(argument.integer);
    result.type = type;
    if (!type && argument.text == "truth")
      result.type = c10::BoolType::get();
    return result;
  case Kind::List: {
    auto list = type ? type->cast<c10::ListType>() : nullptr;
    result.kind = ArgumentTemplate::Kind::List;
    result.type = list ? list->getElementType() : c10::AnyType::get();
    for (const GraphArgument &element : argument.list)
      result.list.push_back(makeTemplate(element, result.type));
    return result;
  }
  case Kind::None:
    // ATen marks a tensor that is not there so where its schema wants one.
    if (isTensor(type))
      result.fixed = at::Tensor();
    return result;
  default:
    result.fixed = fixedNumber(argument, type);
    if (isTensor(type) && result.fixed.isScalar())
      result.fixed = wrappedNumber(result.fixed.toScalar());
    return result;
  }
}

static c10::IValue number(SizeValue value, const c10::TypePtr &type) {
  c10::TypeKind kind = type ? type->kind() : c10::TypeKind::NumberType;
  if (kind == c10::TypeKind::TensorType)
    return wrappedNumber(value.isFloat ? c10::Scalar(value.real)
                                       : c10::Scalar(value.integer));
  if (kind == c10::TypeKind::FloatType)
    return value.asDouble();
  if (kind == c10::TypeKind::BoolType)
    return value.asDouble() != 0;
  if (kind == c10::TypeKind::IntType || kind == c10::TypeKind::SymIntType)
    return value.asInt();
  return value.isFloat ? c10::IValue(value.real) : c10::IValue(value.integer);
}

static c10::IValue instantiateList(const ArgumentTemplate &argument,
                                   const SizeTable &sizes, const Frame &frame) {
  auto each = [&](auto &&take) {
    for (const ArgumentTemplate &element : argument.list)
      take(instantiate(element, sizes, frame));
  };
  switch (argument.type->kind()) {
  case c10::TypeKind::TensorType: {
    c10::List<at::Tensor> tensors;
    each([&](c10::IValue v) { tensors.push_back(std::move(v).toTensor()); });
    return tensors;
  }
  case c10::TypeKind::OptionalType: {
    c10::List<std::optional<at::Tensor>> tensors;
    each([&](c10::IValue v) {
      tensors.push_back(std::move(v).toOptional<at::Tensor>());
    });
    return tensors;
  }
  case c10::TypeKind::IntType:
  case c10::TypeKind::SymIntType: {
    c10::List<std::int64_t> ints;
    each([&](const c10::IValue &v) { ints.push_back(v.toInt()); });
    return ints;
  }
  case c10::TypeKind::FloatType: {
    c10::List<double> floats;
    each([&](const c10::IValue &v) { floats.push_back(v.toDouble()); });
    return floats;
  }
  case c10::TypeKind::BoolType: {
    c10::List<bool> bools;
    each([&](const c10::IValue &v) { bools.push_back(v.toBool()); });
    return bools;
  }
  default: {
    c10::impl::GenericList values(argument.type);
    each([&](c10::IValue v) { values.push_back(std::move(v)); });
    return values;
  }
  }
}

c10::IValue instantiate(const ArgumentTemplate &argument,
                        const SizeTable &sizes, const Frame &frame) {
  switch (argument.kind) {
  case ArgumentTemplate::Kind::Fixed:
    return argument.fixed;
  case ArgumentTemplate::Kind::Slot:
    return frame.slots[argument.slot];
  case ArgumentTemplate::Kind::Turned:
    return frame.slots[argument.slot].toTensor().t();
  case ArgumentTemplate::Kind::Number:
    return number(sizes.evaluate(argument.size, frame.symbols), argument.type);
  case ArgumentTemplate::Kind::List:
    return instantiateList(argument, sizes, frame);
  }
  return {};
}

} // namespace quern
