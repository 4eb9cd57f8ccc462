// Expressions over axes: reductions, scans, reads at positions, joins.
#include "test/fuzz/kernels/Builder.h"

#include <functional>

namespace quern::fuzz {

double Builder::countOf(AxisBits bits) const {
  double count = 1;
  for (unsigned axis = 0; axis < axes.size(); ++axis)
    if (bits >> axis & 1)
      count *= static_cast<double>(axes[axis].count());
  return count;
}

/// At least one of them.
AxisBits Builder::pickAxes(AxisBits among) {
  std::vector<unsigned> each;
  for (unsigned axis = 0; axis < axes.size(); ++axis)
    if (among >> axis & 1)
      each.push_back(axis);
  AxisBits picked = 1u << choices.pick(each);
  while (each.size() > 1 && choices.oneIn(3))
    picked |= 1u << choices.pick(each);
  return picked;
}

std::string Builder::overText(AxisBits bits) {
  std::vector<std::string> each;
  for (unsigned axis = 0; axis < axes.size(); ++axis)
    if (bits >> axis & 1)
      each.push_back(axes[axis].spelled());
  if (each.size() > 1 && choices.below(2))
    std::swap(each.front(), each.back());
  if (each.size() == 1)
    return each.front();
  std::string text = "(";
  for (const std::string &name : each)
    text += (text == "(" ? "" : ", ") + name;
  return text + ")";
}

/// The term, made to depend on all of the axes.
Term Builder::withAxes(Term term, AxisBits wanted) {
  for (unsigned axis = 0; axis < axes.size(); ++axis) {
    if (!(wanted >> axis & 1) || term.axes >> axis & 1)
      continue;
    std::string position = "index(" + axes[axis].spelled() + ")";
    double last = static_cast<double>(axes[axis].count());
    if (term.type == ElementType::Bool) {
      term.text = "(" + term.text + " ^ (" + position + " > 1))";
    } else {
      term.text =
          "(" + term.text + " + " + nameOf(term.type) + "(" + position + "))";
      term.bound += last;
    }
    term.axes |= 1u << axis;
    term = bounded(term);
  }
  return term;
}

/// ` where c`, or no text.
Term Builder::condition(AxisBits allowed) {
  Term none{"", ElementType::Bool};
  if (!choices.oneIn(4))
    return none;
  Term chosen = comparison(allowed, 1);
  chosen.text = " where " + chosen.text;
  return chosen;
}

namespace {

/// Makes reductions over chosen axes.
struct Over {
  std::function<Term(ElementType)> operand;
  std::function<Term(const std::string &name, const Term &, double limit)> made;
};

} // namespace

/// A reduction of integers or truth values.
static Term counted(Choices &choices, const Over &over, double count,
                    ElementType type, ElementType other) {
  switch (choices.below(5)) {
  case 0: {
    Term x =
        over.operand(choices.pick({type, ElementType::I32, ElementType::U8}));
    return over.made("sum", x, x.bound * count);
  }
  case 1:
    return over.made("count", over.operand(ElementType::Bool), count);
  case 2:
    return over.made(choices.pick({"argmax", "argmin"}), over.operand(other),
                     count);
  case 3:
    return over.made(
        "prod", over.operand(choices.pick({type, ElementType::I16})), unknown);
  default:
    return over.made(choices.pick({"max", "min"}), over.operand(type), unknown);
  }
}

/// A reduction that the text declares, if one yields the type.
std::optional<Term> Builder::ownReduction(ElementType type, AxisBits allowed,
                                          AxisBits over, unsigned depth) {
  for (const Callable &callable : reductions) {
    if (callable.result != type || choices.below(2) == 0)
      continue;
    std::string operands;
    AxisBits used = 0;
    for (ElementType parameter : callable.parameters) {
      Term x = withAxes(expression(parameter, allowed | over, depth), over);
      operands += (operands.empty() ? "" : ", ") + x.text;
      used |= x.axes;
    }
    return Term{callable.name + "(" + operands + " over " + overText(over) +
                    condition(used).text + ")",
                type, used & ~over};
  }
  return std::nullopt;
}

/// A reduction over axes of its operand, for the type that it yields.
Term Builder::reduced(ElementType type, AxisBits allowed, unsigned depth) {
  AxisBits over = pickAxes((1u << axes.size()) - 1);
  Over make;
  make.operand = [&](ElementType of) {
    return withAxes(expression(of, allowed | over, depth), over);
  };
  make.made = [&](const std::string &name, const Term &x, double limit) {
    std::string text = name + "(" + x.text + " over " + overText(over) +
                       condition(x.axes).text + ")";
    return bounded({text, type, x.axes & ~over, limit});
  };
  if (type == ElementType::Bool)
    return make.made(choices.pick({"any", "all"}), make.operand(type), 1);
  if (auto own = ownReduction(type, allowed, over, depth))
    return *own;
  if (type == ElementType::I64)
    return counted(choices, make, countOf(over), type, anyType());
  if (isFloat(type) && choices.below(3)) {
    bool isProduct = choices.below(2);
    Term x = make.operand(type);
    if (isProduct) {
      Term y = make.operand(type);
      x = bounded(
          {x.text + " * " + y.text, type, x.axes | y.axes, x.bound * y.bound});
    }
    double limit = x.bound * countOf(over);
    // A sum that rounds would depend on its order.
    if (isPortable || limit <= exactLimit(type)) {
      bool isMean = isPortable && !isProduct && choices.oneIn(3);
      return make.made(isMean ? "mean" : "sum", x, isMean ? unknown : limit);
    }
  }
  return make.made(choices.pick({"max", "min"}), make.operand(type), unknown);
}

/// A reduction over an axis of its own, with bounds that may depend on others.
Term Builder::ranged(ElementType type, AxisBits allowed, unsigned depth) {
  std::string name = "j" + std::to_string(names++);
  std::string low = std::to_string(choices.below(3)), high;
  std::vector<unsigned> outer;
  for (unsigned axis = 0; axis < axes.size(); ++axis)
    if (allowed >> axis & 1 && !axes[axis].isPack)
      outer.push_back(axis);
  AxisBits used = 0;
  if (!outer.empty() && choices.below(2)) {
    unsigned axis = choices.pick(outer);
    high = "index(" + axes[axis].name + ") % 5";
    used |= 1u << axis;
  } else {
    high = std::to_string(choices.below(7));
  }
  Term position{name, ElementType::I64, 0, 8};
  bound.push_back(position);
  Term x = expression(type, allowed, depth);
  bound.pop_back();
  x.text = type == ElementType::Bool
               ? "(" + x.text + " ^ (" + name + " > 2))"
               : "(" + x.text + " + " + nameOf(type) + "(" + name + "))";
  x.bound += 8;
  x = bounded(x);
  Term where = condition(allowed);
  std::string over =
      " over " + name + ": " + low + " .. " + high + where.text + ")";
  AxisBits result = x.axes | used | where.axes;
  if (type == ElementType::Bool)
    return {"any(" + x.text + over, type, result, 1};
  if (type == accumulatorOf(type) &&
      (!isFloat(type) || isPortable || x.bound * 8 <= exactLimit(type)))
    return bounded({"sum(" + x.text + over, type, result, x.bound * 8});
  return {"max(" + x.text + over, type, result};
}

Term Builder::scanned(ElementType type, AxisBits allowed, unsigned depth) {
  std::vector<unsigned> along;
  for (unsigned axis = 0; axis < axes.size(); ++axis)
    if (allowed >> axis & 1 && !axes[axis].isPack)
      along.push_back(axis);
  if (along.empty())
    return leaf(type, allowed);
  unsigned axis = choices.pick(along);
  Term x = withAxes(expression(type, allowed, depth), 1u << axis);
  std::string name = choices.pick({"max", "min"});
  double limit = unknown;
  if (type == ElementType::Bool) {
    name = choices.pick({"any", "all"});
    limit = 1;
  } else if (type == accumulatorOf(type) && choices.below(3)) {
    limit = x.bound * static_cast<double>(axes[axis].count());
    if (isInteger(type) || limit <= exactLimit(type))
      name = "sum";
  }
  std::string options;
  if (choices.oneIn(3))
    options += ", reverse";
  if (choices.oneIn(3))
    options += ", exclusive";
  return bounded({"scan(" + name + ", " + x.text + " over " + axes[axis].name +
                      options + ")",
                  type, x.axes, limit});
}

/// A position along `axis`; `inside` says whether it is always valid.
Term Builder::position(unsigned axis, AxisBits allowed, bool &inside) {
  const Axis &row = axes[axis];
  bool mayUseOwn = allowed >> axis & 1;
  unsigned form = choices.below(mayUseOwn ? 6 : 2);
  inside = form == 4 || (form == 0 && row.count() > 0);
  if (form < 2) {
    Term free = leaf(ElementType::I64, allowed);
    if (form == 0)
      free.text = "max(min(" + free.text + ", size(" + row.name + ") - 1), 0)";
    return free;
  }
  std::string own = "index(" + row.name + ")";
  std::string shift = std::to_string(choices.below(3));
  std::string text = form == 2   ? own + " - " + shift
                     : form == 3 ? own + " * 2 - 1"
                     : form == 4 ? "size(" + row.name + ") - 1 - " + own
                                 : own + " // 2 + " + shift;
  return {text, ElementType::I64, 1u << axis};
}

Term Builder::readAt(ElementType type, AxisBits allowed) {
  std::vector<Term> named;
  for (const Term &term : bound)
    if (term.isName && term.axes && term.type == type)
      named.push_back(term);
  if (named.empty())
    return leaf(type, allowed);
  Term base = choices.pick(named);
  AxisBits moved = 0;
  for (unsigned axis = 0; axis < axes.size(); ++axis) {
    bool must = base.axes >> axis & 1 && !(allowed >> axis & 1);
    bool can = base.axes >> axis & 1 && !axes[axis].isPack;
    if (must && !can)
      return leaf(type, allowed);
    if (must || (can && !choices.oneIn(3)))
      moved |= 1u << axis;
  }
  if (!moved)
    return base;
  std::string positions;
  bool isSafe = true;
  AxisBits used = base.axes & ~moved;
  for (unsigned axis = 0; axis < axes.size(); ++axis)
    if (moved >> axis & 1) {
      bool inside = false;
      Term place = position(axis, allowed, inside);
      positions += axes[axis].name + " = " + place.text + ", ";
      used |= place.axes;
      isSafe = isSafe && inside;
    }
  double limit = base.bound;
  std::string options;
  if (!isSafe || choices.oneIn(4)) {
    Term outside = literal(type);
    limit = std::max(limit, outside.bound);
    options = "outside = " + outside.text;
  }
  if (choices.oneIn(5)) {
    Term when = comparison(allowed, 0);
    options += (options.empty() ? "when = " : ", when = ") + when.text;
    used |= when.axes;
  }
  if (options.empty())
    positions.resize(positions.size() - 2);
  return {base.text + ".at(" + positions + options + ")", type, used, limit};
}

/// Neighbours of an element combined, zero outside.
Term Builder::window(ElementType type, AxisBits allowed) {
  for (const Term &base : std::vector<Term>(bound)) {
    if (!base.isName || base.type != type || type == ElementType::Bool ||
        (base.axes & ~allowed))
      continue;
    for (unsigned axis = 0; axis < axes.size(); ++axis) {
      if (!(base.axes >> axis & 1) || axes[axis].isPack)
        continue;
      std::string name = "w" + std::to_string(names++);
      unsigned width = 1 + choices.below(4);
      std::string own = "index(" + axes[axis].name + ")";
      std::string position =
          own + " + " + name + " - " + std::to_string(choices.below(width));
      if (choices.oneIn(3))
        position = own + " * 2 + " + name + " - 1";
      double limit = base.bound * width;
      bool isSum = type == accumulatorOf(type) &&
                   (isInteger(type) || isPortable || limit <= exactLimit(type));
      return bounded({(isSum ? "sum(" : "max(") + base.text + ".at(" +
                          axes[axis].name + " = " + position +
                          ", outside = 0) over " + name + ": 0 .. " +
                          std::to_string(width) + ")",
                      type, base.axes, isSum ? limit : base.bound});
    }
  }
  return leaf(type, allowed);
}

Term Builder::lifted(ElementType type, AxisBits allowed, unsigned depth) {
  switch (choices.below(8)) {
  case 0:
  case 1:
  case 2:
    return reduced(type, allowed, depth);
  case 3:
    return scanned(type, allowed, depth);
  case 4:
    return readAt(type, allowed);
  case 5:
    return window(type, allowed);
  case 6:
    return ranged(type, allowed, depth);
  default: {
    std::vector<unsigned> known;
    for (unsigned axis = 0; axis < axes.size(); ++axis)
      if (allowed >> axis & 1)
        known.push_back(axis);
    if (known.empty())
      return leaf(type, allowed);
    unsigned axis = choices.pick(known);
    double count = static_cast<double>(axes[axis].count());
    bool isSize = choices.oneIn(3);
    Term position{(isSize ? "size(" : "index(") + axes[axis].spelled() + ")",
                  ElementType::I64, isSize ? 0 : 1u << axis, count};
    return type == ElementType::I64 ? position : cast(position, type, type);
  }
  }
}

} // namespace quern::fuzz
