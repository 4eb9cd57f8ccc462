// The launches of a reduction that several tasks share: parts, then their
// merge.
#include "dsl/lower/Launch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

unsigned LaunchBuilder::stateCount() const {
  unsigned count = 0;
  for (qn::ReduceOp op : launch.reductions)
    count += op->getNumResults();
  return count;
}

/// Bytes of workspace the launch needs: results first, then the parts.
Value LaunchBuilder::workspace(Frame &root) {
  if (auto count = model.kernel.getStaged()) {
    Value staged = emitter.stagedBytes(root, *count);
    if (!launch.sort)
      return staged;
    Value more = scratch(root);
    return arith::AddIOp::create(emitter.in(root), loc, staged, more);
  }
  if (launch.choice == LaunchChoice::IfPacked ||
      launch.choice == LaunchChoice::FewRows)
    return columns ? columns->workspace(root) : contraction->workspace(root);
  if (launch.blocks)
    return rowBlocks->workspace(root);
  Value bytes = emitter.constant(root, schedule.partsOffset());
  if (launch.reductions.empty())
    return bytes;
  Value parts = tiles(root, launch.axes.front());
  Value each = emitter.constant(root, 8 * stateCount());
  OpBuilder &b = emitter.in(root);
  parts = arith::MulIOp::create(b, loc, parts, each);
  return arith::AddIOp::create(b, loc, bytes, parts);
}

/// Bytes of workspace that every worker has for itself, behind the others.
Value LaunchBuilder::ownWorkspace(Frame &root) {
  if (launch.kind == LaunchKind::Rows)
    return rowBlocks->ownWorkspace(root);
  return emitter.constant(root, 0);
}

/// Reduces one part of the split axis and leaves its states in the workspace.
void LaunchBuilder::partials(Frame &frame, Value number,
                             const LoopSpec &split) {
  auto states = emitter.partialStates(frame, launch.reductions, split);
  Value count = emitter.constant(frame, states.size());
  Value first = arith::MulIOp::create(emitter.in(frame), loc, number, count);
  for (auto [place, state] : llvm::enumerate(states))
    emitter.writeSlot(
        frame, emitter.slot(frame, first, schedule.partsOffset() + 8 * place),
        state);
}

/// States with those of part `number` merged into them.
Emitter::Values LaunchBuilder::mergePart(Frame &body, Value number, Value count,
                                         ValueRange states) {
  Value first = arith::MulIOp::create(emitter.in(body), loc, number, count);
  Emitter::Values merged;
  unsigned place = 0;
  for (qn::ReduceOp op : launch.reductions) {
    unsigned width = op->getNumResults();
    Emitter::Values both(states.slice(place, width));
    for (Value result : op->getResults())
      both.push_back(emitter.readSlot(
          body, emitter.slot(body, first, schedule.partsOffset() + 8 * place++),
          result.getType()));
    llvm::append_range(merged,
                       emitter.inlineRegion(body, op.getMerge(), both, 0));
  }
  return merged;
}

/// Merges the parts in their order: the same result for any number of tasks.
void LaunchBuilder::merge(Frame &frame) {
  Value parts = tiles(frame, launch.axes.front());
  Value zero = emitter.constant(frame, 0), one = emitter.constant(frame, 1);
  Value count = emitter.constant(frame, stateCount());
  Emitter::Values states;
  for (qn::ReduceOp op : launch.reductions)
    llvm::append_range(states, emitter.emitAll(frame, op.getInits(), 0));
  auto loop =
      scf::ForOp::create(emitter.in(frame), loc, zero, parts, one, states);
  Operation *anchor = std::exchange(frame.anchor, loop);
  Frame body = Frame::inside(frame, loop.getBody());
  Emitter::Values merged =
      mergePart(body, loop.getInductionVar(), count, loop.getRegionIterArgs());
  scf::YieldOp::create(emitter.in(body), loc, merged);
  frame.anchor = anchor;
  unsigned place = 0;
  for (qn::ReduceOp op : launch.reductions)
    for (OpResult result : op->getResults())
      emitter.writeSlot(
          frame, emitter.slot(frame, zero, schedule.workspaceOffset(result)),
          loop.getResult(place++));
}
