// What a kernel finds wrong while it runs: checked positions out of range, and
// what its text requires.
#include "dsl/gpu/Device.h"
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

static unsigned lanesOf(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type ? type.getNumElements() : 1;
}

/// The lanes that are there and ask, where `good` does not hold.
Value Emitter::badLanes(Frame &frame, const Suspect &suspect, Value good) {
  Location loc = suspect.op->getLoc();
  OpBuilder &b = in(frame);
  Value ones = arith::ConstantOp::create(b, loc, b.getOneAttr(good.getType()));
  Value bad = arith::XOrIOp::create(b, loc, good, ones);
  if (const Binding *lane = laneOf(frame, frame.bound))
    if (lane->mask && lanesOf(bad) == lane->lanes)
      bad = arith::AndIOp::create(b, loc, bad, lane->mask);
  for (const Frame *at = &frame; at; at = at->parent) {
    bad = both(frame, both(frame, bad, at->active), at->arm);
    if (at->guards)
      bad = both(frame, bad, at->inRange);
  }
  return both(frame, bad, suspect.when);
}

/// Notes in the error record of the launch where `good` does not hold.
void Emitter::report(Frame &frame, const Suspect &suspect, Value good) {
  Value record = word(frame, Packet::errorWord,
                      LLVM::LLVMPointerType::get(builder.getContext()));
  Value number = constant(frame, suspect.site), index = suspect.index;
  Location loc = suspect.op->getLoc();
  Value bad = badLanes(frame, suspect, good);
  OpBuilder &b = in(frame);
  if (lanesOf(bad) > 1)
    index = widen(frame, index, lanesOf(bad));
  Value any = bad;
  if (lanesOf(bad) > 1)
    any = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, bad);
  auto branch = scf::IfOp::create(b, loc, any, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  if (lanesOf(bad) > 1)
    index = vector::ReductionOp::create(
        b, loc, vector::CombiningKind::MAXUI,
        arith::SelectOp::create(
            b, loc, bad, index,
            arith::ConstantOp::create(b, loc, b.getZeroAttr(index.getType()))));
  Value parts[] = {number, index, suspect.extent};
  if (target.isGpu())
    return claimError(b, record, parts);
  for (auto [offset, value] : llvm::enumerate(parts)) {
    Value at = LLVM::GEPOp::create(
        b, loc, record.getType(), b.getI64Type(), record,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
    LLVM::StoreOp::create(b, loc, value, at, 8);
  }
}

/// The value itself, behind a note where the condition does not hold.
Value Emitter::required(Frame &frame, qn::RequireOp op, Values operands) {
  bool isIndex = bool(op.getExtent());
  std::int64_t site =
      sites.of(op, 0, op.getText(),
               isIndex ? ErrorSite::Kind::Index : ErrorSite::Kind::Required);
  Value index = constant(frame, 0), extent = index;
  if (isIndex) {
    index = operands[0], extent = operands[2];
    if (lanesOf(extent) > 1) // an axis' one, the same for all
      extent = vector::ExtractOp::create(in(frame), op.getLoc(), extent, 0);
  }
  report(frame, {op, site, index, extent}, operands[1]);
  return operands[0];
}
