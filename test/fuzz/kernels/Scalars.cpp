// Expressions without axes of their own: literals, operators, casts, calls.
#include "test/fuzz/kernels/Builder.h"

namespace quern::fuzz {

ElementType Builder::anyType() {
  return choices.pick({ElementType::F32, ElementType::I32, ElementType::I64,
                       ElementType::Bool, ElementType::F64, ElementType::I8,
                       ElementType::U8, ElementType::I16, ElementType::U16,
                       ElementType::U32, ElementType::U64});
}

Term Builder::literal(ElementType type) {
  if (type == ElementType::Bool)
    return {choices.below(2) ? "true" : "false", type, 0, 1};
  int value = static_cast<int>(choices.below(10));
  if (kindOf(type) != ElementKind::Unsigned && choices.below(2))
    value = -value;
  std::string text = std::to_string(value);
  if (isFloat(type) && choices.oneIn(4))
    return {nameOf(type) + "(" + text + ".25)", type, 0, unknown};
  return {nameOf(type) + "(" + text + ")", type, 0, 9};
}

Term Builder::leaf(ElementType type, AxisBits allowed) {
  std::vector<Term> fitting, others;
  for (const Term &term : bound)
    if ((term.axes & ~allowed) == 0 && !isComplex(term.type))
      (term.type == type ? fitting : others).push_back(term);
  if (!fitting.empty() && !choices.oneIn(5))
    return choices.pick(fitting);
  if (!others.empty() && choices.below(2))
    return cast(choices.pick(others), type, type);
  return literal(type);
}

Term Builder::cast(Term operand, ElementType to, ElementType written) {
  Term result{nameOf(written) + "(" + operand.text + ")", to, operand.axes,
              operand.bound};
  if (written == ElementType::Bool)
    result.bound = 1;
  else if (result.bound > exactLimit(written))
    result.bound = unknown;
  // Negative numbers wrap around where there are none.
  if (kindOf(written) == ElementKind::Unsigned)
    result.bound = unknown;
  return result;
}

Term Builder::castOf(ElementType type, AxisBits allowed, unsigned depth) {
  if (type == ElementType::F32 && choices.oneIn(3)) {
    // Rounded to a small float, still computed with in f32.
    ElementType small =
        choices.pick({ElementType::F16, ElementType::BF16, ElementType::F8E4M3,
                      ElementType::F8E5M2});
    Term rounded = cast(expression(type, allowed, depth), type, small);
    return inFunction ? cast(rounded, type, type) : rounded;
  }
  return cast(expression(anyType(), allowed, depth), type, type);
}

static std::vector<std::string> binaryOperators(ElementType type) {
  if (type == ElementType::Bool)
    return {"and", "or", "&", "|", "^"};
  if (isFloat(type))
    return {"+", "-", "*", "max", "min", "/", "//", "%"};
  return {"+", "-", "*", "max", "min", "//", "%", "&", "|", "^", "<<", ">>"};
}

Term Builder::binary(ElementType type, AxisBits allowed, unsigned depth) {
  std::string op = choices.pick(binaryOperators(type));
  Term a = expression(type, allowed, depth);
  Term b = expression(type, allowed, depth);
  bool isCall = op == "max" || op == "min";
  std::string text = isCall ? op + "(" + a.text + ", " + b.text + ")"
                            : "(" + a.text + " " + op + " " + b.text + ")";
  Term result{text, type, a.axes | b.axes, unknown};
  if (op == "+" || (op == "-" && kindOf(type) != ElementKind::Unsigned))
    result.bound = a.bound + b.bound;
  else if (op == "*")
    result.bound = a.bound * b.bound;
  else if (isCall)
    result.bound = std::max(a.bound, b.bound);
  else if (type == ElementType::Bool)
    result.bound = 1;
  return bounded(result);
}

Term Builder::unary(ElementType type, AxisBits allowed, unsigned depth) {
  Term a = expression(type, allowed, depth);
  if (type == ElementType::Bool)
    return {"(not " + a.text + ")", type, a.axes, 1};
  if (isInteger(type)) {
    std::string op =
        choices.pick({"-", "~", "abs", "popcount", "clz", "ctz", "mulhi"});
    if (op == "mulhi")
      return {"mulhi(" + a.text + ", " + leaf(type, a.axes).text + ")", type,
              a.axes};
    bool isSign = op == "-" || op == "~";
    std::string text =
        isSign ? "(" + op + a.text + ")" : op + "(" + a.text + ")";
    bool keeps =
        kindOf(type) == ElementKind::Signed && (op == "-" || op == "abs");
    return {text, type, a.axes, keeps ? a.bound : unknown};
  }
  std::string op = choices.pick(
      {"-", "abs", "floor", "ceil", "trunc", "rint", "round", "sqrt"});
  std::string text = op == "-" ? "(-" + a.text + ")" : op + "(" + a.text + ")";
  return {text, type, a.axes, op == "sqrt" ? unknown : a.bound};
}

/// Functions of the prelude: one text on both sides, so the same bits.
Term Builder::floatFunction(ElementType type, AxisBits allowed,
                            unsigned depth) {
  std::string op = choices.pick(
      {"fma",   "copysign", "exp",   "log",      "tanh",  "sin",
       "cos",   "erf",      "expm1", "log1p",    "exp2",  "sigmoid",
       "rsqrt", "atan",     "pow",   "atan2",    "hypot", "sinh",
       "erfc",  "lgamma",   "fmod",  "remainder"});
  Term a = expression(type, allowed, depth);
  if (op == "fma") {
    Term b = leaf(type, allowed), c = leaf(type, allowed);
    return bounded({"fma(" + a.text + ", " + b.text + ", " + c.text + ")", type,
                    a.axes | b.axes | c.axes, a.bound * b.bound + c.bound});
  }
  if (op == "copysign") {
    // The sign of a NaN is not defined.
    Term b = leaf(type, allowed);
    return {"copysign(" + a.text + ", (" + b.text + " if " + b.text +
                " == " + b.text + " else " + nameOf(type) + "(1)))",
            type, a.axes | b.axes, a.bound};
  }
  if (op == "pow" || op == "atan2" || op == "hypot" || op == "fmod" ||
      op == "remainder") {
    Term b = leaf(type, allowed);
    return {op + "(" + a.text + ", " + b.text + ")", type, a.axes | b.axes};
  }
  return {op + "(" + a.text + ")", type, a.axes};
}

Term Builder::conditional(ElementType type, AxisBits allowed, unsigned depth) {
  Term c = expression(ElementType::Bool, allowed, depth);
  Term a = expression(type, allowed, depth);
  Term b = expression(type, allowed, depth);
  return {"(" + a.text + " if " + c.text + " else " + b.text + ")", type,
          a.axes | b.axes | c.axes, std::max(a.bound, b.bound)};
}

Term Builder::comparison(AxisBits allowed, unsigned depth) {
  if (choices.oneIn(20)) {
    Term a = complexValue(ElementType::C64, allowed, depth > 0);
    Term b = complexLeaf(ElementType::C64, allowed);
    return {"(" + a.text + choices.pick({" == ", " != "}) + b.text + ")",
            ElementType::Bool, a.axes | b.axes, 1};
  }
  ElementType type = anyType();
  Term a = expression(type, allowed, depth);
  if (isFloat(type) && choices.oneIn(5))
    return {choices.pick({"isnan(", "isinf("}) + a.text + ")",
            ElementType::Bool, a.axes, 1};
  Term b = expression(type, allowed, depth);
  std::string op = choices.pick({"<", "==", "!=", "<=", ">", ">="});
  if (type != ElementType::Bool && choices.oneIn(8)) {
    Term c = leaf(type, allowed);
    return {"(" + a.text + " <= " + b.text + " " + op + " " + c.text + ")",
            ElementType::Bool, a.axes | b.axes | c.axes, 1};
  }
  return {"(" + a.text + " " + op + " " + b.text + ")", ElementType::Bool,
          a.axes | b.axes, 1};
}

Term Builder::callOf(ElementType type, AxisBits allowed, unsigned depth) {
  for (const Callable &function : functions) {
    if (function.result != type || choices.below(2))
      continue;
    Term result{function.name + "(", type};
    for (ElementType parameter : function.parameters) {
      Term argument = expression(parameter, allowed, depth);
      result.text += (result.text.back() == '(' ? "" : ", ") + argument.text;
      result.axes |= argument.axes;
    }
    result.text += ")";
    return result;
  }
  return unary(type, allowed, depth);
}

Term Builder::expression(ElementType type, AxisBits allowed, unsigned depth) {
  if (depth == 0)
    return leaf(type, allowed);
  --depth;
  if (!isScalar && choices.oneIn(3))
    return lifted(type, allowed, depth);
  bool isWide = type == ElementType::F32 || type == ElementType::F64;
  if (isWide && choices.oneIn(12))
    return choices.below(2) ? fromBits(type, allowed, depth)
                            : fromComplex(type, allowed, depth);
  if (choices.oneIn(30))
    return type == ElementType::U32 ? randomBits(allowed)
                                    : tableRead(type, allowed);
  if (!inFunction && choices.oneIn(20))
    return liftedCall(type, allowed, depth);
  switch (choices.below(8)) {
  case 0:
    return leaf(type, allowed);
  case 1:
  case 2:
    return binary(type, allowed, depth);
  case 3:
    return unary(type, allowed, depth);
  case 4:
    return castOf(type, allowed, depth);
  case 5:
    return conditional(type, allowed, depth);
  case 6:
    return callOf(type, allowed, depth);
  default:
    if (type == ElementType::Bool)
      return comparison(allowed, depth);
    return isFloat(type) ? floatFunction(type, allowed, depth)
                         : binary(type, allowed, depth);
  }
}

} // namespace quern::fuzz
