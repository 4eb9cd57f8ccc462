// Symbolic sizes: interned expressions, equal exactly when their ids are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

enum class SizeOp : std::uint8_t {
#define QN_SIZE_OP(enumerator, spelling) enumerator,
#include "backend-torch/graph/SizeOps.def"
};

/// The operation spelt `name`, as the importer writes it.
std::optional<SizeOp> sizeOpNamed(std::string_view name);

/// What an expression is worth in one call: an integer, or a float where the
/// traced program computes with floats (bools are integers).
struct SizeValue {
  bool isFloat = false;
  std::int64_t integer = 0;
  double real = 0;

  double asDouble() const { return isFloat ? real : double(integer); }
  /// The nearest integer of 64 bits; the least for what is not a number.
  std::int64_t asInt() const;
};

/// An expression of a SizeTable.
using Size = std::int32_t;

/// All size expressions of one graph. Sums and products are kept in a canonical
/// order, so that `s0 * 4` and `4 * s0` are one expression.
class SizeTable {
public:
  Size constant(std::int64_t value);
  Size real(double value);
  /// `hint` is what the symbol was worth when the graph was traced.
  Size symbol(std::string_view name, SizeValue hint = {false, 2, 0});
  Size apply(SizeOp op, std::vector<Size> operands);
  Size multiply(Size a, Size b) { return apply(SizeOp::Mul, {a, b}); }

  std::optional<std::int64_t> constantOf(Size size) const;
  /// Whether the expression is a float for the values that were traced.
  bool isReal(Size size) const { return evaluate(size, symbolHints).isFloat; }
  bool isSymbol(Size size) const;
  /// Symbol and factor, where the expression is a symbol times a constant.
  std::optional<std::pair<Size, std::int64_t>> scaledSymbol(Size size) const;
  /// The symbols that the expression is made of, those met often as often.
  std::vector<Size> symbolsIn(Size size) const;
  /// Position among the symbols, which is the index into `bindings` below.
  int symbolIndex(Size size) const;
  std::span<const std::string> symbols() const { return symbolNames; }

  std::span<const SizeValue> hints() const { return symbolHints; }

  /// `a / b` where the division leaves no rest for every value of the symbols.
  std::optional<Size> divideExactly(Size a, Size b);

  SizeValue evaluate(Size size, std::span<const SizeValue> bindings) const;
  std::string print(Size size) const;

private:
  struct Expression {
    SizeOp op;
    /// Constant, index of the symbol, or the bits of a real number: neither
    /// NaN nor the two zeros are ordered.
    std::int64_t integer = 0;
    std::vector<Size> operands;
    auto operator<=>(const Expression &) const = default;
  };

  Size intern(Expression expression);
  Size product(std::vector<Size> operands);
  Size sum(std::vector<Size> operands);
  SizeValue fold(const Expression &e, std::span<const SizeValue> values) const;

  std::vector<Expression> expressions;
  std::map<Expression, Size> known;
  std::vector<std::string> symbolNames;
  std::vector<SizeValue> symbolHints;
};

} // namespace quern
