// Results with axes of their own: joined operands, and windows with strides.
#include "test/fuzz/kernels/Builder.h"

namespace quern::fuzz {

/// The axes of a value other than `without`, then `last`, in some order.
std::string Builder::dimensionsWith(AxisBits bits, const std::string &last) {
  std::vector<std::string> each{last};
  for (unsigned axis = 0; axis < axes.size(); ++axis)
    if (bits >> axis & 1)
      each.insert(each.begin() + choices.below(unsigned(each.size()) + 1),
                  axes[axis].spelled());
  std::string text = "[";
  for (const std::string &dimension : each)
    text += (text == "[" ? "" : ", ") + dimension;
  return text + "]";
}

/// `concat(a, b over (A, B))`.
bool Builder::joinedResult(ElementType type, AxisBits all, std::string &value,
                           std::string &dimensions) {
  std::vector<unsigned> plain;
  for (unsigned axis = 0; axis < axes.size(); ++axis)
    if (all >> axis & 1 && !axes[axis].isPack)
      plain.push_back(axis);
  if (plain.empty())
    return false;
  unsigned first = choices.pick(plain), second = choices.pick(plain);
  AxisBits joined = 1u << first | 1u << second;
  ElementType compute = computeTypeOf(type);
  Term a = withAxes(expression(compute, (all & ~joined) | 1u << first, 2),
                    1u << first);
  Term b = withAxes(expression(compute, (all & ~joined) | 1u << second, 2),
                    1u << second);
  std::string name = "E" + std::to_string(names++);
  bool isSame = first == second;
  value = "concat(" + a.text + ", " + b.text + " over " +
          (isSame ? axes[first].name
                  : "(" + axes[first].name + ", " + axes[second].name + ")") +
          ")";
  dimensions = dimensionsWith((a.axes | b.axes) & ~joined,
                              name + " = size(" + axes[first].name +
                                  ") + size(" + axes[second].name + ")");
  return true;
}

/// A window over a named value: stride, dilation and padding.
bool Builder::windowResult(ElementType type, AxisBits all, std::string &value,
                           std::string &dimensions) {
  std::vector<Term> bases;
  for (const Term &term : bound)
    if (term.isName && term.type == computeTypeOf(type) && term.axes &&
        (term.axes & ~all) == 0 && type != ElementType::Bool)
      bases.push_back(term);
  if (bases.empty())
    return false;
  Term base = choices.pick(bases);
  unsigned axis = 0;
  while (!(base.axes >> axis & 1))
    ++axis;
  if (axes[axis].isPack)
    return false;
  std::int64_t width = 1 + choices.below(4), stride = 1 + choices.below(3);
  std::int64_t dilation = 1 + choices.below(3), padding = choices.below(3);
  std::int64_t room =
      axes[axis].count() + 2 * padding - dilation * (width - 1) - 1;
  if (room < 0)
    return false;
  auto text = [](std::int64_t number) { return std::to_string(number); };
  std::string of = axes[axis].name, name = "P" + text(names++);
  std::string offset = "w" + text(names++);
  std::string own = "index(" + name + ")";
  bool isTransposed = choices.oneIn(4);
  std::string place =
      isTransposed ? of + " = (" + own + " + " + offset + ") // " +
                         text(stride) + ", when = (" + own + " + " + offset +
                         ") % " + text(stride) + " == 0"
                   : of + " = " + own + " * " + text(stride) + " + " + offset +
                         " * " + text(dilation) + " - " + text(padding);
  std::string extent = isTransposed
                           ? "size(" + of + ") * " + text(stride)
                           : "(size(" + of + ") + " + text(2 * padding) +
                                 " - " + text(dilation * (width - 1)) +
                                 " - 1) // " + text(stride) + " + 1";
  ElementType compute = computeTypeOf(type);
  bool isSum = compute == accumulatorOf(compute) &&
               (isInteger(compute) || isPortable ||
                base.bound * double(width) <= exactLimit(compute));
  value = std::string(isSum ? "sum(" : "max(") + base.text + ".at(" + place +
          ", outside = " + (choices.below(2) ? "0" : "3") + ") over " + offset +
          ": 0 .. " + text(width) +
          (choices.oneIn(4) ? " where " + offset + " != 1)" : ")");
  dimensions = dimensionsWith(base.axes & ~(1u << axis), name + " = " + extent);
  return true;
}

} // namespace quern::fuzz
