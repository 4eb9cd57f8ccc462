// Calls: the callee's body with its types, constants, axes and values put in.
#include "dsl/dialect/Steps.h"
#include "dsl/irgen/Assigned.h"
#include "dsl/irgen/Generator.h"

#include "frontend/typed/SmallFloats.h"
#include "frontend/typed/Walk.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;
using typed::DeclarationKind;

/// Deeper nesting than this is a mistake of the text.
static constexpr unsigned maximumDepth = 128;

arith::FastMathFlags irgen::fastMathOf(const Declaration &declaration) {
  using arith::FastMathFlags;
  if (!declaration.attributes.fastmath)
    return FastMathFlags::none;
  return FastMathFlags::reassoc | FastMathFlags::contract | FastMathFlags::nsz |
         FastMathFlags::arcp;
}

/// Runs the body in `callee`'s names; the text decides how it is computed, not
/// the place it is called from.
irgen::Value Generator::inlineBody(Frame &callee) {
  const Declaration &declaration = callee.declaration;
  if (callDepth == maximumDepth)
    return unsupported(declaration.nameSpan, "calls nest too deeply");
  ++callDepth;
  Location location = b.location;
  Frame *outer = std::exchange(frame, &callee);
  auto fastMath = std::exchange(b.fastMath, fastMathOf(declaration));
  bool checked = readsAreChecked;
  readsAreChecked &= !declaration.attributes.unchecked;
  std::size_t outerConditions = conditions.size();
  execute(declaration.body);
  conditions.truncate(outerConditions);
  readsAreChecked = checked;
  b.fastMath = fastMath;
  frame = outer;
  b.location = location;
  --callDepth;
  std::vector<Value> &values = callee.returned.values;
  for (auto [value, result] : llvm::zip(values, declaration.results)) {
    if (value.isScalar())
      value = coerce(value.scalar, callee.type(result.element));
  }
  if (values.size() == 1)
    return std::move(values.front());
  return Value::list(std::move(values));
}

/// What says which value an operand has; equal constants are the same.
static void addIdentity(const irgen::Value &operand,
                        std::vector<const void *> &key) {
  key.push_back(reinterpret_cast<const void *>(operand.elements.size()));
  for (const irgen::Value &element : operand.elements)
    addIdentity(element, key);
  if (!operand.isScalar())
    return;
  for (mlir::Value value : flatten({operand})) {
    Attribute constant;
    key.push_back(matchPattern(value, m_Constant(&constant))
                      ? constant.getAsOpaquePointer()
                      : value.getAsOpaquePointer());
  }
}

/// Scalar code of the same operands is made once: functions that call others
/// twice would double it with every one of them.
irgen::Value Generator::inlineOnce(Frame &callee) {
  const Declaration &declaration = callee.declaration;
  bool isThread = request.declaration.kind == DeclarationKind::Kernel;
  if (isThread || !callee.constants.empty())
    return inlineBody(callee);
  std::vector<const void *> key{&declaration};
  for (ElementType type : callee.types)
    key.push_back(reinterpret_cast<const void *>(std::uintptr_t(type)));
  for (const typed::Parameter &parameter : declaration.parameters)
    addIdentity(callee.binding(*parameter.variable).made.back().value, key);
  auto known = calls.find(key);
  if (known != calls.end() && isStillGood(known->second, {}))
    return known->second.value;
  Binding::Made made{inlineBody(callee), substitution, {}, {}};
  made.conditions.assign(conditions.begin(), conditions.end());
  return (calls[std::move(key)] = std::move(made)).value;
}

void Generator::bindConstants(Frame &callee, typed::Expressions arguments) {
  auto parameters = callee.declaration.constantParameters;
  for (auto [index, parameter] : llvm::enumerate(parameters)) {
    const Expression *argument =
        index < arguments.size() ? arguments[index] : nullptr;
    if (argument) {
      callee.constants.push_back(constantArgument(*argument));
      continue;
    }
    Frame *outer = std::exchange(frame, &callee);
    if (parameter->defaultValue)
      callee.constants.push_back(constantArgument(*parameter->defaultValue));
    else
      callee.constants.emplace_back();
    frame = outer;
  }
}

/// `[P: match p {…}]` that the call leaves open: what it gives for `p`, where
/// that is known here.
void Generator::bindSubjects(Frame &callee,
                             const typed::CallExpression &expression) {
  const Declaration &declaration = *expression.callee;
  for (auto [parameter, binding] :
       llvm::zip_equal(declaration.constantParameters, callee.constants)) {
    if (!parameter->subject || binding.value)
      continue;
    for (auto [subject, argument] :
         llvm::zip_equal(declaration.parameters, expression.arguments)) {
      if (subject.variable != parameter->subject)
        continue;
      Frame *outer = frame;
      if (!argument)
        frame = &callee;
      if (const Expression *given = argument ? argument : subject.defaultValue)
        binding.value = chosenBy(*given, *parameter);
      frame = outer;
    }
  }
}

void Generator::bindAxes(Frame &callee,
                         const typed::CallExpression &expression) {
  for (auto [places, binding] : llvm::zip(callee.axes, expression.axes)) {
    for (AxisId axis : binding.axes)
      openResultAxis(axis);
    llvm::append_range(places, placesOf(binding.axes));
  }
  if (callee.declaration.kind == DeclarationKind::Elementwise)
    callee.lifted = placesOf(expression.type->axes);
}

