// Type promotion by categories: tensors with axes, 0-d tensors, numbers.
#include "backend-torch/ops/Promotion.h"

namespace quern {

bool isFloat(DType type) { return type >= DType::F8E4M3 && type <= DType::F64; }

bool isComplex(DType type) { return type == DType::C64 || type == DType::C128; }

bool isInteger(DType type) { return type >= DType::I8 && type <= DType::U64; }

bool isSupported(DType type) {
  return type == DType::Bool || isInteger(type) || isFloat(type) ||
         isComplex(type);
}

bool isCast(DType from, DType to) { return !isComplex(from) || isComplex(to); }

static int bytesOf(DType type) {
  switch (type) {
  case DType::Bool:
  case DType::I8:
  case DType::U8:
  case DType::F8E4M3:
  case DType::F8E5M2:
    return 1;
  case DType::I16:
  case DType::U16:
  case DType::F16:
  case DType::BF16:
    return 2;
  case DType::I32:
  case DType::U32:
  case DType::F32:
    return 4;
  default:
    return 8;
  }
}

bool isReinterpreted(DType from, DType to) {
  if (from == to)
    return true;
  if (isComplex(from) || isComplex(to) || bytesOf(from) != bytesOf(to))
    return false;
  // Of a bool only whether the byte is zero is known.
  bool hasBool = from == DType::Bool || to == DType::Bool;
  return !hasBool || isInteger(from) || isInteger(to);
}

/// The complex type whose parts are as wide as a type's values; none of 16 bits
/// or less.
static std::optional<DType> complexOf(DType type) {
  if (isComplex(type))
    return type;
  if (bytesOf(type) <= 2)
    return std::nullopt;
  return type == DType::F64 ? DType::C128 : DType::C64;
}

bool isConstraint(std::string_view word) {
  for (std::string_view known : {"Any", "Bool", "Number", "Real", "Ordered",
                                 "Integral", "Int", "Float", "Complex"})
    if (word == known)
      return true;
  return false;
}

bool admits(std::string_view constraint, DType type) {
  if (constraint == "Float")
    return isFloat(type);
  if (constraint == "Int")
    return isInteger(type);
  if (constraint == "Integral")
    return isInteger(type) || type == DType::Bool;
  if (constraint == "Real")
    return isFloat(type) || isInteger(type);
  if (constraint == "Number")
    return isFloat(type) || isInteger(type) || isComplex(type);
  if (constraint == "Complex")
    return isComplex(type);
  if (constraint == "Bool")
    return type == DType::Bool;
  if (constraint == "Ordered")
    return type == DType::Bool || isFloat(type) || isInteger(type);
  return constraint == "Any";
}

DType accumulatorOf(DType type) {
  if (type == DType::F64 || isComplex(type))
    return type;
  return isFloat(type) ? DType::F32 : DType::I64;
}

/// Bool, integer, float, complex: a lower category never widens a higher one.
static int rankOf(DType type) {
  return isComplex(type) ? 3 : isFloat(type) ? 2 : isInteger(type) ? 1 : 0;
}

static bool isUnsigned(DType type) {
  return type >= DType::U8 && type <= DType::U64;
}

static DType signedOf(int bytes) {
  return bytes <= 1   ? DType::I8
         : bytes == 2 ? DType::I16
         : bytes == 4 ? DType::I32
                      : DType::I64;
}

static DType meet(DType a, DType b) {
  if (a == b)
    return a;
  if (isComplex(a) || isComplex(b)) {
    bool isWide = a == DType::F64 || b == DType::F64 || a == DType::C128 ||
                  b == DType::C128;
    return isWide ? DType::C128 : DType::C64;
  }
  if (rankOf(a) != rankOf(b))
    return rankOf(a) > rankOf(b) ? a : b;
  if (isFloat(a)) {
    if (bytesOf(a) == 2 && bytesOf(b) == 2)
      return DType::F32;
    return bytesOf(a) > bytesOf(b) ? a : b;
  }
  if (isUnsigned(a) == isUnsigned(b))
    return bytesOf(a) > bytesOf(b) ? a : b;
  DType other = isUnsigned(a) ? b : a;
  int unsignedBytes = bytesOf(isUnsigned(a) ? a : b);
  return bytesOf(other) > unsignedBytes ? other : signedOf(2 * unsignedBytes);
}

namespace {
struct Categories {
  std::optional<DType> dimensioned, scalar, number;
};
} // namespace

static void join(std::optional<DType> &into, DType type) {
  into = into ? meet(*into, type) : type;
}

static bool collect(const Graph &graph, const GraphArgument &argument,
                    Categories &types) {
  switch (argument.kind) {
  case GraphArgument::Kind::Value: {
    const TensorFacts *facts = graph.values[argument.integer].tensor();
    if (!facts || !facts->type || !isSupported(*facts->type))
      return false;
    join(facts->sizes.empty() ? types.scalar : types.dimensioned, *facts->type);
    return true;
  }
  case GraphArgument::Kind::Bool:
    join(types.number, DType::Bool);
    return true;
  case GraphArgument::Kind::Size:
    join(types.number, graph.sizes.isReal(static_cast<Size>(argument.integer))
                           ? DType::F32
                           : DType::I64);
    return true;
  case GraphArgument::Kind::Int:
    join(types.number, DType::I64);
    return true;
  case GraphArgument::Kind::Float:
    join(types.number, DType::F32);
    return true;
  case GraphArgument::Kind::Complex:
    join(types.number, DType::C64);
    return true;
  default:
    return false;
  }
}

/// Whether all tensors have one type.
static bool areAlike(const Graph &graph,
                     const std::vector<const GraphArgument *> &operands) {
  std::optional<DType> type;
  for (const GraphArgument *operand : operands) {
    if (operand->kind != GraphArgument::Kind::Value)
      continue;
    std::optional<DType> own = graph.values[operand->integer].tensor()->type;
    if (type && own != type)
      return false;
    type = own;
  }
  return true;
}

std::optional<DType> promote(const Graph &graph,
                             const std::vector<const GraphArgument *> &operands,
                             std::string_view kind) {
  Categories types;
  bool promotesNoNumber = kind.empty() || kind == "none";
  for (const GraphArgument *operand : operands)
    if (!collect(graph, *operand, types))
      return std::nullopt;
  if (kind == "none" && !areAlike(graph, operands))
    return std::nullopt;
  std::optional<DType> result = types.dimensioned;
  for (const std::optional<DType> &weaker : {types.scalar, types.number}) {
    bool isNumber = &weaker != &types.scalar;
    if (!weaker || (promotesNoNumber && result && isNumber))
      continue;
    if (result && rankOf(*weaker) <= rankOf(*result))
      continue;
    // A weaker complex number makes floats complex, as wide as they are.
    bool isBetween = result && isFloat(*result) && isComplex(*weaker);
    result = isBetween ? complexOf(*result) : weaker;
    if (!result)
      return std::nullopt;
  }
  if (!result)
    return std::nullopt;
  if (kind == "int_to_float" && rankOf(*result) < rankOf(DType::F32))
    return DType::F32;
  if (kind == "bool_to_long" && *result == DType::Bool)
    return DType::I64;
  return result;
}

} // namespace quern
