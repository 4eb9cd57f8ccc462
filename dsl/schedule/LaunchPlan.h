// One launch of a schedule: what it makes, and how its axes are cut.
#pragma once

#include "dsl/dialect/ScheduleEnums.h"
#include "dsl/schedule/Columns.h"
#include "dsl/schedule/RowBlocks.h"

#include <memory>

namespace quern {

/// How one axis is walked.
struct AxisPlan {
  unsigned axis = 0;
  unsigned lanes = 1;    ///< elements of one vector
  unsigned copies = 1;   ///< vectors (or scalars) of one unrolled iteration
  std::int64_t tile = 1; ///< elements of one unit, for a parallel axis
  bool shared = false;   ///< the threads of a GPU's team take turns along it
  bool chunks = false;   ///< or each of them has neighbours, in their order
  /// Tiles are of this size where the extent, that of all axes in `narrowBy` if
  /// there are, is below `narrowBelow`.
  std::int64_t narrow = 0, narrowBelow = 0;
  llvm::SmallVector<unsigned, 0> narrowBy = {};
  /// And other tiles of this size where the axis has so many positions.
  std::int64_t several = 0, severalFrom = 0;
  /// Tiles are about equal multiples of `evenStep`, and a multiple of so many;
  /// 0: only the last one is smaller.
  std::int64_t evenCount = 0, evenStep = 1;
  /// Copies behind the end make the last position again, where two or more are
  /// left: what serves several costs as much for fewer.
  bool repeats = false;
  bool repeatsRest = false;  ///< so only behind the last whole copies
  unsigned copiesOfRest = 0; ///< of what is left behind; 0: one
  bool fixed = false;    ///< lanes are part of the result: never fewer of them
  bool once = false;     ///< all turns are masked, where the target has masks
  std::int64_t most = 0; ///< tiles at most, larger ones then; 0: any number
  /// Faster axes that are flattened into one with `axis`, of a contraction.
  llvm::SmallVector<unsigned, 0> with = {};

  /// Whether a unit may have several positions along the axis.
  bool isTiled() const { return tile > 1 || narrow; }

  /// How a portable reduction walks over its last axis: with as many lanes on
  /// every target, so that its tree depends on the extent alone.
  static AxisPlan portable(unsigned axis) {
    AxisPlan plan;
    plan.axis = axis;
    plan.lanes = 64;
    plan.fixed = true;
    return plan;
  }
};

/// How loops inside a unit walk over an axis.
struct InnerLoop {
  unsigned axis = 0;
  unsigned lanes = 1;
  unsigned copies = 1;
  unsigned reduceCopies = 1; ///< of loops that reduce
  bool unsuited = false;     ///< lanes run along another axis if there is one
};

/// One launch: stores that share their parallel axes, or a step of a reduction
/// that several tasks share.
struct LaunchPlan {
  LaunchKind kind = LaunchKind::Stores;
  /// For Partials and Merge: reductions over the same axes; `axes` holds the
  /// one that is split.
  llvm::SmallVector<qn::ReduceOp> reductions;
  llvm::SmallVector<qn::StoreOp> stores;
  qn::ScatterOp scatter; ///< alone in its launch, behind the stores
  qn::CompactOp compact; ///< alone in its launches, behind the stores
  qn::SortOp sort;       ///< alone in its launch, in front of what reads it
  /// Whether it runs: a number of the host, in front of the dispatches; null:
  /// always.
  mlir::Value when;
  /// How a contraction is cut, for all launches that it may become.
  std::shared_ptr<const Tiling> tiling;
  /// How products are kept, for Rows and the launches that pack for it.
  std::shared_ptr<const RowBlocks> blocks;
  /// How columns are reduced, for all launches that this may become.
  std::shared_ptr<const Columns> columns;
  unsigned product = 0; ///< which one is packed
  unsigned sums = 0;    ///< 0: of the scores, or of which sums of what is kept
  AxisSet parallel;
  /// The parallel axes, outermost first; a tiled one comes last.
  llvm::SmallVector<AxisPlan> axes;
  int lane = -1; ///< the axis that suits lanes best, parallel or not
  /// An axis that operands have their neighbours along, if not the lanes'. On a
  /// CPU units follow each other along it, squares of a unit along the lanes.
  int turned = -1;
  bool dots = false; ///< a tile of rows and columns, lanes along the sum
  /// Rows whose lanes are reduced are made side by side, where they are short.
  bool together = false;
  /// How their first reductions read them.
  RowOrder firstRows = RowOrder::InTurns;
  /// Loops along the lanes are made again for positions of other axes that are
  /// reduced: their whole vectors are apart from the masked one.
  bool again = false;
  /// Each lane makes a line of a few results; they are interleaved.
  bool interleaves = false;
  /// Lines of two to four turned elements are read whole and deinterleaved.
  bool deinterleaves = false;
  /// Windows that reach over no border run without tests.
  bool windows = false;
  /// Results may go past the caches, where they exceed them; rows behind what
  /// is reduced of them.
  bool streams = false, streamsRows = false;
  /// Elements that are worth a task of their own.
  std::int64_t taskElements = 1;

  /// Whether it sums parts of a product, or adds them up.
  bool sumsParts() const {
    return kind == LaunchKind::SumParts || kind == LaunchKind::SumMerge;
  }
  /// Whether it packs factors of a contraction or reads what was packed.
  bool packs() const {
    return kind == LaunchKind::Pack || kind == LaunchKind::Contract ||
           kind == LaunchKind::Stream || sumsParts();
  }
  /// Whether it makes rows of states, or merges them.
  bool hasStateRows() const {
    return kind == LaunchKind::ColumnParts || kind == LaunchKind::ColumnMerge;
  }
  /// The operands that have their neighbours along `turned`.
  llvm::SmallVector<qn::LoadOp> turnedOperands(const KernelModel &model) const;
  /// A parallel axis that the neighbours a load reads lie along, where lanes
  /// run across them.
  std::optional<int> alongTurned(const KernelModel &model,
                                 qn::LoadOp load) const;
};

/// The axis that an operand read at computed places has its neighbours along,
/// if the places keep the position along it; -1 where there is none.
int neighboursOf(const KernelModel &model, qn::LoadOp load);

} // namespace quern
