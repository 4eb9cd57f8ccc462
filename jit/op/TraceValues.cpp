// Values in an `op`: host numbers, tensors, allocations and views.
#include "jit/op/Trace.h"
#include "jit/op/Views.h"

#include "frontend/typed/ConstantValue.h"
#include "jit/bind/Numbers.h"

#include <functional>
#include <numeric>

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

std::nullopt_t OpTracer::unsupported(Span span, llvm::StringRef what) {
  report.report(span, fault::OpUnsupported, frame->declaration.name, what);
  return std::nullopt;
}

bool OpTracer::canLie(Span span, ElementType type,
                      llvm::ArrayRef<std::int64_t> sizes) {
  if (isAddressable(sizes, type))
    return true;
  report.report(span, fault::TensorTooLarge,
                std::string(spelling(type)) + shapeText(sizes));
  return false;
}

ConstantEnvironment OpTracer::constantEnvironment() {
  ConstantEnvironment environment;
  environment.typeArguments = frame->solution.types;
  environment.parameter = [this](unsigned index,
                                 unsigned element) -> std::optional<Constant> {
    const ConstantArgument &argument = frame->solution.constants[index];
    if (const auto *integer = std::get_if<std::int64_t>(&argument))
      return Constant::ofInteger(*integer);
    if (const auto *boolean = std::get_if<bool>(&argument))
      return Constant::ofBoolean(*boolean);
    if (const auto *floating = std::get_if<double>(&argument))
      return Constant::ofFloat(*floating);
    const auto *text = std::get_if<std::string>(&argument);
    if (!text)
      return std::nullopt;
    auto kind = frame->declaration.constantParameters[index]->kind;
    if (kind == ConstantParameterKind::Booleans)
      return Constant::ofBoolean((*text)[element] == '1');
    return Constant::ofString(*text);
  };
  environment.present = [this](const Variable &variable) {
    return std::optional(frame->values[&variable].kind !=
                         OpValue::Kind::Absent);
  };
  environment.target = [this](TargetQuery query, ElementType) {
    bool isGpu = place.device != nullptr;
    std::int64_t warp = isGpu ? place.device->facts().warpSize : 1;
    return std::optional(query == TargetQuery::WarpSize ? warp
                         : query == TargetQuery::IsGpu  ? std::int64_t{isGpu}
                                                        : 0);
  };
  return environment;
}

std::optional<Constant> OpTracer::known(const Expression &expression) {
  return evaluateConstant(expression, constantEnvironment());
}

static std::optional<HostValue> constantNumber(const ConstantArgument &given) {
  if (const auto *integer = std::get_if<std::int64_t>(&given))
    return HostValue::of(*integer);
  if (const auto *boolean = std::get_if<bool>(&given))
    return HostValue::of(std::int64_t{*boolean});
  if (const auto *floating = std::get_if<double>(&given))
    return HostValue::of(*floating);
  return std::nullopt;
}

/// What is no arithmetic, but a number.
std::optional<HostValue> OpTracer::numberOf(const Expression &expression) {
  // Questions about the target and operands have answers before the run.
  if (llvm::isa<TargetExpression, PresentExpression>(expression)) {
    std::optional<Constant> answer = known(expression);
    if (!answer)
      return std::nullopt;
    bool isTruth = answer->kind == Constant::Kind::Boolean;
    return HostValue::of(isTruth ? std::int64_t{answer->boolean}
                                 : answer->integer);
  }
  MaybeValue value;
  if (const auto *builtin = llvm::dyn_cast<BuiltinExpression>(&expression))
    value = hostBuiltin(*builtin);
  else if (const auto *called = llvm::dyn_cast<CallExpression>(&expression))
    value = call(*called);
  if (!value || value->kind != OpValue::Kind::Number)
    return std::nullopt;
  return value->number;
}

std::optional<HostValue> OpTracer::number(const Expression &expression,
                                          unsigned element) {
  auto values = hostValues(expression, element);
  return values ? std::optional(values->front()) : std::nullopt;
}

