// A product for a block of NVIDIA's threads: tiles of both factors are copied
// to shared memory while the ones before are multiplied.
#include "dsl/gpu/Entry.h"
#include "dsl/gpu/Stages.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

using namespace quern::stages;

Value EntryBuilder::short32(std::int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI32IntegerAttr(value));
}

Value EntryBuilder::math(StringRef name, Value a, std::int64_t other) {
  Value b = arith::ConstantOp::create(
      builder, loc, builder.getIntegerAttr(a.getType(), other));
  OperationState state(loc, ("arith." + name).str());
  state.addOperands({a, b});
  state.addTypes(a.getType());
  return builder.create(state)->getResult(0);
}

/// Where a chunk lies in a tile, in bytes: neighbours, of `length` elements,
/// are a line; lines turn so that those read at once meet no bank twice.
Value EntryBuilder::chunkPlace(Value line, Value number, std::int64_t length) {
  bool alongDepth = length == depthOf(plan);
  // Eight lines one behind the other, or every so many that a lane has.
  std::int64_t across = plan.lineBytes / chunkBytes;
  std::int64_t apart = plan.product->byLanes ? perChunk(plan) : 8 / across;
  Value turn = alongDepth ? math("andi", math("divui", line, apart), across - 1)
                          : math("andi", line, 7);
  Value place = arith::XOrIOp::create(builder, loc, number, turn);
  place = math("muli", place, chunkBytes);
  line = math("muli", line, elementBytes(plan) * length);
  return arith::AddIOp::create(builder, loc, line, place);
}

/// Where an operand's element lies, in the memory of tensors.
Value EntryBuilder::elementAt(Frame &body, BlockArgument operand, unsigned axis,
                              Value row, Value step) {
  Frame from = Frame::inside(body, body.block);
  from.anchor = body.anchor;
  from.bind(Binding{.axis = axis, .position = row, .shared = true});
  from.bind(
      Binding{.axis = plan.product->depth, .position = step, .shared = true});
  AxisSet axes = model.axesOf(cast<qn::OperandType>(operand.getType()));
  Value at = emitter.address(from, operand, axes, 0);
  emitter.in(from);
  Type global = LLVM::LLVMPointerType::get(builder.getContext(), 1);
  return LLVM::AddrSpaceCastOp::create(builder, loc, global, at);
}

/// The same number, which is not negative, in so many bits.
static Value withBits(OpBuilder &b, Value value, unsigned bits) {
  Type type = b.getIntegerType(bits);
  unsigned now = value.getType().getIntOrFloatBitWidth();
  if (now == bits)
    return value;
  if (now > bits)
    return arith::TruncIOp::create(b, value.getLoc(), type, value);
  return arith::ExtUIOp::create(b, value.getLoc(), type, value);
}

/// Chunk `which` of this thread, of a factor's tile at `corner` and `depth`.
EntryBuilder::Chunk EntryBuilder::chunkOf(Frame &body, bool isRight,
                                          Value corner, Value depth,
                                          std::int64_t which) {
  const MatrixProduct::Side &side =
      isRight ? plan.product->rightSide : plan.product->leftSide;
  unsigned axis = isRight ? plan.product->column : plan.product->row;
  Value end = emitter.extent(body, plan.product->depth);
  Value rows = emitter.extent(body, axis);
  OpBuilder &b = emitter.in(body);
  std::int64_t chunk = perChunk(plan), length = lineOf(isRight);
  std::int64_t across = length / chunk, lines = plan.threads / across;
  assert(plan.threads % across == 0 && "threads copy whole lines at a time");
  Chunk made{
      .isRight = isRight, .alongDepth = side.alongDepth, .length = length};
  // A thread's chunks stand below each other: their places differ by numbers.
  made.line = math("addi", math("divui", team.thread, across), which * lines);
  made.number = math("remui", team.thread, across);
  end = fit(end), rows = fit(rows);
  corner = fit(corner), depth = fit(depth);
  Value first = fit(math("muli", made.number, chunk));
  Value line = fit(made.line);
  Value row =
      arith::AddIOp::create(b, loc, side.alongDepth ? line : first, corner);
  Value step =
      arith::AddIOp::create(b, loc, side.alongDepth ? first : line, depth);
  // Along the near axis some of a chunk may be inside; the other one decides
  // about all of it. Rows that are not there are any: they are not stored.
  Value left = arith::SubIOp::create(b, loc, side.alongDepth ? end : rows,
                                     side.alongDepth ? step : row);
  Value none = number(0);
  left = math("minsi", math("maxsi", left, 0), chunk);
  auto below = [&](Value value, Value bound) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, value,
                                 bound);
  };
  Value rowThere = below(row, rows), stepThere = below(step, end);
  if (!side.alongDepth)
    left = arith::SelectOp::create(b, loc, stepThere, left, none);
  row = arith::SelectOp::create(b, loc, rowThere, row, none);
  step = arith::SelectOp::create(b, loc, stepThere, step, none);
  made.left = withBits(b, left, 32);
  made.source = elementAt(body, side.operand, axis, withBits(b, row, 64),
                          withBits(b, step, 64));
  return made;
}

