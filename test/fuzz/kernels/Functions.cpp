// `fn`s and reductions that the declaration under test calls.
#include "test/fuzz/kernels/Builder.h"

namespace quern::fuzz {

/// Now and then a way out of the loop at hand, or of its round, and `next` for
/// those that stay.
std::string Builder::jump(const std::string &name,
                          llvm::function_ref<std::string()> next) {
  const std::string indent(8, ' ');
  unsigned kind = choices.below(6);
  if (kind > 3)
    return "";
  std::string text = indent + "if " + comparison(0, 1).text + ":\n";
  if (kind & 1)
    text += indent + "    " + name + " = " + next() + "\n";
  text += indent + (kind & 2 ? "    break\n" : "    continue\n");
  return text + indent + name + " = " + next() + "\n";
}

/// Statements that change the variable `name`.
std::string Builder::loopsAndBranches(const std::string &name,
                                      ElementType type) {
  std::string text;
  auto next = [&]() { return expression(type, 0, 2).text; };
  if (choices.below(2))
    text += "    if " + comparison(0, 1).text + ":\n        " + name + " = " +
            next() + "\n    else:\n        " + name + " = " + next() + "\n";
  if (choices.below(2)) {
    std::string loop = "n" + std::to_string(names++);
    text += "    for " + loop + " in range(" +
            std::to_string(choices.below(3)) + ", " +
            std::to_string(choices.below(6)) + "):\n        " + name + " = " +
            next() + "\n" + jump(name, next);
    if (choices.oneIn(3))
      text +=
          "        if " + loop + " > 1:\n            return " + next() + "\n";
  }
  if (choices.below(2))
    text += "    while " + comparison(0, 1).text + " bound " +
            std::to_string(1 + choices.below(5)) + ":\n        " + name +
            " = " + next() + "\n" + jump(name, next);
  if (choices.below(2))
    text += "    if " + comparison(0, 1).text + ":\n        return " + next() +
            "\n";
  return text;
}

void Builder::declareFunction() {
  Callable callable;
  callable.name = "f" + std::to_string(functions.size());
  callable.result = anyType();
  std::vector<Term> outer = std::move(bound);
  bool wasScalar = isScalar;
  isScalar = inFunction = true;
  bound.clear();
  std::string parameters;
  for (unsigned i = 0, count = 1 + choices.below(2); i < count; ++i) {
    ElementType type = i ? anyType() : callable.result;
    std::string name = "a" + std::to_string(i);
    callable.parameters.push_back(type);
    bound.push_back({name, type});
    parameters += (i ? ", " : "") + name + ": " + nameOf(type);
  }
  std::string body = "    var t: " + nameOf(callable.result) + " = " +
                     expression(callable.result, 0, 2).text + "\n";
  bound.push_back({"t", callable.result});
  body += loopsAndBranches("t", callable.result);
  body += "    return " + expression(callable.result, 0, 2).text + "\n";
  declared += "fn " + callable.name + "(" + parameters + ") -> " +
              nameOf(callable.result) + ":\n" + body + "\n";
  bound = std::move(outer);
  isScalar = wasScalar;
  inFunction = false;
  functions.push_back(callable);
}

/// Parts of a monoid whose result follows from the order of the elements, and
/// from nothing else.
std::string Builder::orderedParts(const std::string &given,
                                  Callable &callable) {
  auto value = [&](ElementType of) { return expression(of, 0, 2).text; };
  if (choices.below(2)) {
    callable.result = ElementType::I64;
    return "(sum: i64 = 0, power: i64 = 1)\n    step" + given +
           "): (s.sum * 31 + " + value(ElementType::I64) +
           ", s.power * 31)\n    merge(a, b): (a.sum * b.power + b.sum, "
           "a.power * b.power)\n    finish(s): s.sum\n";
  }
  callable.result = ElementType::F32;
  return "(last: f32 = 0, n: i64 = 0)\n    step" + given + "):\n        if " +
         comparison(0, 1).text + ":\n            return (" +
         value(ElementType::F32) +
         ", s.n + 1)\n        return s\n    merge(a, b): (b.last if b.n > 0 "
         "else a.last, a.n + b.n)\n    finish(s): s.last\n";
}

/// Parts of a monoid that commutes, to the bit.
std::string Builder::freeParts(const std::string &given, Callable &callable) {
  auto value = [&](ElementType of) { return expression(of, 0, 2).text; };
  callable.result = ElementType::I64;
  switch (choices.below(3)) {
  case 0:
    return "i64 = 0\n    step" + given + "): s + " + value(ElementType::I64) +
           "\n    merge(a, b): a + b\n";
  case 1:
    return "(bits: i64 = 0, n: i32 = 0)\n    step" + given + "):\n        if " +
           comparison(0, 1).text + ":\n            return (s.bits ^ " +
           value(ElementType::I64) +
           ", s.n + 1)\n        return s\n    merge(a, b): (a.bits ^ b.bits, "
           "a.n + b.n)\n    finish(s): s.bits + i64(s.n)\n";
  default:
    callable.result = ElementType::F32;
    return "(low: f32 = inf, high: f32 = -inf)\n    step" + given +
           "):\n        let v = " + value(ElementType::F32) +
           "\n        return (min(s.low, v), max(s.high, v))\n    merge(a, b): "
           "(min(a.low, b.low), max(a.high, b.high))\n    finish(s): s.high if "
           "s.high > 3 else s.low\n";
  }
}

/// Monoids whose result is the same to the bit however they are merged.
void Builder::declareReduction() {
  Callable callable;
  callable.name = "r" + std::to_string(reductions.size());
  ElementType x = anyType();
  callable.parameters.push_back(x);
  std::vector<Term> outer = std::move(bound);
  bool wasScalar = isScalar;
  isScalar = inFunction = true;
  bound = {{"x", x}};
  std::string type = nameOf(x);
  std::string head = "reduction " + callable.name + ":\n    state: ";
  std::string given = "(s, x: " + type;
  if (choices.below(2)) {
    given += ", y: i64";
    callable.parameters.push_back(ElementType::I64);
    bound.push_back({"y", ElementType::I64});
  }
  if (choices.below(2)) {
    given += ", i: index";
    bound.push_back({"i", ElementType::I64});
  }
  declared += head + (choices.below(5) < 3 ? freeParts(given, callable)
                                           : orderedParts(given, callable));
  declared += "\n";
  bound = std::move(outer);
  isScalar = wasScalar;
  inFunction = false;
  reductions.push_back(callable);
}

} // namespace quern::fuzz
