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
  /// The number given for a parameter; nothing where there is none.
  std::optional<HostValue> variable(const typed::Variable &variable,
                                    unsigned element) const;

private:
  std::optional<std::int64_t> extent(typed::AxisId axis,
                                     std::optional<unsigned> element) const;
  std::optional<HostValue> constant(const typed::ConstantParameter &parameter,
                                    unsigned element) const;

  const CallRequest &request;
  const Solution &solution;
};

/// Whether a `bool[n]` with a digit for every result has 0 for this one.
bool isSwitchedOff(const typed::Declaration &declaration,
                   const Solution &solution, std::size_t number);

/// Whether the call has the result `number`: an optional one is switched by the
/// `bool[n]` that has a digit for every result, and by what the body returns as
/// far as conditions that are known before compiling say.
bool hasResult(const CallRequest &request, const Solution &solution,
               std::size_t number);

/// Marks the optional results that no call of the specialization has.
void dropAbsentResults(const typed::Declaration &declaration,
                       Specialization &specialization);

} // namespace quern::jit
