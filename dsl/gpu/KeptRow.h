// One loop along a row that the threads of a team keep.
#pragma once

#include "dsl/gpu/Device.h"
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace quern {

/// One loop along a row.
class KeptRow {
public:
  using Values = Emitter::Values;
  using Body = Emitter::Body;

  KeptRow(Emitter &emitter, Frame &frame, const LoopSpec &loop)
      : emitter(emitter), team(*emitter.team), kept(team.kept),
        device(*team.device), frame(frame), loop(loop), axis(loop.plan.axis),
        lanes(loop.plan.lanes), loc(emitter.model.kernel.getLoc()),
        b(emitter.builder) {
    findEnds();
  }

  void walk(Values &states, Body body) {
    if (!frame.cells || !frame.cells->front().find(axis))
      keep();
    walkCells(states, body);
    if (kept.sharedLanes)
      walkShared(states, body);
  }

private:
  mlir::Value number(std::int64_t value) {
    return emitter.constant(frame, value);
  }
  mlir::Value wide(mlir::Value value) {
    emitter.in(frame);
    return mlir::arith::ExtUIOp::create(b, loc, b.getI64Type(), value);
  }
  mlir::Value plus(mlir::Value left, mlir::Value right) {
    emitter.in(frame);
    return mlir::arith::AddIOp::create(b, loc, left, right);
  }
  mlir::Value minus(mlir::Value left, mlir::Value right) {
    emitter.in(frame);
    return mlir::arith::SubIOp::create(b, loc, left, right);
  }
  mlir::Value times(mlir::Value value, std::int64_t factor) {
    mlir::Value by = number(factor);
    emitter.in(frame);
    return mlir::arith::MulIOp::create(b, loc, value, by);
  }
  mlir::Value both(mlir::Value value, std::int64_t bits) {
    mlir::Value mask = number(bits);
    emitter.in(frame);
    return mlir::arith::AndIOp::create(b, loc, value, mask);
  }

  void findEnds();
  void keep();
  void addCell(mlir::Value at, unsigned width, mlir::Value inRange);
  void addCells();
  void addEdges();
  void fetch(llvm::MutableArrayRef<Frame> cells, AxisSet others);
  void walkCells(Values &states, Body body);

  // KeptShared.cpp
  /// A row's operand in shared memory, so many bytes from where that begins.
  struct Slot {
    mlir::BlockArgument operand;
    unsigned bytes; ///< of an element
    std::int64_t first;
  };
  llvm::SmallVector<Slot> slots() const;
  mlir::Value placeOf(const Slot &slot, mlir::Value local);
  mlir::Value heldIn(const Slot &slot) const;
  bool isMade(qn::ReduceOp op) const;
  bool reaches(mlir::Value from, mlir::Value cut) const;
  mlir::Value successorOf(Frame &inner, const Slot &slot) const;
  void leaveMade(Frame &inner, const Slot &slot, mlir::Value local,
                 mlir::Value made);
  void leave(Frame &inner, const Slot &slot, mlir::Value local);
  /// A vector of the row there, and how many elements of the block's own part
  /// lie before it, i32.
  struct Part {
    Frame frame;
    mlir::Value local;
  };
  using Parts = llvm::function_ref<void(llvm::MutableArrayRef<Part>, Values &)>;
  /// Turns along the vectors from one on, which may be behind the thread's
  /// first, so many of them in each.
  struct Turns {
    mlir::Value first, lower, upper;
    unsigned each;
    bool isLong; ///< so much that they are not taken together
  };
  std::int64_t turn() const { return std::int64_t(team.size) * lanes; }
  Part partOf(const Turns &turns, mlir::scf::ForOp made, unsigned number);
  void walkTurns(Values &states, Parts body, const Turns &turns);
  void walkVectors(Values &states, Parts body, unsigned each, bool isLong);
  void take(Part &part, llvm::ArrayRef<Slot> all);
  void walkShared(Values &states, Body body);

  Emitter &emitter;
  const Team &team;
  const KeptRows &kept;
  Device &device;
  Frame &frame;
  const LoopSpec &loop;
  unsigned axis, lanes;
  mlir::Location loc;
  mlir::OpBuilder &b;
  mlir::Value begin, end; ///< of the whole vectors
};

} // namespace quern
