// Rows of states that rows of operands are added to.
#include "dsl/lower/Columns.h"

#include "dsl/cost/Parameters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

ColumnBuilder::ColumnBuilder(Emitter &emitter, const KernelModel &model,
                             const Columns &columns,
                             ArrayRef<qn::StoreOp> stores,
                             std::int64_t workspaceStart, OpBuilder &builder)
    : emitter(emitter), model(model), columns(columns), stores(stores),
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
  if (op == '>')
    return arith::MaxSIOp::create(at, loc, a, b);
  if (op == 'l')
    return arith::ShLIOp::create(at, loc, a, b);
  if (op == 'r')
    return arith::ShRUIOp::create(at, loc, a, b);
  if (op == '-')
    return arith::SubIOp::create(at, loc, a, b);
  assert(op == '*' && "an operation on positions");
  return arith::MulIOp::create(at, loc, a, b);
}

/// The logarithm of how many rows are walked as one, made in front of all
/// loops.
Value ColumnBuilder::together(Frame &frame) {
  Frame *root = &frame;
  while (root->parent)
    root = root->parent;
  if (togetherAt == root->block)
    return togetherLog;
  Value one = emitter.constant(*root, 1), none = emitter.constant(*root, 0);
  Value width = emitter.extent(*root, columns.lane);
  Value rows = emitter.extent(*root, columns.rows);
  Value most = binary(*root, '/', emitter.constant(*root, columns.together),
                      binary(*root, '>', width, one));
  Value least = emitter.constant(*root, columns.worthwhile);
  most = binary(*root, '<', most, binary(*root, '/', rows, least));
  most = binary(*root, '>', most, one);
  Value zeros = math::CountLeadingZerosOp::create(in(*root), loc, most);
  Value log = binary(*root, '-', emitter.constant(*root, 63), zeros);
  for (Value operand : columns.flat) {
    auto argument = cast<BlockArgument>(operand);
    auto type = cast<qn::OperandType>(operand.getType());
    for (auto [number, name] : llvm::enumerate(type.getAxes())) {
      if (model.axisOf(name) != columns.rows)
        continue;
      bool isOne = type.getStrides()[number] == StrideClass::One;
      Value step = isOne ? one : emitter.stride(*root, argument, number);
      OpBuilder &b = in(*root);
      Value follows =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, step, width);
      log = arith::SelectOp::create(b, loc, follows, log, none);
    }
  }
  togetherAt = root->block;
  return togetherLog = log;
}

Value ColumnBuilder::rowCount(Frame &frame) {
  Value rows = emitter.extent(frame, columns.rows);
  return columns.flat.empty() ? rows
                              : binary(frame, 'r', rows, together(frame));
}

Value ColumnBuilder::width(Frame &frame) {
  Value width = emitter.extent(frame, columns.lane);
  return columns.flat.empty() ? width
                              : binary(frame, 'l', width, together(frame));
}

Value ColumnBuilder::parts(Frame &frame) {
  Value more = emitter.constant(frame, columns.partRows - 1);
  Value by = emitter.constant(frame, columns.partRows);
  Value rows = rowCount(frame);
  return binary(frame, '/', binary(frame, '+', rows, more), by);
}

/// Eight bytes a state, whatever its type.
Value ColumnBuilder::workspace(Frame &frame) {
  Value count = binary(frame, '*', parts(frame), outer.extent(frame));
  count = binary(frame, '*', count, width(frame));
  Value each = emitter.constant(frame, 8 * columns.kept());
  Value start = behindStaged(emitter, frame, workspaceStart + 64);
  return binary(frame, '+', binary(frame, '*', count, each), start);
}

