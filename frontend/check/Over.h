// An `over` clause while its call is checked, and the call's arguments.
#pragma once

#include "frontend/check/DeclarationChecker.h"

namespace quern::check {

struct DeclarationChecker::Over {
  llvm::SmallVector<AxisId, 4> axes;
  llvm::SmallVector<Span, 4> spans;
  const Expression *where = nullptr;
  AxisList boundAxes; ///< axes on which bounds of local axes depend
  std::size_t mark = 0;
  bool isOpen = false;
};

struct DeclarationChecker::MonoidArguments {
  llvm::SmallVector<const Expression *, 4> operands, parameters;
};

} // namespace quern::check
