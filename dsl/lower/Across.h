// Lines of an operand that lanes run across.
#pragma once

#include "dsl/lower/Emitter.h"

namespace quern {

struct LinesAcross {
  qn::OperandType type;
  mlir::Value first; ///< where the first lane's begins
  mlir::Value step;  ///< from line to line
  mlir::Value last;  ///< the number of the last one; null: all lanes have one
};

LinesAcross linesAcross(Emitter &emitter, const KernelModel &model, Frame &at,
                        mlir::BlockArgument operand, mlir::Value first,
                        const Binding &lane);

/// The address of a line; the last one stands for those behind it.
mlir::Value lineAcross(Emitter &emitter, Frame &at, const LinesAcross &lines,
                       mlir::Value number);

/// Asks for what lies so many bytes further along a line: where lines are read
/// across, nobody else can guess what comes next. It goes into the second
/// cache, the first has no room for it beside the tile under way.
void fetchBehind(Emitter &emitter, Frame &at, const LinesAcross &lines,
                 mlir::Value pointer, std::int64_t bytes);

/// Notes what each copy along an axis of a frame reads, as it lies in memory.
void keepTurned(Emitter &emitter, Frame &at, qn::LoadOp load,
                mlir::ValueRange rows, unsigned slot, Copies others = 0);

} // namespace quern