/// Begins to copy it, at once or, where that is not aligned, element by
/// element; what lies behind an end becomes zero.
void EntryBuilder::copyChunk(const Chunk &at, Value stage) {
  Value place = arith::AddIOp::create(
      builder, loc, chunkPlace(at.line, at.number, at.length), stage);
  if (at.isRight)
    place = math("addi", place, leftBytes(plan));
  Value to = inStages(place);
  std::int64_t each = elementBytes(plan);
  if (emitter.aligned)
    return device.copyAsync(loc, to, at.source, math("muli", at.left, each),
                            chunkBytes);
  for (std::int64_t number = 0; number < perChunk(plan); ++number) {
    Value left = math("minsi", math("maxsi", at.left, number), number + 1);
    left = math("muli", math("subi", left, number), each);
    device.copyAsync(loc, byteOf(to, each * number),
                     byteOf(at.source, each * number), left, unsigned(each));
  }
}

/// So many bytes further.
Value EntryBuilder::byteOf(Value pointer, std::int64_t bytes) {
  return LLVM::GEPOp::create(
      builder, loc, pointer.getType(), builder.getI8Type(), pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<std::int32_t>(bytes)});
}

/// Neighbours in a line of a factor's tile.
std::int64_t EntryBuilder::lineOf(bool isRight) const {
  const MatrixProduct &product = *plan.product;
  bool alongDepth = (isRight ? product.rightSide : product.leftSide).alongDepth;
  return alongDepth ? depthOf(plan) : linesOf(plan, isRight);
}

/// What a thread copies is found where it is copied: beside fragments there are
/// no registers to keep that in.
void EntryBuilder::copyChunks(Frame &body, const Tile &tile, Value depth,
                              Value stage) {
  const Value thread = team.thread;
  emitter.in(body);
  if (byFragments())
    team.thread = device.fromHere(loc, thread);
  for (bool isRight : {false, true})
    for (std::int64_t number = 0; number < chunksOf(plan, isRight); ++number)
      copyChunk(chunkOf(body, isRight,
                        isRight ? tile.blockColumn : tile.blockRow, depth,
                        number),
                stage);
  team.thread = thread;
}

void EntryBuilder::copyStage(Frame &body, const Tile &tile, Value depth,
                             Value stage) {
  copyChunks(body, tile, depth, stage);
  emitter.in(body);
  device.commitCopies(loc);
}

/// The same, if there is anything to copy: behind the turns that copy whole
/// stages there rarely is.
void EntryBuilder::copyLater(Frame &body, const Tile &tile, Value depth,
                             Value stage) {
  if (!byFragments())
    return copyStage(body, tile, depth, stage);
  Value end = emitter.extent(body, plan.product->depth);
  OpBuilder &b = emitter.in(body);
  Value isThere =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, depth, fit(end));
  auto branch = scf::IfOp::create(b, loc, isThere, false);
  Operation *anchor = std::exchange(body.anchor, branch);
  Frame inside = Frame::inside(body, branch.thenBlock());
  inside.anchor = branch.thenBlock()->getTerminator();
  copyChunks(inside, tile, depth, stage);
  body.anchor = anchor;
  emitter.in(body);
  device.commitCopies(loc);
}

/// Four fragments' registers of a factor: sixteen rows of `part`, as `first` of
/// them begins, sixteen steps of the depth from `depth` on. Lines sixteen
/// apart turn alike, so that their places differ by numbers.
Emitter::Values EntryBuilder::stagedFragment(bool isRight, Value first,
                                             unsigned part, std::int64_t depth,
                                             Value stage) {
  bool alongDepth = isRight ? plan.product->rightSide.alongDepth
                            : plan.product->leftSide.alongDepth;
  Value low = math("andi", team.lane, 7);
  Value middle = math("andi", math("shrui", team.lane, 3), 1);
  Value high = math("shrui", team.lane, 4);
  // Left: rows, then the depth; right: the depth, then columns.
  Value rowHalf = isRight ? high : middle, depthHalf = isRight ? middle : high;
  OpBuilder &b = builder;
  std::int64_t chunk = perChunk(plan), beside = std::int64_t(matrixSize) * part;
  std::int64_t further = alongDepth ? beside : depth;
  Value line, number;
  if (alongDepth) {
    line = arith::AddIOp::create(b, loc, first, low);
    line = arith::AddIOp::create(b, loc, line, math("muli", rowHalf, chunk));
    number = math("addi", depthHalf, depth / chunk);
  } else {
    line = arith::AddIOp::create(b, loc, low, math("muli", depthHalf, chunk));
    number =
        arith::AddIOp::create(b, loc, math("divui", first, chunk), rowHalf);
    number = math("addi", number, beside / chunk);
  }
  Value place = chunkPlace(line, number, lineOf(isRight));
  place = arith::AddIOp::create(b, loc, stage, place);
  std::int64_t behind = further * lineOf(isRight) * elementBytes(plan) +
                        (isRight ? leftBytes(plan) : 0);
  return device.loadMatrices(loc, byteOf(inStages(place), behind), !alongDepth,
                             plan.product->left.getType());
}

