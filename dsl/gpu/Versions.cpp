// The versions of an entry's code: addresses and strides say which one runs.
#include "dsl/gpu/Entry.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

static unsigned neighbourBytes(qn::OperandType type) {
  return std::max(1u, type.getElementType().getIntOrFloatBitWidth() / 8);
}

/// The operands of which vectors are read or written as they lie.
SmallVector<BlockArgument> EntryBuilder::nearOperands() {
  SmallVector<BlockArgument> near;
  for (BlockArgument argument : model.kernel.block().getArguments()) {
    auto type = dyn_cast<qn::OperandType>(argument.getType());
    if (type && !isa<ComplexType>(type.getElementType()) &&
        llvm::is_contained(type.getStrides(), StrideClass::One))
      near.push_back(argument);
  }
  return near;
}

/// Adds the low bits of a value, below `multiple`, to those that are set.
void EntryBuilder::addBits(Frame &root, Value &bits, Value value,
                           std::int64_t multiple) {
  Value low = emitter.constant(root, multiple - 1);
  OpBuilder &b = emitter.in(root);
  value = arith::AndIOp::create(b, loc, value, low);
  bits = arith::OrIOp::create(b, loc, bits, value);
}

Value EntryBuilder::isZero(Frame &root, Value bits) {
  Value zero = emitter.constant(root, 0);
  return arith::CmpIOp::create(emitter.in(root), loc, arith::CmpIPredicate::eq,
                               bits, zero);
}

Value EntryBuilder::addressOf(Frame &root, BlockArgument operand) {
  Value pointer = emitter.pointerTo(root, operand);
  OpBuilder &b = emitter.in(root);
  return LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), pointer);
}

/// Whether every vector of neighbours lies at a multiple of its size.
Value EntryBuilder::isAligned(Frame &root) {
  Value odd = emitter.constant(root, 0);
  for (BlockArgument argument : nearOperands()) {
    auto type = cast<qn::OperandType>(argument.getType());
    addBits(root, odd, addressOf(root, argument),
            std::int64_t(neighbourBytes(type)) * plan.vectors);
    for (auto [axis, stride] : llvm::enumerate(type.getStrides()))
      if (stride == StrideClass::Dynamic)
        addBits(root, odd, emitter.stride(root, argument, axis), plan.vectors);
  }
  // Rows that threads keep are whole vectors.
  if (plan.kept)
    addBits(root, odd, emitter.extent(root, launch.lane), plan.vectors);
  return isZero(root, odd);
}

/// The operands whose rows begin and end within vectors all alike.
SmallVector<BlockArgument> EntryBuilder::phasedOperands() {
  SmallVector<BlockArgument> rows;
  for (BlockArgument argument : nearOperands()) {
    auto type = cast<qn::OperandType>(argument.getType());
    if (!(model.axesOf(type) & launch.parallel))
      continue;
    for (auto [name, stride] : llvm::zip(type.getAxes(), type.getStrides()))
      if (stride == StrideClass::One &&
          static_cast<int>(model.axisOf(name)) == launch.lane)
        rows.push_back(argument);
  }
  return rows;
}

/// How far the rows of an operand lie apart along an axis.
Value EntryBuilder::strideAlong(Frame &root, BlockArgument operand,
                                unsigned axis) {
  auto type = cast<qn::OperandType>(operand.getType());
  for (auto [number, name] : llvm::enumerate(type.getAxes()))
    if (StrideClass stride = type.getStrides()[number];
        model.axisOf(name) == axis && stride != StrideClass::Zero)
      return stride == StrideClass::One ? emitter.constant(root, 1)
                                        : emitter.stride(root, operand, number);
  return emitter.constant(root, 0);
}

