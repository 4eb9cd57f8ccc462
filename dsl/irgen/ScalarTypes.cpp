// Types and constants of scalars, and the way between memory and values.
#include "dsl/irgen/Scalar.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

Type irgen::storageType(MLIRContext *context, ElementType type) {
  switch (type) {
  case ElementType::Bool:
    return IntegerType::get(context, 1);
  case ElementType::F8E4M3:
    return Float8E4M3FNType::get(context);
  case ElementType::F8E5M2:
    return Float8E5M2Type::get(context);
  case ElementType::F16:
    return Float16Type::get(context);
  case ElementType::BF16:
    return BFloat16Type::get(context);
  case ElementType::C64:
  case ElementType::C128:
    return ComplexType::get(valueType(context, type));
  default:
    return valueType(context, type);
  }
}

Type irgen::valueType(MLIRContext *context, ElementType type) {
  switch (kindOf(type)) {
  case ElementKind::Bool:
    return IntegerType::get(context, 1);
  case ElementKind::Signed:
  case ElementKind::Unsigned:
    return IntegerType::get(context, bitsOf(type));
  case ElementKind::Float:
    if (type == ElementType::F64)
      return Float64Type::get(context);
    return Float32Type::get(context);
  case ElementKind::Complex:
    return valueType(context, componentOf(type));
  }
  llvm_unreachable("every kind of element has a value type");
}

ElementType irgen::componentOf(ElementType type) {
  if (type == ElementType::C64)
    return ElementType::F32;
  return type == ElementType::C128 ? ElementType::F64 : type;
}

Scalar ScalarBuilder::integer(ElementType type, std::int64_t value) {
  if (kindOf(type) == ElementKind::Float ||
      kindOf(type) == ElementKind::Complex)
    return number(type, static_cast<double>(value));
  auto integerType = cast<IntegerType>(valueType(builder.getContext(), type));
  APInt bits(64, static_cast<std::uint64_t>(value));
  auto attribute =
      IntegerAttr::get(integerType, bits.trunc(integerType.getWidth()));
  return {type, create<arith::ConstantOp>(attribute), nullptr};
}

Scalar ScalarBuilder::number(ElementType type, double value) {
  ElementKind kind = kindOf(type);
  if (kind != ElementKind::Float && kind != ElementKind::Complex)
    return integer(type, static_cast<std::int64_t>(value));
  Type floatType = valueType(builder.getContext(), type);
  auto constant = [&](double part) -> Value {
    return create<arith::ConstantOp>(FloatAttr::get(floatType, part));
  };
  Scalar result{type, constant(value), nullptr};
  if (kind == ElementKind::Complex)
    result.imaginary = constant(0);
  return result;
}

Scalar ScalarBuilder::select(Scalar condition, Scalar whenTrue,
                             Scalar whenFalse) {
  auto choose = [&](Value left, Value right) -> Value {
    if (left == right)
      return left;
    return create<arith::SelectOp>(condition.value, left, right);
  };
  Scalar result{whenTrue.type, choose(whenTrue.value, whenFalse.value),
                nullptr};
  if (whenTrue.isComplex())
    result.imaginary = choose(whenTrue.imaginary, whenFalse.imaginary);
  return result;
}

Scalar ScalarBuilder::fromStorage(Value stored, ElementType type) {
  Type wanted = valueType(builder.getContext(), type);
  if (stored.getType() != wanted)
    stored = create<arith::ExtFOp>(wanted, stored);
  return {type, stored, nullptr};
}

Value ScalarBuilder::toStorage(Scalar operand) {
  Type wanted = storageType(builder.getContext(), operand.type);
  if (operand.isComplex() || operand.value.getType() == wanted)
    return operand.value;
  return narrow(wanted, operand.value);
}
