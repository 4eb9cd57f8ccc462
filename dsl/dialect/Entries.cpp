// What an entry of a GPU must say to be one that the lowering can follow.
#include "dsl/dialect/ScheduleOps.h"

#include "dsl/target/TargetInfo.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;
using namespace quern::qn;

LogicalResult MatrixProductOp::verify() {
  if (failed(verifyReductions(*this, getSum())))
    return failure();
  for (Value operand : {getLeftOperand(), getRightOperand()})
    if (operand && !isa<BlockArgument>(operand))
      return emitOpError("names a value that is no operand of the kernel");
  if (getLeft().getType() != getRight().getType())
    return emitOpError("has factors of two types");
  if (getByLanes() && !(getLeftOperand() && getRightOperand()))
    return emitOpError("is made by lanes of what is no operand");
  return success();
}

/// Counts that the code of an entry is made for.
static LogicalResult verifyCounts(EntryOp op) {
  struct Count {
    StringRef name;
    std::uint64_t value, least, most;
  };
  for (const Count &count :
       {Count{"threads", op.getThreads(), 32, 1024},
        Count{"vectors", op.getVectors(), 1, 16},
        Count{"copies", op.getCopies(), 1, 16},
        Count{"rows", op.getRows().value_or(1), 1, 64},
        Count{"resident", op.getResident().value_or(0), 0, 32},
        Count{"together", op.getTogether().value_or(1), 1, 32},
        Count{"kept", op.getKept().value_or(0), 0, 64},
        Count{"shared_lanes", op.getSharedLanes().value_or(0), 0, 1 << 20},
        Count{"cluster", op.getCluster().value_or(1), 1, 16},
        Count{"line_bytes", op.getLineBytes().value_or(64), 64, 128},
        Count{"stages", op.getStages().value_or(3), 1, 8},
        Count{"band_tiles", op.getBandTiles().value_or(1), 1, 1 << 20}})
    if (count.value < count.least || count.value > count.most)
      return op.emitOpError()
             << "has " << count.name << " " << count.value << ", but they are "
             << count.least << " to " << count.most;
  for (std::uint64_t count :
       {op.getThreads(), op.getVectors(), op.getCluster().value_or(1),
        op.getLineBytes().value_or(64)})
    if (!llvm::isPowerOf2_64(count))
      return op.emitOpError("has threads, vectors, blocks of a cluster and "
                            "bytes of a line that are powers of two");
  return success();
}

/// Which teams make a launch of the kind.
static bool isMadeBy(DispatchOp dispatch, EntryOp op) {
  switch (dispatch.getKind()) {
  case LaunchKind::Partials:
  case LaunchKind::Merge:
  case LaunchKind::Begins:
  case LaunchKind::Compact:
    return op.getTeam() == TeamKind::Block;
  case LaunchKind::ColumnParts:
    return op.getTeam() ==
           (op.getByColumns() ? TeamKind::Warp : TeamKind::Block);
  case LaunchKind::ColumnMerge:
    return op.getTeam() == TeamKind::Warp;
  default:
    return !op.getByColumns() || op.getTeam() == TeamKind::Warp;
  }
}

/// What only teams of some kind have.
static LogicalResult verifyTeam(EntryOp op) {
  auto dispatch = cast<DispatchOp>(op->getParentOp());
  bool isBlock = op.getTeam() >= TeamKind::Block;
  if (!isMadeBy(dispatch, op))
    return op.emitOpError()
           << "of a dispatch of the kind " << stringifyEnum(dispatch.getKind())
           << " has another team";
  if ((op.getCluster().value_or(1) > 1) != (op.getTeam() == TeamKind::Cluster))
    return op.emitOpError("has several blocks if its team is a cluster");
  if (op.getTurns() && !(isBlock && dispatch.getTurned() && op.getLane()))
    return op.emitOpError("turns operands that nothing is known of");
  if (op.getByColumns() && !dispatch.getColumns())
    return op.emitOpError("has columns, but the dispatch names none");
  return success();
}

/// A team that keeps rows has room for the longest of them.
static LogicalResult verifyKept(EntryOp op) {
  std::uint64_t kept = op.getKept().value_or(0);
  std::uint64_t shared = op.getSharedLanes().value_or(0);
  bool isBlock = op.getTeam() >= TeamKind::Block;
  if (shared && !(kept && isBlock))
    return op.emitOpError("keeps a row's rest, but not its beginning");
  if (!kept)
    return success();
  std::uint64_t ofBlock = op.getThreads() * op.getVectors();
  if (op.getTeam() == TeamKind::Thread || kept % op.getVectors() ||
      shared % ofBlock)
    return op.emitOpError("keeps whole vectors of rows, in teams of threads");
  for (auto loop : op.getBody().getOps<ScheduledLoopOp>())
    if (loop.getTile() != 1 || loop.getCopies() != 1)
      return loop.emitOpError("has several rows of a team that keeps one");
  auto schedule = op->getParentOfType<ScheduleOp>();
  std::uint64_t threads =
      isBlock ? op.getThreads() : targetNamed(schedule.getTarget())->warp;
  std::uint64_t room = op.getCluster().value_or(1) * (threads * kept + shared);
  if (op.getMostLanes().value_or(room + 1) > room)
    return op.emitOpError() << "has room for rows of " << room
                            << " elements, and is meant for longer ones";
  return success();
}

