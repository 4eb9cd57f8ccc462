// Which optional results a call has: what its body returns, decided before it
// is compiled.
#include "jit/bind/Environment.h"

#include "llvm/ADT/DenseMap.h"

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

namespace {

/// A body that is walked: the caller's own, or one that it calls.
struct Walk {
  explicit Walk(const Declaration &declaration) : declaration(declaration) {}
  Walk(const CallExpression &call, const Walk &caller)
      : declaration(*call.callee), call(&call), caller(&caller) {
    for (ScalarType type : call.typeArguments)
      types.push_back(type.substitute(caller.types));
  }

  const Declaration &declaration;
  const CallExpression *call = nullptr; ///< null: the host calls
  const Walk *caller = nullptr;
  std::vector<ElementType> types;
  /// What names stand for that a `let` gave, and which element of a tuple.
  llvm::DenseMap<const Variable *, std::pair<const Expression *, unsigned>>
      named;
};

class PresenceSolver {
public:
  PresenceSolver(const CallRequest &request, const Solution &solution)
      : request(request), solution(solution), environment(request, solution) {}

  /// Whether the `return` that is reached first has a value for result
  /// `number`; nothing where none is reached, or a condition is not known.
  std::optional<bool> returns(Walk &walk, Block block, std::size_t number);

private:
  std::optional<bool> isValue(const Walk &walk, const Expression *e,
                              unsigned field);
  std::optional<bool> isGiven(const Walk &walk, const Variable &wanted);
  std::optional<bool> condition(const Walk &walk, const Expression &e);
  std::optional<bool> logic(const Walk &walk, const BinaryExpression &e);
  std::optional<std::string> text(const Walk &walk, const Expression &e);
  std::optional<HostValue> number(const Walk &walk, const Expression &e);
  std::optional<HostValue> constant(const Walk &walk,
                                    const ConstantParameter &parameter);

  const CallRequest &request;
  const Solution &solution;
  SolutionEnvironment environment;
};

/// What a call gives for a compile-time parameter, or its default.
const Expression *chosen(const Walk &walk, const ConstantParameter &parameter) {
  const Expression *given = walk.call->constantArguments[parameter.index];
  return given ? given : parameter.defaultValue;
}

} // namespace

/// Whether `e`, or the element `field` of a tuple that it is, has a value.
std::optional<bool>
PresenceSolver::isValue(const Walk &walk, const Expression *e, unsigned field) {
  if (!e)
    return false;
  if (const auto *element = llvm::dyn_cast<FieldExpression>(e))
    return isValue(walk, element->base, element->index);
  if (const auto *variable = llvm::dyn_cast<VariableExpression>(e)) {
    auto found = walk.named.find(variable->variable);
    return found == walk.named.end()
               ? isGiven(walk, *variable->variable)
               : isValue(walk, found->second.first, found->second.second);
  }
  const auto *call = llvm::dyn_cast<CallExpression>(e);
  if (!call || field >= call->callee->results.size() ||
      !call->callee->results[field].isOptional)
    return true;
  Walk inner(*call, walk);
  return returns(inner, call->callee->body, field);
}

std::optional<bool> PresenceSolver::isGiven(const Walk &walk,
                                            const Variable &wanted) {
  for (auto [index, parameter] : llvm::enumerate(walk.declaration.parameters)) {
    if (parameter.variable != &wanted)
      continue;
    if (walk.call)
      return isValue(*walk.caller, walk.call->arguments[index], 0);
    return !std::holds_alternative<std::monostate>(request.arguments[index]);
  }
  return true;
}

/// The value of a `MODE`, or a string that it is compared with.
std::optional<std::string> PresenceSolver::text(const Walk &walk,
                                                const Expression &e) {
  if (const auto *literal = llvm::dyn_cast<ConstantExpression>(&e))
    if (literal->value.kind == Constant::Kind::String)
      return literal->value.string.str();
  const auto *parameter = llvm::dyn_cast<ConstantParameterExpression>(&e);
  if (!parameter || parameter->parameter->kind != ConstantParameterKind::String)
    return std::nullopt;
  if (walk.call) {
    const Expression *given = chosen(walk, *parameter->parameter);
    return given ? text(*walk.caller, *given) : std::nullopt;
  }
  if (const auto *given = std::get_if<std::string>(
          &solution.constants[parameter->parameter->index]))
    return *given;
  return std::nullopt;
}

