// The launch of a sort: a unit makes the keys of one row and orders them.
#include "dsl/lower/Launch.h"
#include "dsl/lower/MergeSort.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

/// Keys of 32 bits share a word with their position.
static bool isPacked(qn::SortOp sort) {
  return sort.getKey().getType().isInteger(32);
}

std::int64_t quern::scratchWords(qn::SortOp sort) {
  return isPacked(sort) ? 1 : 3;
}

Value LaunchBuilder::scratch(Frame &root) {
  qn::SortOp sort = launch.sort;
  Value elements = emitter.elementsOf(root, sort.getOrder().getType());
  Value each = emitter.constant(root, 8 * scratchWords(sort));
  return arith::MulIOp::create(emitter.in(root), loc, elements, each);
}

/// `arrays`: key and position in one word, or one array for each.
void LaunchBuilder::fillKeys(Frame &frame, ArrayRef<Value> arrays) {
  qn::SortOp sort = launch.sort;
  unsigned axis = model.axisOf(sort.getOrder().getType().getAxes().back());
  LoopSpec loop{AxisPlan{.axis = axis}, {}, {}};
  SmallVector<qn::ScanOp> scans;
  emitter.valid &= emitter.scansBehind(sort.getKey(), axisBit(axis), scans);
  if (!scans.empty())
    loop.reverse = scans[0].getReverse();
  Emitter::Values none;
  emitter.nestScans(frame, loop, scans, none, [&](Frame &at, auto &) {
    Value key = emitter.emit(at, sort.getKey(), 0);
    Value position = emitter.position(at, axis, 0);
    Value shift = emitter.constant(at, 32);
    OpBuilder &b = emitter.in(at);
    Value words[] = {key, position};
    if (isPacked(sort)) {
      Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), key);
      wide = arith::ShLIOp::create(b, loc, wide, shift);
      words[0] = arith::OrIOp::create(b, loc, wide, position);
    }
    for (auto [array, word] : llvm::zip(arrays, words))
      LLVM::StoreOp::create(b, loc, word, wordAt(b, loc, array, position), 8);
  });
}

/// One row after the other along axes that no task has alone.
void LaunchBuilder::sortRows(Frame &frame) {
  qn::SortOp sort = launch.sort;
  qn::OperandType type = sort.getOrder().getType();
  AxisSet missing = model.axesOf(type) & ~frame.bound &
                    ~axisBit(model.axisOf(type.getAxes().back()));
  SmallVector<LoopSpec> loops;
  for (unsigned axis = 0; axis < model.axisCount(); ++axis)
    if (hasAxis(missing, axis))
      loops.push_back({AxisPlan{.axis = axis}, {}, {}});
  Emitter::Values none;
  emitter.nest(frame, loops, none, [&](Frame &at, auto &) { sortRow(at); });
}

void LaunchBuilder::sortRow(Frame &frame) {
  qn::SortOp sort = launch.sort;
  auto order = cast<BlockArgument>(sort.getOrder());
  auto type = cast<qn::OperandType>(order.getType());
  AxisSet all = model.axesOf(type);
  unsigned axis = model.axisOf(type.getAxes().back());
  Value row = emitter.address(frame, order, all & ~axisBit(axis), 0);
  Value base = emitter.pointerTo(frame, order);
  Value room = emitter.inWorkspace(frame, emitter.stagedBytes(frame));
  Value count = emitter.extent(frame, axis);
  Value zero = emitter.constant(frame, 0), one = emitter.constant(frame, 1);
  Value words = emitter.constant(frame, scratchWords(sort));
  Value low = emitter.constant(frame, 0xffffffff);
  OpBuilder &b = emitter.in(frame);
  Value from = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), base);
  Value to = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), row);
  Value offset = arith::SubIOp::create(b, loc, to, from);
  offset = arith::MulIOp::create(b, loc, offset, words);
  Value spare = LLVM::GEPOp::create(b, loc, room.getType(), b.getI8Type(), room,
                                    ArrayRef<LLVM::GEPArg>{offset});
  SmallVector<Value, 2> source{row}, target{spare};
  if (!isPacked(sort)) {
    Value second = wordAt(b, loc, spare, count);
    source = {spare, row};
    target = {second, wordAt(b, loc, second, count)};
  }
  fillKeys(frame, source);
  auto sorted = mergeSort(emitter.in(frame), loc, source, target, count);
  auto loop = scf::ForOp::create(emitter.in(frame), loc, zero, count, one);
  b.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  Value position = LLVM::LoadOp::create(b, loc, b.getI64Type(),
                                        wordAt(b, loc, sorted.back(), at), 8);
  if (isPacked(sort))
    position = arith::AndIOp::create(b, loc, position, low);
  LLVM::StoreOp::create(b, loc, position, wordAt(b, loc, row, at), 8);
}
