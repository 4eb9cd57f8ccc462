// The budget of the work that an MLIR context is lent for. Holds no MLIR
// header.
#pragma once

#include "frontend/Budget.h"

#include <string>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace quern {

/// From here on work in the context spends from `budget`: once it is to end,
/// passes and patterns of MLIR are left out. Null: nothing is counted.
void setBudget(mlir::MLIRContext &context, Budget *budget);

/// What `setBudget` said, or null.
Budget *budgetOf(mlir::MLIRContext &context);

/// Whether work goes on after `made` more operations.
inline bool goesOn(mlir::MLIRContext &context, std::uint64_t made = 0) {
  Budget *budget = budgetOf(context);
  return !budget || budget->spend(made);
}

/// What is said of a kernel that goes beyond its budget, with the code of the
/// diagnostic and a hint.
inline constexpr char tooLargeCode[] = "QN2061";
inline constexpr char tooLargeHint[] =
    "`QUERN_MOST_OPERATIONS` sets the limit; calls are written out, each with "
    "all that it calls";
std::string tooLargeText(const Budget &budget);

} // namespace quern