/// Whether the vectors of all operands lie at multiples of their size wherever
/// those of one do.
Value EntryBuilder::areInPhase(Frame &root, ArrayRef<BlockArgument> rows) {
  Value odd = emitter.constant(root, 0);
  auto elements = [&](BlockArgument operand) -> Value {
    unsigned bytes = neighbourBytes(cast<qn::OperandType>(operand.getType()));
    Value log = emitter.constant(root, llvm::Log2_32(bytes));
    Value at = addressOf(root, operand);
    return arith::ShRUIOp::create(emitter.in(root), loc, at, log);
  };
  auto addDifference = [&](Value one, Value other) {
    Value differs = arith::XOrIOp::create(emitter.in(root), loc, one, other);
    addBits(root, odd, differs, plan.vectors);
  };
  for (BlockArgument operand : rows) {
    if (operand != rows.front())
      addDifference(elements(operand), elements(rows.front()));
    AxisSet axes = model.axesOf(cast<qn::OperandType>(operand.getType()));
    for (unsigned axis : axisList(launch.parallel)) {
      Value own = strideAlong(root, operand, axis);
      if (operand != rows.front())
        addDifference(own, strideAlong(root, rows.front(), axis));
    }
    for (unsigned axis :
         axisList(axes & ~launch.parallel & ~axisBit(launch.lane)))
      addBits(root, odd, strideAlong(root, operand, axis), plan.vectors);
  }
  return isZero(root, odd);
}

/// Makes one version in either block of a branch, from a root of its own: what
/// one makes is not seen in the other.
void EntryBuilder::choose(Frame &root, Value condition,
                          llvm::function_ref<void(Frame &)> then,
                          llvm::function_ref<void(Frame &)> otherwise) {
  auto branch = scf::IfOp::create(emitter.in(root), loc, condition, true);
  for (bool holds : {true, false}) {
    Frame side;
    side.block = holds ? branch.thenBlock() : branch.elseBlock();
    side.anchor = side.block->getTerminator();
    (holds ? then : otherwise)(side);
  }
}

/// Whether a block's rows leave the second cache as soon as they are stored:
/// where others of a row's operands are to stay there (layer norm of 65536
/// columns on an H200: 81 % of a copy so, 76 % without), or where stores begin
/// within sectors of 32 bytes, which would be read to be whole (softmax of
/// 50257 columns: 82 % and 44 %). Otherwise it costs a little.
bool EntryBuilder::storesPast(bool isPhased) const {
  return plan.isKeptByBlocks() && target.kind == TargetKind::Nvptx &&
         (isPhased || plan.sharesRows);
}

/// Whole vectors; rows that begin within vectors, where that is kept; else
/// element by element, which blocks do not keep: that would be much code.
void EntryBuilder::versions(Frame &root) {
  if (plan.vectors == 1)
    return version(root, 1);
  KeptRows kept = team.kept;
  auto single = [&](Frame &side) {
    team.kept = {};
    if (plan.kept && !plan.isKeptByBlocks())
      team.kept.cells = plan.kept;
    version(side, 1);
  };
  auto whole = [&](Frame &side, Value phase) {
    emitter.aligned = true;
    team.kept = kept;
    team.kept.phaseOf = phase;
    team.kept.cells = plan.kept / plan.vectors;
    team.passesBy = storesPast(bool(phase));
    version(side, plan.vectors);
    team.passesBy = false;
    emitter.aligned = false;
  };
  SmallVector<BlockArgument> rows = phasedOperands();
  Value aligned = isAligned(root);
  choose(
      root, aligned, [&](Frame &side) { whole(side, {}); },
      [&](Frame &side) {
        if (!plan.isKeptByBlocks() || rows.empty())
          return single(side);
        Value inPhase = areInPhase(side, rows);
        choose(
            side, inPhase, [&](Frame &inner) { whole(inner, rows.front()); },
            single);
      });
}

/// The shared memory in which a block keeps what registers leave of a row: one
/// for all entries that keep as much.
void EntryBuilder::makeRows(ModuleOp module) {
  RowNeeds needs = needsOf(model, launch);
  std::int64_t bytes = roomFor(model, launch, needs).bytes * plan.sharedLanes;
  rowsName = "kept_rows" + std::to_string(bytes);
  share(module, rowsName, bytes);
}
