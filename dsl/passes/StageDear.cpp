// Stores values that lie along vectors and would be made again for every row.
#include "dsl/cost/Parameters.h"
#include "dsl/dialect/Behind.h"
#include "dsl/passes/Passes.h"
#include "dsl/passes/Staging.h"
#include "dsl/schedule/KernelModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/SetVector.h"

namespace quern {
#define GEN_PASS_DEF_QNSTAGEDEAR
#include "dsl/passes/Passes.h.inc"
} // namespace quern

using namespace mlir;
using namespace quern;

namespace {
/// Finds what one kernel makes again and again.
class DearValues {
public:
  explicit DearValues(qn::RowwiseOp kernel) : model(kernel) {}
  void stage();

private:
  bool isPlain() const;
  bool isDear(Value value) const;
  void look(Value value, AxisSet axes, unsigned lane);
  void store(Value value);

  KernelModel model;
  llvm::SmallSetVector<Value, 4> found;
  llvm::SmallSetVector<Attribute, 2> when; ///< it pays to store them
  llvm::SmallPtrSet<Operation *, 32> seen;
};
} // namespace

/// Whether the kernel only makes elements of elements.
bool DearValues::isPlain() const {
  return model.valid && model.reductions.empty() && model.scans.empty() &&
         model.scatters.empty() && model.sorts.empty() &&
         model.joined.empty() && !model.kernel.getStaged();
}

bool DearValues::isDear(Value value) const {
  unsigned cost = 0;
  auto count = [&](Operation *op) {
    bool isSlow = isa<math::SqrtOp, arith::DivFOp>(op);
    cost +=
        isSlow ? cost::keepLeast : OpTrait::hasElementwiseMappableTraits(op);
    return cost < cost::keepLeast ? WalkResult::advance()
                                  : WalkResult::interrupt();
  };
  return walkBehind(value.getDefiningOp()->getOperands(), count) ||
         count(value.getDefiningOp()).wasInterrupted();
}

/// Looks behind a value of a store with such axes for those that have the lanes
/// but not every row.
void DearValues::look(Value value, AxisSet axes, unsigned lane) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &model.kernel.block() ||
      !OpTrait::hasElementwiseMappableTraits(op) || !seen.insert(op).second)
    return;
  AxisSet own = model.axesOf(value);
  if (own != axes && hasAxis(own, lane) && isa<Float32Type>(value.getType()) &&
      isDear(value)) {
    found.insert(value);
    addRepeats(model, own, axes, when);
    return;
  }
  for (Value operand : op->getOperands())
    look(operand, axes, lane);
}

/// Its axes lie in the kernel's order.
void DearValues::store(Value value) {
  SmallVector<StringAttr, 4> names;
  for (auto name : model.kernel.getAxes().getAsRange<StringAttr>())
    if (hasAxis(model.axesOf(value), model.axisOf(name)))
      names.push_back(name);
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  quern::stage(model.kernel, value, names, builder);
}

void DearValues::stage() {
  if (!isPlain())
    return;
  for (qn::StoreOp store : model.stores) {
    qn::OperandType type = store.getTensor().getType();
    if (std::optional<unsigned> lane = neighboursOf(model.kernel, type))
      look(store.getValue(), model.axesOf(type), *lane);
  }
  if (found.empty())
    return;
  keepOtherForm(model.kernel, when.getArrayRef());
  for (Value value : found)
    store(value);
}

namespace {
struct QnStageDearPass : quern::impl::QnStageDearBase<QnStageDearPass> {
  void runOnOperation() override {
    for (auto kernel : llvm::to_vector(getOperation().getOps<qn::RowwiseOp>()))
      DearValues(kernel).stage();
  }
};
} // namespace
