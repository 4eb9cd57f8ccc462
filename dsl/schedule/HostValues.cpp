// Sizes, and arithmetic and comparisons of them.
#include "dsl/schedule/HostValues.h"

#include "dsl/cost/Parameters.h"
#include "dsl/dialect/ScheduleOps.h"
#include "dsl/schedule/StepAlong.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

HostValues::HostValues(const KernelModel &model, Block &block)
    : model(model), builder(model.kernel.getContext()),
      loc(model.kernel.getLoc()) {
  builder.setInsertionPointToEnd(&block);
}

Value HostValues::number(std::int64_t number) {
  Value &made = numbers[number];
  if (!made)
    made = arith::ConstantOp::create(builder, loc,
                                     builder.getI64IntegerAttr(number));
  return made;
}

Value HostValues::extent(unsigned axis) {
  Value &made = sizes[axis];
  if (made)
    return made;
  qn::AxisOp local = model.localAxis(axis);
  if (!local)
    return made = qn::SizeOp::create(builder, loc, builder.getI64Type(),
                                     model.nameOf(axis));
  Value length = subtract(local.getUpper(), local.getLower());
  return sizes[axis] = larger(length, number(0));
}

Value HostValues::extentOf(ArrayRef<unsigned> axes) {
  Value product;
  for (unsigned axis : axes)
    product = product ? multiply(product, extent(axis)) : extent(axis);
  return product ? product : number(1);
}

Value HostValues::someExtent(unsigned axis) {
  qn::AxisOp local = model.localAxis(axis);
  if (local &&
      (!qn::isOfHost(local.getLower()) || !qn::isOfHost(local.getUpper())))
    return number(cost::someWindows);
  return larger(extent(axis), number(1));
}

namespace {
struct HostStep {
  using Number = Value;
  HostValues &host;

  Value zero() { return host.number(0); }
  Value one() { return host.number(1); }
  Value add(Value a, Value b) { return host.add(a, b); }
  Value subtract(Value a, Value b) { return host.subtract(a, b); }
  std::optional<Value> scale(Value step, Value by) {
    if (!qn::isOfHost(by))
      return std::nullopt;
    return host.multiply(step, by);
  }
};
} // namespace

std::optional<Value> HostValues::stepAlong(Value value, unsigned axis) {
  return StepAlong<HostStep>(model, axis, {*this}).of(value);
}

Value HostValues::add(Value a, Value b) {
  if (matchPattern(a, m_Zero()))
    return b;
  return matchPattern(b, m_Zero())
             ? a
             : Value(arith::AddIOp::create(builder, loc, a, b));
}

Value HostValues::subtract(Value a, Value b) {
  return matchPattern(b, m_Zero())
             ? a
             : Value(arith::SubIOp::create(builder, loc, a, b));
}

Value HostValues::multiply(Value a, Value b) {
  if (matchPattern(a, m_One()))
    return b;
  return matchPattern(b, m_One())
             ? a
             : Value(arith::MulIOp::create(builder, loc, a, b));
}

Value HostValues::divide(Value a, Value b) {
  return arith::DivUIOp::create(builder, loc, a, b);
}

Value HostValues::smaller(Value a, Value b) {
  return arith::MinSIOp::create(builder, loc, a, b);
}

Value HostValues::larger(Value a, Value b) {
  return arith::MaxSIOp::create(builder, loc, a, b);
}

Value HostValues::choose(Value condition, Value yes, Value no) {
  return arith::SelectOp::create(builder, loc, condition, yes, no);
}

Value HostValues::parts(Value all, Value size) {
  return divide(add(all, subtract(size, number(1))), size);
}

Value HostValues::compare(arith::CmpIPredicate how, Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, how, a, b);
}

Value HostValues::isBelow(Value a, Value b) {
  return compare(arith::CmpIPredicate::slt, a, b);
}

Value HostValues::isAtLeast(Value a, Value b) {
  return compare(arith::CmpIPredicate::sge, a, b);
}

Value HostValues::isAtMost(Value a, std::int64_t b) {
  return compare(arith::CmpIPredicate::sle, a, number(b));
}

Value HostValues::isEqual(Value a, std::int64_t b) {
  return compare(arith::CmpIPredicate::eq, a, number(b));
}

Value HostValues::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AndIOp::create(builder, loc, a, b);
}

Value HostValues::either(Value a, Value b) {
  if (!a || !b)
    return Value();
  return arith::OrIOp::create(builder, loc, a, b);
}

Value HostValues::holds(ArrayAttr extents) {
  Value all;
  for (auto each : extents.getAsRange<qn::ExtentsAttr>()) {
    SmallVector<unsigned> axes;
    for (StringAttr axis : each.getAxes())
      axes.push_back(model.axisOf(axis));
    Value count = extentOf(axes);
    all = both(all, isAtLeast(count, each.getLeast()));
    if (each.getMost() >= 0)
      all = both(all, isAtMost(count, each.getMost()));
  }
  return all;
}

/// Opposites are known to each other: what is negated twice is what it was.
Value HostValues::negated(Value a) {
  if (Value known = opposites.lookup(a))
    return known;
  Value made;
  if (auto compared = a.getDefiningOp<arith::CmpIOp>()) {
    made = compare(arith::invertPredicate(compared.getPredicate()),
                   compared.getLhs(), compared.getRhs());
  } else {
    if (!yes)
      yes = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
    made = arith::XOrIOp::create(builder, loc, a, yes);
  }
  opposites[a] = made;
  opposites[made] = a;
  return made;
}