/// Several for a call of a `fn` with several results.
std::optional<std::vector<HostValue>>
OpTracer::hostValues(const Expression &expression, unsigned element) {
  auto ofVariable = [this](const Variable &variable,
                           unsigned which) -> std::optional<HostValue> {
    const OpValue &value = frame->values[&variable];
    if (value.kind == OpValue::Kind::Number)
      return value.number;
    if (value.kind == OpValue::Kind::List && which < value.elements.size())
      return value.elements[which].number;
    return std::nullopt;
  };
  auto ofExtent =
      [this](AxisId axis,
             std::optional<unsigned> which) -> std::optional<std::int64_t> {
    const AxisGroup &group = frame->solution.axes[axis.index];
    if (!group.solved)
      return std::nullopt;
    if (which && frame->declaration.axis(axis).pack)
      return *which < group.extents.size()
                 ? std::optional(group.extents[*which])
                 : std::nullopt;
    return std::accumulate(group.extents.begin(), group.extents.end(),
                           std::int64_t{1}, std::multiplies<>());
  };
  auto ofConstant = [this](const ConstantParameter &parameter,
                           unsigned) -> std::optional<HostValue> {
    return constantNumber(frame->solution.constants[parameter.index]);
  };
  auto ofTensors = [this](const Expression &e) { return numberOf(e); };
  HostEnvironment environment{.variable = ofVariable,
                              .extent = ofExtent,
                              .constant = ofConstant,
                              .other = ofTensors,
                              .element = element,
                              .types = frame->solution.types};
  std::string problem;
  bool hadErrors = report.hasErrors();
  std::optional<std::vector<HostValue>> values;
  if (expression.type->isTuple())
    values =
        callHost(llvm::cast<CallExpression>(expression), environment, problem);
  else if (auto one = evaluateHost(expression, environment, problem))
    values = {{*one}};
  if (!values && report.hasErrors() == hadErrors)
    report.report(expression.span, fault::OpNumber, frame->declaration.name,
                  problem);
  return values;
}

/// One number for each expression, and one for each axis where one aligns with
/// a pack.
std::optional<Extents> OpTracer::numbers(Expressions expressions) {
  Extents result;
  for (const Expression *expression : expressions) {
    if (const auto *tuple =
            llvm::dyn_cast<typed::TupleExpression>(expression)) {
      auto inner = numbers(tuple->elements);
      if (!inner)
        return std::nullopt;
      result.append(inner->begin(), inner->end());
      continue;
    }
    AxisId pack = expression->type->pack;
    std::size_t count =
        pack.valid() ? frame->solution.axes[pack.index].extents.size() : 1;
    for (std::size_t element = 0; element != count; ++element) {
      auto value = number(*expression, element);
      if (!value)
        return std::nullopt;
      result.push_back(value->integer);
    }
  }
  return result;
}

std::optional<std::vector<OpValue>>
OpTracer::evaluateAll(Expressions expressions) {
  std::vector<OpValue> values;
  for (const Expression *expression : expressions) {
    MaybeValue value = evaluate(*expression);
    if (!value)
      return std::nullopt;
    values.push_back(std::move(*value));
  }
  return values;
}

OpTracer::MaybeValue OpTracer::evaluate(const Expression &expression) {
  switch (expression.kind) {
  case ExpressionKind::Variable:
    return frame->values[llvm::cast<VariableExpression>(expression).variable];
  case ExpressionKind::Tuple: {
    auto elements =
        evaluateAll(llvm::cast<typed::TupleExpression>(expression).elements);
    if (!elements)
      return std::nullopt;
    return OpValue::list(std::move(*elements));
  }
  case ExpressionKind::Field: {
    const auto &field = llvm::cast<FieldExpression>(expression);
    MaybeValue base = evaluate(*field.base);
    if (!base || base->kind != OpValue::Kind::List)
      return base;
    return OpValue(base->elements[field.index]);
  }
  case ExpressionKind::Select: {
    const auto &choice = llvm::cast<SelectExpression>(expression);
    auto taken = decide(*choice.condition, choice.isConst);
    if (!taken)
      return std::nullopt;
    return evaluate(*taken ? *choice.left : *choice.right);
  }
  case ExpressionKind::Builtin: {
    const auto &builtin = llvm::cast<BuiltinExpression>(expression);
    BuiltinGroup group = builtinInfo(builtin.builtin).group;
    if (group == BuiltinGroup::Host || group == BuiltinGroup::View)
      return hostBuiltin(builtin);
    break;
  }
  case ExpressionKind::Call: {
    const auto &called = llvm::cast<CallExpression>(expression);
    if (called.callee->kind != typed::DeclarationKind::Function)
      return call(called);
    break;
  }
  case ExpressionKind::List:
    return list(llvm::cast<ListExpression>(expression));
  case ExpressionKind::Extern:
    return callExtern(llvm::cast<ExternExpression>(expression));
  default:
    break;
  }
  auto values = hostValues(expression, 0);
  if (!values)
    return std::nullopt;
  return oneOrList({values->begin(), values->end()});
}

OpTracer::MaybeValue
OpTracer::hostBuiltin(const BuiltinExpression &expression) {
  switch (expression.builtin) {
  case Builtin::Empty:
  case Builtin::Zeros:
  case Builtin::Full:
    return allocation(expression);
  case Builtin::HostRead:
    return readOnHost(expression);
  case Builtin::Length: {
    MaybeValue list = evaluate(*expression.operands.front());
    if (!list)
      return std::nullopt;
    bool isOne = list->kind == OpValue::Kind::Number;
    return HostValue::of(
        static_cast<std::int64_t>(isOne ? 1 : list->elements.size()));
  }
  case Builtin::Zip:
    return unsupported(expression.span, "`zip` outside of a loop");
  default:
    if (builtinInfo(expression.builtin).group == BuiltinGroup::View)
      return view(expression);
    return std::nullopt;
  }
}

