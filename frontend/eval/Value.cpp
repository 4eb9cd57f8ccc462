// Values and their form in memory, small floats by way of APFloat.
#include "frontend/eval/Value.h"

#include "frontend/typed/Arithmetic.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/ErrorHandling.h"

#include <cstring>

namespace quern::eval {
namespace {

const llvm::fltSemantics *smallFloat(ElementType type) {
  switch (type) {
  case ElementType::F8E4M3:
    return &llvm::APFloat::Float8E4M3FN();
  case ElementType::F8E5M2:
    return &llvm::APFloat::Float8E5M2();
  case ElementType::F16:
    return &llvm::APFloat::IEEEhalf();
  case ElementType::BF16:
    return &llvm::APFloat::BFloat();
  default:
    return nullptr;
  }
}

template <typename T> T fetch(const char *memory) {
  T value;
  std::memcpy(&value, memory, sizeof(T));
  return value;
}

template <typename T> void put(char *memory, T value) {
  std::memcpy(memory, &value, sizeof(T));
}

double readSmallFloat(const llvm::fltSemantics &semantics, const char *memory,
                      unsigned bits) {
  std::uint64_t word =
      bits == 8 ? fetch<std::uint8_t>(memory) : fetch<std::uint16_t>(memory);
  llvm::APFloat value(semantics, llvm::APInt(bits, word));
  bool lost = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &lost);
  return value.convertToDouble();
}

void writeSmallFloat(const llvm::fltSemantics &semantics, char *memory,
                     unsigned bits, double value) {
  llvm::APFloat rounded(value);
  bool lost = false;
  rounded.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
  std::uint64_t word = rounded.bitcastToAPInt().getZExtValue();
  if (bits == 8)
    put(memory, static_cast<std::uint8_t>(word));
  else
    put(memory, static_cast<std::uint16_t>(word));
}

std::uint64_t readInteger(const char *memory, unsigned bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, memory, bytes);
  return word;
}

Value readWhole(ElementType type, const char *memory) {
  unsigned bits = bitsOf(type);
  std::uint64_t word = readInteger(memory, bits / 8);
  switch (kindOf(type)) {
  case ElementKind::Bool:
    return Value::boolean(word != 0);
  case ElementKind::Signed: {
    auto wide = static_cast<std::int64_t>(word << (64 - bits));
    return Value::of(type, Constant::ofInteger(wide >> (64 - bits)));
  }
  case ElementKind::Unsigned:
    return Value::of(type, Constant::ofUnsigned(word));
  default:
    llvm_unreachable("floats are read elsewhere");
  }
}

} // namespace

Value Value::of(ElementType type, Constant constant) {
  Value value;
  value.type = type;
  value.real = constant;
  return value;
}

Value Value::complex(ElementType type, double real, double imaginary) {
  ElementType part =
      type == ElementType::C64 ? ElementType::F32 : ElementType::F64;
  Value value = of(type, Constant::ofFloat(typed::roundTo(real, part)));
  value.imaginary = typed::roundTo(imaginary, part);
  return value;
}

Value Value::aggregate(std::vector<Value> elements) {
  Value value;
  value.isAggregate = true;
  value.elements = std::move(elements);
  return value;
}

Value Value::absent() {
  Value value;
  value.isAbsent = true;
  return value;
}

double Value::asDouble() const {
  switch (real.kind) {
  case Constant::Kind::Float:
    return real.floating;
  case Constant::Kind::Boolean:
    return real.boolean;
  default:
    return real.isUnsigned
               ? static_cast<double>(static_cast<std::uint64_t>(real.integer))
               : static_cast<double>(real.integer);
  }
}

Value readElement(const Tensor &tensor, std::int64_t offset) {
  const char *memory =
      static_cast<const char *>(tensor.data) + offset * bytesOf(tensor.type);
  ElementType type = tensor.type;
  if (const llvm::fltSemantics *semantics = smallFloat(type))
    return Value::of(type, Constant::ofFloat(readSmallFloat(*semantics, memory,
                                                            bitsOf(type))));
  switch (type) {
  case ElementType::F32:
    return Value::of(type, Constant::ofFloat(fetch<float>(memory)));
  case ElementType::F64:
    return Value::of(type, Constant::ofFloat(fetch<double>(memory)));
  case ElementType::C64:
    return Value::complex(type, fetch<float>(memory), fetch<float>(memory + 4));
  case ElementType::C128:
    return Value::complex(type, fetch<double>(memory),
                          fetch<double>(memory + 8));
  default:
    return readWhole(type, memory);
  }
}

void writeElement(const Tensor &tensor, std::int64_t offset,
                  const Value &value) {
  ElementType type = tensor.type;
  char *memory = static_cast<char *>(tensor.data) + offset * bytesOf(type);
  Value stored = cast(value, type);
  if (const llvm::fltSemantics *semantics = smallFloat(type))
    return writeSmallFloat(*semantics, memory, bitsOf(type), stored.asDouble());
  switch (type) {
  case ElementType::F32:
    return put(memory, static_cast<float>(stored.asDouble()));
  case ElementType::F64:
    return put(memory, stored.asDouble());
  case ElementType::C64:
    put(memory, static_cast<float>(stored.real.floating));
    return put(memory + 4, static_cast<float>(stored.imaginary));
  case ElementType::C128:
    put(memory, stored.real.floating);
    return put(memory + 8, stored.imaginary);
  case ElementType::Bool:
    return put(memory, static_cast<std::uint8_t>(stored.truth()));
  default:
    std::memcpy(memory, &stored.real.integer, bytesOf(type));
  }
}

Value cast(const Value &value, ElementType to) {
  if (value.type == to)
    return value;
  if (kindOf(to) == ElementKind::Complex)
    return Value::complex(
        to, value.isComplex() ? value.real.floating : value.asDouble(),
        value.imaginary);
  return Value::of(to, typed::convert(value.real, value.type, to));
}

} // namespace quern::eval
