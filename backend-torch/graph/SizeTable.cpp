// Interning, canonical forms, evaluation and printing of size expressions.
#include "backend-torch/graph/SizeTable.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <compare>
#include <limits>

namespace quern {

static constexpr std::string_view spellings[] = {
#define QN_SIZE_OP(enumerator, spelling) spelling,
#include "backend-torch/graph/SizeOps.def"
};

// Integers stop at the ends of 64 bits: what is too large for memory must not
// come out small.
static std::int64_t limit(bool isNegative) {
  return isNegative ? std::numeric_limits<std::int64_t>::min()
                    : std::numeric_limits<std::int64_t>::max();
}

static std::int64_t sumOf(std::int64_t a, std::int64_t b) {
  std::int64_t result;
  return __builtin_add_overflow(a, b, &result) ? limit(a < 0) : result;
}

static std::int64_t productOf(std::int64_t a, std::int64_t b) {
  std::int64_t result;
  return __builtin_mul_overflow(a, b, &result) ? limit((a < 0) != (b < 0))
                                               : result;
}

std::optional<SizeOp> sizeOpNamed(std::string_view name) {
  auto it = std::find(std::begin(spellings), std::end(spellings), name);
  if (it == std::end(spellings))
    return std::nullopt;
  return static_cast<SizeOp>(it - std::begin(spellings));
}

Size SizeTable::intern(Expression expression) {
  auto [it, isNew] =
      known.try_emplace(expression, static_cast<Size>(expressions.size()));
  if (isNew)
    expressions.push_back(std::move(expression));
  return it->second;
}

Size SizeTable::constant(std::int64_t value) {
  return intern({SizeOp::Constant, value, {}});
}

Size SizeTable::real(double value) {
  return intern({SizeOp::Real, std::bit_cast<std::int64_t>(value), {}});
}

Size SizeTable::symbol(std::string_view name, SizeValue hint) {
  auto it = std::find(symbolNames.begin(), symbolNames.end(), name);
  std::int64_t index = it - symbolNames.begin();
  if (it == symbolNames.end()) {
    symbolNames.emplace_back(name);
    symbolHints.push_back(hint);
  }
  return intern({SizeOp::Symbol, index, {}});
}

std::optional<std::int64_t> SizeTable::constantOf(Size size) const {
  const Expression &e = expressions[size];
  if (e.op != SizeOp::Constant)
    return std::nullopt;
  return e.integer;
}

bool SizeTable::isSymbol(Size size) const {
  return expressions[size].op == SizeOp::Symbol;
}

std::optional<std::pair<Size, std::int64_t>>
SizeTable::scaledSymbol(Size size) const {
  if (isSymbol(size))
    return std::pair(size, std::int64_t(1));
  const Expression &e = expressions[size];
  if (e.op != SizeOp::Mul || e.operands.size() != 2)
    return std::nullopt;
  std::optional<std::int64_t> factor = constantOf(e.operands[0]);
  if (!factor || *factor <= 0 || !isSymbol(e.operands[1]))
    return std::nullopt;
  return std::pair(e.operands[1], *factor);
}

int SizeTable::symbolIndex(Size size) const {
  assert(isSymbol(size) && "only a symbol has an index");
  return static_cast<int>(expressions[size].integer);
}

std::vector<Size> SizeTable::symbolsIn(Size size) const {
  if (isSymbol(size))
    return {size};
  std::vector<Size> symbols;
  for (Size operand : expressions[size].operands)
    for (Size symbol : symbolsIn(operand))
      symbols.push_back(symbol);
  return symbols;
}

/// One constant in front, then the factors in a fixed order.
Size SizeTable::product(std::vector<Size> operands) {
  std::int64_t factor = 1;
  std::vector<Size> factors;
  for (std::size_t i = 0; i != operands.size(); ++i) {
    const Expression &e = expressions[operands[i]];
    if (e.op == SizeOp::Constant)
      factor = productOf(factor, e.integer);
    else if (e.op == SizeOp::Mul)
      operands.insert(operands.end(), e.operands.begin(), e.operands.end());
    else
      factors.push_back(operands[i]);
  }
  if (factors.empty() || factor == 0)
    return constant(factor);
  std::sort(factors.begin(), factors.end());
  if (factor != 1)
    factors.insert(factors.begin(), constant(factor));
  if (factors.size() == 1)
    return factors.front();
  return intern({SizeOp::Mul, 0, std::move(factors)});
}

/// Equal terms stay apart: the importer's sums come from a simplifier.
Size SizeTable::sum(std::vector<Size> operands) {
  std::int64_t offset = 0;
  std::vector<Size> terms;
  for (std::size_t i = 0; i != operands.size(); ++i) {
    const Expression &e = expressions[operands[i]];
    if (e.op == SizeOp::Constant)
      offset = sumOf(offset, e.integer);
    else if (e.op == SizeOp::Add)
      operands.insert(operands.end(), e.operands.begin(), e.operands.end());
    else
      terms.push_back(operands[i]);
  }
  if (terms.empty())
    return constant(offset);
  std::sort(terms.begin(), terms.end());
  if (offset != 0)
    terms.push_back(constant(offset));
  if (terms.size() == 1)
    return terms.front();
  return intern({SizeOp::Add, 0, std::move(terms)});
}

Size SizeTable::apply(SizeOp op, std::vector<Size> operands) {
  bool allInteger = std::all_of(operands.begin(), operands.end(), [&](Size s) {
    return expressions[s].op != SizeOp::Real;
  });
  if (op == SizeOp::Mul && allInteger)
    return product(std::move(operands));
  if (op == SizeOp::Add && allInteger)
    return sum(std::move(operands));
  Expression e{op, 0, std::move(operands)};
  std::vector<SizeValue> values;
  for (Size operand : e.operands)
    if (std::optional<std::int64_t> value = constantOf(operand))
      values.push_back({false, *value, 0});
  if (values.size() != e.operands.size())
    return intern(std::move(e));
  SizeValue folded = fold(e, values);
  return folded.isFloat ? real(folded.real) : constant(folded.integer);
}

std::optional<Size> SizeTable::divideExactly(Size a, Size b) {
  auto factorsOf = [&](Size s) {
    const Expression &e = expressions[s];
    return e.op == SizeOp::Mul ? e.operands : std::vector<Size>{s};
  };
  std::int64_t numerator = 1, denominator = 1;
  std::vector<Size> rest;
  for (Size factor : factorsOf(a)) {
    if (std::optional<std::int64_t> value = constantOf(factor))
      numerator *= *value;
    else
      rest.push_back(factor);
  }
  for (Size factor : factorsOf(b)) {
    if (std::optional<std::int64_t> value = constantOf(factor)) {
      denominator *= *value;
      continue;
    }
    auto it = std::find(rest.begin(), rest.end(), factor);
    if (it == rest.end())
      return std::nullopt;
    rest.erase(it);
  }
  if (denominator == 0 || numerator % denominator != 0)
    return std::nullopt;
  rest.push_back(constant(numerator / denominator));
  return product(std::move(rest));
}

static std::int64_t floorDiv(std::int64_t a, std::int64_t b) {
  if (b == 0)
    return 0;
  if (b == -1) // the least integer has no negative
    return static_cast<std::int64_t>(-static_cast<std::uint64_t>(a));
  std::int64_t q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

static std::int64_t integerOf(double value) {
  constexpr double bound = 9223372036854775808.0; // 2^63
  if (value >= bound)
    return std::numeric_limits<std::int64_t>::max();
  if (!(value >= -bound))
    return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

std::int64_t SizeValue::asInt() const {
  return isFloat ? integerOf(real) : integer;
}

static SizeValue integer(std::int64_t value) { return {false, value, 0}; }
static SizeValue floating(double value) { return {true, 0, value}; }

/// Exact as far as 64 bits go: a double has fewer.
static std::int64_t power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  for (; exponent > 0; exponent /= 2, base = productOf(base, base))
    if (exponent % 2 != 0)
      result = productOf(result, base);
  return result;
}

/// As Python's `a << b`; negative counts, which Python refuses, shift nothing.
static std::int64_t shiftLeft(std::int64_t a, std::int64_t b) {
  return b < 63 ? productOf(a, std::int64_t(1) << std::max<std::int64_t>(b, 0))
                : productOf(a, limit(false));
}

static std::int64_t shiftRight(std::int64_t a, std::int64_t b) {
  return a >> std::clamp<std::int64_t>(b, 0, 63);
}

static std::partial_ordering compare(SizeValue a, SizeValue b) {
  if (a.isFloat || b.isFloat)
    return a.asDouble() <=> b.asDouble();
  return a.integer <=> b.integer;
}

static std::int64_t foldBits(SizeOp op, std::int64_t a, std::int64_t b) {
  switch (op) {
  case SizeOp::BitAnd:
    return a & b;
  case SizeOp::BitOr:
    return a | b;
  case SizeOp::BitXor:
    return a ^ b;
  case SizeOp::ShiftLeft:
    return shiftLeft(a, b);
  case SizeOp::ShiftRight:
    return shiftRight(a, b);
  default:
    assert(false && "not an operation of two operands");
    return a;
  }
}

static SizeValue foldArithmetic(SizeOp op, SizeValue a, SizeValue b) {
  bool isFloat = a.isFloat || b.isFloat;
  double x = a.asDouble(), y = b.asDouble();
  switch (op) {
  case SizeOp::Add:
    return isFloat ? floating(x + y) : integer(sumOf(a.integer, b.integer));
  case SizeOp::Mul:
    return isFloat ? floating(x * y) : integer(productOf(a.integer, b.integer));
  case SizeOp::FloorDiv:
    return isFloat ? floating(std::floor(x / y))
                   : integer(floorDiv(a.integer, b.integer));
  case SizeOp::CeilDiv:
    return integer(
        productOf(-1, floorDiv(productOf(-1, a.integer), b.integer)));
  case SizeOp::Mod:
    return isFloat ? floating(x - std::floor(x / y) * y)
                   : integer(b.integer == 0 || b.integer == -1
                                 ? 0
                                 : a.integer - floorDiv(a.integer, b.integer) *
                                                   b.integer);
  case SizeOp::Divide:
    return floating(x / y);
  case SizeOp::Power:
    return isFloat || b.integer < 0 ? floating(std::pow(x, y))
                                    : integer(power(a.integer, b.integer));
  case SizeOp::Min:
    return compare(a, b) <= 0 ? a : b;
  case SizeOp::Max:
    return compare(a, b) >= 0 ? a : b;
  default:
    return integer(foldBits(op, a.asInt(), b.asInt()));
  }
}

/// The operations that are functions of a double.
static double (*functionOf(SizeOp op))(double) {
  switch (op) {
  case SizeOp::Sqrt:
    return std::sqrt;
  case SizeOp::Exp:
    return std::exp;
  case SizeOp::Log:
    return std::log;
  case SizeOp::Log2:
    return std::log2;
  case SizeOp::Sin:
    return std::sin;
  case SizeOp::Cos:
    return std::cos;
  case SizeOp::Tan:
    return std::tan;
  case SizeOp::Sinh:
    return std::sinh;
  case SizeOp::Cosh:
    return std::cosh;
  case SizeOp::Tanh:
    return std::tanh;
  case SizeOp::Asin:
    return std::asin;
  case SizeOp::Acos:
    return std::acos;
  case SizeOp::Atan:
    return std::atan;
  case SizeOp::Asinh:
    return std::asinh;
  default:
    return nullptr;
  }
}

static SizeValue foldUnary(SizeOp op, SizeValue a) {
  bool isRounding = op == SizeOp::Trunc || op == SizeOp::Floor ||
                    op == SizeOp::Ceil || op == SizeOp::Round;
  if (isRounding && !a.isFloat)
    return a;
  switch (op) {
  case SizeOp::ToFloat:
    return floating(a.asDouble());
  case SizeOp::Trunc:
    return integer(integerOf(std::trunc(a.asDouble())));
  case SizeOp::Floor:
    return integer(integerOf(std::floor(a.asDouble())));
  case SizeOp::Ceil:
    return integer(integerOf(std::ceil(a.asDouble())));
  case SizeOp::Round:
    return integer(integerOf(std::nearbyint(a.asDouble())));
  case SizeOp::Abs:
    return a.isFloat
               ? floating(std::fabs(a.real))
               : integer(a.integer < 0 ? productOf(-1, a.integer) : a.integer);
  case SizeOp::Not:
    return integer(a.asDouble() == 0);
  default:
    double (*function)(double) = functionOf(op);
    assert(function && "not an operation of one operand");
    return floating(function(a.asDouble()));
  }
}

static std::optional<bool> foldRelation(SizeOp op, SizeValue a, SizeValue b) {
  std::partial_ordering order = compare(a, b);
  switch (op) {
  case SizeOp::Equal:
    return order == 0;
  case SizeOp::NotEqual:
    return order != 0;
  case SizeOp::Less:
    return order < 0;
  case SizeOp::LessEqual:
    return order <= 0;
  case SizeOp::Greater:
    return order > 0;
  case SizeOp::GreaterEqual:
    return order >= 0;
  case SizeOp::And:
    return a.asDouble() != 0 && b.asDouble() != 0;
  case SizeOp::Or:
    return a.asDouble() != 0 || b.asDouble() != 0;
  default:
    return std::nullopt;
  }
}

SizeValue SizeTable::fold(const Expression &e,
                          std::span<const SizeValue> values) const {
  if (e.op == SizeOp::Select)
    return values[0].asDouble() != 0 ? values[1] : values[2];
  if (values.size() == 1)
    return foldUnary(e.op, values[0]);
  SizeValue result = values[0];
  for (SizeValue next : values.subspan(1)) {
    if (std::optional<bool> holds = foldRelation(e.op, result, next))
      result = integer(*holds);
    else
      result = foldArithmetic(e.op, result, next);
  }
  return result;
}

SizeValue SizeTable::evaluate(Size size,
                              std::span<const SizeValue> bindings) const {
  const Expression &e = expressions[size];
  switch (e.op) {
  case SizeOp::Constant:
    return integer(e.integer);
  case SizeOp::Real:
    return floating(std::bit_cast<double>(e.integer));
  case SizeOp::Symbol:
    return bindings[e.integer];
  default:
    break;
  }
  std::vector<SizeValue> values;
  for (Size operand : e.operands)
    values.push_back(evaluate(operand, bindings));
  return fold(e, values);
}

std::string SizeTable::print(Size size) const {
  const Expression &e = expressions[size];
  switch (e.op) {
  case SizeOp::Constant:
    return std::to_string(e.integer);
  case SizeOp::Real:
    return std::to_string(std::bit_cast<double>(e.integer));
  case SizeOp::Symbol:
    return symbolNames[e.integer];
  default:
    break;
  }
  std::string_view name = spellings[static_cast<std::size_t>(e.op)];
  bool infix = name.size() <= 2 && e.operands.size() > 1;
  std::string text = infix ? "(" : std::string(name) + "(";
  for (std::size_t i = 0; i != e.operands.size(); ++i) {
    if (i != 0)
      text += infix ? " " + std::string(name) + " " : ", ";
    text += print(e.operands[i]);
  }
  return text + ")";
}

} // namespace quern
