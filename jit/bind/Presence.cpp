// Which optional results a call has: what its body returns, decided before it
// is compiled.
#include "jit/bind/Environment.h"

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

namespace {

class PresenceSolver {
public:
  PresenceSolver(const CallRequest &request, const Solution &solution)
      : request(request), solution(solution), environment(request, solution) {}

  /// Whether the `return` that is reached first has a value for result
  /// `number`; nothing where none is reached, or a condition is not known.
  std::optional<bool> returns(Block block, std::size_t number);

private:
  std::optional<bool> condition(const Expression &e);
  std::optional<bool> logic(const BinaryExpression &e);
  bool isGiven(const Variable &wanted) const;
  std::optional<std::string> text(const Expression &e) const;

  const CallRequest &request;
  const Solution &solution;
  SolutionEnvironment environment;
};

bool PresenceSolver::isGiven(const Variable &wanted) const {
  for (auto [parameter, argument] :
       llvm::zip_equal(request.declaration.parameters, request.arguments))
    if (parameter.variable == &wanted)
      return !std::holds_alternative<std::monostate>(argument);
  return true;
}

/// The value of a `MODE`, or a string that it is compared with.
std::optional<std::string> PresenceSolver::text(const Expression &e) const {
  if (const auto *literal = llvm::dyn_cast<ConstantExpression>(&e))
    if (literal->value.kind == Constant::Kind::String)
      return literal->value.string.str();
  if (const auto *parameter = llvm::dyn_cast<ConstantParameterExpression>(&e))
    if (parameter->parameter->kind == ConstantParameterKind::String)
      if (const auto *chosen = std::get_if<std::string>(
              &solution.constants[parameter->parameter->index]))
        return *chosen;
  return std::nullopt;
}

std::optional<bool> PresenceSolver::logic(const BinaryExpression &e) {
  bool isOr = e.op == BinaryOperator::Or;
  if (isOr || e.op == BinaryOperator::And) {
    std::optional<bool> left = condition(*e.left);
    if (left == isOr)
      return isOr;
    std::optional<bool> right = condition(*e.right);
    return left || right == isOr ? right : std::nullopt;
  }
  auto left = text(*e.left), right = text(*e.right);
  if (!left || !right)
    return std::nullopt;
  return (*left == *right) == (e.op == BinaryOperator::Equal);
}

std::optional<bool> PresenceSolver::condition(const Expression &e) {
  if (const auto *present = llvm::dyn_cast<PresentExpression>(&e))
    return isGiven(*present->variable);
  if (const auto *unary = llvm::dyn_cast<UnaryExpression>(&e))
    if (auto operand = condition(*unary->operand))
      return !*operand;
  if (const auto *binary = llvm::dyn_cast<BinaryExpression>(&e))
    if (auto known = logic(*binary))
      return known;
  std::string problem;
  auto known = environment.evaluate(e, 0, problem);
  return known ? std::optional(known->integer != 0) : std::nullopt;
}

std::optional<bool> PresenceSolver::returns(Block block, std::size_t number) {
  for (const Statement *statement : block) {
    if (const auto *result = llvm::dyn_cast<ReturnStatement>(statement))
      return number < result->values.size() && result->values[number];
    const auto *branch = llvm::dyn_cast<IfStatement>(statement);
    if (!branch || !branch->isConst)
      continue;
    std::optional<bool> holds = condition(*branch->condition);
    if (!holds)
      return std::nullopt;
    if (auto found = returns(*holds ? branch->then : branch->otherwise, number))
      return found;
  }
  return std::nullopt;
}

} // namespace

std::optional<bool> jit::returnsValue(const CallRequest &request,
                                      const Solution &solution,
                                      std::size_t number) {
  return PresenceSolver(request, solution)
      .returns(request.declaration.body, number);
}