/// Multiplies the tiles of a stage.
void EntryBuilder::multiplyStage(Frame &body, const Tile &tile, Value stage,
                                 Emitter::Values &sums) {
  emitter.in(body);
  if (plan.product->byLanes)
    return multiplyLanes(tile, stage, sums);
  for (std::int64_t depth = 0; depth < depthOf(plan); depth += layout.depth) {
    SmallVector<Emitter::Values> left, right;
    auto read = [&](bool isRight, Value first, unsigned part) {
      if (byFragments())
        return stagedFragment(isRight, first, part, depth, stage);
      first = math("addi", first, std::int64_t(matrixSize) * part);
      return bufferedFragment(tile, isRight, first, depth, stage);
    };
    for (unsigned part = 0; part < rowParts(); ++part)
      left.push_back(read(false, tile.warpRow, part));
    for (unsigned part = 0; part < columnParts(); ++part)
      right.push_back(read(true, tile.warpColumn, part));
    multiplyAll(left, right, sums);
  }
}

void EntryBuilder::makeStages(ModuleOp module, StringRef name) {
  stagesName = (name + "_stages").str();
  share(module, stagesName,
        (device.hasAsyncCopies() ? plan.stages : 2) * stageBytes(plan));
}

/// Begins to copy the stages in front.
void EntryBuilder::copyFirst(Frame &frame, const Tile &tile) {
  for (std::int64_t stage = 0; stage + 1 < plan.stages; ++stage) {
    emitter.in(frame);
    Value at = number(stage * depthOf(plan));
    copyStage(frame, tile, at, short32(stage * stageBytes(plan)));
  }
}

/// The sums of a block's tile: copies run `stages - 1` steps ahead. A stage is
/// written again only behind the barrier that all reach after reading it.
Emitter::Values EntryBuilder::stagedSums(Frame &frame, const Tile &tile,
                                         Emitter::Values sums) {
  Value depth = emitter.extent(frame, plan.product->depth);
  std::int64_t count = plan.stages;
  emitter.in(frame);
  std::size_t sumCount = sums.size();
  sums.push_back(short32(0));
  sums.push_back(short32((count - 1) * stageBytes(plan)));
  Value begin = number(0);
  if (byFragments())
    begin = steadySums(frame, tile, sums);
  else
    copyFirst(frame, tile);
  OpBuilder &b = emitter.in(frame);
  auto loop = scf::ForOp::create(b, loc, begin, fit(depth),
                                 number(depthOf(plan)), sums);
  Operation *anchor = std::exchange(frame.anchor, loop);
  Frame body = Frame::inside(frame, loop.getBody());
  Emitter::Values now(loop.getRegionIterArgs());
  Value write = now.pop_back_val(), read = now.pop_back_val();
  emitter.in(body);
  device.awaitCopies(loc, unsigned(count - 2));
  device.barrier(loc);
  emitter.in(body);
  Value later =
      math("addi", loop.getInductionVar(), (count - 1) * depthOf(plan));
  copyLater(body, tile, later, write);
  multiplyStage(body, tile, read, now);
  emitter.in(body);
  now.append({stageBehind(read), stageBehind(write)});
  scf::YieldOp::create(emitter.in(body), loc, now);
  frame.anchor = anchor;
  emitter.in(frame);
  device.awaitCopies(loc, 0);
  device.barrier(loc);
  return Emitter::Values(loop.getResults().take_front(sumCount));
}

/// Where the tile of this warp begins: a block's warps stand two below each
/// other.
void EntryBuilder::findWarpTile(Frame &frame, Tile &tile, Value rows,
                                Value columns) {
  tile.blockRow = tile.firstRow = rows;
  tile.blockColumn = tile.firstColumn = columns;
  if (!plan.staged)
    return;
  OpBuilder &b = emitter.in(frame);
  std::int64_t size = matrixSize;
  tile.warpRow =
      math("muli", math("remui", team.warp, 2), size * warpRowParts());
  tile.warpColumn =
      math("muli", math("divui", team.warp, 2), size * columnParts());
  auto from = [&](Value corner, Value inside) -> Value {
    inside = arith::ExtUIOp::create(b, loc, b.getI64Type(), inside);
    return arith::AddIOp::create(b, loc, corner, inside);
  };
  tile.firstRow = from(rows, tile.warpRow);
  tile.firstColumn = from(columns, tile.warpColumn);
}
