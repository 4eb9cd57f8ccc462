// The launch of a sort: a unit makes the keys of one row and orders them.
#include "dsl/lower/FirstFew.h"
#include "dsl/lower/Launch.h"
#include "dsl/lower/MergeSort.h"
#include "dsl/lower/RadixSort.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// Keys of 32 bits share a word with their position.
static bool isPacked(qn::SortOp sort) {
  return sort.getKey().getType().isInteger(32);
}

std::int64_t quern::scratchWords(qn::SortOp sort) {
  return isPacked(sort) ? 1 : 3;
}

/// Lanes of 64-bit words.
static unsigned wordLanes(const TargetInfo &target) {
  return std::max(2u, target.vectorBytes / 8);
}

/// Bytes of one array for the words of a row.
Value LaunchBuilder::sortedBytes(Frame &root) {
  unsigned axis = model.axisOf(qn::SortOp(launch.sort).getAxisAttr());
  Value count = emitter.extent(root, axis);
  Value slack = emitter.constant(root, fewSlack(wordLanes(target)));
  Value each = emitter.constant(root, 8);
  OpBuilder &b = emitter.in(root);
  count = arith::AddIOp::create(b, loc, count, slack);
  return arith::MulIOp::create(b, loc, count, each);
}

/// Bytes of a worker's own room for rows: words, results, ranks of words, the
/// positions of both where they do not share a word, and a table.
Value LaunchBuilder::sortBytes(Frame &root) {
  Value arrays = emitter.constant(root, isPacked(launch.sort) ? 3 : 5);
  Value each = sortedBytes(root);
  Value table = emitter.constant(root, std::int64_t(8) * radixTable);
  OpBuilder &b = emitter.in(root);
  arrays = arith::MulIOp::create(b, loc, each, arrays);
  return arith::AddIOp::create(b, loc, arrays, table);
}

void LaunchBuilder::makeSortRoom(Frame &root, Value ownMemory) {
  sortRoom = ownMemory;
  sortStride = sortedBytes(root);
}

/// A word that orders as the key and its position do, for one or all lanes.
Value LaunchBuilder::packedWord(Frame &at, Value key, Value position) {
  unsigned lanes = 1;
  Type wide = builder.getI64Type();
  if (auto type = dyn_cast<VectorType>(key.getType())) {
    lanes = type.getNumElements();
    wide = type.clone(wide);
  }
  Value shift = emitter.constant(at, 32);
  OpBuilder &b = emitter.in(at);
  shift = emitter.widen(at, shift, lanes);
  Value word = arith::ExtUIOp::create(b, loc, wide, key);
  word = arith::ShLIOp::create(b, loc, word, shift);
  return arith::OrIOp::create(b, loc, word, position);
}

/// The words of a row in lanes where the keys lie side by side.
void LaunchBuilder::fillWords(Frame &frame, Value array) {
  qn::SortOp sort = launch.sort;
  unsigned axis = model.axisOf(sort.getAxisAttr());
  SmallVector<qn::ScanOp> scans;
  emitter.valid &= emitter.scansBehind(sort.getKey(), axisBit(axis), scans);
  LoopSpec loop{AxisPlan{.axis = axis}, {}, {}};
  if (!scans.empty())
    loop.reverse = scans[0].getReverse();
  else if (emitter.laneAxis(frame, axisBit(axis)) >= 0)
    loop.plan = emitter.lanePlan(frame, axis, /*reduces=*/false);
  loop.plan.copies = 1;
  Emitter::Values none;
  emitter.nestScans(frame, loop, scans, none, [&](Frame &at, auto &) {
    const Binding &here = *at.find(axis);
    Value key = emitter.wide(at, sort.getKey(), 0, here.lanes);
    if (isPacked(sort))
      key = packedWord(at, key, emitter.lanePosition(at, axis, 0));
    Value pointer = wordAt(emitter.in(at), loc, array, here.position);
    emitter.write(at, pointer, key, builder.getI64Type(), here.mask);
  });
}

/// `arrays`: key and position in one word, or one array for each.
void LaunchBuilder::fillKeys(Frame &frame, ArrayRef<Value> arrays) {
  qn::SortOp sort = launch.sort;
  unsigned axis = model.axisOf(sort.getAxisAttr());
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
  emitter.nest(frame, loops, none, [&](Frame &at, auto &) {
    target.isGpu() ? sortRow(at) : pickRow(at);
  });
}

/// The first of a row, or all of it, in the worker's own memory.
void LaunchBuilder::pickRow(Frame &frame) {
  qn::SortOp sort = launch.sort;
  auto order = cast<BlockArgument>(sort.getOrder());
  auto type = cast<qn::OperandType>(order.getType());
  unsigned last = model.axisOf(type.getAxes().back());
  AxisSet rows = model.axesOf(type) & ~axisBit(last);
  Value row = emitter.address(frame, order, rows, 0);
  Value count = emitter.extent(frame, model.axisOf(sort.getAxisAttr()));
  Value ranks = emitter.extent(frame, last);
  Value zero = emitter.constant(frame, 0), one = emitter.constant(frame, 1);
  Value low = emitter.constant(frame, 0xffffffff);
  OpBuilder &b = emitter.in(frame);
  Value wanted = arith::MinUIOp::create(b, loc, ranks, count);
  FewMemory memory = sortMemory(b);
  fillWords(frame, memory.words);
  emitter.in(frame);
  auto isAny =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, wanted, zero);
  auto branch = scf::IfOp::create(b, loc, isAny, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  Value sorted = findFirst(b, loc, memory, count, wanted, wordLanes(target));
  auto loop = scf::ForOp::create(b, loc, zero, wanted, one);
  b.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  Value place = LLVM::LoadOp::create(b, loc, b.getI64Type(),
                                     wordAt(b, loc, sorted, at), 8);
  if (!memory.places)
    place = arith::AndIOp::create(b, loc, place, low);
  LLVM::StoreOp::create(b, loc, place, wordAt(b, loc, row, at), 8);
  emitter.in(frame);
  auto rest = scf::ForOp::create(b, loc, wanted, ranks, one);
  b.setInsertionPointToStart(rest.getBody());
  LLVM::StoreOp::create(b, loc, count,
                        wordAt(b, loc, row, rest.getInductionVar()), 8);
}

/// The arrays of the worker's own memory.
FewMemory LaunchBuilder::sortMemory(OpBuilder &b) {
  unsigned number = 0;
  auto array = [&] {
    Value index =
        arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(number++));
    Value offset = arith::MulIOp::create(b, loc, sortStride, index);
    return Value(LLVM::GEPOp::create(b, loc, sortRoom.getType(), b.getI8Type(),
                                     sortRoom, ArrayRef<LLVM::GEPArg>{offset}));
  };
  FewMemory memory;
  for (Value *one : {&memory.words, &memory.first, &memory.spare})
    *one = array();
  if (!isPacked(launch.sort))
    for (Value *one : {&memory.places, &memory.firstPlaces})
      *one = array();
  memory.table = array();
  return memory;
}

/// A row of a GPU's thread, whose scratch lies behind all rows.
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
