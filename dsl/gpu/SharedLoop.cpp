// Loops that the threads of a team share, and how their states are merged.
#include "dsl/gpu/Device.h"
#include "dsl/lower/Emitter.h"
#include "dsl/lower/LoopHints.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

bool Emitter::isOneThread(const Frame &frame) const {
  return llvm::any_of(frame.bindings,
                      [](const Binding &binding) { return binding.shared; });
}

/// A team that cannot run along neighbours takes any axis rather than none.
int Emitter::laneAxis(const Frame &frame, AxisSet candidates) const {
  int axis = schedule.laneAxis(candidates, *launch);
  if (!team || axis >= 0 || team->size == 1 || isOneThread(frame))
    return axis;
  return candidates ? int(candidates.last()) : -1;
}

AxisPlan Emitter::lanePlan(const Frame &frame, unsigned axis,
                           bool reduces) const {
  AxisPlan plan = schedule.innerLoop(axis, reduces);
  if (reduces && launch->dots)
    plan.copies = 1;
  if (!team) {
    const Binding *rows =
        launch->together ? frame.find(launch->axes.back().axis) : nullptr;
    plan.once = rows && rows->copies > 1;
    plan.copies = plan.once ? 1 : plan.copies;
    return plan;
  }
  if (team->size == 1 || isOneThread(frame))
    return AxisPlan{.axis = axis};
  plan.lanes = team->vectors;
  plan.copies = std::min(plan.copies, team->copies);
  plan.shared = true;
  if (team->kept.cells && !model.localAxis(axis)) {
    plan.copies = 1;
    plan.fixed = !team->kept.phaseOf;
  }
  return plan;
}

/// So many times the threads of the team, i64.
Value Emitter::teamTimes(Frame &frame, std::int64_t factor) {
  if (!team->count)
    return constant(frame, team->size * factor);
  Value by = constant(frame, factor);
  return arith::MulIOp::create(in(frame), model.kernel.getLoc(), team->count,
                               by);
}

/// Several vectors at once, then one by one, then the elements that are left.
void Emitter::sharedLoop(Frame &frame, const LoopSpec &loop,
                         ArrayRef<LoopSpec> rest, Values &states, Body body) {
  if (loop.plan.chunks)
    return chunkLoop(frame, loop, rest, states, body);
  if (rest.empty() && isKeptRow(frame, loop))
    return keptRow(frame, loop, states, body);
  LoopSpec part = loop;
  Location loc = model.kernel.getLoc();
  Value length = lengthOf(frame, loop);
  auto upTo = [&](Value by) -> Value {
    Value left = arith::RemUIOp::create(in(frame), loc, length, by);
    return arith::SubIOp::create(builder, loc, loop.upper, left);
  };
  unsigned lanes = loop.plan.lanes, copies = loop.plan.copies;
  if (copies > 1) {
    part.upper = upTo(teamTimes(frame, std::int64_t(lanes) * copies));
    sharedPart(frame, part, rest, states, body);
    part.lower = part.upper;
  }
  part.plan.copies = 1;
  part.upper = lanes > 1 ? upTo(constant(frame, lanes)) : loop.upper;
  sharedPart(frame, part, rest, states, body);
  if (lanes == 1)
    return;
  part.lower = part.upper;
  part.upper = loop.upper;
  part.plan.lanes = 1;
  sharedPart(frame, part, rest, states, body);
}

/// What belongs to each thread of the team when `length` positions or parts are
/// dealt out in their order, as evenly as possible: the first of it and its
/// end.
std::pair<Value, Value> Emitter::ownChunk(Frame &frame, Value length) {
  Location loc = model.kernel.getLoc();
  Value size = teamTimes(frame, 1), one = constant(frame, 1);
  OpBuilder &b = in(frame);
  Value more = arith::SubIOp::create(b, loc, size, one);
  Value each = arith::AddIOp::create(b, loc, length, more);
  each = arith::DivUIOp::create(b, loc, each, size);
  Value own = arith::ExtUIOp::create(b, loc, b.getI64Type(), team->thread);
  Value first = arith::MulIOp::create(b, loc, own, each);
  first = arith::MinUIOp::create(b, loc, first, length);
  Value end = arith::AddIOp::create(b, loc, first, each);
  return {first, arith::MinUIOp::create(b, loc, end, length)};
}

/// Every thread has neighbours, which it takes one after the other.
void Emitter::chunkLoop(Frame &frame, LoopSpec loop, ArrayRef<LoopSpec> rest,
                        Values &states, Body body) {
  Location loc = model.kernel.getLoc();
  auto [first, end] = ownChunk(frame, lengthOf(frame, loop));
  OpBuilder &b = in(frame);
  loop.upper = arith::AddIOp::create(b, loc, loop.lower, end);
  loop.lower = arith::AddIOp::create(b, loc, loop.lower, first);
  laneLoop(frame, loop, rest, states, body);
}

