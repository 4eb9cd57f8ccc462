// Flattened positions and what they stand for.
#include "dsl/lower/FlatAxes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

Value FlatAxes::lowest(Frame &frame, unsigned axis) {
  if (lastLower && axis == last())
    return lastLower;
  qn::AxisOp local = model.localAxis(axis);
  return local ? emitter.emit(frame, local.getLower(), 0) : Value();
}

Value FlatAxes::length(Frame &frame, unsigned axis) {
  if (lastCount && axis == last())
    return lastCount;
  qn::AxisOp local = model.localAxis(axis);
  if (!local)
    return emitter.extent(frame, axis);
  Value lower = lowest(frame, axis);
  Value upper = emitter.emit(frame, local.getUpper(), 0);
  Value zero = emitter.constant(frame, 0);
  OpBuilder &b = in(frame);
  Value length = arith::SubIOp::create(b, local.getLoc(), upper, lower);
  return arith::MaxSIOp::create(b, local.getLoc(), length, zero);
}

Value FlatAxes::extent(Frame &frame) {
  Value product = emitter.constant(frame, 1);
  for (unsigned axis : axes) {
    Value size = length(frame, axis);
    product = arith::MulIOp::create(in(frame), size.getLoc(), product, size);
  }
  return product;
}

Value FlatAxes::flattened(Frame &frame) {
  Value flat = emitter.constant(frame, 0);
  for (unsigned axis : axes) {
    Value size = length(frame, axis);
    Value at = frame.find(axis)->position;
    OpBuilder &b = in(frame);
    flat = arith::MulIOp::create(b, size.getLoc(), flat, size);
    flat = arith::AddIOp::create(b, size.getLoc(), flat, at);
  }
  return flat;
}

Emitter::Values FlatAxes::positions(Frame &frame, Value flat) {
  Values result(axes.size());
  for (unsigned number = axes.size(); number-- > 0;) {
    Value at = flat;
    if (number) {
      Value size = length(frame, axes[number]);
      Value one = emitter.constant(frame, 1);
      OpBuilder &b = in(frame);
      Location loc = size.getLoc();
      size = arith::MaxUIOp::create(b, loc, size, one);
      at = arith::RemUIOp::create(b, loc, flat, size);
      flat = arith::DivUIOp::create(b, loc, flat, size);
    }
    if (Value lower = lowest(frame, axes[number]))
      at = arith::AddIOp::create(in(frame), lower.getLoc(), at, lower);
    result[number] = at;
  }
  return result;
}

void FlatAxes::bind(Frame &frame, Value flat) {
  Values where = positions(frame, flat);
  for (auto [axis, at] : llvm::zip(axes, where))
    frame.bind(Binding{.axis = axis, .position = at});
}

void FlatAxes::stretches(Frame &frame, Value lower, Value upper, Stretch body) {
  if (axes.size() == 1) {
    Value first = lower, last = upper;
    if (Value base = lowest(frame, axes[0])) {
      OpBuilder &b = in(frame);
      first = arith::AddIOp::create(b, base.getLoc(), first, base);
      last = arith::AddIOp::create(b, base.getLoc(), last, base);
    }
    return body(frame, first, last, lower);
  }
  Value size = length(frame, axes.back());
  OpBuilder &b = in(frame);
  Location loc = size.getLoc();
  auto loop = scf::WhileOp::create(b, loc, TypeRange{b.getI64Type()},
                                   ValueRange{lower});
  Operation *anchor = std::exchange(frame.anchor, loop);
  Block *test = b.createBlock(&loop.getBefore(), {}, {b.getI64Type()}, {loc});
  Value at = test->getArgument(0);
  Value more =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at, upper);
  scf::ConditionOp::create(b, loc, more, ValueRange{at});
  Block *block = b.createBlock(&loop.getAfter(), {}, {b.getI64Type()}, {loc});
  Frame inner = Frame::inside(frame, block);
  Value flat = block->getArgument(0);
  Values where = positions(inner, flat);
  for (unsigned number = 0; number + 1 < axes.size(); ++number)
    inner.bind(Binding{.axis = axes[number], .position = where[number]});
  Value left = arith::SubIOp::create(in(inner), loc, upper, flat);
  Value end = size;
  if (Value base = lowest(frame, axes.back()))
    end = arith::AddIOp::create(in(inner), loc, end, base);
  Value rest = arith::SubIOp::create(in(inner), loc, end, where.back());
  Value count = arith::MinSIOp::create(in(inner), loc, left, rest);
  Value last = arith::AddIOp::create(in(inner), loc, where.back(), count);
  Value next = arith::AddIOp::create(in(inner), loc, flat, count);
  body(inner, where.back(), last, flat);
  scf::YieldOp::create(in(inner), loc, ValueRange{next});
  frame.anchor = anchor;
}

