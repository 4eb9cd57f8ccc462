// The turns of a staged product in which whole stages are copied: nothing is
// checked there, pointers move on by equal steps, and fragments are read a step
// before they are multiplied.
#include "dsl/gpu/Entry.h"
#include "dsl/gpu/Stages.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;
using namespace quern::stages;

/// So many bytes further, where the device's memory lies.
static Value moved(OpBuilder &b, Location loc, Value pointer, Value bytes) {
  return LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

/// Where a thread's chunks of a factor's tile lie, from `depth` on. Those along
/// the depth have a pointer each, since rows that are not there are others;
/// else the next one lies equally many lines further, also from stage to stage.
EntryBuilder::Moving EntryBuilder::movingChunks(Frame &frame, const Tile &tile,
                                                bool isRight, Value depth) {
  const MatrixProduct &product = *plan.product;
  const auto &side = isRight ? product.rightSide : product.leftSide;
  Value corner = isRight ? tile.blockColumn : tile.blockRow;
  std::int64_t count = chunksOf(plan, isRight), each = elementBytes(plan);
  std::int64_t length = lineOf(isRight);
  std::int64_t lines = plan.threads / (length / perChunk(plan));
  assert(lines % 8 == 0 && "a thread's lines turn alike");
  Moving made{.isRight = isRight, .count = count};
  for (std::int64_t which = 0; which < (side.alongDepth ? count : 1); ++which) {
    Chunk chunk = chunkOf(frame, isRight, corner, depth, which);
    made.from.push_back(chunk.source);
    emitter.in(frame);
    if (which == 0)
      made.place = chunkPlace(chunk.line, chunk.number, length);
  }
  if (isRight)
    made.place = math("addi", made.place, leftBytes(plan));
  made.below = lines * length * each;
  if (side.alongDepth)
    return made;
  auto type = cast<qn::OperandType>(side.operand.getType());
  for (auto [number, name] : llvm::enumerate(type.getAxes()))
    if (model.axisOf(name) == product.depth)
      made.apart = emitter.stride(frame, side.operand, number);
  emitter.in(frame);
  made.apart = math("muli", made.apart, lines * each);
  return made;
}

/// Begins to copy a chunk, and moves its pointer to where the next one lies.
void EntryBuilder::copyMoving(Moving &moving, std::int64_t number,
                              Value stage) {
  bool isAlone = moving.from.size() > 1;
  Value &from = moving.from[isAlone ? number : 0];
  Value place = arith::AddIOp::create(builder, loc, moving.place, stage);
  Value to = byteOf(inStages(place), number * moving.below);
  device.copyAsync(loc, to, from, chunkBytes);
  from = moving.apart ? moved(builder, loc, from, moving.apart)
                      : byteOf(from, plan.lineBytes);
}

/// The depth up to which turns copy whole stages. Where a chunk lies along rows
/// or columns of which it may have a part, there are none.
Value EntryBuilder::steadyEnd(Frame &frame) {
  const MatrixProduct &product = *plan.product;
  Value depth = emitter.extent(frame, product.depth);
  emitter.in(frame);
  Value turns = math("divui", fit(depth), depthOf(plan));
  turns = math("maxsi", math("subi", turns, plan.stages - 1), 0);
  Value end = math("muli", turns, depthOf(plan));
  for (bool isRight : {false, true}) {
    if ((isRight ? product.rightSide : product.leftSide).alongDepth)
      continue;
    Value extent =
        emitter.extent(frame, isRight ? product.column : product.row);
    OpBuilder &b = emitter.in(frame);
    Value part = math("remui", fit(extent), perChunk(plan));
    Value isWhole = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                          part, number(0));
    end = arith::SelectOp::create(b, loc, isWhole, end, number(0));
  }
  return end;
}

/// The fragments of a warp's tile, of a step of the depth in a stage.
EntryBuilder::Fragments EntryBuilder::stagedFragments(const Tile &tile,
                                                      std::int64_t depth,
                                                      Value stage) {
  Fragments made;
  for (bool isRight : {false, true})
    for (unsigned part = 0; part < (isRight ? columnParts() : rowParts());
         ++part)
      (isRight ? made.right : made.left)
          .push_back(stagedFragment(isRight,
                                    isRight ? tile.warpColumn : tile.warpRow,
                                    part, depth, stage));
  return made;
}

/// One turn: behind the last step's barrier the next stage is there, and its
/// first fragments are read before this stage's last ones are multiplied.
void EntryBuilder::steadyTurn(const Tile &tile, MutableArrayRef<Moving> moving,
                              Fragments &held, Value read, Value next,
                              Value write, Emitter::Values &sums) {
  std::int64_t steps = depthOf(plan) / layout.depth, copies = 0, done = 0;
  for (const Moving &side : moving)
    copies += side.count;
  for (std::int64_t step = 0; step < steps; ++step) {
    bool isLast = step + 1 == steps;
    if (isLast) {
      device.commitCopies(loc);
      device.awaitCopies(loc, unsigned(plan.stages - 2));
      device.barrier(loc);
    }
    Fragments later = stagedFragments(
        tile, isLast ? 0 : (step + 1) * layout.depth, isLast ? next : read);
    for (; !isLast && done < copies * (step + 1) / (steps - 1); ++done) {
      bool isRight = done >= moving[0].count;
      copyMoving(moving[isRight], isRight ? done - moving[0].count : done,
                 write);
    }
    multiplyAll(held.left, held.right, sums);
    held = later;
  }
}