/// The checker does not count the axes that packs stand for, which the text of
/// a callee may want to be as many as those of another one (`*S = *R`).
bool Generator::packsMeet(const Frame &callee, Span span) {
  const Declaration &declaration = callee.declaration;
  for (auto [id, axis] : llvm::enumerate(declaration.axes)) {
    if (!axis.pack || axis.kind == typed::AxisKind::Local ||
        !axis.rankOf.valid())
      continue;
    std::size_t own = callee.axes[id].size();
    std::size_t wanted = callee.axes[axis.rankOf.index].size();
    if (own == wanted)
      continue;
    complain(span,
             "`*" + axis.name + "` of `" + declaration.name + "` is " +
                 Twine(own) + (own == 1 ? " axis" : " axes") + " here, `*" +
                 declaration.axis(axis.rankOf).name + "`, which it meets, is " +
                 Twine(wanted),
             "QN2023");
    return false;
  }
  return true;
}

/// Lifted text hands compute types to the scalar code it calls, unless that
/// asks what its types are.
void Generator::bindTypes(Frame &callee,
                          ArrayRef<typed::ScalarType> typeArguments) {
  for (typed::ScalarType argument : typeArguments)
    callee.types.push_back(typeIn(callee.declaration, frame->type(argument)));
}

ElementType irgen::typeIn(const Declaration &callee, ElementType given) {
  bool staysNarrow = computeTypeOf(given) == given || callee.isLifted() ||
                     typed::tellsSmallFloats(callee);
  return staysNarrow ? given : computeTypeOf(given);
}

void Generator::bindIn(Frame &callee, const Variable &variable, Value value) {
  Frame *outer = std::exchange(frame, &callee);
  bind(variable, std::move(value));
  frame = outer;
}

/// A parameter of a call. A tensor's is evaluated again where the callee reads
/// it at other positions.
void Generator::bindArgument(Frame &callee, const typed::Parameter &parameter,
                             const Expression *argument) {
  Frame *caller = frame;
  unsigned before = b.created;
  if (!argument && parameter.defaultValue) {
    frame = &callee;
    argument = parameter.defaultValue;
  }
  Value value;
  if (argument && parameter.pack.valid()) {
    value = evaluateRanks(*argument, callee.axes[parameter.pack.index].size());
  } else if (argument) {
    value = evaluate(*argument);
  }
  Frame *definitionFrame = std::exchange(frame, caller);
  ElementType type = callee.type(parameter.element);
  forEachScalar(value, [&](Scalar &scalar) { scalar = coerce(scalar, type); });
  bindIn(callee, *parameter.variable, std::move(value));
  if (!argument || !parameter.isTensor ||
      callee.declaration.kind != DeclarationKind::Rowwise)
    return;
  Binding &binding = callee.binding(*parameter.variable);
  binding.definition = argument;
  binding.definitionFrame = definitionFrame;
  binding.operations = b.created - before;
}

/// Whether the body reads at other places and has variables, which it may read
/// there.
static bool movesVariables(const Declaration &declaration) {
  SmallVector<const Variable *, 4> assigned;
  collectAssigned(declaration.body, assigned);
  bool moves = false;
  typed::walk(declaration.body, [&](const Expression &node) {
    moves |= llvm::isa<typed::LoadExpression, typed::SortExpression,
                       typed::ConcatExpression>(node);
  });
  return moves && !assigned.empty() &&
         declaration.kind == DeclarationKind::Rowwise;
}

bool Generator::isReadElsewhere(const Expression &expression) {
  const typed::Type &type = *expression.type;
  SmallVector<Place, 4> places = placesOf(type);
  return llvm::any_of(places, [&](const Place &place) {
    return substitutionOf(place.name, substitution);
  });
}

irgen::Value Generator::visit(const typed::CallExpression &expression) {
  const Declaration &declaration = *expression.callee;
  if (declaration.kind == DeclarationKind::Kernel ||
      declaration.kind == DeclarationKind::Op)
    return unsupported(expression.span, "`" + declaration.name +
                                            "` can only be called in an "
                                            "`op`");
  if (isReadElsewhere(expression) && movesVariables(declaration))
    return staged(expression);
  Frame &callee = frames.emplace_back(declaration);
  bindTypes(callee, expression.typeArguments);
  bindConstants(callee, expression.constantArguments);
  bindSubjects(callee, expression);
  bindAxes(callee, expression);
  if (!packsMeet(callee, expression.span))
    return zeroOf(ElementType::I64);
  for (auto [parameter, argument] :
       llvm::zip_equal(declaration.parameters, expression.arguments))
    bindArgument(callee, parameter, argument);
  at(expression.span);
  Value value = declaration.kind == DeclarationKind::Function
                    ? inlineOnce(callee)
                    : inlineBody(callee);
  Budget *budget = budgetOf(*builder.getContext());
  bool isOwnText = frame == &frames.front();
  if (budget && budget->isExceeded() && isOwnText && !errors.empty() &&
      errors.back().code == tooLargeCode) {
    // The call in the kernel's own text says more than where the budget ended.
    errors.pop_back();
    complain(expression.span, tooLargeText(*budget), tooLargeCode,
             tooLargeHint);
  }
  return value;
}