/// The next position: the last number counts up and carries into the one
/// before.
Emitter::Values FlatAxes::next(Frame &frame, ValueRange now) {
  Values result(now);
  Value carry = emitter.constant(frame, 1);
  for (unsigned number = axes.size(); number-- > 0;) {
    Value size = length(frame, axes[number]);
    Value base = lowest(frame, axes[number]);
    if (!base)
      base = emitter.constant(frame, 0);
    OpBuilder &b = in(frame);
    Location loc = size.getLoc();
    Value sum = arith::AddIOp::create(b, loc, now[number], carry);
    result[number] = sum;
    if (!number)
      break;
    Value end = arith::AddIOp::create(b, loc, base, size);
    Value over =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, sum, end);
    result[number] = arith::SelectOp::create(b, loc, over, base, sum);
    carry = arith::ExtUIOp::create(b, loc, b.getI64Type(), over);
  }
  return result;
}

void FlatAxes::each(Frame &frame, Value lower, Value upper,
                    llvm::function_ref<void(Frame &, Value)> body) {
  Values where;
  if (axes.size() > 1)
    where = positions(frame, lower);
  Value one = emitter.constant(frame, 1);
  Value base = axes.size() == 1 ? lowest(frame, axes[0]) : Value();
  OpBuilder &b = in(frame);
  Location loc = lower.getLoc();
  auto loop = scf::ForOp::create(b, loc, lower, upper, one, where);
  if (where.empty())
    loop.getBody()->getTerminator()->erase();
  Operation *anchor = std::exchange(frame.anchor, loop);
  Frame inner = Frame::inside(frame, loop.getBody());
  Value flat = loop.getInductionVar();
  Values now(loop.getRegionIterArgs());
  if (axes.size() == 1)
    now.push_back(
        base ? Value(arith::AddIOp::create(in(inner), loc, flat, base)) : flat);
  for (auto [axis, at] : llvm::zip(axes, now))
    inner.bind(Binding{.axis = axis, .position = at});
  body(inner, flat);
  if (axes.size() > 1)
    where = next(inner, now);
  scf::YieldOp::create(in(inner), loc, where);
  frame.anchor = anchor;
}

unsigned FlatAxes::bindCopies(Frame &frame, Value flat, unsigned copies) {
  Value one = emitter.constant(frame, 1);
  Value size = extent(frame);
  OpBuilder &b = in(frame);
  Location loc = flat.getLoc();
  Value end = arith::SubIOp::create(b, loc, size, one);
  SmallVector<Values> where;
  for (unsigned copy = 0; copy < copies; ++copy) {
    Value distance = emitter.constant(frame, copy);
    Value at = arith::AddIOp::create(in(frame), loc, flat, distance);
    at = arith::MinUIOp::create(in(frame), loc, at, end);
    where.push_back(positions(frame, at));
  }
  unsigned slot = frame.slots;
  Value zero = emitter.constant(frame, 0);
  for (auto [number, axis] : llvm::enumerate(axes)) {
    Value first = where[0][number];
    // A value of its own: positions of copies are found by it.
    first = arith::AddIOp::create(in(frame), loc, first, zero);
    frame.slots = slot;
    frame.bind(Binding{.axis = axis, .position = first, .copies = copies});
    for (unsigned copy = 1; copy < copies; ++copy)
      frame.values[{first.getAsOpaquePointer(), copy}] = where[copy][number];
  }
  return slot;
}

Value quern::behindStaged(Emitter &emitter, Frame &frame, std::int64_t bytes) {
  constexpr std::int64_t line = 64;
  Value staged = emitter.stagedBytes(frame);
  if (matchPattern(staged, m_Zero()))
    return emitter.constant(frame, bytes);
  Value more = emitter.constant(frame, bytes + line - 1);
  Value whole = emitter.constant(frame, -line);
  OpBuilder &b = emitter.in(frame);
  Value sum = arith::AddIOp::create(b, staged.getLoc(), staged, more);
  return arith::AndIOp::create(b, staged.getLoc(), sum, whole);
}
