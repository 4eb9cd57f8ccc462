// Whole programs: axes, operands, statements, results.
#include "test/fuzz/kernels/Builder.h"

namespace quern::fuzz {

static ElementType storedType(Choices &choices) {
  return choices.pick(
      {ElementType::F32, ElementType::I32, ElementType::F16, ElementType::BF16,
       ElementType::I64, ElementType::F64, ElementType::Bool, ElementType::U8,
       ElementType::I8, ElementType::I16, ElementType::U16, ElementType::U32,
       ElementType::U64, ElementType::F8E4M3, ElementType::F8E5M2,
       ElementType::C64, ElementType::C128});
}

Layout Builder::drawLayout() {
  return choices.pick({Layout::Contiguous, Layout::Contiguous,
                       Layout::Transposed, Layout::EverySecond, Layout::Offset,
                       Layout::Reversed, Layout::Repeated});
}

Operand &Builder::newOperand(ElementType type, std::vector<unsigned> of,
                             Content content) {
  Operand operand;
  operand.name = "p" + std::to_string(program.operands.size());
  operand.type = type;
  operand.typeName = nameOf(type);
  operand.content = content;
  operand.seed = choices.below(1000);
  operand.layout = drawLayout();
  operand.dimensions = "[";
  for (unsigned axis : of) {
    const Axis &row = axes[axis];
    operand.dimensions +=
        (operand.dimensions == "[" ? "" : ", ") + row.spelled();
    operand.sizes.insert(operand.sizes.end(), row.extents.begin(),
                         row.extents.end());
  }
  operand.dimensions += "]";
  program.operands.push_back(operand);
  AxisBits bits = 0;
  for (unsigned axis : of)
    bits |= 1u << axis;
  bound.push_back(termOf(operand, bits));
  return program.operands.back();
}

Term Builder::termOf(const Operand &operand, AxisBits bits) {
  Term term{operand.name, computeTypeOf(operand.type), bits};
  if (operand.content == Content::Exact)
    term.bound = operand.type == ElementType::Bool ? 1 : 4;
  if (operand.content == Content::Places)
    term.bound = static_cast<double>(operand.extent);
  term.isName = true;
  return term;
}

std::string Builder::parameterList() const {
  std::string text;
  for (const Operand &operand : program.operands)
    text += (text.empty() ? "" : ", ") + operand.name +
            (operand.isMutable ? ": mut " : ": ") + operand.typeName +
            operand.dimensions;
  return text;
}

/// `[T: Real, N: int = 2, F: fn(f32) -> f32]`, or nothing.
std::string Builder::constantList() const {
  std::string text;
  for (const auto &[name, type] : constants)
    text += (text.empty() ? "[" : ", ") + name + ": " + type;
  return text.empty() ? "" : text + "]";
}

void Builder::constantParameters() {
  if (choices.oneIn(5)) {
    std::int64_t value = choices.below(5);
    constants.emplace_back("N", "int");
    program.numbers.emplace_back("N", value);
    bound.push_back({"N", ElementType::I64, 0, 4});
  }
  if (!choices.oneIn(6))
    return;
  declareFunction();
  Callable passed = functions.back();
  std::string type = "fn(";
  for (ElementType parameter : passed.parameters)
    type += (type.back() == '(' ? "" : ", ") + nameOf(parameter);
  constants.emplace_back("F", type + ") -> " + nameOf(passed.result));
  program.functions.emplace_back("F", passed.name);
  functions.back().name = "F";
}

void Builder::letStatements(AxisBits all) {
  for (unsigned i = 0, count = choices.below(4); i < count; ++i) {
    if (!isScalar && choices.oneIn(6)) {
      sortStatement(all);
      continue;
    }
    if (choices.oneIn(5)) {
      controlStatement(all);
      continue;
    }
    ElementType type = anyType();
    Term value = !isScalar && choices.oneIn(8) ? scattered(type, all)
                                               : expression(type, all, 3);
    std::string name = "v" + std::to_string(names++);
    lines.push_back("let " + name + " = " + value.text);
    bound.push_back({name, type, value.axes, value.bound, value.axes != 0});
  }
  branchOnConstant(all);
}

/// A variable that a compile-time condition gives another value.
void Builder::branchOnConstant(AxisBits all) {
  if (program.numbers.empty())
    return;
  ElementType type = anyType();
  Term first = expression(type, all, 1),
       other = expression(type, first.axes, 2);
  std::string name = "v" + std::to_string(names++);
  lines.push_back("var " + name + " = " + first.text);
  lines.push_back("if const N > " + std::to_string(choices.below(4)) + ":");
  lines.push_back("    " + name + " = " + other.text);
  bound.push_back({name, type, first.axes | other.axes,
                   std::max(first.bound, other.bound)});
}

Program Builder::finish(const std::string &kind, const std::string &results) {
  std::string text = declared;
  if (isPortable)
    text += "@portable\n";
  text += kind + " k" + constantList() + "(" + parameterList() + ")";
  if (!results.empty())
    text += " -> " + results;
  text += ":\n";
  for (const std::string &line : lines)
    text += "    " + line + "\n";
  program.text = text;
  program.outputs = choices.oneIn(4) ? drawLayout() : Layout::Contiguous;
  if (program.outputs == Layout::Repeated)
    program.outputs = Layout::Offset;
  program.target = choices.pick({"", "", "x86-64-v3", "x86-64-v2"});
  return std::move(program);
}

/// Operands that broadcast, tensors and numbers.
void Builder::drawBroadcast() {
  std::vector<std::int64_t> shape;
  for (unsigned i = 0, rank = choices.below(4); i < rank; ++i)
    shape.push_back(choices.pick({3, 1, 2, 5, 7, 0, 17, 33, 67}));
  for (unsigned i = 0, count = 1 + choices.below(4); i < count; ++i) {
    Content content = choices.below(2) ? Content::Any : Content::Exact;
    Operand &operand = newOperand(storedType(choices), {}, content);
    operand.sizes = shape;
    operand.dimensions.clear();
    if (i == 0)
      continue;
    if (!isComplex(operand.type) && choices.oneIn(6)) {
      operand.isTensor = false;
      operand.content = Content::Exact;
      operand.layout = Layout::Contiguous;
      bound.back() = termOf(operand, 0);
      continue;
    }
    for (std::int64_t &size : operand.sizes)
      if (choices.oneIn(5))
        size = 1;
    if (!operand.sizes.empty() && choices.oneIn(6))
      operand.sizes.erase(operand.sizes.begin());
  }
}

Program Builder::elementwise() {
  drawBroadcast();
  if (choices.oneIn(3))
    declareFunction();
  constantParameters();
  letStatements(0);
  std::string results, returned;
  unsigned count = 1 + (choices.oneIn(3) ? 1 : 0);
  if (choices.oneIn(5) && program.operands.front().layout != Layout::Repeated) {
    Operand &target = program.operands.front();
    target.isMutable = true;
    lines.push_back(target.name + " = " +
                    (isComplex(target.type)
                         ? complexValue(target.type, 0, 3).text
                         : nameOf(target.type) + "(" +
                               expression(anyType(), 0, 3).text + ")"));
    count -= choices.below(count + 1);
  }
  for (unsigned i = 0; i < count; ++i) {
    ElementType type = storedType(choices);
    Term value = isComplex(type) ? complexValue(type, 0, 3)
                                 : expression(computeTypeOf(type), 0, 4);
    returned += (i ? ", " : "") + value.text;
    results += (i ? ", " : "") + nameOf(type);
  }
  if (count)
    lines.push_back("return " + returned);
  return finish("elementwise", count > 1 ? "(" + results + ")" : results);
}

void Builder::drawAxes() {
  double points = 1;
  for (unsigned i = 0, count = 1 + choices.below(3); i < count; ++i) {
    Axis axis;
    axis.name = std::string(1, static_cast<char>('A' + i));
    axis.isPack = i == 1 && choices.oneIn(4);
    unsigned rank = axis.isPack ? choices.below(3) : 1;
    for (unsigned digit = 0; digit < rank; ++digit) {
      std::int64_t extent =
          choices.pick({3, 1, 2, 5, 8, 0, 7, 16, 17, 33, 65, 130});
      if (points * static_cast<double>(extent) > 1500)
        extent = 4;
      axis.extents.push_back(extent);
      points *= static_cast<double>(std::max<std::int64_t>(extent, 1));
    }
    axes.push_back(axis);
  }
}

void Builder::drawOperands() {
  AxisBits seen = 0, all = (1u << axes.size()) - 1;
  unsigned wanted = 1 + choices.below(3);
  for (unsigned i = 0; i < wanted || seen != all; ++i) {
    std::vector<unsigned> of;
    for (unsigned axis = 0; axis < axes.size(); ++axis)
      if (choices.below(3) < 2 || (i + 1 >= wanted && !(seen >> axis & 1)))
        of.insert(of.begin() + choices.below(unsigned(of.size()) + 1), axis);
    for (unsigned axis : of)
      seen |= 1u << axis;
    Content content = choices.oneIn(3) ? Content::Any : Content::Exact;
    newOperand(storedType(choices), of, content);
  }
}

std::string Builder::resultDimensions(const std::vector<unsigned> &of) const {
  std::string text = "[";
  for (unsigned axis : of)
    text += (text == "[" ? "" : ", ") + axes[axis].spelled();
  return text + "]";
}

/// The value's axes in some order, perhaps with others along which it repeats.
std::vector<unsigned> Builder::resultAxes(const Term &value) {
  std::vector<unsigned> of;
  for (unsigned axis = 0; axis < axes.size(); ++axis)
    if (value.axes >> axis & 1 || (axis < 3 && choices.oneIn(8)))
      of.insert(of.begin() + choices.below(unsigned(of.size()) + 1), axis);
  return of;
}

/// The value along further axes, which it has to say.
std::string Builder::expanded(const std::string &value,
                              AxisBits missing) const {
  std::string list;
  unsigned count = 0;
  for (unsigned axis = 0; axis < axes.size(); ++axis)
    if (missing >> axis & 1) {
      list += (count++ ? ", " : "") + axes[axis].spelled();
    }
  if (count == 0)
    return value;
  return "expand(" + value + " over " + (count > 1 ? "(" + list + ")" : list) +
         ")";
}

/// The first operand gets another value at the end.
bool Builder::assignOperand(AxisBits all) {
  const Term own = bound.front();
  Operand &target = program.operands.front();
  if (target.layout == Layout::Repeated || (own.axes & ~all) != 0)
    return false;
  Term made = isComplex(target.type) ? complexValue(target.type, own.axes, 2)
                                     : expression(anyType(), own.axes, 3);
  std::string value = isComplex(target.type)
                          ? made.text
                          : nameOf(target.type) + "(" + made.text + ")";
  value = expanded(value, own.axes & ~made.axes);
  program.operands.front().isMutable = true;
  lines.push_back(own.text + " = " + value);
  return true;
}

/// The type of a result with its axes, and what is returned for it.
std::string Builder::result(AxisBits all, std::string &value) {
  ElementType type = storedType(choices);
  std::string dimensions;
  if (!isComplex(type) && !hasOwnAxis && choices.oneIn(5)) {
    bool isDone = choices.below(2) ? joinedResult(type, all, value, dimensions)
                                   : windowResult(type, all, value, dimensions);
    hasOwnAxis = isDone;
    if (isDone)
      return nameOf(type) + dimensions;
  }
  Term made = isComplex(type) ? complexValue(type, all, 3)
                              : expression(computeTypeOf(type), all, 4);
  std::vector<unsigned> of = resultAxes(made);
  AxisBits wanted = 0;
  for (unsigned axis : of)
    wanted |= 1u << axis;
  value = expanded(made.text, wanted & ~made.axes);
  return nameOf(type) + resultDimensions(of);
}

Program Builder::rowwise() {
  drawAxes();
  AxisBits all = (1u << axes.size()) - 1;
  isPortable = choices.oneIn(3);
  drawOperands();
  if (choices.oneIn(3))
    declareFunction();
  if (choices.oneIn(3))
    declareReduction();
  constantParameters();
  isScalar = false;
  letStatements(all);
  std::string results, returned;
  unsigned count = 1 + (choices.oneIn(3) ? 1 + choices.below(2) : 0);
  if (choices.oneIn(6) && assignOperand(all))
    count -= choices.below(count + 1);
  for (unsigned i = 0; i < count; ++i) {
    std::string value;
    results += (i ? ", " : "") + result(all, value);
    returned += (i ? ", " : "") + value;
  }
  if (count)
    lines.push_back("return " + returned);
  return finish("rowwise", count > 1 ? "(" + results + ")" : results);
}

Program generate(Choices &choices) {
  bool isElementwise = choices.oneIn(4);
  Builder builder(choices);
  return isElementwise ? builder.elementwise() : builder.rowwise();
}

} // namespace quern::fuzz
