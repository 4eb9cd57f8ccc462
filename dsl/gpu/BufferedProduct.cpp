// A product for a block of AMD's threads: the next tiles are read while the
// ones before are multiplied, then left in shared memory, where lines always
// run along the depth. Fragments that no single instruction reads from there.
#include "dsl/gpu/Entry.h"
#include "dsl/gpu/Stages.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;
using namespace quern::stages;

/// The chunk in a register: at once where all of it is inside, else one element
/// after the other; what lies behind an end is zero.
Value EntryBuilder::loadChunk(const Chunk &at) {
  OpBuilder &b = builder;
  std::int64_t chunk = perChunk(plan);
  unsigned each = unsigned(elementBytes(plan));
  Type word = b.getIntegerType(8 * each);
  auto type = VectorType::get({chunk}, word);
  auto below = [&](std::int64_t place) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, at.left,
                                 short32(place));
  };
  auto whole = scf::IfOp::create(b, loc, type, below(chunk - 1), true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(whole.thenBlock());
  Value all = LLVM::LoadOp::create(b, loc, type, at.source,
                                   emitter.aligned ? chunkBytes : each);
  scf::YieldOp::create(b, loc, all);
  b.setInsertionPointToStart(whole.elseBlock());
  Emitter::Values parts;
  for (std::int64_t place = 0; place < chunk; ++place) {
    auto one = scf::IfOp::create(b, loc, word, below(place), true);
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToStart(one.thenBlock());
    Value from = byteOf(at.source, each * place);
    scf::YieldOp::create(
        b, loc, LLVM::LoadOp::create(b, loc, word, from, each).getResult());
    b.setInsertionPointToStart(one.elseBlock());
    scf::YieldOp::create(
        b, loc,
        arith::ConstantOp::create(b, loc, b.getIntegerAttr(word, 0))
            .getResult());
    parts.push_back(one.getResult(0));
  }
  scf::YieldOp::create(
      b, loc, vector::FromElementsOp::create(b, loc, type, parts).getResult());
  return whole.getResult(0);
}

/// Leaves it in a stage; a chunk across the depth is one element of several
/// lines.
void EntryBuilder::leaveChunk(const Chunk &at, Value value, Value stage) {
  auto leave = [&](Value stored, Value place, unsigned bytes) {
    place = arith::AddIOp::create(builder, loc, place, stage);
    if (at.isRight)
      place = math("addi", place, leftBytes(plan));
    LLVM::StoreOp::create(builder, loc, stored, inStages(place), bytes);
  };
  std::int64_t chunk = perChunk(plan), length = depthOf(plan);
  unsigned each = unsigned(elementBytes(plan));
  if (at.alongDepth)
    return leave(value, chunkPlace(at.line, at.number, length), chunkBytes);
  Value first = math("muli", at.number, chunk);
  Value number = math("divui", at.line, chunk);
  Value inner = math("muli", math("remui", at.line, chunk), each);
  for (std::int64_t place = 0; place < chunk; ++place) {
    Value one = vector::ExtractOp::create(builder, loc, value, place);
    Value to = chunkPlace(math("addi", first, place), number, length);
    leave(one, arith::AddIOp::create(builder, loc, to, inner), each);
  }
}

/// What lies in a factor's tile of a stage, at a place in bytes.
Value EntryBuilder::fromStage(Type type, Value place, Value stage, bool isRight,
                              std::int64_t bytes) {
  place = arith::AddIOp::create(builder, loc, place, stage);
  if (isRight)
    place = math("addi", place, leftBytes(plan));
  return LLVM::LoadOp::create(builder, loc, type, inStages(place), bytes);
}

/// A lane's piece of a line, where lines run along the depth.
Value EntryBuilder::alongLine(bool isRight, Value line, Value depth,
                              Value stage) {
  std::int64_t chunk = perChunk(plan), each = elementBytes(plan);
  std::int64_t most = std::min<std::int64_t>(layout.run, chunk);
  auto type = VectorType::get({most}, plan.product->left.getType());
  Emitter::Values parts;
  for (std::int64_t step = 0; step < layout.run; step += most) {
    Value at = math("addi", depth, step);
    Value place = chunkPlace(line, math("divui", at, chunk), depthOf(plan));
    Value inner = math("muli", math("remui", at, chunk), each);
    place = arith::AddIOp::create(builder, loc, place, inner);
    parts.push_back(fromStage(type, place, stage, isRight, each * most));
  }
  return joined(parts);
}

