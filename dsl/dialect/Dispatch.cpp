// What the lowering can make of a dispatch: for each kind its parts, when it
// may run, and its loops.
#include "dsl/dialect/ScheduleOps.h"

#include "dsl/target/TargetInfo.h"

using namespace mlir;
using namespace quern;
using namespace quern::qn;

namespace {
/// The axes that a loop cuts, flattened axes behind the first.
using Axes = SmallVector<Attribute, 2>;

struct Dispatch {
  mutable DispatchOp op; ///< MLIR knows no const operations
  bool isForGpu = false;
  SmallVector<ScheduledLoopOp> loops = {};

  ContractionOp contraction() const {
    return definition<ContractionOp>(op.getContraction());
  }
  RowBlocksOp blocks() const { return definition<RowBlocksOp>(op.getBlocks()); }
  StateRowsOp columns() const {
    return definition<StateRowsOp>(op.getColumns());
  }

  /// What a dispatch packs for, or multiplies: of blocks of rows the scores, or
  /// those of the sums that it names.
  ContractionOp packed() const {
    RowBlocksOp rows = blocks();
    if (!rows)
      return contraction();
    Value plan = rows.getScores();
    std::uint64_t number = op.getSums().value_or(0);
    for (auto sums : rows.getBody().getOps<KeptSumsOp>())
      if (number && --number == 0)
        plan = sums.getSums();
    return plan.getDefiningOp<ContractionOp>();
  }

  LogicalResult verify();

private:
  template <typename Op> Op definition(Value plan) const {
    return plan ? plan.getDefiningOp<Op>() : Op();
  }
  LogicalResult verifyEntries() const;
  LogicalResult verifyPlans() const;
  LogicalResult verifyParts() const;
  LogicalResult verifyCuts() const;
  LogicalResult verifyLoops() const;
  LogicalResult verifyOwnLoops() const;
  LogicalResult verifySquares() const;
  LogicalResult verifyNest(ArrayRef<Axes> outer, ArrayRef<Axes> tiled) const;
};
} // namespace

static Axes axesOf(ScheduledLoopOp loop) {
  Axes axes{loop.getAxisAttr()};
  if (std::optional<ArrayAttr> with = loop.getWith())
    llvm::append_range(axes, *with);
  return axes;
}

static bool isTiled(ScheduledLoopOp loop) {
  return loop.getTile() > 1 || loop.getNarrow();
}

static SmallVector<Axes> eachOf(ArrayAttr axes) {
  SmallVector<Axes> each;
  for (Attribute axis : axes)
    each.push_back({axis});
  return each;
}

static Axes allOf(ArrayAttr axes) { return Axes(axes.begin(), axes.end()); }

/// Plans are of the kind that the operand asks for.
LogicalResult Dispatch::verifyPlans() const {
  if ((op.getContraction() && !contraction()) ||
      (op.getBlocks() && !blocks()) || (op.getColumns() && !columns()))
    return op.emitOpError("names a plan of another kind");
  if (RowBlocksOp found = blocks()) {
    SmallVector<Value> plans{found.getScores()};
    for (auto sums : found.getBody().getOps<KeptSumsOp>())
      plans.push_back(sums.getSums());
    std::uint64_t sums = op.getSums().value_or(0);
    if (sums >= plans.size())
      return op.emitOpError() << "has no sums of number " << sums;
    for (Value plan : plans)
      if (!plan.getDefiningOp<ContractionOp>())
        return found.emitOpError("keeps products of no contraction");
  }
  std::uint64_t product = op.getProduct().value_or(0);
  if (packed() && product >= packed().block().getOperations().size())
    return op.emitOpError() << "has no product of number " << product;
  return success();
}

