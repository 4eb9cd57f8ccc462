// Stores past the caches: where a launch takes them.
#include "dsl/lower/Launch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace quern;

/// What the address of every vector of a result is made of, in bytes, all bits
/// together: zeros at the end say how it is aligned.
Value LaunchBuilder::addressBits(Frame &root, BlockArgument result) {
  auto type = cast<qn::OperandType>(result.getType());
  Value bytes = emitter.constant(root, storedBytes(type.getElementType()));
  Value pointer = emitter.pointerTo(root, result);
  Value bits = LLVM::PtrToIntOp::create(emitter.in(root), loc,
                                        builder.getI64Type(), pointer);
  for (auto [number, stride] : llvm::enumerate(type.getStrides())) {
    if (stride != StrideClass::Dynamic)
      continue;
    Value step = emitter.stride(root, result, number);
    OpBuilder &b = emitter.in(root);
    step = arith::MulIOp::create(b, loc, step, bytes);
    bits = arith::OrIOp::create(b, loc, bits, step);
  }
  return bits;
}

/// How many bytes the launch passes over: an operand that lies along some of
/// its axes is there once, others have an element for each position.
Value LaunchBuilder::passedBytes(Frame &root) {
  AxisSet all;
  for (const AxisPlan &axis : launch.axes)
    all |= axisBit(axis.axis);
  if (launch.lane >= 0)
    all |= axisBit(launch.lane);
  llvm::MapVector<AxisSet, std::int64_t> bytes;
  for (BlockArgument argument : model.kernel.block().getArguments()) {
    auto type = dyn_cast<qn::OperandType>(argument.getType());
    AxisSet axes = type ? model.axesOf(type) : AxisSet();
    if (axes && !KernelModel::isBehind(argument))
      bytes[axes & ~all ? all : axes] += storedBytes(type.getElementType());
  }
  Value sum;
  for (auto &[axes, size] : bytes) {
    Value product = emitter.constant(root, size);
    for (unsigned axis = 0; axis < model.axisCount(); ++axis)
      if (hasAxis(axes, axis))
        product = arith::MulIOp::create(emitter.in(root), loc, product,
                                        emitter.extent(root, axis));
    sum = sum ? arith::AddIOp::create(emitter.in(root), loc, sum, product)
              : product;
  }
  return sum ? sum : emitter.constant(root, 0);
}

/// From how many bytes on results go past the caches.
Value LaunchBuilder::cacheLimit(Frame &root) {
  std::int64_t cache = target.l3Bytes;
  if (launch.turned >= 0)
    return emitter.constant(root, cache / 4 * 3);
  Value limit = emitter.constant(root, cache);
  if (!launch.streamsRows)
    return limit;
  std::int64_t bytes = 0;
  for (BlockArgument argument : model.kernel.block().getArguments()) {
    auto type = dyn_cast<qn::OperandType>(argument.getType());
    if (type && hasAxis(model.axesOf(type), launch.lane))
      bytes += storedBytes(type.getElementType());
  }
  Value length =
      emitter.constant(root, target.l1Bytes / std::max<std::int64_t>(bytes, 1));
  Value part = emitter.constant(root, cache / 4 * 3);
  Value more = emitter.constant(root, cache / 4 * 5);
  OpBuilder &b = emitter.in(root);
  Value isLong =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge,
                            emitter.extent(root, launch.lane), length);
  return arith::SelectOp::create(b, loc, isLong, part, more);
}