/// The stage behind one, of which the last is followed by the first.
Value EntryBuilder::stageBehind(Value stage) {
  Value next = math("addi", stage, stageBytes(plan));
  Value isLast =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, next,
                            short32(plan.stages * stageBytes(plan)));
  return arith::SelectOp::create(builder, loc, isLast, short32(0), next);
}

/// Turns from `begin` to `end` that copy whole stages, or nothing. `states`:
/// the sums, and the stages that are read and written next; of the first one
/// there are fragments.
void EntryBuilder::steadyTurns(const Tile &tile, MutableArrayRef<Moving> moving,
                               Fragments &held, Value begin, Value end,
                               Emitter::Values &states) {
  OpBuilder &b = builder;
  std::size_t count = states.size();
  // The same values in the same order, whatever they are now.
  auto each = [&](llvm::function_ref<void(Value &)> handle) {
    for (Moving &side : moving)
      llvm::for_each(side.from, handle);
    for (auto *side : {&held.left, &held.right})
      for (Emitter::Values &pieces : *side)
        llvm::for_each(pieces, handle);
  };
  auto take = [&](ValueRange given) {
    each([&](Value &value) {
      value = given.front();
      given = given.drop_front();
    });
  };
  Emitter::Values carried = states;
  each([&](Value &value) { carried.push_back(value); });
  auto loop =
      scf::ForOp::create(b, loc, begin, end, number(depthOf(plan)), carried);
  b.setInsertionPointToStart(loop.getBody());
  ValueRange given = loop.getRegionIterArgs();
  Emitter::Values now(given.take_front(count - 2));
  Value read = given[count - 2], write = given[count - 1];
  take(given.drop_front(count));
  Value next = stageBehind(read);
  steadyTurn(tile, moving, held, read, next, write, now);
  now.append({next, stageBehind(write)});
  each([&](Value &value) { now.push_back(value); });
  scf::YieldOp::create(b, loc, now);
  b.setInsertionPointAfter(loop);
  ValueRange made = loop.getResults();
  states.assign(made.begin(), made.begin() + count);
  take(made.drop_front(count));
}

/// Copies the first stages and goes through the turns that copy whole ones, if
/// there are any, and the last ones, if all stages are whole. `states` as
/// above. Gives the depth that is reached.
Value EntryBuilder::steadySums(Frame &frame, const Tile &tile,
                               Emitter::Values &states) {
  Value end = steadyEnd(frame);
  OpBuilder &b = emitter.in(frame);
  Value zero = number(0);
  Value isSteady =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, end, zero);
  // Where the last stage is whole too, the last turns have nothing to copy.
  Value depth = emitter.extent(frame, plan.product->depth);
  emitter.in(frame);
  depth = fit(depth);
  Value isWhole =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                            math("remui", depth, depthOf(plan)), zero);
  isWhole = arith::AndIOp::create(b, loc, isSteady, isWhole);
  Value all = arith::SelectOp::create(b, loc, isWhole, depth, end);
  auto branch =
      scf::IfOp::create(b, loc, ValueRange(states).getTypes(), isSteady, true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  b.setInsertionPointToEnd(branch.thenBlock());
  Operation *yield = scf::YieldOp::create(b, loc, states);
  Frame steady = Frame::inside(frame, branch.thenBlock());
  steady.anchor = yield;
  Moving moving[] = {movingChunks(steady, tile, false, zero),
                     movingChunks(steady, tile, true, zero)};
  emitter.in(steady);
  for (std::int64_t stage = 0; stage + 1 < plan.stages; ++stage) {
    for (Moving &side : moving)
      for (std::int64_t number = 0; number < side.count; ++number)
        copyMoving(side, number, short32(stage * stageBytes(plan)));
    device.commitCopies(loc);
  }
  Emitter::Values reached = states;
  device.awaitCopies(loc, unsigned(plan.stages - 2));
  device.barrier(loc);
  Fragments held = stagedFragments(tile, 0, reached[reached.size() - 2]);
  steadyTurns(tile, moving, held, zero, end, reached);
  steadyTurns(tile, {}, held, end, all, reached);
  yield->setOperands(reached);
  b.setInsertionPointToEnd(branch.elseBlock());
  yield = scf::YieldOp::create(b, loc, states);
  Frame other = Frame::inside(frame, branch.elseBlock());
  other.anchor = yield;
  copyFirst(other, tile);
  frame.anchor = anchor;
  states.assign(branch.result_begin(), branch.result_end());
  return all;
}