/// One loop of a thread: its own vectors, `size` vectors from one to the next.
void Emitter::sharedPart(Frame &frame, const LoopSpec &part,
                         ArrayRef<LoopSpec> rest, Values &states, Body body) {
  const AxisPlan &plan = part.plan;
  Location loc = model.kernel.getLoc();
  bool isShort = !model.kernel.getWide() && !model.localAxis(plan.axis);
  OpBuilder &b = in(frame);
  Type type = isShort ? b.getI32Type() : b.getI64Type();
  auto fit = [&](Value value) -> Value {
    if (value.getType() == type)
      return value;
    if (isShort)
      return arith::TruncIOp::create(in(frame), loc, type, value);
    return arith::ExtUIOp::create(in(frame), loc, type, value);
  };
  auto number = [&](std::int64_t value) -> Value {
    return arith::ConstantOp::create(in(frame), loc,
                                     b.getIntegerAttr(type, value));
  };
  Value first = arith::MulIOp::create(in(frame), loc, fit(team->thread),
                                      number(plan.lanes));
  first = arith::AddIOp::create(b, loc, fit(part.lower), first);
  Value by = fit(teamTimes(frame, std::int64_t(plan.lanes) * plan.copies));
  auto made = scf::ForOp::create(in(frame), loc, first, fit(part.upper), by,
                                 states, nullptr, isShort);
  // The assembler would take turns together until registers spill.
  if (team->isFull)
    neverUnroll(made);
  if (states.empty())
    made.getBody()->getTerminator()->erase();
  Operation *anchor = std::exchange(frame.anchor, made);
  Frame inner = Frame::inside(frame, made.getBody());
  Value position = made.getInductionVar();
  if (isShort)
    position = arith::ExtUIOp::create(in(inner), loc, b.getI64Type(), position);
  inner.bind(Binding{.axis = plan.axis,
                     .position = position,
                     .lanes = plan.lanes,
                     .copies = plan.copies,
                     .byTeam = true,
                     .shared = true});
  Values carried(made.getRegionIterArgs());
  nest(inner, rest, carried, body);
  scf::YieldOp::create(in(inner), loc, carried);
  frame.anchor = anchor;
  states.assign(made.result_begin(), made.result_end());
}

/// Halves the threads whose states count until the first has them all: one half
/// meets the other, or neighbours meet where their order counts.
Emitter::Values Emitter::mergeThreads(Frame &frame, qn::ReduceOp op,
                                      Values state, unsigned threads) {
  for (unsigned left = threads; left > 1; left /= 2) {
    unsigned by = op.getOrdered() ? threads / left : left / 2;
    Values both = state;
    in(frame);
    for (Value value : state)
      both.push_back(
          team->device->shuffleDown(op.getLoc(), value, team->lane, by));
    state = inlineRegion(frame, op.getMerge(), both, 0);
  }
  return state;
}

/// A place of eight bytes for each warp of a block, for state `number`.
Value Emitter::warpSlot(unsigned number, Value warp) {
  Location loc = model.kernel.getLoc();
  auto module =
      builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  std::string name = "team_state" + std::to_string(number);
  constexpr unsigned places = 33; // of 32 warps, and of a block in a cluster
  auto words = LLVM::LLVMArrayType::get(builder.getI64Type(), places);
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(builder, loc, words, /*isConstant=*/false,
                           LLVM::Linkage::Internal, name, Attribute(), 8, 3);
  }
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext(), 3);
  Value base = LLVM::AddressOfOp::create(builder, loc, pointer, name);
  return LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(), base,
                             ArrayRef<LLVM::GEPArg>{warp});
}

/// Warps merge by shuffles, then the warps of a block, then the blocks of a
/// cluster.
Emitter::Values Emitter::mergeTeam(Frame &frame, qn::ReduceOp op,
                                   Values state) {
  unsigned warp = team->device->target.warp;
  state = mergeThreads(frame, op, state, std::min(team->size, warp));
  if (team->kind >= TeamKind::Block && team->blockSize() > warp)
    state = mergeWarps(frame, op, state);
  if (team->kind == TeamKind::Cluster)
    state = mergeBlocks(frame, op, state);
  in(frame);
  for (Value &value : state)
    value = team->device->fromFirst(op.getLoc(), value);
  return state;
}

/// Through shared memory: each warp reads what all have left there. Lanes that
/// have no warp to read from add nothing.
Emitter::Values Emitter::mergeWarps(Frame &frame, qn::ReduceOp op,
                                    Values state) {
  Location loc = op.getLoc();
  unsigned warps = team->blockSize() / team->device->target.warp;
  Values none = team->warps ? emitAll(frame, op.getInits(), 0) : Values();
  leaveWarpStates(frame, state, 0);
  auto word = [&](std::int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  };
  Value from = arith::AndIOp::create(builder, loc, team->lane, word(warps - 1));
  Value isThere;
  if (team->warps) {
    isThere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                    team->lane, team->warps);
    from = arith::SelectOp::create(builder, loc, isThere, from, word(0));
  }
  for (auto [number, value] : llvm::enumerate(state))
    value = read(frame, warpSlot(number, (in(frame), from)), value.getType(), 1,
                 Value(), Value());
  if (isThere)
    state = select(frame, isThere, state, none);
  return mergeThreads(frame, op, state, warps);
}
