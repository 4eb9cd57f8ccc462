// Rows of states that rows of operands are added to.
#include "dsl/lower/Columns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

ColumnBuilder::ColumnBuilder(Emitter &emitter, const KernelModel &model,
                             const Columns &columns,
                             ArrayRef<qn::StoreOp> stores,
                             std::int64_t workspaceStart, OpBuilder &builder)
    : emitter(emitter), columns(columns), stores(stores),
      workspaceStart(workspaceStart), builder(builder),
      loc(model.kernel.getLoc()), outer(emitter, model, columns.outer) {
  for (qn::ReduceOp op : columns.members)
    llvm::append_range(types, op->getResultTypes());
}

Value ColumnBuilder::binary(Frame &frame, char op, Value a, Value b) {
  OpBuilder &at = in(frame);
  if (op == '+')
    return arith::AddIOp::create(at, loc, a, b);
  if (op == '/')
    return arith::DivUIOp::create(at, loc, a, b);
  if (op == '<')
    return arith::MinSIOp::create(at, loc, a, b);
  assert(op == '*' && "an operation on positions");
  return arith::MulIOp::create(at, loc, a, b);
}

Value ColumnBuilder::pays(Frame &frame) {
  Value rows = emitter.extent(frame, columns.rows);
  Value least = emitter.constant(frame, columns.worthwhile);
  return arith::CmpIOp::create(in(frame), loc, arith::CmpIPredicate::sge, rows,
                               least);
}

Value ColumnBuilder::parts(Frame &frame) {
  Value more = emitter.constant(frame, columns.partRows - 1);
  Value by = emitter.constant(frame, columns.partRows);
  Value rows = emitter.extent(frame, columns.rows);
  return binary(frame, '/', binary(frame, '+', rows, more), by);
}

/// Eight bytes a state, whatever its type.
Value ColumnBuilder::workspace(Frame &frame) {
  Value count = binary(frame, '*', parts(frame), outer.extent(frame));
  count = binary(frame, '*', count, emitter.extent(frame, columns.lane));
  Value each = emitter.constant(frame, 8 * columns.states());
  Value start = emitter.constant(frame, workspaceStart + 64);
  return binary(frame, '+', binary(frame, '*', count, each), start);
}

Value ColumnBuilder::place(Frame &frame, Value part, unsigned number,
                           Copies copies) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value width = emitter.extent(frame, columns.lane);
  Value row = binary(frame, '*', outer.flattened(frame), parts(frame));
  row = binary(frame, '+', row, part);
  row = binary(frame, '*', row, emitter.constant(frame, columns.states()));
  row = binary(frame, '+', row, emitter.constant(frame, number));
  Value bytes = binary(frame, '*', row, width);
  bytes = binary(frame, '*', bytes, emitter.constant(frame, 8));
  Value base = emitter.word(frame, Packet::workspaceWord, pointer);
  Value start = emitter.constant(frame, workspaceStart);
  bytes = binary(frame, '+', bytes, start);
  base = LLVM::GEPOp::create(in(frame), loc, pointer, builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{bytes});
  Value column = emitter.position(frame, columns.lane, copies);
  Type element = types[number];
  if (element.isInteger(1))
    element = builder.getI8Type();
  return LLVM::GEPOp::create(in(frame), loc, pointer, element, base,
                             ArrayRef<LLVM::GEPArg>{column});
}

Emitter::Values ColumnBuilder::load(Frame &frame, Value part, Copies copies) {
  const Binding *lane = frame.find(columns.lane);
  Values states;
  for (auto [number, type] : llvm::enumerate(types))
    states.push_back(emitter.read(frame, place(frame, part, number, copies),
                                  type, lane->lanes, lane->mask, Value()));
  return states;
}

