// Answers host expressions from a half-made solution.
#pragma once

#include "jit/bind/Binding.h"
#include "jit/bind/HostEval.h"

namespace quern::jit {

class SolutionEnvironment {
public:
  SolutionEnvironment(const CallRequest &request, const Solution &solution)
      : request(request), solution(solution) {}

  std::optional<HostValue> evaluate(const typed::Expression &expression,
                                    unsigned element,
                                    std::string &problem) const;

private:
  std::optional<HostValue> variable(const typed::Variable &variable,
                                    unsigned element) const;
  std::optional<std::int64_t> extent(typed::AxisId axis,
                                     std::optional<unsigned> element) const;
  std::optional<HostValue> constant(const typed::ConstantParameter &parameter,
                                    unsigned element) const;

  const CallRequest &request;
  const Solution &solution;
};

} // namespace quern::jit