/// The same where each line has one step of the depth.
Value EntryBuilder::acrossLines(bool isRight, Value line, Value depth,
                                Value stage) {
  Type element = plan.product->left.getType();
  std::int64_t chunk = perChunk(plan), each = elementBytes(plan);
  Value number = math("divui", line, chunk);
  Value inner = math("muli", math("remui", line, chunk), each);
  Emitter::Values parts;
  for (unsigned step = 0; step < layout.run; ++step) {
    Value place =
        chunkPlace(math("addi", depth, step), number, linesOf(plan, isRight));
    place = arith::AddIOp::create(builder, loc, place, inner);
    parts.push_back(fromStage(element, place, stage, isRight, each));
  }
  auto type = VectorType::get({std::int64_t(layout.run)}, element);
  return vector::FromElementsOp::create(builder, loc, type, parts);
}

/// A lane's pieces of sixteen lines from `first` on, from `depth` on. On AMD
/// lines always run along the depth.
Emitter::Values EntryBuilder::bufferedFragment(const Tile &tile, bool isRight,
                                               Value first, std::int64_t depth,
                                               Value stage) {
  bool alongDepth =
      !device.hasAsyncCopies() || (isRight ? plan.product->rightSide.alongDepth
                                           : plan.product->leftSide.alongDepth);
  Value line = arith::AddIOp::create(builder, loc, first, tile.lane.line);
  Emitter::Values pieces;
  for (MatrixLayout::Place place : isRight ? layout.right : layout.left) {
    Value at = math("addi", line, place.first);
    Value step = math("addi", tile.lane.depth, depth + place.second);
    pieces.push_back(alongDepth ? alongLine(isRight, at, step, stage)
                                : acrossLines(isRight, at, step, stage));
  }
  return pieces;
}

/// The sums of a block's tile. A stage is written while the other one is read;
/// the barrier is behind both.
Emitter::Values EntryBuilder::bufferedSums(Frame &frame, const Tile &tile,
                                           Emitter::Values sums) {
  SmallVector<Chunk> chunks;
  auto load = [&](Frame &body, Value depth) {
    Emitter::Values loaded;
    chunks.clear();
    for (bool isRight : {false, true})
      for (std::int64_t number = 0; number < chunksOf(plan, isRight);
           ++number) {
        chunks.push_back(chunkOf(body, isRight,
                                 isRight ? tile.blockColumn : tile.blockRow,
                                 depth, number));
        loaded.push_back(loadChunk(chunks.back()));
      }
    return loaded;
  };
  auto leave = [&](Frame &body, ValueRange loaded, Value stage) {
    emitter.in(body);
    for (auto [chunk, value] : llvm::zip(chunks, loaded))
      leaveChunk(chunk, value, stage);
    device.barrier(loc);
  };
  Value depth = emitter.extent(frame, plan.product->depth);
  Value zero = emitter.constant(frame, 0);
  Value step = emitter.constant(frame, depthOf(plan));
  Emitter::Values first = load(frame, zero);
  leave(frame, first, short32(0));
  emitter.in(frame);
  std::size_t count = sums.size();
  sums.push_back(short32(0));
  auto loop =
      scf::ForOp::create(emitter.in(frame), loc, zero, depth, step, sums);
  Operation *anchor = std::exchange(frame.anchor, loop);
  Frame body = Frame::inside(frame, loop.getBody());
  Emitter::Values now(loop.getRegionIterArgs());
  Value read = now.pop_back_val();
  Value ahead = arith::AddIOp::create(emitter.in(body), loc,
                                      loop.getInductionVar(), step);
  Emitter::Values next = load(body, ahead);
  multiplyStage(body, tile, read, now);
  emitter.in(body);
  Value write =
      arith::SubIOp::create(builder, loc, short32(stageBytes(plan)), read);
  leave(body, next, write);
  now.push_back(write);
  scf::YieldOp::create(emitter.in(body), loc, now);
  frame.anchor = anchor;
  return Emitter::Values(loop.getResults().take_front(count));
}
