// Counts and ends work through the actions that MLIR announces.
#include "dsl/dialect/Steps.h"

#include "mlir/IR/Action.h"
#include "mlir/IR/MLIRContext.h"

using namespace quern;

namespace {
/// Asks whoever handles the context's actions for the budget. A context has no
/// other place for what belongs to the work it is lent for.
struct BudgetAction : mlir::tracing::ActionImpl<BudgetAction> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BudgetAction)
  static constexpr llvm::StringLiteral tag = "qn-budget";
  explicit BudgetAction(Budget *&found) : found(found) {}
  Budget *&found;
};
} // namespace

void quern::setBudget(mlir::MLIRContext &context, Budget *budget) {
  if (!budget)
    return context.registerActionHandler(nullptr);
  context.registerActionHandler([budget](llvm::function_ref<void()> work,
                                         const mlir::tracing::Action &action) {
    if (const auto *question = llvm::dyn_cast<BudgetAction>(&action))
      question->found = budget;
    else if (budget->goesOn())
      work();
  });
}

Budget *quern::budgetOf(mlir::MLIRContext &context) {
  Budget *found = nullptr;
  BudgetAction question(found);
  context.executeAction([] {}, question);
  return found;
}

std::string quern::tooLargeText(const Budget &budget) {
  return "the kernel is too large: " + std::to_string(budget.count()) +
         " operations so far, the limit is " + std::to_string(budget.limit());
}
