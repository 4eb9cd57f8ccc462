// Which axes are split over tasks, which one the lanes run along, how much is
// unrolled: every choice of the lowering, made before code is.
#pragma once

#include "dsl/schedule/Columns.h"
#include "dsl/schedule/RowBlocks.h"
#include "dsl/schedule/StagedSlots.h"

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
  /// Copies are made where that extent is below this; 0: always.
  std::int64_t copiesBelow = 0;
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
};

/// What a launch does.
enum class LaunchKind : std::uint8_t {
  Stores,      ///< writes operands
  Scatter,     ///< writes one operand at computed places
  Sort,        ///< writes the order of keys along an axis
  Partials,    ///< reduces parts of an axis into the workspace
  Merge,       ///< merges those parts
  Begins,      ///< makes of the parts' numbers what stands before each
  Compact,     ///< writes the values of each part behind those before it
  Pack,        ///< copies the rows of a product into the workspace
  Contract,    ///< writes operands from packed products
  Stream,      ///< writes operands from packed rows and columns that it reads
  SumParts,    ///< sums parts of a product's depth into the workspace
  SumMerge,    ///< writes operands from those parts added up
  PackColumns, ///< copies the columns of a product into the workspace
  Rows,        ///< writes operands, keeping products for a block of rows
  ColumnParts, ///< reduces parts of rows into rows of states
  ColumnMerge  ///< writes operands from those rows merged
};

/// Of launches that compute the same, one runs: which, the extents decide.
enum class LaunchChoice : std::uint8_t {
  Always,
  IfPacked, ///< where packing, or rows of states, pay
  FewRows,  ///< where packing would, but for few rows
  Small,    ///< where packing would, but for few elements
  Deep,     ///< where packing would, but for the sum's many parts
  Streamed, ///< where packing rows would, but not columns
  Narrow,   ///< where lines of results are shorter than vectors
  Wide,     ///< where they are not
  InPlace   ///< where it does not
};

/// The order in which the vectors of rows side by side are read.
enum class RowOrder : std::uint8_t {
  InTurns, ///< one of every row, then the next of every row
  Masked,  ///< row after row, each by one masked loop
  Whole    ///< row after row, whole vectors and then the rest
};

/// Which lines of results tell Narrow launches from Wide ones.
struct Lines {
  unsigned axis = 0;
  std::int64_t wide = 0; ///< elements of a line that is not narrow
  /// A local axis: narrow lines are shorter than this too; or -1.
  int windows = -1;
  /// So long an axis makes every line narrow; 0: none does.
  std::int64_t longWindows = 0;
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
  LaunchChoice choice = LaunchChoice::Always;
  Lines lines;
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
  /// Loops along the lanes are made again for positions of other axes that are
  /// reduced: their whole vectors are apart from the masked one.
  bool again = false;
  /// Windows that reach over no border run without tests.
  bool windows = false;
  /// Results may go past the caches, where they exceed them; rows behind what
  /// is reduced of them.
  bool streams = false, streamsRows = false;
  /// Elements that are worth a task of their own.
  std::int64_t taskElements = 1;

  /// Whether it packs factors of a contraction or reads what was packed.
  bool packs() const {
    return tiling &&
           (choice == LaunchChoice::IfPacked || choice == LaunchChoice::Deep ||
            choice == LaunchChoice::Streamed);
  }
  /// A parallel axis that the neighbours a load reads lie along, where lanes
  /// run across them.
  std::optional<int> alongTurned(const KernelModel &model,
                                 qn::LoadOp load) const;
};

/// The axis that an operand read at computed places has its neighbours along,
/// if the places keep the position along it; -1 where there is none.
int neighboursOf(const KernelModel &model, qn::LoadOp load);

class Schedule {
public:
  /// Marks in `model` what launches of their own make.
  Schedule(KernelModel &model, const TargetInfo &target);

  /// Where a materialised result lies in the workspace, in bytes.
  unsigned workspaceOffset(mlir::OpResult result) const {
    return offsets.lookup(result);
  }
  /// Where the parts of a split reduction begin.
  unsigned partsOffset() const { return finals; }

  llvm::SmallVector<LaunchPlan, 2> launches;
  const StagedSlots staged;

  /// Whether masks cost less than a body that is made twice, of which there are
  /// `copies` already.
  bool isLong(unsigned copies) const { return bodyLength * copies > longBody; }

  /// Whether the bounds of a local axis depend on the position along `axis`.
  bool isUneven(unsigned axis) const { return hasAxis(uneven, axis); }

