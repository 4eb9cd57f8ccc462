// What lifted text does with `mut` parameters once it has assigned them.
#pragma once

#include "frontend/typed/Declaration.h"

#include "llvm/ADT/SmallVector.h"

namespace quern::check {

/// The parameters that are read where an assignment of them may lie before.
llvm::SmallVector<const typed::Variable *, 2>
readAfterAssignment(typed::Block body, llvm::ArrayRef<typed::Axis> axes);

/// A value that is assigned, and replaced before anything reads it.
struct LostValue {
  const typed::AssignStatement *lost, *next;
  const typed::Variable *variable;
};
/// Those of the `mut` parameters of a declaration.
llvm::SmallVector<LostValue, 2>
lostValues(const typed::Declaration &declaration);

} // namespace quern::check