std::optional<bool> PresenceSolver::logic(const Walk &walk,
                                          const BinaryExpression &e) {
  bool isOr = e.op == BinaryOperator::Or;
  if (isOr || e.op == BinaryOperator::And) {
    std::optional<bool> left = condition(walk, *e.left);
    if (left == isOr)
      return isOr;
    std::optional<bool> right = condition(walk, *e.right);
    return left || right == isOr ? right : std::nullopt;
  }
  auto left = text(walk, *e.left), right = text(walk, *e.right);
  if (!left || !right)
    return std::nullopt;
  return (*left == *right) == (e.op == BinaryOperator::Equal);
}

/// A compile-time parameter of a body that is called, in its caller's terms.
std::optional<HostValue>
PresenceSolver::constant(const Walk &walk, const ConstantParameter &parameter) {
  const Expression *given = chosen(walk, parameter);
  return given ? number(*walk.caller, *given) : std::nullopt;
}

std::optional<HostValue> PresenceSolver::number(const Walk &walk,
                                                const Expression &e) {
  std::string problem;
  if (!walk.call)
    return environment.evaluate(e, 0, problem);
  auto ofConstant = [&](const ConstantParameter &parameter, unsigned) {
    return constant(walk, parameter);
  };
  auto unknown = [](auto &&...) { return std::nullopt; };
  HostEnvironment inner{.variable = unknown,
                        .extent = unknown,
                        .constant = ofConstant,
                        .types = walk.types};
  return evaluateHost(e, inner, problem);
}

std::optional<bool> PresenceSolver::condition(const Walk &walk,
                                              const Expression &e) {
  if (const auto *present = llvm::dyn_cast<PresentExpression>(&e))
    return isGiven(walk, *present->variable);
  if (const auto *unary = llvm::dyn_cast<UnaryExpression>(&e))
    if (auto operand = condition(walk, *unary->operand))
      return !*operand;
  if (const auto *binary = llvm::dyn_cast<BinaryExpression>(&e))
    if (auto known = logic(walk, *binary))
      return known;
  auto known = number(walk, e);
  return known ? std::optional(known->integer != 0) : std::nullopt;
}

std::optional<bool> PresenceSolver::returns(Walk &walk, Block block,
                                            std::size_t number) {
  for (const Statement *statement : block) {
    if (const auto *let = llvm::dyn_cast<LetStatement>(statement))
      for (auto [index, variable] : llvm::enumerate(let->variables))
        walk.named[variable] = {let->value, unsigned(index)};
    if (const auto *result = llvm::dyn_cast<ReturnStatement>(statement))
      return number < result->values.size()
                 ? isValue(walk, result->values[number], 0)
                 : false;
    const auto *branch = llvm::dyn_cast<IfStatement>(statement);
    if (!branch || !branch->isConst)
      continue;
    std::optional<bool> holds = condition(walk, *branch->condition);
    if (!holds)
      return std::nullopt;
    if (auto found =
            returns(walk, *holds ? branch->then : branch->otherwise, number))
      return found;
  }
  return std::nullopt;
}

bool jit::isSwitchedOff(const Declaration &declaration,
                        const Solution &solution, std::size_t number) {
  auto count = static_cast<std::int64_t>(declaration.results.size());
  return llvm::any_of(
      declaration.constantParameters, [&](const ConstantParameter *each) {
        if (each->kind != ConstantParameterKind::Booleans ||
            each->count != count)
          return false;
        auto *digits =
            std::get_if<std::string>(&solution.constants[each->index]);
        return digits && (*digits)[number] != '1';
      });
}

bool jit::hasResult(const CallRequest &request, const Solution &solution,
                    std::size_t number) {
  const Declaration &declaration = request.declaration;
  if (!declaration.results[number].isOptional)
    return true;
  if (isSwitchedOff(declaration, solution, number))
    return false;
  Walk walk(declaration);
  walk.types = solution.types;
  return PresenceSolver(request, solution)
      .returns(walk, declaration.body, number)
      .value_or(true);
}

void jit::dropAbsentResults(const Declaration &declaration,
                            Specialization &specialization) {
  std::vector<Argument> arguments;
  auto operand = specialization.operands.begin();
  auto length = specialization.listLengths.begin();
  for (const Parameter &parameter : declaration.parameters) {
    arguments.emplace_back();
    if (!parameter.isTensor)
      continue;
    if (operand->present)
      arguments.back() = TensorView();
    operand += parameter.isList ? *length++ : 1;
  }
  Solution solution;
  solution.types = specialization.typeArguments;
  solution.constants = specialization.constantArguments;
  solution.axes.resize(declaration.axes.size());
  CallRequest request{declaration, arguments, {}, {}};
  for (auto [number, result] : llvm::enumerate(declaration.results))
    if (OperandLayout &layout = *operand++;
        !hasResult(request, solution, number))
      layout = {.present = false, .strides = {}};
}