void ColumnBuilder::save(Frame &frame, Value part, Copies copies,
                         ValueRange states) {
  const Binding *lane = frame.find(columns.lane);
  for (auto [number, state] : llvm::enumerate(states)) {
    Value to = place(frame, part, number, copies);
    in(frame);
    Value value = emitter.widen(state, lane->lanes);
    emitter.write(frame, to, value, types[number], lane->mask);
  }
}

Emitter::Values ColumnBuilder::initial(Frame &frame, Copies copies) {
  unsigned lanes = frame.find(columns.lane)->lanes;
  Values states;
  for (qn::ReduceOp op : columns.members)
    for (Value init : op.getInits())
      states.push_back(emitter.wide(frame, init, copies, lanes));
  return states;
}

void ColumnBuilder::part(Frame &frame, Value part, const LoopSpec &lane) {
  Values none;
  emitter.nest(frame, {lane}, none, [&](Frame &at, Values &) {
    for (Copies copies : emitter.copiesOf(at, axisBit(columns.lane)))
      save(at, part, copies, initial(at, copies));
  });
  Value size = emitter.constant(frame, columns.partRows);
  Value lower = binary(frame, '*', part, size);
  Value upper = binary(frame, '+', lower, size);
  upper = binary(frame, '<', upper, emitter.extent(frame, columns.rows));
  SmallVector<LoopSpec> loops;
  for (unsigned axis : columns.before)
    loops.push_back({AxisPlan{.axis = axis}, {}, {}});
  AxisPlan rows{.axis = columns.rows, .copies = columns.unrolled};
  loops.push_back({rows, lower, upper});
  loops.push_back(lane);
  emitter.nest(frame, loops, none, [&](Frame &at, Values &) {
    SmallVector<Copies> steps = emitter.copiesOf(at, axisBit(columns.rows));
    for (Copies copies : emitter.copiesOf(at, axisBit(columns.lane))) {
      Values states = load(at, part, copies);
      unsigned first = 0;
      for (qn::ReduceOp op : columns.members) {
        unsigned width = op->getNumResults();
        for (Copies step : steps)
          emitter.stepOne(at, op, copies | step,
                          MutableArrayRef<Value>(states).slice(first, width));
        first += width;
      }
      save(at, part, copies, states);
    }
  });
}

/// Parts are merged in their order: the same result for any number of tasks.
void ColumnBuilder::mergeCopy(Frame &at, Copies copies) {
  Values states = initial(at, copies);
  Value zero = emitter.constant(at, 0), one = emitter.constant(at, 1);
  Value count = parts(at);
  auto loop = scf::ForOp::create(in(at), loc, zero, count, one, states);
  Operation *anchor = std::exchange(at.anchor, loop);
  Frame body = Frame::inside(at, loop.getBody());
  Values other = load(body, loop.getInductionVar(), copies), merged;
  unsigned first = 0;
  for (qn::ReduceOp op : columns.members) {
    unsigned width = op->getNumResults();
    Values both(loop.getRegionIterArgs().slice(first, width));
    llvm::append_range(both, ArrayRef<Value>(other).slice(first, width));
    unsigned lanes = body.find(columns.lane)->lanes;
    for (Value value :
         emitter.inlineRegion(body, op.getMerge(), both, copies)) {
      in(body);
      merged.push_back(emitter.widen(value, lanes));
    }
    first += width;
  }
  scf::YieldOp::create(in(body), loc, merged);
  at.anchor = anchor;
  first = 0;
  for (qn::ReduceOp op : columns.members)
    for (Value result : op->getResults())
      at.values[{result.getAsOpaquePointer(), copies}] =
          loop.getResult(first++);
}

void ColumnBuilder::merge(Frame &frame, const LoopSpec &lane) {
  Values none;
  emitter.nest(frame, {lane}, none, [&](Frame &at, Values &) {
    for (Copies copies : emitter.copiesOf(at, axisBit(columns.lane)))
      mergeCopy(at, copies);
    emitter.emitStores(at, stores);
  });
}
