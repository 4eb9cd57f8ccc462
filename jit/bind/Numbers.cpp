// Rounds host numbers to element types.
#include "jit/bind/Numbers.h"

#include "frontend/typed/Arithmetic.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <cstring>

using namespace quern;
using namespace quern::jit;

bool quern::jit::takesIntegers(typed::ScalarType type) {
  if (!type.isConcrete())
    return false;
  ElementKind kind = kindOf(type.element());
  return kind == ElementKind::Signed || kind == ElementKind::Unsigned;
}

std::optional<HostValue> quern::jit::hostValueOf(const Argument &argument) {
  if (auto *integer = std::get_if<std::int64_t>(&argument))
    return HostValue::of(*integer);
  if (auto *floating = std::get_if<double>(&argument))
    return HostValue::of(*floating);
  if (auto *boolean = std::get_if<bool>(&argument))
    return HostValue::of(static_cast<std::int64_t>(*boolean));
  if (auto *complex = std::get_if<std::complex<double>>(&argument))
    return HostValue::of(*complex);
  return std::nullopt;
}

static std::uint64_t floatBits(const HostValue &value, ElementType type) {
  bool lost = false;
  llvm::APFloat number(value.asDouble());
  if (!value.isFloat) {
    // An integer rounds once, not first to double.
    number = llvm::APFloat(typed::floatSemantics(type));
    number.convertFromAPInt(llvm::APInt(64, value.integer, true),
                            /*IsSigned=*/true,
                            llvm::APFloat::rmNearestTiesToEven);
  }
  number.convert(typed::floatSemantics(type),
                 llvm::APFloat::rmNearestTiesToEven, &lost);
  return number.bitcastToAPInt().getZExtValue();
}

static bool integerBits(const HostValue &value, ElementType type,
                        std::uint64_t &bits) {
  std::int64_t integer = value.integer;
  if (value.isFloat) {
    if (value.floating != std::trunc(value.floating) ||
        !(std::abs(value.floating) < 0x1p63))
      return false;
    integer = static_cast<std::int64_t>(value.floating);
  }
  unsigned width = bitsOf(type);
  bool isSigned = kindOf(type) == ElementKind::Signed;
  if (isSigned ? !llvm::isIntN(width, integer)
               : integer < 0 || !llvm::isUIntN(width, integer))
    return false;
  bits = static_cast<std::uint64_t>(integer) &
         llvm::maskTrailingOnes<std::uint64_t>(width);
  return true;
}

bool quern::jit::encodeElement(const HostValue &value, ElementType type,
                               std::uint64_t (&bits)[2]) {
  bits[0] = bits[1] = 0;
  if (value.isComplex && kindOf(type) != ElementKind::Complex)
    return false;
  switch (kindOf(type)) {
  case ElementKind::Bool:
    bits[0] = value.isFloat ? value.floating != 0 : value.integer != 0;
    return true;
  case ElementKind::Signed:
  case ElementKind::Unsigned:
    return integerBits(value, type, bits[0]);
  case ElementKind::Complex: {
    bits[0] = floatBits(value, type);
    std::uint64_t imaginary = floatBits(HostValue::of(value.imaginary), type);
    if (type == ElementType::C64)
      bits[0] |= imaginary << 32;
    else
      bits[1] = imaginary;
    return true;
  }
  case ElementKind::Float:
    bits[0] = floatBits(value, type);
    return true;
  }
  return false;
}

llvm::StringRef quern::jit::misfit(const HostValue &value) {
  return value.isComplex ? "complex number" : "number that does not fit";
}

static double floatOf(const void *bytes, ElementType type) {
  const llvm::fltSemantics &semantics = typed::floatSemantics(type);
  unsigned width = llvm::APFloat::semanticsSizeInBits(semantics);
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, width / 8);
  llvm::APFloat number(semantics, llvm::APInt(width, bits));
  bool lost = false;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &lost);
  return number.convertToDouble();
}

HostValue quern::jit::decodeElement(const void *bytes, ElementType type) {
  if (kindOf(type) == ElementKind::Float)
    return HostValue::of(floatOf(bytes, type));
  if (kindOf(type) == ElementKind::Complex) {
    const char *second = static_cast<const char *>(bytes) + bytesOf(type) / 2;
    return HostValue::of(
        std::complex<double>(floatOf(bytes, type), floatOf(second, type)));
  }
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, bytesOf(type));
  if (kindOf(type) == ElementKind::Bool)
    return HostValue::of(std::int64_t{bits != 0});
  if (kindOf(type) == ElementKind::Signed)
    return HostValue::of(llvm::SignExtend64(bits, 8 * bytesOf(type)));
  return HostValue::of(static_cast<std::int64_t>(bits));
}
