// From arguments as traced to arguments as an operator's schema wants them.
#pragma once

#include "backend-torch/plan/LaunchPlan.h"

namespace quern {

/// `type` is the schema's type of the argument.
ArgumentTemplate makeTemplate(const GraphArgument &argument,
                              const c10::TypePtr &type);

/// The values the templates of a step need at run time.
struct Frame {
  c10::SmallVector<c10::IValue, 16> slots;
  c10::SmallVector<SizeValue, 4> symbols;
};

c10::IValue instantiate(const ArgumentTemplate &argument,
                        const SizeTable &sizes, const Frame &frame);

} // namespace quern
