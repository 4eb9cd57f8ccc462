// Calls: functions run on values, lifted declarations are given meanings.
#include "frontend/eval/Evaluator.h"
#include "frontend/typed/SmallFloats.h"

#include "llvm/ADT/STLExtras.h"

namespace quern::eval {

using namespace typed;

/// One result as it is, several as a tuple.
static Value whole(std::vector<Value> results) {
  return results.size() == 1 ? results.front()
                             : Value::aggregate(std::move(results));
}

ConstantArgument Evaluator::defaultOf(const ConstantParameter &parameter,
                                      const Frame &frame) {
  if (const auto *function =
          llvm::dyn_cast<FunctionReferenceExpression>(parameter.defaultValue))
    return function->function;
  return expression(*parameter.defaultValue, {frame, nullptr, {}}).real;
}

Frame Evaluator::calleeFrame(const Declaration &callee,
                             llvm::ArrayRef<ScalarType> typeArguments,
                             ExpressionList constantArguments,
                             const Where &where) {
  Frame result{
      callee, {}, {}, {}, where.frame.elementSizes, where.frame.element};
  // A `fn` has no memory, so its types are those computed in, unless it asks.
  bool isComputed =
      callee.kind == DeclarationKind::Function && !tellsSmallFloats(callee);
  for (ScalarType type : typeArguments) {
    ElementType element = type.substitute(where.frame.types);
    result.types.push_back(isComputed ? computeTypeOf(element) : element);
  }
  for (auto [parameter, argument] :
       llvm::zip(callee.constantParameters, constantArguments)) {
    if (!argument) {
      if (!parameter->defaultValue)
        break;
      result.constants.push_back(defaultOf(*parameter, result));
      continue;
    }
    if (const auto *function =
            llvm::dyn_cast<FunctionReferenceExpression>(argument)) {
      result.constants.emplace_back(function->function);
      continue;
    }
    const auto *passed = llvm::dyn_cast<ConstantParameterExpression>(argument);
    if (passed && !passed->element)
      result.constants.push_back(
          where.frame.constants[passed->parameter->index]);
    else
      result.constants.emplace_back(
          expression(*argument, {where.frame, where.scope, {}}).real);
  }
  return result;
}

Value Evaluator::callFunction(const Declaration &function,
                              std::vector<ElementType> types,
                              std::vector<ConstantArgument> constants,
                              const std::vector<Value> &arguments) {
  if (limits.calls == 0)
    return fail("calls are nested too deeply");
  --limits.calls;
  Frame frame{function, std::move(types), std::move(constants), {}, {}, {}};
  Locals locals(function.variableCount);
  for (auto [parameter, argument] :
       llvm::zip_equal(function.parameters, arguments))
    locals[parameter.variable->id] =
        argument.isAbsent && parameter.defaultValue
            ? expression(*parameter.defaultValue, {frame, scopeOf(locals), {}})
            : argument;
  std::vector<Value> results;
  bool hasReturned = run(function.body, frame, locals, results);
  ++limits.calls;
  if (!hasReturned && !failure)
    return fail("`" + function.name.str() + "` ends without `return`");
  return failure ? Value::integer(0) : whole(std::move(results));
}

/// The callee's axes are the caller's under other names: `outward` reads a
/// point of the callee as one of the caller.
Value Evaluator::callRowwise(const CallExpression &node, Frame callee,
                             const Where &where) {
  Point inner;
  for (auto [index, binding] : llvm::enumerate(node.axes)) {
    if (callee.declaration.axes[index].kind == AxisKind::Local)
      continue; // it has its bounds in the callee
    Positions extents, here;
    for (AxisId axis : binding.axes) {
      Positions part = extentOf(axis, where);
      extents.insert(extents.end(), part.begin(), part.end());
      if (auto at = where.point.find(axis.index); at != where.point.end())
        here.insert(here.end(), at->second.begin(), at->second.end());
    }
    callee.extents[index] = extents;
    if (here.size() == extents.size())
      inner[index] = std::move(here);
  }
  auto outward = [&](const Point &there) {
    Point result = where.point;
    for (auto [index, binding] : llvm::enumerate(node.axes)) {
      auto at = there.find(static_cast<std::uint16_t>(index));
      if (at == there.end())
        continue;
      for (std::size_t next = 0; AxisId axis : binding.axes) {
        std::size_t rank = extentOf(axis, where).size();
        auto first = at->second.begin() + next;
        result[axis.index] = Positions(first, first + rank);
        next += rank;
      }
    }
    return result;
  };
  Scope inside;
  for (auto [parameter, argument] :
       llvm::zip_equal(callee.declaration.parameters, node.arguments)) {
    Lifted meaning;
    if (argument || parameter.defaultValue)
      meaning = [&, given = argument,
                 missing = parameter.defaultValue](const Point &there) {
        return given ? expression(*given, where.at(outward(there)))
                     : expression(*missing, {callee, inside, there});
      };
    inside = define(inside, *parameter.variable, std::move(meaning));
  }
  std::vector<Value> results;
  for (const Lifted &result : liftedBody(callee, inside))
    results.push_back(result ? result(inner) : Value::absent());
  return failure ? Value::integer(0) : whole(std::move(results));
}

Value Evaluator::call(const CallExpression &node, const Where &where) {
  Frame callee = calleeFrame(*node.callee, node.typeArguments,
                             node.constantArguments, where);
  if (node.callee->kind != DeclarationKind::Function)
    return callRowwise(node, std::move(callee), where);
  std::vector<Value> arguments;
  for (const Expression *argument : node.arguments)
    arguments.push_back(argument ? expression(*argument, where)
                                 : Value::absent());
  if (failure)
    return Value::integer(0);
  return callFunction(*node.callee, callee.types, callee.constants, arguments);
}

Value Evaluator::indirectCall(const IndirectCallExpression &node,
                              const Where &where) {
  const auto *function = std::get_if<const Declaration *>(
      &where.frame.constants[node.function->index]);
  if (!function)
    return fail("`" + node.function->name.str() + "` is no function");
  std::vector<Value> arguments;
  for (const Expression *argument : node.arguments)
    arguments.push_back(expression(*argument, where));
  if (failure)
    return Value::integer(0);
  // A type parameter is the type of the first argument declared with it.
  std::vector<ElementType> types((*function)->typeParameters.size());
  for (auto [parameter, argument] :
       llvm::reverse(llvm::zip_equal((*function)->parameters, arguments)))
    if (parameter.element.isBareParameter())
      types[parameter.element.parameterIndex()] = argument.type;
  return callFunction(**function, std::move(types), {}, arguments);
}

std::variant<std::vector<Value>, std::string> call(const FunctionCall &call) {
  Evaluator evaluator;
  evaluator.limits = {
      .steps = call.steps, .calls = 256, .knowsTarget = false, .isExact = true};
  Frame frame{*call.function, call.typeArguments, {}, {}, {}, {}};
  for (auto [parameter, argument] : llvm::zip_equal(
           call.function->constantParameters, call.constantArguments))
    frame.constants.push_back(
        argument ? *argument : evaluator.defaultOf(*parameter, frame));
  Value result = evaluator.callFunction(*call.function, frame.types,
                                        frame.constants, call.arguments);
  if (evaluator.failure)
    return *evaluator.failure;
  if (result.isAggregate)
    return result.elements;
  return std::vector<Value>{result};
}

} // namespace quern::eval
