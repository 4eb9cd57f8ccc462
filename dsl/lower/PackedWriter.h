// Writes of what a condition leaves, packed together.
#pragma once

#include "dsl/lower/Emitter.h"

namespace quern {

class PackedWriter {
public:
  PackedWriter(Emitter &emitter, qn::CompactOp op)
      : emitter(emitter), op(op), loc(op.getLoc()) {}

  /// An error of the launch where there are more values than places.
  void reportBeyond(Frame &frame, mlir::Value count);
  /// Writes the values of the lanes that ask from place `at` on, not beyond
  /// `end`; gives where the next ones go.
  mlir::Value write(Frame &frame, mlir::Value at, mlir::Value end);

private:
  mlir::Value writeOne(Frame &frame, mlir::Value at, mlir::Value end);
  void put(Frame &frame, mlir::ValueRange values, mlir::Value at,
           mlir::Value mask);

  Emitter &emitter;
  qn::CompactOp op;
  mlir::Location loc;
};

} // namespace quern
