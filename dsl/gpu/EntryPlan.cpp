// The cost model of a GPU: teams, vectors and tiles.
#include "dsl/schedule/EntryPlan.h"

#include "dsl/cost/Parameters.h"
#include "dsl/gpu/KeptEntries.h"
#include "dsl/gpu/Matrix.h"
#include "dsl/gpu/Product.h"
#include "dsl/gpu/Stages.h"
#include "dsl/schedule/Contraction.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

namespace {

constexpr unsigned accessBytes = 16;
/// Up to these extents a thread, or a warp, is enough for a row.
constexpr std::int64_t threadLanes = 8, warpLanes = 1024;
/// Where the lane axis has fewer elements, threads share all axes alike.
constexpr std::int64_t tiledLanes = 64;
/// Columns of a product that are too few for a warp's tile, or a block's.
constexpr std::int64_t productLanes = 7, productWarpLanes = 64;

/// Where much is done to an element, more of them at once need more registers
/// than there are, and their access is not what takes time.
constexpr unsigned manyOperations = 64, fewElements = 4, singleBytes = 8;

/// What is done to one element, as far as it decides on the shape of code.
struct Work {
  unsigned operations = 0;
  bool isPlain = true; ///< neither loops nor computed positions
  bool isPortable = false;

  bool isMuch() const { return operations > manyOperations; }
};

Work workOf(const KernelModel &model) {
  Work work;
  model.kernel.getBody().walk([&](Operation *op) {
    work.operations += OpTrait::hasElementwiseMappableTraits(op);
    if (isa<scf::WhileOp, scf::ForOp, qn::LookupOp>(op))
      work.isPlain = false;
    if (auto load = dyn_cast<qn::LoadOp>(op))
      work.isPlain &= load.getIndices().empty();
    if (auto reduce = dyn_cast<qn::ReduceOp>(op))
      work.isPortable |= reduce.getPortable();
  });
  return work;
}

/// Elements of one access of the widest operand whose elements are neighbours.
/// Complex ones are read by halves: they only set a limit.
unsigned vectorsFor(const KernelModel &model, const Work &work) {
  unsigned bytes = 0, pairs = 0;
  for (BlockArgument argument : model.kernel.block().getArguments()) {
    auto type = dyn_cast<qn::OperandType>(argument.getType());
    if (!type || !llvm::is_contained(type.getStrides(), StrideClass::One))
      continue;
    if (auto pair = dyn_cast<ComplexType>(type.getElementType())) {
      unsigned half = pair.getElementType().getIntOrFloatBitWidth() / 8;
      pairs = std::max(pairs, 2 * half);
      continue;
    }
    bytes = std::max(
        {bytes, 1u, type.getElementType().getIntOrFloatBitWidth() / 8});
  }
  if (!bytes || !work.isPlain)
    return 1;
  bytes = std::max(bytes, pairs);
  unsigned most = !work.isMuch()         ? accessBytes
                  : bytes >= singleBytes ? 1
                                         : fewElements;
  return std::clamp(accessBytes / bytes, 1u, most);
}

/// Registers for the states of all copies and lanes of a thread.
constexpr unsigned mostRegisters = 64;

unsigned stateWords(const KernelModel &model) {
  unsigned words = 0;
  for (qn::ReduceOp op : model.reductions)
    words += quern::stateWords(op);
  return words;
}

/// Vectors under way at once: their states, of every lane, are in registers.
unsigned copiesFor(const KernelModel &model, const Work &work,
                   unsigned vectors) {
  unsigned words = stateWords(model);
  unsigned copies = work.operations <= 8 ? 4 : work.operations <= 24 ? 2 : 1;
  while (copies > 1 && copies * vectors * words > mostRegisters)
    copies /= 2;
  return copies;
}

/// Every thread has units of its own; the lane axis counts up fastest.
void planThread(EntryPlan &entry) {
  LaunchPlan &launch = entry.launch;
  launch.axes.clear();
  for (unsigned axis : axisList(launch.parallel))
    if (static_cast<int>(axis) != launch.lane)
      launch.axes.push_back(AxisPlan{.axis = axis});
  if (launch.lane >= 0 && hasAxis(launch.parallel, launch.lane))
    launch.axes.push_back(AxisPlan{.axis = unsigned(launch.lane)});
}

/// A block has a tile of the lane axis; rows of a register tile stay.
void planTiled(EntryPlan &entry, const KernelModel &model) {
  unsigned most = 4 / std::clamp(stateWords(model), 1u, 4u);
  LaunchPlan &launch = entry.launch;
  for (AxisPlan &axis : launch.axes) {
    axis.lanes = 1;
    if (static_cast<int>(axis.axis) != launch.lane) {
      axis.copies = std::min(axis.copies, most);
      axis.tile = axis.copies;
      continue;
    }
    axis.lanes = entry.vectors;
    axis.copies = entry.copies;
    axis.tile = std::int64_t(entry.threads) * entry.vectors * entry.copies;
    axis.shared = true;
  }
}

/// A team has a row, or a few rows by columns of sums along the lanes. `words`:
/// registers that an element of all operands takes.
void planRows(EntryPlan &entry, unsigned words) {
  constexpr unsigned mostUnderWay = 32;
  unsigned rows = 1;
  for (AxisPlan &axis : entry.launch.axes) {
    axis.lanes = 1;
    axis.copies = std::min(axis.copies, 2u);
    axis.tile = axis.copies;
    rows *= axis.copies;
  }
  unsigned each = rows * words * entry.vectors;
  while (entry.copies > 1 && each * entry.copies > mostUnderWay)
    entry.copies /= 2;
  entry.isFull = each * entry.copies == mostUnderWay;
}

/// So many rows by as many columns of the product at a time.
void planTile(EntryPlan &entry, std::int64_t side) {
  const MatrixProduct &product = *entry.product;
  LaunchPlan &launch = entry.launch;
  launch.axes.clear();
  for (unsigned axis : axisList(launch.parallel)) {
    bool isSide = axis == product.row || axis == product.column;
    launch.axes.push_back(AxisPlan{.axis = axis, .tile = isSide ? side : 1});
  }
  launch.lane = product.column;
}

/// A warp has a tile of rows and columns; neighbours are read as lanes hold
/// them.
EntryPlan planProduct(EntryPlan entry, const MatrixProduct &product,
                      const TargetInfo &target) {
  entry.team = TeamKind::Warp;
  entry.product = product;
  entry.vectors = std::min(matrixLayout(target, product.sumType()).run,
                           accessBytes / product.elementBytes());
  entry.copies = 1;
  planTile(entry, std::int64_t(2) * matrixSize);
  return entry;
}

/// Whether its factors have 16 bits: sums of f64 take twice the registers.
bool isNarrow(const MatrixProduct &product) {
  return product.elementBytes() == 2;
}

/// A block has a tile, which is copied to shared memory sixteen bytes at a
/// time. Where lanes have registers for it, a warp has a quarter of the tile:
/// larger parts read less of the stages for each product.
EntryPlan stageProduct(EntryPlan entry, const TargetInfo &target) {
  entry.team = TeamKind::Block;
  entry.staged = true;
  bool isQuarter = target.kind == TargetKind::Nvptx && isNarrow(*entry.product);
  entry.threads = isQuarter ? 128 : 256;
  entry.vectors = accessBytes / entry.product->elementBytes();
  entry.mostLanes = -1;
  for (AxisPlan &axis : entry.launch.axes)
    if (axis.tile > 1)
      axis.tile = stages::tileRows;
  return entry;
}

/// Tiles of a band, where the last two axes are those of the tile.
std::int64_t bandOf(const EntryPlan &entry, std::int64_t rows) {
  llvm::ArrayRef<AxisPlan> axes = entry.launch.axes;
  bool isLast =
      axes.size() > 1 && axes.back().tile > 1 && axes[axes.size() - 2].tile > 1;
  if (!isLast)
    return 1;
  return axes.back().axis == entry.product->column ? rows : rows / 2;
}

/// The same with twice the columns, where there are enough of these tiles: a
/// block reads less of the factors for each product, which is what limits the
/// other one. Stages are twice as deep where three of them fit, so that threads
/// meet half as often.
EntryPlan enlarge(EntryPlan entry, const TargetInfo &target) {
  constexpr std::int64_t manyTiles = 128, fewStages = 3, manyStages = 4;
  constexpr std::int64_t bandRows = 8;
  entry.isLarge = true;
  entry.threads *= 2;
  entry.leastUnits = manyTiles;
  for (AxisPlan &axis : entry.launch.axes)
    if (axis.axis == entry.product->column)
      axis.tile = stages::columnsOf(entry);
  entry.lineBytes *= 2;
  if (fewStages * stages::stageBytes(entry) > target.sharedBytes)
    entry.lineBytes /= 2;
  // A square of tiles, as many as multiprocessors, has about as many rows.
  entry.bandTiles = bandOf(entry, bandRows);
  entry.stages = std::min<std::int64_t>(
      manyStages, target.sharedBytes / stages::stageBytes(entry));
  return entry;
}

/// A block has a tile of which each lane multiplies a part, half as much where
/// a sum takes two registers. Where there are too few tiles for a device, or
/// most of one would lie outside, others are meant.
EntryPlan planLaneProduct(EntryPlan entry, const MatrixProduct &product) {
  constexpr std::int64_t enoughTiles = 16, enoughOfTile = 32;
  entry.team = TeamKind::Block;
  entry.product = product;
  entry.staged = true;
  entry.threads = product.elementBytes() > 4 ? 512 : 256;
  entry.vectors = accessBytes / product.elementBytes();
  entry.copies = 1;
  entry.leastUnits = enoughTiles;
  entry.leastSide = enoughOfTile;
  planTile(entry, stages::tileRows);
  return entry;
}

/// Elements, warps and blocks, of which those with larger tiles come first.
std::vector<EntryPlan> productEntries(EntryPlan thread, EntryPlan warp,
                                      const TargetInfo &target) {
  planThread(thread);
  thread.mostLanes = productLanes;
  if (!warp.product->isPlain())
    return {thread, warp};
  warp.mostLanes = productWarpLanes;
  EntryPlan block = stageProduct(warp, target);
  if (target.kind != TargetKind::Nvptx || !isNarrow(*warp.product))
    return {thread, warp, block};
  return {thread, warp, enlarge(block, target), block};
}

/// Whether a value is made from scans.
bool isFromScans(Value value, llvm::SmallPtrSetImpl<Operation *> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !seen.insert(op).second)
    return false;
  if (isa<qn::ScanOp>(op))
    return true;
  auto found = op->walk([&](Operation *inner) {
    bool isFrom = llvm::any_of(inner->getOperands(), [&](Value operand) {
      return isFromScans(operand, seen);
    });
    return isFrom ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// Whether the scans of a launch run along rows that a team can share: stores
/// come behind them, or reductions of the same rows, whose states are merged in
/// any order; and there is no other axis in a row.
bool teamsCanScan(const KernelModel &model, const LaunchPlan &launch) {
  if (launch.kind != LaunchKind::Stores ||
      launch.lane >= int(model.declaredAxes()) ||
      hasAxis(launch.parallel, launch.lane))
    return false;
  for (qn::ScanOp scan : model.scans)
    if (int(model.axisOf(scan.getAxis())) != launch.lane)
      return false;
  for (qn::StoreOp store : launch.stores)
    if (model.factsOf(store).axes & ~launch.parallel & ~axisBit(launch.lane))
      return false;
  llvm::SmallPtrSet<Operation *, 32> seen;
  bool feed = llvm::any_of(model.reductions, [&](qn::ReduceOp op) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return isFromScans(operand, seen);
    });
  });
  return !feed || llvm::all_of(model.reductions, [&](qn::ReduceOp op) {
    return !op.getOrdered() &&
           model.axesOf(op.getAxes()) == axisBit(launch.lane);
  });
}

