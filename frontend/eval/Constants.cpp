// The evaluator within limits, for values that the checker asks for.
#include "frontend/eval/Constants.h"

#include "frontend/eval/Evaluator.h"

using namespace quern;
using namespace quern::eval;

std::optional<Constant> eval::constantValue(const Expression &expression,
                                            const Declaration &owner,
                                            Budget &budget,
                                            std::string &problem) {
  ElementType type = expression.scalar().element();
  if (kindOf(type) == ElementKind::Complex) {
    problem = "it is complex";
    return std::nullopt;
  }
  Evaluator evaluator;
  evaluator.limits = {.budget = &budget, .calls = 256, .knowsTarget = false};
  Frame frame{owner, {}, {}, {}, {}, {}};
  Value value = evaluator.expression(expression, {frame, nullptr, {}});
  if (evaluator.failure) {
    problem = *evaluator.failure;
    return std::nullopt;
  }
  return cast(value, type).real;
}
