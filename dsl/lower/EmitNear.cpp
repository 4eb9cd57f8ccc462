// Loads at computed positions that stay close to the first lane's: borders,
// mirrors, repetition. What lies around it is read whole and permuted, where a
// look at all positions says that they are that close.
#include "dsl/lower/Emitter.h"
#include "dsl/lower/Origin.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// The instruction that picks lanes out of two registers of a type; empty where
/// there is none.
static StringRef permutation(const TargetInfo &target, Type element,
                             unsigned lanes) {
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  bool whole = target.vectorBytes == 64 && lanes * bits == 512;
  bool half = target.vectorBytes == 64 && lanes * bits == 256 && bits == 16;
  if ((!whole && !half) || !target.hasMask ||
      target.triple.rfind("x86_64", 0) != 0)
    return {};
  if (bits == 16)
    return half ? "llvm.x86.avx512.vpermi2var.hi.256"
                : "llvm.x86.avx512.vpermi2var.hi.512";
  if (bits == 32)
    return isa<FloatType>(element) ? "llvm.x86.avx512.vpermi2var.ps.512"
                                   : "llvm.x86.avx512.vpermi2var.d.512";
  if (bits == 64)
    return isa<FloatType>(element) ? "llvm.x86.avx512.vpermi2var.pd.512"
                                   : "llvm.x86.avx512.vpermi2var.q.512";
  return {};
}

/// Which index of a load moves, along neighbours, and is alone in it; -1 where
/// lanes may be anywhere.
int Emitter::nearIndex(qn::LoadOp load, const Binding &lane) const {
  auto type = cast<qn::OperandType>(load.getTensor().getType());
  int found = -1;
  if (permutation(target, load.getType(), lane.lanes).empty() ||
      type.getElementType() != load.getType() ||
      load->getBlock() != &model.kernel.block())
    return found;
  for (auto [number, index] : llvm::enumerate(load.getIndices())) {
    if (!hasAxis(model.axesOf(index), lane.axis))
      continue;
    if (found >= 0 || type.getStrides()[number] != StrideClass::One ||
        isOwnPosition(index, type.getAxes()[number]) ||
        !originOf(index).computed)
      return -1;
    found = number;
  }
  return found;
}

/// Whether looking at all lanes costs less than looking at the ends of a vector
/// with scalar code.
bool Emitter::looksAtAll(const Frame &frame, qn::LoadOp load) const {
  const Binding *lane = laneOf(frame, frame.bound);
  int moving = lane ? nearIndex(load, *lane) : -1;
  if (moving < 0)
    return false;
  Origin origin = originOf(load.getIndices()[moving]);
  return origin.bends && !origin.divides;
}

/// The lanes of two registers read from the place `base` of the moving index
/// on, in the order of `offsets`. Where no lane is `good` the other indices may
/// be outside, and nothing is read.
Value Emitter::permuted(Frame &frame, qn::LoadOp load, unsigned moving,
                        Values indices, Value base, Value offsets, Value good) {
  auto type = cast<qn::OperandType>(load.getTensor().getType());
  Access access{load, cast<BlockArgument>(load.getTensor()), load.getIndices(),
                load.getPart()};
  unsigned lanes = cast<VectorType>(offsets.getType()).getNumElements();
  Location loc = load.getLoc();
  indices[moving] = base;
  Value size = extent(frame, model.axisOf(type.getAxes()[moving]));
  Value width = constant(frame, lanes),
        most = constant(frame, std::int64_t(2) * lanes);
  Value pointer = elementPointer(frame, access, indices);
  Value behind = advance(frame, type, pointer, width);
  if (model.readsOnce(load, laneOf(frame, frame.bound)->axis))
    for (Value place : {pointer, behind})
      fetchForMasked(frame, place);
  OpBuilder &b = in(frame);
  Value left = arith::MinSIOp::create(
      b, loc, arith::SubIOp::create(b, loc, size, base), most);
  Value zero = constant(frame, 0);
  if (good) {
    Value some = vector::ReductionOp::create(in(frame), loc,
                                             vector::CombiningKind::OR, good);
    left = arith::SelectOp::create(b, loc, some, left, zero);
  }
  Value less = arith::SubIOp::create(b, loc, left, width);
  Value parts[] = {read(frame, pointer, load.getType(), lanes,
                        laneMask(frame, zero, left, lanes), Value()),
                   read(frame, behind, load.getType(), lanes,
                        laneMask(frame, zero, less, lanes), Value())};
  in(frame);
  auto result = cast<VectorType>(parts[0].getType());
  unsigned bits = load.getType().getIntOrFloatBitWidth();
  VectorType integers = result.clone(b.getIntegerType(bits));
  if (bits < 64)
    offsets = arith::TruncIOp::create(b, loc, integers, offsets);
  bool isBits = bits == 16 && result != integers;
  if (isBits)
    for (Value &part : parts)
      part = arith::BitcastOp::create(b, loc, integers, part);
  StringRef name = permutation(target, load.getType(), lanes);
  Value made = LLVM::CallIntrinsicOp::create(
                   b, loc, parts[0].getType(), b.getStringAttr(name),
                   ValueRange{parts[0], offsets, parts[1]})
                   .getResult(0);
  return isBits ? arith::BitcastOp::create(b, loc, result, made) : made;
}

/// Reads lanes close to the first one by whole vectors, and others, where the
/// positions say so, one by one. Null where no look at them is worth it.
Value Emitter::nearby(Frame &frame, qn::LoadOp load, const Binding &lane,
                      ValueRange indices, Value good, Value otherwise,
                      llvm::function_ref<Value(Frame &)> apart) {
  int moving = nearIndex(load, lane);
  if (moving < 0 || !isa<VectorType>(indices[moving].getType()))
    return Value();
  Location loc = load.getLoc();
  Value at = indices[moving];
  Value zero = constant(frame, 0), width = constant(frame, lane.lanes);
  Value reach = constant(frame, std::int64_t(2) * lane.lanes);
  OpBuilder &b = in(frame);
  Value first = vector::ExtractOp::create(b, loc, at, 0);
  Value base = arith::SubIOp::create(b, loc, first, width);
  base = arith::MaxSIOp::create(b, loc, base, zero);
  Value offsets =
      arith::SubIOp::create(b, loc, at, widen(frame, base, lane.lanes));
  Value close = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                      offsets, widen(frame, reach, lane.lanes));
  if (good) {
    Value ones =
        arith::ConstantOp::create(b, loc, b.getOneAttr(good.getType()));
    Value unread = arith::XOrIOp::create(b, loc, good, ones);
    close = arith::OrIOp::create(b, loc, close, unread);
  }
  Value all =
      vector::ReductionOp::create(b, loc, vector::CombiningKind::AND, close);
  Type result = VectorType::get({std::int64_t(lane.lanes)}, load.getType());
  auto branch = scf::IfOp::create(b, loc, TypeRange{result}, all, true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  Frame yes = Frame::inside(frame, branch.thenBlock());
  Value whole =
      permuted(yes, load, moving, Values(indices), base, offsets, good);
  in(yes);
  if (good && !otherwise)
    otherwise = arith::ConstantOp::create(b, loc, b.getZeroAttr(result));
  if (good)
    whole = arith::SelectOp::create(b, loc, good, whole, otherwise);
  scf::YieldOp::create(b, loc, whole);
  Frame no = Frame::inside(frame, branch.elseBlock());
  Value single = apart(no);
  scf::YieldOp::create(in(no), loc, single);
  frame.anchor = anchor;
  return branch.getResult(0);
}
