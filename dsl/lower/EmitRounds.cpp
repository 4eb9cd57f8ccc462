// Loops of the text that hold reductions: what is inside is made on demand,
// once for each round.
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

static unsigned lanesOf(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type ? type.getNumElements() : 1;
}

/// A frame for one of the two blocks of a loop, where its arguments have
/// values: of unrolled axes it stands at one copy.
Frame Emitter::roundFrame(Frame &frame, scf::WhileOp loop, Region &region,
                          Block *block, ValueRange arguments, Copies copies) {
  Frame inside = Frame::inside(frame, block);
  inside.bound |= model.roundsOf(loop);
  for (const Binding &binding : frame.bindings)
    if (binding.copies > 1 && frame.find(binding.axis) == &binding) {
      Binding one = binding;
      one.position = position(frame, binding.axis, copies);
      one.copies = 1;
      inside.bind(one);
    }
  for (auto [argument, value] : llvm::zip(region.getArguments(), arguments))
    inside.values[{argument.getAsOpaquePointer(), Copies(0)}] = value;
  return inside;
}

/// What the loop begins with, what it hands on, and the active lanes: each has
/// lanes where it depends on their axis. Where the condition does, all do.
Emitter::Values Emitter::firstRound(Frame &frame, scf::WhileOp loop,
                                    Copies copies) {
  auto lanesFor = [&](Value value) {
    const Binding *lane = laneOf(frame, model.axesOf(value));
    return lane ? lane->lanes : 1;
  };
  Values states;
  for (auto [argument, init] :
       llvm::zip(loop.getBeforeArguments(), loop.getInits()))
    states.push_back(wide(frame, init, copies, lanesFor(argument)));
  auto constant = [&](TypedAttr value, Value like) {
    Value made = arith::ConstantOp::create(in(frame), loop.getLoc(), value);
    states.push_back(widen(frame, made, lanesFor(like)));
  };
  for (Value argument : loop.getAfterArguments())
    constant(cast<TypedAttr>(builder.getZeroAttr(argument.getType())),
             argument);
  constant(builder.getBoolAttr(true), loop.getConditionOp().getCondition());
  return states;
}

Emitter::Values Emitter::rounds(Frame &frame, scf::WhileOp loop,
                                Copies copies) {
  unsigned count = loop.getInits().size();
  Values states = firstRound(frame, loop, copies);
  auto test = [&](Block *before) {
    Frame inside = roundFrame(frame, loop, loop.getBefore(), before,
                              before->getArguments().take_front(count), copies);
    inside.active = before->getArguments().back();
    auto condition = loop.getConditionOp();
    Value goes = emit(inside, condition.getCondition(), 0);
    Values handed = emitAll(inside, condition.getArgs(), 0);
    whileLeave(inside, loop, goes, handed, lanesOf(states.back()));
  };
  auto step = [&](Block *after) {
    auto now = after->getArguments();
    Frame body = roundFrame(frame, loop, loop.getAfter(), after,
                            now.drop_front(count).drop_back(), copies);
    body.active = now.back();
    Values stepped = emitAll(body, loop.getYieldOp().getOperands(), 0);
    return select(body, now.back(), stepped, now.take_front(count));
  };
  return lanesLeave(frame, loop, states, test, step);
}