Value ColumnBuilder::place(Frame &frame, Value part, unsigned number,
                           Copies copies, Value behind) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value width = this->width(frame);
  Value row = binary(frame, '*', outer.flattened(frame), parts(frame));
  row = binary(frame, '+', row, part);
  row = binary(frame, '*', row, emitter.constant(frame, columns.kept()));
  row = binary(frame, '+', row, emitter.constant(frame, number));
  Value bytes = binary(frame, '*', row, width);
  bytes = binary(frame, '*', bytes, emitter.constant(frame, 8));
  Value start = behindStaged(emitter, frame, workspaceStart);
  Value base = emitter.inWorkspace(frame, binary(frame, '+', bytes, start));
  Value column = emitter.position(frame, columns.lane, copies);
  if (behind)
    column = binary(frame, '+', column, behind);
  Type element = types[number % types.size()];
  if (element.isInteger(1))
    element = builder.getI8Type();
  return LLVM::GEPOp::create(in(frame), loc, pointer, element, base,
                             ArrayRef<LLVM::GEPArg>{column});
}

Emitter::Values ColumnBuilder::load(Frame &frame, Value part, Copies copies,
                                    Value behind, unsigned first) {
  const Binding *lane = frame.find(columns.lane);
  Values states;
  for (auto [number, type] : llvm::enumerate(types))
    states.push_back(
        emitter.read(frame, place(frame, part, first + number, copies, behind),
                     type, lane->lanes, lane->mask, Value()));
  return states;
}

void ColumnBuilder::save(Frame &frame, Value part, Copies copies,
                         ValueRange states, unsigned first) {
  const Binding *lane = frame.find(columns.lane);
  for (auto [number, state] : llvm::enumerate(states)) {
    Value to = place(frame, part, first + number, copies);
    Value value = emitter.widen(frame, state, lane->lanes);
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

/// Adds what the rows of `loops` hold to the states of a part, or to those of
/// the run under way.
void ColumnBuilder::addRows(Frame &frame, Value part,
                            ArrayRef<LoopSpec> loops) {
  SmallVector<LoopSpec> around;
  for (unsigned axis : columns.before)
    around.push_back({AxisPlan{.axis = axis}, {}, {}});
  if (!columns.inRuns) {
    llvm::append_range(around, loops);
    return addSteps(frame, part, around);
  }
  Value zero = emitter.constant(frame, 0);
  Value most = emitter.constant(frame, cost::runSteps);
  Value each = binary(frame, '-', loops.front().upper, loops.front().lower);
  Values steps{zero};
  emitter.nest(frame, around, steps, [&](Frame &at, Values &now) {
    addSteps(at, part, loops);
    Value sum = binary(at, '+', now.front(), each);
    OpBuilder &b = in(at);
    Value isRun =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, sum, most);
    auto branch = scf::IfOp::create(b, loc, isRun);
    now.front() = arith::SelectOp::create(b, loc, isRun, zero, sum);
    Operation *anchor = std::exchange(at.anchor, branch);
    Frame run = Frame::inside(at, branch.thenBlock());
    run.anchor = branch.thenBlock()->getTerminator();
    closeRun(run, part, loops.back());
    at.anchor = anchor;
  });
  closeRun(frame, part, loops.back());
}

/// Merges the states of a part into those of its whole runs.
void ColumnBuilder::closeRun(Frame &frame, Value part, const LoopSpec &lane) {
  Values none;
  emitter.nest(frame, {lane}, none, [&](Frame &at, Values &) {
    for (Copies copies : emitter.copiesOf(at, axisBit(columns.lane))) {
      Values runs = load(at, part, copies, {}, types.size());
      Values states = load(at, part, copies);
      save(at, part, copies, merged(at, runs, states, copies), types.size());
      save(at, part, copies, initial(at, copies));
    }
  });
}

void ColumnBuilder::addSteps(Frame &frame, Value part,
                             ArrayRef<LoopSpec> loops) {
  Values none;
  emitter.nest(frame, loops, none, [&](Frame &at, Values &) {
    SmallVector<Copies> steps = emitter.copiesOf(at, axisBit(columns.rows));
    for (Copies copies : emitter.copiesOf(at, axisBit(columns.lane))) {
      Values states = load(at, part, copies);
      unsigned first = 0;
      for (qn::ReduceOp op : columns.members) {
        unsigned width = op->getNumResults();
        auto state = MutableArrayRef<Value>(states).slice(first, width);
        for (Copies step : steps) {
          Values even = emitter.evenStates(at, op, copies | step, state);
          emitter.stepOne(at, op, copies | step, state, even);
        }
        first += width;
      }
      save(at, part, copies, states);
    }
  });
}

void ColumnBuilder::part(Frame &frame, Value part, const LoopSpec &lane) {
  Values none;
  emitter.nest(frame, {lane}, none, [&](Frame &at, Values &) {
    for (Copies copies : emitter.copiesOf(at, axisBit(columns.lane)))
      for (unsigned first = 0; first < columns.kept(); first += types.size())
        save(at, part, copies, initial(at, copies), first);
  });
  if (!columns.flat.empty())
    emitter.grouped[columns.rows] = together(frame);
  Value size = emitter.constant(frame, columns.partRows);
  Value lower = binary(frame, '*', part, size);
  Value upper = binary(frame, '+', lower, size);
  upper = binary(frame, '<', upper, rowCount(frame));
  AxisPlan rows{.axis = columns.rows, .copies = columns.unrolled};
  addRows(frame, part, {{rows, lower, upper}, lane});
  if (!columns.flat.empty())
    rest(frame, part, lane);
  emitter.grouped.clear();
}

/// Rows that are too few to be one with others come to the last part. Then what
/// belongs to one column is merged, half of the elements with the other half.
void ColumnBuilder::rest(Frame &frame, Value part, LoopSpec lane) {
  Value one = emitter.constant(frame, 1), none = emitter.constant(frame, 0);
  Value first = rowCount(frame), log = together(frame);
  Value left = binary(frame, '-', emitter.extent(frame, columns.rows),
                      binary(frame, 'l', first, log));
  left = binary(frame, '*', left, emitter.extent(frame, columns.lane));
  Value last = binary(frame, '-', parts(frame), one);
  OpBuilder &b = in(frame);
  Value isLast =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, part, last);
  lane.lower = none;
  lane.upper = arith::SelectOp::create(b, loc, isLast, left, none);
  Value end = binary(frame, '+', first, one);
  addRows(frame, part, {{AxisPlan{.axis = columns.rows}, first, end}, lane});
  auto loop = scf::ForOp::create(in(frame), loc, none, log, one);
  Operation *anchor = std::exchange(frame.anchor, loop);
  Frame body = Frame::inside(frame, loop.getBody());
  body.anchor = loop.getBody()->getTerminator();
  Value shift = binary(body, '+', loop.getInductionVar(), one);
  Value half = binary(body, 'r', width(body), shift);
  lane.upper = half;
  Values nothing;
  emitter.nest(body, {lane}, nothing, [&](Frame &at, Values &) {
    for (Copies copies : emitter.copiesOf(at, axisBit(columns.lane))) {
      Values states = load(at, part, copies, {}, result());
      Values others = load(at, part, copies, half, result());
      save(at, part, copies, merged(at, states, others, copies), result());
    }
  });
  frame.anchor = anchor;
}

