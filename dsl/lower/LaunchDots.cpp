// Tiles of sums along the lanes, whose results are finished in vectors.
#include "dsl/lower/Launch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// A sum is one element where lanes run along it. What is made of the sums of
/// a tile is made of vectors of them, unless they are only stored, or what
/// reads them reads sums of fewer axes too.
void LaunchBuilder::findDots() {
  if (!launch.dots || target.isGpu())
    return;
  SmallVector<Value> sums;
  for (qn::ReduceOp reduction : model.reductions) {
    if (!emitter.wanted.contains(reduction))
      continue;
    for (Value result : reduction.getResults()) {
      if (model.axesOf(reduction.getAxes()) != axisBit(launch.lane) ||
          model.axesOf(result) != launch.parallel ||
          result.getType().getIntOrFloatBitWidth() < 32)
        return;
      sums.push_back(result);
    }
  }
  bool isFinished = llvm::any_of(launch.stores, [&](qn::StoreOp store) {
    return !llvm::is_contained(sums, store.getValue());
  });
  bool isTile = llvm::all_of(launch.stores, [&](qn::StoreOp store) {
    return model.factsOf(store).axes == launch.parallel;
  });
  if (isFinished && isTile)
    for (Value sum : sums)
      dots.push_back({sum, Value()});
}

void LaunchBuilder::makeDotBuffers(Frame &root) {
  if (dots.empty())
    return;
  std::int64_t size = launch.axes.back().tile * launch.axes.end()[-2].tile;
  // A vector that begins in the last line reads behind it.
  for (Dot &dot : dots)
    dot.buffer =
        emitter.room(root, dot.sum.getType(), size + target.vectorBytes);
}

/// One value, or several as a vector.
Value LaunchBuilder::together(Frame &frame, ValueRange values) {
  if (values.size() == 1)
    return values.front();
  auto type =
      VectorType::get({std::int64_t(values.size())}, values.front().getType());
  return vector::FromElementsOp::create(emitter.in(frame), loc, type, values);
}

/// Both loops of the tile twice: one makes the sums, one what is made of them.
void LaunchBuilder::finishDots(Frame &frame, ArrayRef<LoopSpec> loops) {
  AxisSet tile = axisBit(loops[0].plan.axis) | axisBit(loops[1].plan.axis);
  bool turned = schedule.laneAxis(tile, launch) == int(loops[0].plan.axis);
  const LoopSpec &across = loops[turned], &along = loops[!turned];
  std::int64_t side = along.plan.tile;
  auto place = [&, side](Frame &at, const Dot &dot, Value line, Value column) {
    Value by = emitter.constant(at, side);
    OpBuilder &b = emitter.in(at);
    line = arith::MulIOp::create(b, loc, line, by);
    column = arith::SubIOp::create(b, loc, column, along.lower);
    Value offset = arith::AddIOp::create(b, loc, line, column);
    return LLVM::GEPOp::create(b, loc, dot.buffer.getType(), dot.sum.getType(),
                               dot.buffer, ArrayRef<LLVM::GEPArg>{offset});
  };
  Emitter::Values none;
  emitter.nest(frame, loops, none, [&](Frame &at, Emitter::Values &) {
    SmallVector<Copies> columns =
        emitter.copiesOf(at, axisBit(along.plan.axis));
    for (const Dot &dot : dots)
      for (Copies copies : emitter.copiesOf(at, axisBit(across.plan.axis))) {
        Emitter::Values sums;
        for (Copies column : columns)
          sums.push_back(emitter.emit(at, dot.sum, copies | column));
        Value line = emitter.position(at, across.plan.axis, copies);
        line = arith::SubIOp::create(emitter.in(at), loc, line, across.lower);
        Value column = emitter.position(at, along.plan.axis, columns.front());
        emitter.write(at, place(at, dot, line, column), together(at, sums),
                      dot.sum.getType(), Value());
      }
  });
  for (const Dot &dot : dots) {
    Buffered &kept = emitter.buffered[dot.sum];
    kept.rows = {across.plan.axis};
    kept.inner = along.plan.axis;
    kept.first = across.lower;
    kept.pointer = [&](Frame &at, Value line, Value column) {
      return place(at, dot, line, column);
    };
  }
  LoopSpec lines{AxisPlan{.axis = across.plan.axis}, across.lower,
                 across.upper};
  LoopSpec lanes{schedule.innerLoop(along.plan.axis, /*reduces=*/false),
                 along.lower, along.upper};
  lanes.plan.copies = 1;
  emitter.nest(frame, {lines, lanes}, none, [&](Frame &at, Emitter::Values &) {
    emitter.emitStores(at, launch.stores);
  });
  emitter.buffered.clear();
}
