// Reads of joined operands, each under the condition that the position lies in
// it: threads of a GPU have positions of their own and no loop to cut.
#include "dsl/schedule/SplitJoined.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;

/// The element of operand `number` where the position lies in it, and `others`
/// elsewhere.
static Value readOne(OpBuilder &b, qn::JoinedOp op, unsigned number,
                     Value others) {
  Location loc = op.getLoc();
  SmallVector<Value> indices;
  Value begin = number
                    ? op.getEnds()[number - 1]
                    : arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
  Value end = op.getEnds()[number], inside;
  for (StringAttr axis : op.getOperandType().getAxes()) {
    Value at = qn::IndexOp::create(b, loc, axis);
    if (axis == op.getAxisAttr()) {
      at = arith::SubIOp::create(b, loc, at, begin);
      Value size = arith::SubIOp::create(b, loc, end, begin);
      inside =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, at, size);
    }
    indices.push_back(at);
  }
  Value none = arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(b.getZeroAttr(op.getType())));
  Value read =
      qn::LoadOp::create(b, loc, op.getType(), op.getTensors()[number], indices,
                         none, inside, /*checked=*/false, op.getPartAttr());
  return others ? arith::SelectOp::create(b, loc, inside, read, others) : read;
}

void quern::splitJoined(qn::RowwiseOp kernel) {
  SmallVector<qn::JoinedOp> all;
  kernel.walk([&](qn::JoinedOp op) { all.push_back(op); });
  for (qn::JoinedOp op : all) {
    OpBuilder b(op);
    Value value;
    for (unsigned number = 0; number < op.getTensors().size(); ++number)
      value = readOne(b, op, number, value);
    op.replaceAllUsesWith(value);
    op.erase();
  }
}