/// The product that an entry makes, and the sides of its tile.
static LogicalResult verifyProduct(EntryOp op) {
  bool isBlock = op.getTeam() == TeamKind::Block;
  if ((op.getStaged() && !(op.getProduct() && isBlock)) ||
      (op.getLarge() && !op.getStaged()))
    return op.emitOpError("stages a product of a block");
  if (!op.getProduct())
    return success();
  auto dispatch = cast<DispatchOp>(op->getParentOp());
  auto products = dispatch.getBody().getOps<MatrixProductOp>();
  if (products.empty())
    return op.emitOpError("makes a product that the dispatch does not name");
  MatrixProductOp product = *products.begin();
  if (op.getTeam() != (op.getStaged() ? TeamKind::Block : TeamKind::Warp) ||
      (product.getByLanes() && !op.getStaged()))
    return op.emitOpError("makes a product by another team");
  constexpr std::uint64_t warpSide = 32, blockSide = 128;
  std::uint64_t side = op.getStaged() ? blockSide : warpSide;
  for (auto loop : op.getBody().getOps<ScheduledLoopOp>()) {
    bool isColumn = loop.getAxisAttr() == product.getColumnAttr();
    std::uint64_t wanted = isColumn && op.getLarge() ? 2 * side
                           : isColumn                ? side
                           : loop.getAxisAttr() == product.getRowAttr() ? side
                                                                        : 1;
    if (loop.getTile() != wanted)
      return loop.emitOpError() << "of a product has tile " << loop.getTile()
                                << " in place of " << wanted;
  }
  return success();
}

/// The axes along which the units of an entry lie.
static LogicalResult verifyUnits(EntryOp op) {
  auto dispatch = cast<DispatchOp>(op->getParentOp());
  llvm::SmallDenseSet<Attribute> cut, wanted;
  for (auto loop : op.getBody().getOps<ScheduledLoopOp>()) {
    if (loop.getWith())
      return loop.emitOpError("flattens axes, which entries do not");
    if (!cut.insert(loop.getAxisAttr()).second)
      return loop.emitOpError() << "cuts " << loop.getAxisAttr() << " again";
    if (loop.getShared() ? loop.getLanes() != op.getVectors()
                         : loop.getLanes() != 1)
      return loop.emitOpError("has the entry's vectors where it is shared, and "
                              "single elements elsewhere");
  }
  wanted.insert_range(dispatch.getParallel());
  switch (dispatch.getKind()) {
  case LaunchKind::Partials:
  case LaunchKind::Merge:
  case LaunchKind::Begins:
  case LaunchKind::Compact:
    return cut.size() == 1 ? success()
                           : op.emitOpError("has not one loop over the parts");
  case LaunchKind::ColumnParts:
    wanted.insert(
        dispatch.getColumns().getDefiningOp<StateRowsOp>().getRowsAttr());
    break;
  default:
    break;
  }
  for (Attribute axis : wanted)
    if (!cut.contains(axis))
      return op.emitOpError() << "has no loop along " << axis;
  if (cut.size() != wanted.size())
    return op.emitOpError("has loops along axes that are not parallel");
  return success();
}

/// Threads that have columns share the loop along them.
static LogicalResult verifyColumns(EntryOp op) {
  auto dispatch = cast<DispatchOp>(op->getParentOp());
  if (!op.getByColumns())
    return success();
  auto columns = dispatch.getColumns().getDefiningOp<StateRowsOp>();
  for (auto loop : op.getBody().getOps<ScheduledLoopOp>())
    if (loop.getShared() != (loop.getAxisAttr() == columns.getLaneAttr()))
      return loop.emitOpError("is not shared as the columns are");
  return success();
}

LogicalResult qn::verifyEntry(EntryOp op) {
  return failure(failed(verifyTeam(op)) || failed(verifyUnits(op)) ||
                 failed(verifyKept(op)) || failed(verifyProduct(op)) ||
                 failed(verifyColumns(op)));
}

LogicalResult EntryOp::verifyRegions() { return verifyCounts(*this); }
