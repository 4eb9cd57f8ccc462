// Windows beside each other that read the same elements one step of a loop
// apart: an element is read once and handed from window to window.
#include "dsl/lower/Emitter.h"
#include "dsl/schedule/Windows.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

/// Whether a step along an axis leads where the next of the windows `beside`
/// each other is now.
bool Emitter::slides(qn::LoadOp load, const Binding &beside,
                     unsigned along) const {
  AxisSet both = axisBit(beside.axis) | axisBit(along);
  if (load.getWhen() && (model.axesOf(load.getWhen()) & both))
    return false;
  bool moves = false;
  for (Value index : load.getIndices()) {
    auto a = coefficientAlong(model, index, beside.axis);
    auto b = coefficientAlong(model, index, along);
    if (!a || !b || *a != *b)
      return false;
    moves |= *a != 0;
  }
  return moves && load->getBlock() == &model.kernel.block();
}

/// Opens the loops of a group so that elements slide along the innermost one;
/// false where none does.
bool Emitter::slidingLoops(Frame &frame, const ReductionGroup &group,
                           Values &states) {
  if (!launch->windows || !group.scans.empty() || group.lanes)
    return false;
  const Binding *beside = nullptr;
  for (const Binding &binding : frame.bindings)
    if (binding.copies > 1) {
      if (beside || binding.lanes > 1 || binding.last)
        return false;
      beside = &binding;
    }
  if (!beside)
    return false;
  unsigned along = group.loops.back().plan.axis;
  llvm::SmallSetVector<qn::LoadOp, 2> loads;
  for (qn::ReduceOp op : group.members)
    for (Value input : op.getInputs())
      eachBound(model, input, [&](qn::LoadOp load, unsigned) {
        if (slides(load, *beside, along))
          loads.insert(load);
      });
  if (loads.empty())
    return false;
  Binding copied = *beside;
  nest(frame, ArrayRef(group.loops).drop_back(), states,
       [&](Frame &at, Values &now) {
         slide(at, group, loads.getArrayRef(), copied, now);
       });
  return true;
}

/// The innermost loop: what one window read, the one before it gets next.
void Emitter::slide(Frame &frame, const ReductionGroup &group,
                    ArrayRef<qn::LoadOp> loads, const Binding &beside,
                    Values &states) {
  unsigned along = group.loops.back().plan.axis, count = states.size();
  qn::AxisOp local = model.localAxis(along);
  Value lower = local ? emit(frame, local.getLower(), 0) : constant(frame, 0);
  Value upper = local ? emit(frame, local.getUpper(), 0) : extent(frame, along);
  auto copy = [&](unsigned number) {
    return Copies(number) << (8 * beside.slot);
  };
  auto read = [&](Frame &at, qn::LoadOp load, unsigned number) {
    const Binding *lane = laneOf(at, model.axesOf(load.getResult()));
    return wide(at, load.getResult(), copy(number), lane ? lane->lanes : 1);
  };
  Frame first = Frame::inside(frame, frame.block);
  first.anchor = frame.anchor;
  first.bind(Binding{.axis = along, .position = lower});
  Values carried = states;
  for (qn::LoadOp load : loads)
    for (unsigned number = 0; number + 1 < beside.copies; ++number)
      carried.push_back(read(first, load, number));
  Location loc = model.kernel.getLoc();
  Value one = constant(frame, 1);
  auto made = scf::ForOp::create(in(frame), loc, lower, upper, one, carried);
  Operation *anchor = std::exchange(frame.anchor, made);
  Frame inner = Frame::inside(frame, made.getBody());
  inner.bind(Binding{.axis = along, .position = made.getInductionVar()});
  ValueRange arguments = made.getRegionIterArgs();
  Values now(arguments.take_front(count));
  unsigned place = count;
  for (qn::LoadOp load : loads)
    for (unsigned number = 0; number + 1 < beside.copies; ++number)
      inner.values[{load.getResult().getAsOpaquePointer(), copy(number)}] =
          arguments[place++];
  step(inner, group, now);
  for (qn::LoadOp load : loads)
    for (unsigned number = 1; number < beside.copies; ++number)
      now.push_back(read(inner, load, number));
  scf::YieldOp::create(in(inner), loc, now);
  frame.anchor = anchor;
  states.assign(made.result_begin(), made.result_begin() + count);
}
