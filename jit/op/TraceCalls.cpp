// Calls in an `op`: kernels become launches, other `op`s are followed in place.
#include "jit/op/Trace.h"

#include "llvm/ADT/STLExtras.h"

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

/// Deeper nesting of `op`s than this is a mistake of the text.
static constexpr unsigned maximumDepth = 32;

/// Whether a constant is none of those that the text lists, and the callee
/// finds that by the scalar that chooses its own.
static bool isElse(const Expression &given, const ConstantParameter &parameter,
                   const Solution &solution) {
  const auto *own = llvm::dyn_cast<ConstantParameterExpression>(&given);
  return own && parameter.hasElse && parameter.subject &&
         std::holds_alternative<std::monostate>(
             solution.constants[own->parameter->index]);
}

/// Every type argument, and every constant that the call gives.
std::optional<std::vector<std::pair<std::string, Argument>>>
OpTracer::constantsOf(const CallExpression &expression) {
  std::vector<std::pair<std::string, Argument>> constants;
  for (auto [parameter, type] :
       llvm::zip(expression.callee->typeParameters, expression.typeArguments))
    constants.emplace_back(
        parameter.name.str(),
        std::string(spelling(type.substitute(frame->solution.types))));
  for (auto [parameter, given] :
       llvm::zip(expression.callee->constantParameters,
                 expression.constantArguments)) {
    if (!given || isElse(*given, *parameter, frame->solution))
      continue;
    Argument argument;
    if (const auto *function =
            llvm::dyn_cast<FunctionReferenceExpression>(given)) {
      argument = function->function->name.str();
    } else if (given->type->isList()) {
      auto digits = evaluateTruthValues(*given, constantEnvironment());
      if (!digits)
        return unsupported(given->span, "a compile-time argument not known");
      argument = *digits;
    } else {
      auto value = known(*given);
      if (!value)
        return unsupported(given->span, "a compile-time argument not known");
      switch (value->kind) {
      case Constant::Kind::Integer:
        argument = value->integer;
        break;
      case Constant::Kind::Float:
        argument = value->floating;
        break;
      case Constant::Kind::Boolean:
        argument = value->boolean;
        break;
      case Constant::Kind::String:
        argument = value->string.str();
        break;
      }
    }
    constants.emplace_back(parameter->name.str(), std::move(argument));
  }
  return constants;
}

std::optional<Argument> OpTracer::toArgument(const OpValue &value) {
  switch (value.kind) {
  case OpValue::Kind::Absent:
    return Argument();
  case OpValue::Kind::Number:
    if (value.number.isComplex)
      return value.number.asComplex();
    if (value.number.isFloat)
      return value.number.floating;
    return value.number.integer;
  case OpValue::Kind::Tensor:
    return value.tensor.view();
  case OpValue::Kind::List: {
    auto isTensor = [](const OpValue &element) {
      return element.kind == OpValue::Kind::Tensor;
    };
    if (!value.elements.empty() && llvm::all_of(value.elements, isTensor)) {
      std::vector<TensorView> views;
      views.reserve(value.elements.size());
      for (const OpValue &element : value.elements)
        views.push_back(element.tensor.view());
      return views;
    }
    std::vector<std::int64_t> integers;
    for (const OpValue &element : value.elements) {
      if (element.kind != OpValue::Kind::Number || element.number.isFloat)
        return std::nullopt;
      integers.push_back(element.number.integer);
    }
    return integers;
  }
  }
  return std::nullopt;
}

OpTracer::MaybeValue OpTracer::call(const CallExpression &expression,
                                    llvm::ArrayRef<TensorView> likes) {
  const Declaration &callee = *expression.callee;
  if (!countRound(expression.span))
    return std::nullopt;
  std::vector<OpValue> values;
  for (const Expression *argument : expression.arguments) {
    MaybeValue value = argument ? evaluate(*argument) : OpValue();
    if (!value)
      return std::nullopt;
    values.push_back(std::move(*value));
  }
  std::vector<Argument> arguments;
  for (const OpValue &value : values) {
    auto argument = toArgument(value);
    if (!argument)
      return unsupported(expression.span, "a list of such values");
    arguments.push_back(std::move(*argument));
  }
  auto constants = constantsOf(expression);
  if (!constants)
    return std::nullopt;
  CallRequest request{.declaration = callee,
                      .arguments = arguments,
                      .outs = {},
                      .constants = *constants,
                      .likes = likes,
                      .keepsImages = true};
  return callee.kind == typed::DeclarationKind::Op
             ? callOp(request, values)
             : callKernel(request, values);
}

OpValue OpTracer::oneOrList(std::vector<OpValue> results) {
  if (results.size() == 1)
    return std::move(results.front());
  return OpValue::list(std::move(results));
}

/// Results are fresh temporaries; the pointers stand in the operands' order.
OpTracer::MaybeValue OpTracer::callKernel(const CallRequest &request,
                                          llvm::ArrayRef<OpValue> arguments) {
  std::optional<BoundCall> bound = bind(request);
  if (!bound)
    return std::nullopt;
  std::vector<const OpValue *> tensors;
  for (auto [parameter, argument] :
       llvm::zip_equal(request.declaration.parameters, arguments)) {
    if (parameter.isList)
      for (const OpValue &element : argument.elements)
        tensors.push_back(&element);
    else if (parameter.isTensor)
      tensors.push_back(&argument);
  }
  PlanStep step;
  std::vector<OpValue> results;
  std::size_t next = 0;
  for (const Operand &operand : bound->operands) {
    if (!operand.isResult) {
      const OpValue &value = *tensors[next++];
      if (operand.present && !operand.isNumber) {
        step.tensors.push_back(value.tensor);
        step.written.push_back(operand.isWritten);
      }
      continue;
    }
    if (!operand.present) {
      results.emplace_back();
      continue;
    }
    PlanTensor result = allocate(operand.type, operand.sizes);
    result.strides = operand.strides;
    step.tensors.push_back(result);
    step.written.push_back(true);
    results.emplace_back(std::move(result));
  }
  step.kernels.push_back(std::move(bound->kernel));
  plan->steps.push_back(std::move(step));
  return oneOrList(std::move(results));
}

OpTracer::MaybeValue OpTracer::callOp(const CallRequest &request,
                                      llvm::ArrayRef<OpValue> arguments) {
  if (depth == maximumDepth)
    return unsupported(request.declaration.nameSpan, "so deep a call");
  Solution solution;
  if (!solveTypes(request, solution, report) ||
      !solveConstants(request, solution, report) ||
      !solveAxes(request, solution, report))
    return std::nullopt;
  Frame callee(request.declaration, std::move(solution));
  callee.likes = request.likes;
  ++depth;
  bool done = enter(callee, arguments);
  --depth;
  if (!done)
    return std::nullopt;
  return oneOrList(std::move(callee.results));
}