/// A row for a thread, a warp, a block or a cluster; for teams that keep it,
/// where that pays, whose threads have little to do without a part of it.
std::vector<EntryPlan> rowEntries(const KernelModel &model,
                                  const LaunchPlan &launch,
                                  const TargetInfo &target, const Work &work,
                                  EntryPlan thread, EntryPlan block) {
  constexpr unsigned blockThreads = 256, largeThreads = 512;
  RowNeeds needs = needsOf(model, launch);
  planRows(block, rowWords(model, launch, needs));
  block.isFull |= work.isMuch();
  block.threads = blockThreads;
  EntryPlan warp = block;
  warp.team = TeamKind::Warp;
  warp.threads = 128;
  warp.mostLanes = warpLanes;
  thread.mostLanes = threadLanes;
  bool mayKeep = block.vectors > 1 && work.isPlain;
  RowRoom room = mayKeep ? roomFor(model, launch, needs) : RowRoom();
  if (!room.kept)
    return {thread, warp, block};
  std::vector<EntryPlan> made{thread};
  for (unsigned each = std::max(leastKept, block.vectors);
       each <= room.kept && std::int64_t(target.warp) * each <= warpLanes;
       each *= 2)
    made.push_back(keeping(warp, each, target));
  if (work.isMuch())
    room.light = 0;
  keepInBlocks(made, block, room, work.operations, target);
  block.threads = largeThreads;
  if (target.cluster > 1) {
    block.team = TeamKind::Cluster;
    block.cluster = target.cluster;
  } else {
    block.resident = 1;
  }
  made.push_back(block);
  return made;
}

