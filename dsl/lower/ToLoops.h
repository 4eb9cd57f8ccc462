// A kernel of the qn dialect becomes functions made of loops.
#pragma once

#include "dsl/KernelAbi.h"
#include "dsl/dialect/Dialect.h"
#include "dsl/target/TargetInfo.h"

#include <optional>

namespace quern {

/// The forms of a kernel: those that may run instead of it, then itself.
llvm::SmallVector<qn::RowwiseOp> formsOf(qn::RowwiseOp kernel);

/// Replaces the scheduled forms of a kernel by the plan and task functions of
/// the launches that `choose` names, or of all without it; nothing, and a
/// diagnostic, when that is not possible.
std::optional<KernelAbi> lowerToLoops(llvm::ArrayRef<qn::RowwiseOp> forms,
                                      const TargetInfo &target,
                                      const ChooseVariant &choose = {});

} // namespace quern