  /// The axis among `candidates` the lanes of a loop run along, or -1: one
  /// along which neighbouring elements lie, or the best of the whole launch.
  int laneAxis(AxisSet candidates, const LaunchPlan &launch) const;
  unsigned operationsAlong(unsigned axis, AxisSet still = {}) const;
  bool mergeDivides(unsigned axis) const;
  /// How a loop over `axis` inside a unit is walked when lanes run along it.
  AxisPlan laneLoop(unsigned axis, bool reduces,
                    const LaunchPlan *launch = nullptr) const;

  /// How reductions that share a loop walk over short rows side by side.
  RowOrder orderOfRows(llvm::ArrayRef<qn::ReduceOp> members,
                       const LaunchPlan &launch) const;

  /// How a portable reduction walks over its last axis: with as many lanes on
  /// every target, so that its tree depends on the extent alone.
  static AxisPlan portableLoop(unsigned axis) {
    AxisPlan plan;
    plan.axis = axis;
    plan.lanes = 64;
    plan.fixed = true;
    return plan;
  }

  /// After so many steps the states that take one element after the other are
  /// merged into others: the error of a chain of n roundings grows like the
  /// root of n, and a merge costs about three steps.
  static constexpr unsigned runSteps = 256;
  /// A tile with more accumulators has short columns and needs all registers.
  static constexpr unsigned mostInRuns = 8;

private:
  static constexpr unsigned longBody = 256; ///< operations

  std::optional<int> portableAxis(const LaunchPlan &launch) const;
  void findLanes();
  void countAccesses();
  void countPlaces(qn::LoadOp load);
  void findUneven();
  void splitReductions();
  void splitGroup(llvm::ArrayRef<qn::ReduceOp> members);
  bool isSplit(qn::ReduceOp op) const;
  void addCompact(qn::CompactOp compact);
  void stageValues();
  void formLaunches();
  int bestAxis(AxisSet candidates) const;
  bool onlyNeighbours(const LaunchPlan &launch) const;
  bool writesRows(const LaunchPlan &launch) const;
  int reusedAxis(const LaunchPlan &launch, int lane) const;
  int turnedAxis(const LaunchPlan &launch) const;
  void planTurned(LaunchPlan &launch, unsigned turned);
  bool planDots(LaunchPlan &launch);
  AxisSet combinedOf(const LaunchPlan &launch) const;
  void planReduced(LaunchPlan &launch);
  void planTile(LaunchPlan &launch, unsigned rows, unsigned lane);
  void planWindow(LaunchPlan &launch, unsigned rows, unsigned lane,
                  bool once = false);
  bool planTwoAxes(LaunchPlan &launch);
  void widenShared(const LaunchPlan &launch, AxisPlan &plan) const;
  int placesAxis(const LaunchPlan &launch) const;
  void planPlaces(LaunchPlan &launch, unsigned rows);
  void planScatter(LaunchPlan &launch);
  void planShortRows(LaunchPlan &launch) const;
  std::int64_t worthOfTask(const LaunchPlan &launch) const;
  /// With lanes along one of the axes that may have them.
  void planAxes(LaunchPlan &launch, AxisSet mayBeLanes);
  std::optional<LaunchPlan> alongWindows(const LaunchPlan &launch);
  std::optional<LaunchPlan> rowOfWindows(const LaunchPlan &launch,
                                         const Tiling &tiling);
  void addContractions();
  void chooseInPlace(const LaunchPlan &launch, bool dots, Tiling &tiling) const;
  void addPacked(LaunchPlan launch, Tiling found,
                 llvm::SmallVectorImpl<LaunchPlan> &all);
  void addColumns(LaunchPlan launch, Columns found,
                  llvm::SmallVectorImpl<LaunchPlan> &all);
  void addStateRows(const LaunchPlan &launch, Columns found,
                    LaunchChoice choice,
                    llvm::SmallVectorImpl<LaunchPlan> &all);
  std::optional<Columns> columnsOf(const LaunchPlan &launch) const;
  std::optional<Columns> partsOf(const LaunchPlan &launch) const;
  void addParts();
  bool canTurn(const LaunchPlan &launch) const;
  std::optional<RowBlocks> rowBlocksOf(LaunchPlan &launch,
                                       std::vector<LaunchPlan> &open) const;
  void addRowBlocks(const LaunchPlan &launch, RowBlocks found,
                    llvm::SmallVectorImpl<LaunchPlan> &all);

  KernelModel &model;
  llvm::DenseMap<mlir::Value, unsigned> offsets;
  unsigned finals = 0;
  const TargetInfo &target;
  unsigned lanes = 1;
  unsigned operations = 0; ///< arithmetic operations in the whole kernel
  unsigned bodyLength = 0; ///< those, and fused or elementary ones
  llvm::SmallVector<int> scores;
  AxisSet uneven; ///< axes the bounds of a local axis depend on
};

} // namespace quern