/// What a dispatch of the kind is made of.
LogicalResult Dispatch::verifyParts() const {
  auto needs = [&](bool has, StringRef what) -> LogicalResult {
    return has ? success() : op.emitOpError() << "has no " << what;
  };
  switch (op.getKind()) {
  case LaunchKind::Stores:
    return needs(op.getStores().has_value(), "stores");
  case LaunchKind::Scatter:
    return needs(op.getScatter().has_value(), "scatter");
  case LaunchKind::Sort:
    return needs(op.getSort().has_value(), "sort");
  case LaunchKind::Partials:
  case LaunchKind::Merge:
    return needs(!op.getReductions().empty(), "reductions");
  case LaunchKind::Begins:
  case LaunchKind::Compact:
    return needs(op.getCompact() && op.getReductions().size() == 1,
                 "compaction");
  case LaunchKind::Pack:
  case LaunchKind::Contract:
    return needs(contraction() && op.getStores(), "contraction");
  case LaunchKind::Stream:
    return needs(contraction() && op.getStores() &&
                     contraction().getLineColumns(),
                 "contraction with lines of columns");
  case LaunchKind::SumParts:
  case LaunchKind::SumMerge:
    return needs(contraction() && op.getStores() && contraction().getPart(),
                 "contraction with parts");
  case LaunchKind::PackColumns:
  case LaunchKind::Rows:
    return needs(blocks() && op.getStores(), "blocks of rows");
  case LaunchKind::ColumnParts:
  case LaunchKind::ColumnMerge:
    return needs(columns() && op.getStores(), "rows of states");
  }
  return failure();
}

/// An axis is cut once, and one loop has lanes.
LogicalResult Dispatch::verifyCuts() const {
  llvm::DenseSet<Attribute> cut;
  unsigned lanes = 0;
  std::uint64_t written = 1;
  for (ScheduledLoopOp loop : loops) {
    lanes += loop.getLanes() > 1;
    written *= loop.getCopies();
    for (Attribute axis : axesOf(loop))
      if (!cut.insert(axis).second)
        return loop.emitOpError() << "axis " << axis << " is cut twice";
  }
  if (lanes > 1)
    return op.emitOpError("has lanes along two axes");
  if (written > 256)
    return op.emitOpError("writes out a turn more than 256 times");
  return success();
}

/// Loops over each of `outer`, one position a unit, and tiles of `tiled`.
LogicalResult Dispatch::verifyNest(ArrayRef<Axes> outer,
                                   ArrayRef<Axes> tiled) const {
  SmallVector<Axes> wanted(outer);
  llvm::append_range(wanted, tiled);
  SmallVector<Axes> found;
  for (ScheduledLoopOp loop : loops)
    found.push_back(axesOf(loop));
  bool isSame = found == wanted;
  for (auto [number, loop] : llvm::enumerate(loops))
    isSame &= isTiled(loop) == (number >= outer.size());
  if (isSame)
    return success();
  InFlightDiagnostic error = op.emitOpError()
                             << "of the kind " << stringifyEnum(op.getKind())
                             << " has a loop along";
  auto list = [&](const Axes &axes) {
    error << " [";
    llvm::interleaveComma(axes, error, [&](Attribute axis) {
      error << cast<StringAttr>(axis).getValue();
    });
    error << "]";
  };
  for (const Axes &axes : wanted)
    list(axes);
  return error << ", tiles of the last " << tiled.size();
}

/// Where results are written at their own axes all of those are walked over.
LogicalResult Dispatch::verifyOwnLoops() const {
  llvm::DenseSet<Attribute> cut;
  for (ScheduledLoopOp loop : loops) {
    if (loop.getWith())
      return loop.emitOpError("flattens axes that nothing packs");
    cut.insert(loop.getAxisAttr());
  }
  for (Attribute axis : op.getParallel())
    if (!cut.contains(axis))
      return op.emitOpError() << "has no loop along " << axis;
  for (Attribute axis : cut)
    if (!llvm::is_contained(op.getParallel(), axis))
      return op.emitOpError()
             << "walks along " << axis << ", which is not parallel";
  std::size_t tiled = llvm::count_if(loops, isTiled);
  if (op.getStreamsRows() && !op.getStreams())
    return op.emitOpError("writes rows past the caches, but nothing does");
  if (op.getStreams() && !op.getStreamsRows() && tiled == 0)
    return op.emitOpError("writes past the caches, but has no tile");
  bool isPair = op.getDots() || op.getTurned() || op.getInterleave();
  if (isPair && tiled != 2)
    return op.emitOpError("has no tile of two axes");
  if (op.getDeinterleave() && !op.getTurned())
    return op.emitOpError("deinterleaves lines, but no operand is turned");
  return op.getTurned() ? verifySquares() : success();
}