/// A block has a square of two axes; few lanes are left to single threads.
std::vector<EntryPlan> turnedEntries(EntryPlan thread, EntryPlan block) {
  planThread(thread);
  thread.mostLanes = cost::gpuTurnedFrom;
  block.threads = 256;
  block.vectors = block.copies = 1;
  block.turns = true;
  LaunchPlan &launch = block.launch;
  launch.axes.clear();
  for (unsigned axis : axisList(launch.parallel)) {
    bool isSide = static_cast<int>(axis) == launch.turned ||
                  static_cast<int>(axis) == launch.lane;
    launch.axes.push_back(
        AxisPlan{.axis = axis, .tile = isSide ? turnedSide : 1});
  }
  return {thread, block};
}

/// Columns that are too few for the lanes of a warp: teams go along the rows.
constexpr std::int64_t narrowColumns = 16;

/// A warp has columns, a vector for each thread, and goes along the rows.
EntryPlan planColumns(EntryPlan entry, const KernelModel &model,
                      const Work &work, const TargetInfo &target) {
  unsigned mostRows = work.isMuch() ? 1 : 8;
  unsigned each = std::max(1u, entry.vectors * stateWords(model));
  entry.rows = llvm::bit_floor(std::clamp(mostRegisters / each, 1u, mostRows));
  entry.team = TeamKind::Warp;
  entry.copies = 1;
  entry.byColumns = true;
  for (AxisPlan &axis : entry.launch.axes) {
    if (axis.axis != entry.launch.columns->lane)
      continue;
    axis.lanes = entry.vectors;
    axis.copies = 1;
    axis.tile = std::int64_t(target.warp) * entry.vectors;
    axis.shared = true;
  }
  return entry;
}

