// Several axes walked as one, the last one fastest.
#pragma once

#include "dsl/lower/Emitter.h"

namespace quern {

class FlatAxes {
public:
  using Values = Emitter::Values;
  /// Code for positions `first` to `last` of the last axis, the others bound;
  /// `flat` is the flattened position of `first`.
  using Stretch = llvm::function_ref<void(Frame &, mlir::Value first,
                                          mlir::Value last, mlir::Value flat)>;

  FlatAxes(Emitter &emitter, const KernelModel &model,
           llvm::ArrayRef<unsigned> axes)
      : emitter(emitter), model(model), axes(axes) {}

  unsigned last() const { return axes.back(); }
  llvm::ArrayRef<unsigned> list() const { return axes; }
  /// Binds the axes to what a flattened position stands for.
  void bind(Frame &frame, mlir::Value flat);
  /// Of the last axis, from now on, only `count` positions from `lower` on.
  void limitLast(mlir::Value lower, mlir::Value count) {
    lastLower = lower;
    lastCount = count;
  }
  /// How many positions there are.
  mlir::Value extent(Frame &frame);
  /// The flattened position of the axes that `frame` binds.
  mlir::Value flattened(Frame &frame);
  /// Every stretch of neighbours along the last axis in [lower, upper).
  void stretches(Frame &frame, mlir::Value lower, mlir::Value upper,
                 Stretch body);
  /// One position after the other in [lower, upper), all axes bound.
  void each(Frame &frame, mlir::Value lower, mlir::Value upper,
            llvm::function_ref<void(Frame &, mlir::Value flat)> body);
  /// Binds `copies` neighbouring positions from `flat` on as copies that share
  /// one slot; those past the end stand for the last one. Gives the slot.
  unsigned bindCopies(Frame &frame, mlir::Value flat, unsigned copies);

private:
  mlir::Value length(Frame &frame, unsigned axis);
  /// Positions along the axes, local axes from their lower bounds on.
  Values positions(Frame &frame, mlir::Value flat);
  Values next(Frame &frame, mlir::ValueRange now);
  mlir::Value lowest(Frame &frame, unsigned axis);
  mlir::OpBuilder &in(Frame &frame) { return emitter.in(frame); }

  Emitter &emitter;
  const KernelModel &model;
  llvm::SmallVector<unsigned> axes;
  mlir::Value lastLower, lastCount;
};

/// How many bytes of the workspace are staged, and `bytes` more behind them,
/// from a cache line on.
mlir::Value behindStaged(Emitter &emitter, Frame &frame, std::int64_t bytes);

} // namespace quern
