// From arguments as traced to arguments as an operator's schema wants them.
#pragma once

#include "backend-torch/plan/LaunchPlan.h"

namespace quern {

/// `type` is the schema's type of the argument.
ArgumentTemplate makeTemplate(const GraphArgument &argument,
                              const c10::TypePtr &type);

/// The values the templates of a step need at run time.
struct Frame {
  std::vector<c10::IValue> slots;
  std::vector<SizeValue> symbols;
};

c10::IValue instantiate(const ArgumentTemplate &argument,
                        const SizeTable &sizes, const Frame &frame);

} // namespace quern