/// `empty`, `zeros`, and `full`, whose first operand is the element.
OpTracer::MaybeValue OpTracer::allocation(const BuiltinExpression &expression) {
  ElementType type = expression.typeArgument.substitute(frame->solution.types);
  Expressions extents = expression.operands;
  bool isFull = expression.builtin == Builtin::Full;
  HostValue element = HostValue::of(std::int64_t{0});
  if (isFull) {
    auto given = number(*extents.front());
    if (!given)
      return std::nullopt;
    element = *given;
    extents = extents.drop_front();
  }
  auto sizes = numbers(extents);
  if (!sizes)
    return std::nullopt;
  for (std::int64_t size : *sizes)
    if (size < 0)
      return unsupported(expression.span, "a negative extent");
  if (!canLie(expression.span, type, *sizes))
    return std::nullopt;
  if (expression.builtin == Builtin::Empty)
    return allocate(type, *sizes);
  if (auto tensor = filled(type, *sizes, element))
    return *tensor;
  return unsupported(expression.span, "a number that does not fit");
}

std::optional<PlanTensor> OpTracer::filled(ElementType type, Extents sizes,
                                           const HostValue &element) {
  std::uint64_t bits[2] = {0, 0};
  if (!encodeElement(element, type, bits))
    return std::nullopt;
  PlanTensor tensor = allocate(type, std::move(sizes));
  return fill(tensor, bits) ? std::optional(tensor) : std::nullopt;
}

OpTracer::MaybeValue OpTracer::view(const BuiltinExpression &expression) {
  MaybeValue base = evaluate(*expression.operands.front());
  if (base && base->kind == OpValue::Kind::List)
    return listElement(expression, *base);
  if (!base || base->kind != OpValue::Kind::Tensor)
    return std::nullopt;
  std::optional<PlanTensor> result;
  if (expression.builtin == Builtin::Slice) {
    result = slice(expression, base->tensor);
  } else {
    auto given = numbers(expression.operands.drop_front());
    if (!given)
      return std::nullopt;
    if (expression.builtin == Builtin::Rank)
      return HostValue::of(
          static_cast<std::int64_t>(base->tensor.sizes.size()));
    if (expression.builtin == Builtin::Extent) {
      auto axis = axisOf(base->tensor, given->front());
      if (axis)
        return HostValue::of(base->tensor.sizes[*axis]);
    } else {
      result = viewOf(expression, base->tensor, *given);
    }
  }
  if (!result) {
    report.report(expression.span, fault::OpView,
                  builtinInfo(expression.builtin).spelling,
                  shapeText(base->tensor.sizes));
    return std::nullopt;
  }
  return std::move(*result);
}

std::optional<PlanTensor> OpTracer::viewOf(const BuiltinExpression &expression,
                                           PlanTensor tensor, Numbers given) {
  switch (expression.builtin) {
  case Builtin::Reshape:
    return reshape(std::move(tensor), given);
  case Builtin::Permute:
    return permuted(std::move(tensor), given);
  case Builtin::Transpose:
    return transposed(std::move(tensor), given[0], given[1]);
  case Builtin::SelectAt:
    return selected(std::move(tensor), given[0], given[1]);
  case Builtin::Expand:
    return expanded(std::move(tensor), given);
  case Builtin::Unsqueeze:
    return unsqueezed(std::move(tensor), given[0]);
  case Builtin::Squeeze:
    return squeezed(std::move(tensor), given[0]);
  case Builtin::ViewAsReal:
    return asReal(std::move(tensor));
  case Builtin::ViewAsComplex:
    return asComplex(std::move(tensor));
  case Builtin::AsStrided:
    return strided(tensor, given, plan->slots[tensor.slot].bytes);
  case Builtin::ViewAs:
    return reinterpreted(std::move(tensor), expression.typeArgument.substitute(
                                                frame->solution.types));
  default:
    return std::nullopt;
  }
}

/// `x.slice(axis, begin, end, step)`; bounds may be left out with `none`.
std::optional<PlanTensor> OpTracer::slice(const BuiltinExpression &expression,
                                          PlanTensor tensor) {
  auto operand = [&](std::size_t which) -> std::optional<std::int64_t> {
    if (which >= expression.operands.size() || !expression.operands[which])
      return std::nullopt;
    auto value = number(*expression.operands[which]);
    return value ? std::optional(value->integer) : std::nullopt;
  };
  auto axis = operand(1);
  if (!axis)
    return std::nullopt;
  return sliced(std::move(tensor), *axis, operand(2), operand(3),
                operand(4).value_or(1));
}

/// A view where strides allow it, else a copy.
std::optional<PlanTensor> OpTracer::reshape(PlanTensor tensor, Numbers wanted) {
  auto sizes = reshapedSizes(tensor, wanted);
  if (!sizes)
    return std::nullopt;
  if (auto view = reshaped(tensor, *sizes))
    return view;
  PlanTensor whole = allocate(tensor.type, tensor.sizes);
  return copy(whole, tensor) ? reshaped(whole, *sizes) : std::nullopt;
}