/// Whether the operands do not fit in the last cache, and the results are
/// aligned to what a store past the caches takes. Transposes, whose squares
/// touch many lines at once, gain from three quarters of it on, and so do rows
/// that fill the first cache: their passes leave the memory idle in turns.
Value LaunchBuilder::exceedsCaches(Frame &root) {
  Value addresses = emitter.constant(root, 0);
  for (BlockArgument argument : model.kernel.block().getArguments()) {
    auto type = dyn_cast<qn::OperandType>(argument.getType());
    auto writes = [](Operation *user) { return isa<qn::StoreOp>(user); };
    if (!type || !hasAxis(model.axesOf(type), launch.lane) ||
        llvm::none_of(argument.getUsers(), writes))
      continue;
    Value bits = addressBits(root, argument);
    addresses = arith::OrIOp::create(emitter.in(root), loc, addresses, bits);
  }
  Value low = emitter.constant(root, target.vectorBytes - 1);
  Value limit = cacheLimit(root);
  Value bytes = passedBytes(root), zero = emitter.constant(root, 0);
  OpBuilder &b = emitter.in(root);
  Value odd = arith::AndIOp::create(b, loc, addresses, low);
  Value even =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, odd, zero);
  Value large =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, bytes, limit);
  return arith::AndIOp::create(b, loc, even, large);
}

/// Whether only the vectors of one loop differ where they go past the caches:
/// all else is made once for both.
bool LaunchBuilder::streamsVectors() const {
  if (launch.streamsRows)
    return true;
  return launch.kind == LaunchKind::Stores && launch.axes.size() == 1 &&
         !model.joinedAlong(launch.axes.front().axis);
}

/// Stores a row past the caches. It was read before, and the memory waits
/// meanwhile: so the next row is asked for.
void LaunchBuilder::rowPast(Frame &frame, LoopSpec &row, Emitter::Body body) {
  row.lower = emitter.constant(frame, 0);
  row.upper = emitter.extent(frame, row.plan.axis);
  if (!launch.axes.empty())
    emitter.ahead = {.axis = launch.axes.back().axis, .next = true};
  vectorsPast(frame, row, body);
  emitter.ahead = {};
}

/// Stores the whole vectors of a loop past the caches, where the launch does;
/// the loop keeps the rest. Memory takes longer than the turns of such a loop,
/// so it is not unrolled.
void LaunchBuilder::vectorsPast(Frame &frame, LoopSpec &loop,
                                Emitter::Body body) {
  LoopSpec vectors = loop;
  vectors.whole = true;
  vectors.plan.copies = 1;
  Value lanes = emitter.constant(frame, vectors.plan.lanes);
  OpBuilder &b = emitter.in(frame);
  Value length = arith::SubIOp::create(b, loc, loop.upper, loop.lower);
  Value left = arith::RemUIOp::create(b, loc, length, lanes);
  Value end = arith::SubIOp::create(b, loc, loop.upper, left);
  vectors.upper = arith::SelectOp::create(b, loc, past, end, loop.lower);
  // What was kept in a row of the result lies in the caches already.
  emitter.streaming = !emitter.keepsValues();
  Emitter::Values none;
  emitter.nest(frame, vectors, none, body);
  emitter.streaming = false;
  loop.lower = vectors.upper;
}

/// Stores past the caches are ordered before whatever tells that a task is
/// done.
static void fence(OpBuilder &b, Location loc) {
  LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.x86.sse.sfence"),
                                ValueRange());
}

/// The units of a launch that may store past the caches: made once, where only
/// vectors differ, or for both cases.
void LaunchBuilder::streamedUnits(Frame &root, Value begin, Value end) {
  Value large = exceedsCaches(root);
  if (streamsVectors()) {
    past = large;
    units(root, begin, end);
  }
  auto branch =
      scf::IfOp::create(emitter.in(root), loc, large, /*withElse=*/!past);
  Operation *last = branch.thenBlock()->getTerminator();
  auto side = [&](Block *block, bool streaming) {
    Frame inside = Frame::inside(root, block);
    inside.anchor = block->getTerminator();
    emitter.streaming = streaming;
    emitter.ahead = streaming ? rowsAhead() : Ahead();
    units(inside, begin, end);
  };
  if (!past) {
    root.anchor = branch;
    side(branch.thenBlock(), /*streaming=*/true);
    side(branch.elseBlock(), /*streaming=*/false);
    root.anchor = nullptr;
  }
  builder.setInsertionPoint(last);
  fence(builder, loc);
}
