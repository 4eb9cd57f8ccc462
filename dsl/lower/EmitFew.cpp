// Loads at positions that come from memory, of which few lanes may have an
// element: those few are read one by one.
#include "dsl/lower/Emitter.h"
#include "dsl/lower/InMemory.h"
#include "dsl/lower/Origin.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// A machine's gather takes as long for one lane as for all, and is so many
/// steps that no other read begins beside it; a share of this many of the lanes
/// is quicker apart.
static constexpr unsigned fewShare = 4;

Origin quern::originOf(Value index) {
  Origin found;
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> open{index};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || isa<qn::IndexOp, qn::AxisOp, qn::SizeOp>(op) ||
        !seen.insert(op).second)
      continue;
    found.computed &= isa<arith::ArithDialect>(op->getDialect());
    found.divides |= isa<arith::DivSIOp, arith::RemSIOp>(op);
    found.bends |= isa<arith::SelectOp, arith::MinSIOp, arith::MaxSIOp,
                       arith::MinUIOp, arith::MaxUIOp>(op);
    llvm::append_range(open, op->getOperands());
  }
  return found;
}

/// Whether memory says which lanes of a load have an element.
bool quern::mayBeFew(qn::LoadOp load) {
  auto isKnown = [](Value value) { return originOf(value).computed; };
  if (load.getChecked() || !isa<qn::RowwiseOp>(load->getParentOp()) ||
      load.getType().getIntOrFloatBitWidth() < 8)
    return false;
  if (load.getWhen() && !isKnown(load.getWhen()))
    return true;
  return load.getOutside() && !llvm::all_of(load.getIndices(), isKnown);
}

/// Moves what only computes, and may be computed for nothing, out of a block
/// that it does not depend on, so that other reads share it.
static void hoistArithmetic(scf::IfOp branch, Block *block) {
  auto isOutside = [&](Value value) { return value.getParentBlock() != block; };
  for (Operation &op : llvm::make_early_inc_range(*block))
    if ((isa<vector::BroadcastOp>(op) ||
         isa<arith::ArithDialect>(op.getDialect())) &&
        isSpeculatable(&op) && llvm::all_of(op.getOperands(), isOutside))
      op.moveBefore(branch);
}

/// The lanes whose bits are set, one after the other; `otherwise` in the
/// others.
static Value laneByLane(OpBuilder &b, Location loc, Value bits, Value otherwise,
                        llvm::function_ref<Value(Block *, Value)> read) {
  SmallVector<Type> types{bits.getType(), otherwise.getType()};
  auto loop = scf::WhileOp::create(b, loc, types, ValueRange{bits, otherwise});
  Block *test = b.createBlock(&loop.getBefore(), {}, types, {loc, loc});
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(types[0]));
  Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                     test->getArgument(0), none);
  scf::ConditionOp::create(b, loc, more, test->getArguments());
  Block *body = b.createBlock(&loop.getAfter(), {}, types, {loc, loc});
  Value left = body->getArgument(0);
  Value lane = LLVM::CountTrailingZerosOp::create(b, loc, types[0], left,
                                                  /*isZeroPoison=*/true);
  if (lane.getType().getIntOrFloatBitWidth() < 64)
    lane = arith::ExtUIOp::create(b, loc, b.getI64Type(), lane);
  Value element = read(body, lane);
  b.setInsertionPointToEnd(body);
  Value made = LLVM::InsertElementOp::create(b, loc, body->getArgument(1),
                                             element, lane);
  Value one = arith::ConstantOp::create(b, loc, b.getIntegerAttr(types[0], 1));
  Value less = arith::SubIOp::create(b, loc, left, one);
  left = arith::AndIOp::create(b, loc, left, less);
  scf::YieldOp::create(b, loc, ValueRange{left, made});
  return loop.getResult(1);
}

static Value areFew(OpBuilder &b, Value bits, unsigned most) {
  Location loc = bits.getLoc();
  Type word = bits.getType();
  Value count = LLVM::CtPopOp::create(b, loc, word, bits);
  Value limit = arith::ConstantOp::create(b, loc, b.getIntegerAttr(word, most));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, count, limit);
}

/// What `apart` gathers, but lane by lane where few have an element, and
/// nothing where none has. `ends` are the lanes that have, and what stands in
/// the others.
Value Emitter::fewOrAll(Frame &frame, qn::LoadOp load, ValueRange indices,
                        std::array<Value, 2> ends,
                        llvm::function_ref<Value(Frame &)> apart) {
  auto [good, otherwise] = ends;
  qn::OperandType type = load.getTensor().getType();
  bool moves = llvm::any_of(llvm::zip(indices, type.getStrides()), [](auto at) {
    return isa<VectorType>(std::get<0>(at).getType()) &&
           std::get<1>(at) != StrideClass::Zero;
  });
  if (!good || !moves)
    return apart(frame);
  Location loc = load.getLoc();
  OpBuilder &b = in(frame);
  auto mask = cast<VectorType>(good.getType());
  Type memory = memoryType(load.getType());
  auto result = VectorType::get(mask.getShape(), memory);
  otherwise = otherwise
                  ? toMemory(frame, otherwise, load.getType())
                  : arith::ConstantOp::create(b, loc, b.getZeroAttr(result));
  Type word = b.getIntegerType(mask.getNumElements());
  Value bits = LLVM::BitcastOp::create(b, loc, word, good);
  Value few = areFew(b, bits, mask.getNumElements() / fewShare);
  auto branch = scf::IfOp::create(b, loc, TypeRange{result}, few, true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  Frame one = Frame::inside(frame, branch.thenBlock());
  Access access{load, cast<BlockArgument>(load.getTensor()), load.getIndices(),
                load.getPart()};
  Value pointers = elementPointer(one, access, indices);
  auto readLane = [&](Block *block, Value lane) {
    Frame inner = Frame::inside(one, block);
    Value pointer =
        LLVM::ExtractElementOp::create(in(inner), loc, pointers, lane);
    return read(inner, pointer, memory, 1, Value(), Value());
  };
  Value single = laneByLane(in(one), loc, bits, otherwise, readLane);
  scf::YieldOp::create(in(one), loc, single);
  Frame all = Frame::inside(frame, branch.elseBlock());
  Value whole = toMemory(all, apart(all), load.getType());
  scf::YieldOp::create(in(all), loc, whole);
  frame.anchor = anchor;
  hoistArithmetic(branch, branch.thenBlock());
  hoistArithmetic(branch, branch.elseBlock());
  return fromMemory(frame, branch.getResult(0), load.getType());
}
