// Copies the old elements of operands whose reads would meet new ones.
#include "dsl/passes/Passes.h"
#include "dsl/schedule/KernelModel.h"

namespace quern {
#define GEN_PASS_DEF_QNKEEPOLD
#include "dsl/passes/Passes.h.inc"
} // namespace quern

using namespace mlir;
using namespace quern;

namespace {

/// Tells which reads are over before anything is written where they read.
class OldValues {
public:
  explicit OldValues(qn::RowwiseOp kernel);
  bool areLost(BlockArgument operand);

private:
  bool isFinal(Value tensor) {
    return !model.kernel.isStaged(cast<BlockArgument>(tensor));
  }
  AxisSet parallelOf(qn::StoreOp store) const;
  bool mayReadLate(BlockArgument operand, qn::LoadOp load);
  bool isLateAt(BlockArgument operand, Operation *user);

  KernelModel model;
  AxisSet parallel = AxisSet::all(); ///< of all stores together
  bool shareLaunch = true;           ///< they become one
};

} // namespace

AxisSet OldValues::parallelOf(qn::StoreOp store) const {
  ValueFacts facts = model.factsOf(store);
  return facts.axes & ~facts.combined;
}

OldValues::OldValues(qn::RowwiseOp kernel) : model(kernel) {
  if (!model.valid)
    return;
  for (qn::StoreOp store : model.stores) {
    if (!isFinal(store.getTensor()))
      continue;
    AxisSet own = parallelOf(store), common = own & parallel;
    shareLaunch &= common == own || common == parallel;
    parallel = common;
  }
}

/// Whether `user`, which needs an old element, may come after a write.
bool OldValues::isLateAt(BlockArgument operand, Operation *user) {
  if (auto store = dyn_cast<qn::StoreOp>(user)) {
    auto written = cast<BlockArgument>(store.getTensor());
    if (!isFinal(written) || written == operand)
      return false;
    auto type = cast<qn::OperandType>(operand.getType());
    return !shareLaunch ||
           model.axesOf(store.getTensor().getType()) != model.axesOf(type);
  }
  if (auto scatter = dyn_cast<qn::ScatterOp>(user))
    return isFinal(scatter.getTensor());
  // Its loop would have to end before the one that writes begins.
  if (auto reduce = dyn_cast<qn::ReduceOp>(user))
    return bool(model.axesOf(reduce->getResult(0)) & ~parallel);
  return isa<qn::ScanOp, qn::AxisOp>(user);
}

bool OldValues::mayReadLate(BlockArgument operand, qn::LoadOp load) {
  if (!load.getIndices().empty())
    return true;
  Block &block = model.kernel.block();
  llvm::SmallPtrSet<Operation *, 32> seen;
  SmallVector<Operation *> open{block.findAncestorOpInBlock(*load)};
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (!seen.insert(op).second)
      continue;
    if (isLateAt(operand, op))
      return true;
    for (Operation *user : op->getUsers())
      open.push_back(block.findAncestorOpInBlock(*user));
  }
  return false;
}

bool OldValues::areLost(BlockArgument operand) {
  return model.valid && llvm::any_of(operand.getUsers(), [&](Operation *user) {
           auto load = dyn_cast<qn::LoadOp>(user);
           return load && mayReadLate(operand, load);
         });
}

static void keepOld(qn::RowwiseOp kernel, BlockArgument operand) {
  auto type = cast<qn::OperandType>(operand.getType());
  SmallVector<qn::LoadOp> loads;
  for (Operation *user : operand.getUsers())
    if (auto load = dyn_cast<qn::LoadOp>(user))
      loads.push_back(load);
  BlockArgument old =
      kernel.addStaged(type.getElementType(), type.getAxes(), kernel.getLoc());
  for (qn::LoadOp load : loads)
    load.getTensorMutable().assign(old);
  auto builder = OpBuilder::atBlockBegin(&kernel.block());
  Type element = type.getElementType();
  auto complex = dyn_cast<ComplexType>(element);
  for (int half = 0; half < (complex ? 2 : 1); ++half) {
    IntegerAttr part = complex ? builder.getI64IntegerAttr(half) : nullptr;
    Value value = qn::LoadOp::create(
        builder, kernel.getLoc(), complex ? complex.getElementType() : element,
        operand, ValueRange(), Value(), Value(), false, part);
    qn::StoreOp::create(builder, kernel.getLoc(), value, old, part);
  }
}

static bool isReadAndWritten(BlockArgument operand) {
  bool isRead = false, isWritten = false;
  for (Operation *user : operand.getUsers()) {
    isRead |= isa<qn::LoadOp>(user);
    isWritten |= isa<qn::StoreOp, qn::ScatterOp>(user);
  }
  return isRead && isWritten;
}

namespace {
struct QnKeepOldPass : quern::impl::QnKeepOldBase<QnKeepOldPass> {
  void runOnOperation() override {
    for (qn::RowwiseOp kernel : getOperation().getOps<qn::RowwiseOp>()) {
      SmallVector<BlockArgument> changing;
      for (BlockArgument operand :
           kernel.block().getArguments().take_front(kernel.callerArguments()))
        if (isa<qn::OperandType>(operand.getType()) &&
            isReadAndWritten(operand))
          changing.push_back(operand);
      if (changing.empty())
        continue;
      OldValues values(kernel);
      llvm::erase_if(changing, [&](BlockArgument operand) {
        return !values.areLost(operand);
      });
      for (BlockArgument operand : changing)
        keepOld(kernel, operand);
    }
  }
};
} // namespace
