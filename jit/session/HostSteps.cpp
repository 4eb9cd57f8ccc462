// Every step has a value for all operands: no division traps, no shift is
// undefined.
#include "jit/session/HostSteps.h"

#include <algorithm>
#include <bit>

namespace quern::jit {
namespace {

using Kind = HostStep::Kind;
using Signed = std::int64_t;
using Unsigned = std::uint64_t;

/// The low `width` bits of a number, with or without their sign.
Signed extend(Signed value, unsigned width, bool isSigned) {
  if (width >= 64)
    return value;
  Unsigned low = Unsigned(value) & ((Unsigned(1) << width) - 1);
  bool isNegative = isSigned && low >> (width - 1) & 1;
  return Signed(isNegative ? low | ~Unsigned(0) << width : low);
}

Signed divide(Signed a, Signed b, bool rest) {
  if (b == 0 || b == -1)
    return rest || b == 0 ? 0 : Signed(-Unsigned(a));
  return rest ? a % b : a / b;
}

Signed divideUnsigned(Unsigned x, Unsigned y, bool rest) {
  return y ? Signed(rest ? x % y : x / y) : 0;
}

Signed shift(Kind kind, Signed a, Signed b) {
  bool isFar = Unsigned(b) >= 64;
  switch (kind) {
  case Kind::ShiftLeft:
    return isFar ? 0 : Signed(Unsigned(a) << b);
  case Kind::ShiftRight:
    return a >> (isFar ? 63 : b);
  default:
    return isFar ? 0 : Signed(Unsigned(a) >> b);
  }
}

bool holds(Kind comparison, Signed a, Signed b) {
  switch (comparison) {
  case Kind::Equal:
    return a == b;
  case Kind::Less:
    return a < b;
  default:
    return Unsigned(a) < Unsigned(b);
  }
}

Signed ofNumbers(const HostStep &step, Signed a, Signed b, Signed c) {
  Unsigned x(a), y(b);
  switch (step.kind) {
  case Kind::Constant:
  case Kind::Word:
    return step.value;
  case Kind::Add:
    return Signed(x + y);
  case Kind::Subtract:
    return Signed(x - y);
  case Kind::Multiply:
    return Signed(x * y);
  case Kind::Divide:
  case Kind::Remainder:
    return divide(a, b, step.kind == Kind::Remainder);
  case Kind::DivideUnsigned:
  case Kind::RemainderUnsigned:
    return divideUnsigned(x, y, step.kind == Kind::RemainderUnsigned);
  case Kind::Smallest:
    return std::min(a, b);
  case Kind::Largest:
    return std::max(a, b);
  case Kind::SmallestUnsigned:
    return Signed(std::min(x, y));
  case Kind::LargestUnsigned:
    return Signed(std::max(x, y));
  case Kind::And:
    return a & b;
  case Kind::Or:
    return a | b;
  case Kind::Xor:
    return a ^ b;
  case Kind::ShiftLeft:
  case Kind::ShiftRight:
  case Kind::ShiftRightUnsigned:
    return shift(step.kind, a, b);
  case Kind::Equal:
  case Kind::Less:
  case Kind::LessUnsigned:
    return holds(step.kind, a, b);
  case Kind::Choose:
    return a ? b : c;
  case Kind::LeadingZeros:
    return std::countl_zero(x);
  case Kind::SignExtend:
  case Kind::ZeroExtend:
    return extend(a, unsigned(step.value), step.kind == Kind::SignExtend);
  }
  return 0;
}

} // namespace

std::vector<std::int64_t> evaluate(const HostPlan &plan,
                                   std::span<const std::uint64_t> words) {
  std::vector<Signed> values;
  values.reserve(plan.steps.size());
  for (const HostStep &step : plan.steps) {
    auto operand = [&](unsigned number) {
      std::uint32_t at = step.operands[number];
      return at < values.size() ? values[at] : 0;
    };
    Signed value = ofNumbers(step, operand(0), operand(1), operand(2));
    if (step.kind == Kind::Word)
      value = Signed(words[static_cast<std::size_t>(step.value)]);
    values.push_back(value);
  }
  std::vector<std::int64_t> results;
  for (std::uint32_t result : plan.results)
    results.push_back(values[result]);
  return results;
}

} // namespace quern::jit