/// Squares of neighbours along one axis and lanes along the other: their side
/// divides the lanes.
LogicalResult Dispatch::verifySquares() const {
  std::uint64_t side = 1, lanes = 1;
  for (ScheduledLoopOp loop : loops) {
    if (isTiled(loop) && loop.getTile() > 4096)
      return loop.emitOpError("has a tile of more than 4096 of squares");
    lanes = std::max(lanes, loop.getLanes());
    side = std::max(side, loop.getCopies());
  }
  if (lanes > 1 && side > 1 && lanes % side == 0)
    return success();
  return op.emitOpError() << "has squares of " << side << " for " << lanes
                          << " lanes";
}

/// The loops that a dispatch of the kind consists of.
LogicalResult Dispatch::verifyLoops() const {
  switch (op.getKind()) {
  case LaunchKind::Pack:
  case LaunchKind::SumMerge:
    return verifyNest(eachOf(contraction().getBatch()),
                      allOf(contraction().getRows()));
  case LaunchKind::Contract:
    return verifyNest(
        eachOf(contraction().getBatch()),
        {allOf(contraction().getRows()), allOf(contraction().getColumns())});
  case LaunchKind::Stream:
    return verifyNest(eachOf(contraction().getBatch()),
                      allOf(contraction().getColumns()));
  case LaunchKind::SumParts: {
    auto product = *contraction().getBody().getOps<ProductOp>().begin();
    return verifyNest(eachOf(contraction().getBatch()),
                      allOf(product.getSums()));
  }
  case LaunchKind::Rows: {
    auto scores = blocks().getScores().getDefiningOp<ContractionOp>();
    return verifyNest(eachOf(scores.getBatch()), allOf(scores.getRows()));
  }
  case LaunchKind::PackColumns:
    return verifyNest(eachOf(packed().getBatch()),
                      allOf(packed().getColumns()));
  case LaunchKind::ColumnParts:
  case LaunchKind::ColumnMerge: {
    SmallVector<Axes> tiled{{columns().getLaneAttr()}};
    if (op.getKind() == LaunchKind::ColumnParts)
      tiled.insert(tiled.begin(), Axes{columns().getRowsAttr()});
    return verifyNest(eachOf(columns().getOuter()), tiled);
  }
  case LaunchKind::Partials:
  case LaunchKind::Merge:
  case LaunchKind::Begins:
  case LaunchKind::Compact:
    if (loops.size() == 1 && isTiled(loops.front()))
      return success();
    return op.emitOpError("has not one loop over the parts");
  case LaunchKind::Scatter:
    return success();
  case LaunchKind::Sort:
  case LaunchKind::Stores:
    return verifyOwnLoops();
  }
  return failure();
}

/// On a GPU entries have the loops.
LogicalResult Dispatch::verifyEntries() const {
  std::size_t entries = llvm::range_size(op.getBody().getOps<EntryOp>());
  if (isForGpu != (entries > 0))
    return op.emitOpError(isForGpu ? "has no entry"
                                   : "has entries, which only GPUs have");
  if (isForGpu && !loops.empty())
    return op.emitOpError("has loops outside its entries");
  if (llvm::range_size(op.getBody().getOps<MatrixProductOp>()) > 1)
    return op.emitOpError("has two products");
  bool isRight = llvm::all_of(op.getBody().getOps<EntryOp>(), [](EntryOp each) {
    return succeeded(verifyEntry(each));
  });
  return success(isRight);
}

LogicalResult Dispatch::verify() {
  llvm::append_range(loops, op.getBody().getOps<ScheduledLoopOp>());
  if (failed(verifyPlans()) || failed(verifyParts()) || failed(verifyEntries()))
    return failure();
  return failure(!isForGpu && (failed(verifyCuts()) || failed(verifyLoops())));
}

LogicalResult DispatchOp::verifyRegions() {
  constexpr std::uint64_t largest = std::uint64_t(1) << 40;
  if (getWorth() < 1 || getWorth() > largest)
    return emitOpError("a task is worth 1 to 2^40 elements");
  if (getWhen() && !isOfHost(getWhen()))
    return emitOpError("runs when a value that the host does not know holds");
  if (failed(verifyReductions(*this, getReductions())))
    return failure();
  auto schedule = cast<ScheduleOp>((*this)->getParentOp());
  std::optional<TargetInfo> target = targetNamed(schedule.getTarget());
  Dispatch dispatch{.op = *this, .isForGpu = target && target->isGpu()};
  return dispatch.verify();
}