/// The entries of a reduction in parts, or of the merge of these.
std::vector<EntryPlan> partEntries(const KernelModel &model,
                                   const LaunchPlan &launch, const Work &work,
                                   const TargetInfo &target, EntryPlan block) {
  if (launch.kind == LaunchKind::ColumnMerge) {
    block.team = TeamKind::Warp;
    block.vectors = block.copies = 1;
    return {block};
  }
  EntryPlan columns = planColumns(block, model, work, target);
  block.threads = 256;
  if (launch.columns->isRow)
    return {block};
  block.vectors = 1; // rows of few columns are no neighbours
  block.mostLanes = narrowColumns;
  return {block, columns};
}

} // namespace

std::vector<EntryPlan> quern::planEntries(const KernelModel &model,
                                          const LaunchPlan &launch,
                                          const TargetInfo &target) {
  Work work = workOf(model);
  EntryPlan thread{.launch = launch};
  EntryPlan block = thread;
  block.team = TeamKind::Block;
  block.vectors = vectorsFor(model, work);
  if (work.isPlain)
    block.copies = copiesFor(model, work, block.vectors);
  if (!launch.reductions.empty()) {
    block.threads = 256;
    return {block};
  }
  if (launch.turned >= 0)
    return turnedEntries(thread, block);
  if (launch.hasStateRows())
    return partEntries(model, launch, work, target, block);
  auto product = findProduct(model, launch, target);
  if (product && !product->byLanes)
    return productEntries(thread, planProduct(block, *product, target), target);
  bool isTiled = launch.lane >= 0 && hasAxis(launch.parallel, launch.lane);
  if (launch.kind == LaunchKind::Scatter || launch.lane < 0 ||
      (!model.scans.empty() && !teamsCanScan(model, launch)) ||
      work.isPortable) {
    planThread(thread);
    return {thread};
  }
  std::vector<EntryPlan> made;
  planThread(thread);
  if (isTiled) {
    bool tile = llvm::any_of(launch.axes, [&](const AxisPlan &axis) {
      return static_cast<int>(axis.axis) != launch.lane && axis.copies > 1;
    });
    if (tile)
      block.vectors = block.copies = 1;
    if (launch.columns)
      block = planColumns(block, model, work, target);
    else
      planTiled(block, model);
    thread.mostLanes = tiledLanes;
    made = {thread, block};
  } else {
    made = rowEntries(model, launch, target, work, thread, block);
  }
  if (product)
    made.insert(made.begin(), planLaneProduct({.launch = launch}, *product));
  return made;
}
