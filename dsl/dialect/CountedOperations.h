// Spends from a context's budget for every operation that a builder makes.
#pragma once

#include "dsl/dialect/Steps.h"

#include "mlir/IR/Builders.h"

namespace quern {

/// A builder's listener. Whoever emits code asks `goesOn` before a value.
class CountedOperations final : public mlir::OpBuilder::Listener {
public:
  explicit CountedOperations(mlir::MLIRContext &context)
      : budget(budgetOf(context)) {}

  void notifyOperationInserted(mlir::Operation *,
                               mlir::OpBuilder::InsertPoint) override {
    if (budget)
      budget->spend(1);
  }

private:
  Budget *const budget;
};

} // namespace quern
