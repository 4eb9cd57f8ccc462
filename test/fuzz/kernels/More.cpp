// Complex numbers, tables, random numbers, and calls of lifted declarations.
#include "test/fuzz/kernels/Builder.h"

namespace quern::fuzz {

/// A name of this type, or a number of two parts.
Term Builder::complexLeaf(ElementType type, AxisBits allowed) {
  std::vector<Term> fitting;
  for (const Term &term : bound)
    if (term.type == type && (term.axes & ~allowed) == 0)
      fitting.push_back(term);
  if (!fitting.empty() && !choices.oneIn(4))
    return choices.pick(fitting);
  ElementType part =
      type == ElementType::C64 ? ElementType::F32 : ElementType::F64;
  Term re = leaf(part, allowed), im = leaf(part, allowed);
  return {"complex(" + re.text + ", " + im.text + ")", type, re.axes | im.axes};
}

Term Builder::complexValue(ElementType type, AxisBits allowed, unsigned depth) {
  if (depth == 0)
    return complexLeaf(type, allowed);
  Term a = complexValue(type, allowed, depth - 1);
  switch (choices.below(5)) {
  case 0:
    return a;
  case 1:
    return {"conj(" + a.text + ")", type, a.axes};
  case 2: {
    Term c = comparison(allowed, 1);
    Term b = complexLeaf(type, allowed);
    return {"(" + a.text + " if " + c.text + " else " + b.text + ")", type,
            a.axes | b.axes | c.axes};
  }
  case 3:
    // Exact elements alone: a sum that rounds would depend on its order.
    if (!isScalar && a.isName && a.axes && a.bound <= 4) {
      AxisBits over = pickAxes(a.axes);
      return {"sum(" + a.text + " over " + overText(over) + ")", type,
              a.axes & ~over};
    }
    return a;
  default: {
    Term b = complexLeaf(type, allowed);
    return {"(" + a.text + choices.pick({" + ", " - ", " * ", " / "}) + b.text +
                ")",
            type, a.axes | b.axes};
  }
  }
}

/// A part, or the length, of a complex number.
Term Builder::fromComplex(ElementType type, AxisBits allowed, unsigned depth) {
  Term z = complexValue(type == ElementType::F32 ? ElementType::C64
                                                 : ElementType::C128,
                        allowed, depth);
  return {choices.pick({"re(", "im(", "abs("}) + z.text + ")", type, z.axes};
}

/// `TABLE[i]` at a position that is always inside.
Term Builder::tableRead(ElementType type, AxisBits allowed) {
  std::string name = "TABLE" + std::to_string(names++);
  unsigned length = 1 + choices.below(6);
  std::string values;
  for (unsigned i = 0; i < length; ++i)
    values += (i ? ", " : "") + (type == ElementType::Bool
                                     ? choices.pick({"true", "false"})
                                     : std::to_string(choices.below(9)));
  declared += "const " + name + ": " + nameOf(type) + "[" +
              std::to_string(length) + "] = [" + values + "]\n\n";
  Term at = leaf(ElementType::I64, allowed);
  return {name + "[" + at.text + " % i64(" + std::to_string(length) + ")]",
          type, at.axes, 8};
}

/// Bits that a counter stands for.
Term Builder::randomBits(AxisBits allowed) {
  Term counter = leaf(ElementType::I64, allowed);
  std::string name = "u" + std::to_string(names++);
  if (inFunction || !isScalar)
    return counter.type == ElementType::I64
               ? Term{"u32(" + counter.text + ")", ElementType::U32,
                      counter.axes}
               : literal(ElementType::U32);
  lines.push_back("let " + name + ", _, _, _ = philox(i64(7), " + counter.text +
                  ")");
  return {name, ElementType::U32, counter.axes};
}

/// A number whose bits are those of an integer.
Term Builder::fromBits(ElementType type, AxisBits allowed, unsigned depth) {
  ElementType bits =
      type == ElementType::F32 ? ElementType::U32 : ElementType::U64;
  Term word = expression(bits, allowed, depth);
  return {"bitcast[" + nameOf(type) + "](" + word.text + ")", type, word.axes};
}

/// A call of a small `rowwise` or `elementwise` of the same text.
Term Builder::liftedCall(ElementType type, AxisBits allowed, unsigned depth) {
  static constexpr const char *texts[] = {
      "rowwise below_top[T: Real](x: T[*R, C]) -> T[*R, C]:\n"
      "    return x - max(x over C)\n\n",
      "rowwise width[T: Real](x: T[*R, C]) -> T[*R]:\n"
      "    let least = min(x over C)\n    return max(x over C) - least\n\n",
      "elementwise larger[T: Real](x: T, y: T) -> T:\n"
      "    var top = y\n    if x > y:\n        top = x\n    return top\n\n",
      "rowwise ranks[T: Real](x: T[*R, C]) -> i64[*R, C]:\n"
      "    return sum(i64(1) if x.at(C = j) < x else i64(0) over j: 0 .. "
      "size(C))\n\n"};
  unsigned which = choices.below(type == ElementType::I64 ? 4 : 3);
  if (type == ElementType::Bool)
    return leaf(type, allowed);
  if (declared.find(texts[which]) == std::string::npos)
    declared += texts[which];
  if (which == 2) {
    Term a = expression(type, allowed, depth), b = leaf(type, allowed);
    return {"larger(" + a.text + ", " + b.text + ")", type, a.axes | b.axes,
            std::max(a.bound, b.bound)};
  }
  std::vector<unsigned> along;
  for (unsigned axis = 0; axis < axes.size(); ++axis)
    if (!axes[axis].isPack && (which == 1 || allowed >> axis & 1))
      along.push_back(axis);
  if (along.empty())
    return leaf(type, allowed);
  unsigned axis = choices.pick(along);
  ElementType of = which == 3 ? ElementType::F32 : type;
  Term x = withAxes(expression(of, allowed | 1u << axis, depth), 1u << axis);
  static constexpr const char *callees[] = {"below_top", "width", "", "ranks"};
  AxisBits left = which == 1 ? x.axes & ~(1u << axis) : x.axes;
  return {std::string(callees[which]) + "[C = " + axes[axis].name + "](" +
              x.text + ")",
          type, left};
}

/// A variable that a branch or a loop of the body changes; the evaluator lifts
/// no `while` and no `return` among them.
void Builder::controlStatement(AxisBits all) {
  ElementType type = anyType();
  Term value = expression(type, all, 1);
  std::string name = "v" + std::to_string(names++);
  lines.push_back("var " + name + " = " + value.text);
  AxisBits used = value.axes;
  bound.push_back({name, type, used});
  auto indentFrom = [&](std::size_t line, const std::string &indent) {
    for (; line < lines.size(); ++line)
      lines[line].insert(0, indent);
  };
  auto assign = [&](const std::string &indent) {
    std::size_t before = lines.size();
    Term next = expression(type, all, 2);
    indentFrom(before, indent);
    lines.push_back(indent + name + " = " + next.text);
    used |= next.axes;
  };
  if (choices.below(2)) {
    std::string loop = "n" + std::to_string(names++);
    lines.push_back("for " + loop + " in range(0, " +
                    std::to_string(choices.below(4)) + "):");
    bound.push_back({loop, ElementType::I64, 0, 4});
    assign("    ");
    if (choices.oneIn(2)) {
      std::size_t before = lines.size();
      Term condition = comparison(all, 1);
      indentFrom(before, "    ");
      used |= condition.axes;
      lines.push_back("    if " + condition.text + ":");
      if (choices.oneIn(2))
        assign("        ");
      lines.push_back(choices.oneIn(2) ? "        break" : "        continue");
      assign("    ");
    }
    bound.pop_back();
  } else {
    Term condition = comparison(all, 1);
    used |= condition.axes;
    lines.push_back("if " + condition.text + ":");
    assign("    ");
    if (choices.below(2)) {
      lines.push_back("else:");
      assign("    ");
    }
  }
  bound.back().axes = used;
}

} // namespace quern::fuzz