Emitter::Values ColumnBuilder::merged(Frame &frame, ValueRange states,
                                      ValueRange others, Copies copies) {
  Values all;
  unsigned first = 0;
  for (qn::ReduceOp op : columns.members) {
    unsigned width = op->getNumResults();
    Values both(states.slice(first, width));
    llvm::append_range(both, others.slice(first, width));
    unsigned lanes = frame.find(columns.lane)->lanes;
    for (Value value :
         emitter.inlineRegion(frame, op.getMerge(), both, copies)) {
      in(frame);
      all.push_back(emitter.widen(frame, value, lanes));
    }
    first += width;
  }
  return all;
}

/// Parts are merged in their order: the same result for any number of tasks.
void ColumnBuilder::mergeCopy(Frame &at, Copies copies) {
  Values states = initial(at, copies);
  Value zero = emitter.constant(at, 0), one = emitter.constant(at, 1);
  Value count = parts(at);
  auto loop = scf::ForOp::create(in(at), loc, zero, count, one, states);
  Operation *anchor = std::exchange(at.anchor, loop);
  Frame body = Frame::inside(at, loop.getBody());
  Values other = load(body, loop.getInductionVar(), copies, {}, result());
  Values merged = this->merged(body, loop.getRegionIterArgs(), other, copies);
  scf::YieldOp::create(in(body), loc, merged);
  at.anchor = anchor;
  unsigned first = 0;
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
