// Lives of staged operands, from the first write to the last launch that reads.
#include "dsl/schedule/StagedSlots.h"

using namespace mlir;
using namespace quern;

unsigned quern::storedBytes(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * storedBytes(complex.getElementType());
  return std::max(1u, element.getIntOrFloatBitWidth() / 8);
}

/// Everything that `op` is made of, down to what lies in memory: a launch makes
/// its values anew from there.
void StagedSlots::read(const KernelModel &model, Operation *op, unsigned at,
                       llvm::SmallPtrSetImpl<Operation *> &seen) {
  SmallVector<Operation *> open{op};
  auto add = [&](Value value) {
    Operation *made = value.getDefiningOp();
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == &model.kernel.block() &&
        model.kernel.isStaged(argument))
      lives[argument.getArgNumber() - first].end = at;
    if (!made) // of a region: what its operation takes
      made = argument.getOwner()->getParentOp();
    if (made != model.kernel && seen.insert(made).second)
      open.push_back(made);
  };
  while (!open.empty())
    open.pop_back_val()->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        add(operand);
    });
}

/// Results are written at the end, whatever stands where in the text.
void StagedSlots::findLives(const KernelModel &model) {
  unsigned number = 0;
  for (Operation &op : model.kernel.block()) {
    Value into;
    if (auto store = dyn_cast<qn::StoreOp>(op))
      into = store.getTensor();
    if (auto scatter = dyn_cast<qn::ScatterOp>(op))
      into = scatter.getTensor();
    if (auto sort = dyn_cast<qn::SortOp>(op))
      into = sort.getOrder();
    if (!into)
      continue;
    ++number;
    auto argument = cast<BlockArgument>(into);
    bool isStaged = model.kernel.isStaged(argument);
    if (isStaged) {
      Life &life = lives[argument.getArgNumber() - first];
      life.begin = std::min(life.begin, number);
      life.end = std::max(life.end, number);
    }
    llvm::SmallPtrSet<Operation *, 16> seen;
    read(model, &op, isStaged ? number : ~0u, seen);
  }
}

StagedSlots::StagedSlots(const KernelModel &model)
    : first(model.kernel.callerArguments()) {
  auto operands = model.kernel.block().getArguments().drop_front(first);
  lives.resize(operands.size());
  findLives(model);
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, operands.size()));
  llvm::sort(order, [&](unsigned one, unsigned other) {
    return std::pair(lives[one].begin, one) <
           std::pair(lives[other].begin, other);
  });
  SmallVector<unsigned> free; // until when a slot is taken
  slotOfOperand.resize(operands.size());
  for (unsigned operand : order) {
    auto type = cast<qn::OperandType>(operands[operand].getType());
    unsigned slot = 0;
    auto fits = [&] {
      return free[slot] < lives[operand].begin &&
             types[slot].getAxes() == type.getAxes() &&
             storedBytes(types[slot].getElementType()) ==
                 storedBytes(type.getElementType());
    };
    while (slot < types.size() && !fits())
      ++slot;
    if (slot == types.size()) {
      types.push_back(type);
      free.push_back(0);
    }
    free[slot] = std::max(lives[operand].end, lives[operand].begin);
    slotOfOperand[operand] = slot;
  }
}

StagedSlots::StagedSlots(const KernelModel &model, ArrayRef<std::int64_t> slots)
    : slotOfOperand(slots), first(model.kernel.callerArguments()) {
  auto operands = model.kernel.block().getArguments().drop_front(first);
  for (auto [slot, operand] : llvm::zip(slots, operands)) {
    types.resize(std::max<std::size_t>(types.size(), slot + 1));
    if (!types[slot])
      types[slot] = cast<qn::OperandType>(operand.getType());
  }
}

unsigned StagedSlots::slotOf(BlockArgument operand) const {
  return slotOfOperand[operand.getArgNumber() - first];
}
