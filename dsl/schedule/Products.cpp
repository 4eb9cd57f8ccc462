// The launches that contractions become: packed, streamed, or read in place.
#include "dsl/cost/Parameters.h"
#include "dsl/schedule/ProductChoice.h"
#include "dsl/schedule/ScheduleChooser.h"
#include "dsl/schedule/Turned.h"

using namespace mlir;
using namespace quern;

/// Axes flattened into one, cut into tiles.
static AxisPlan flattened(ArrayRef<unsigned> axes, std::int64_t tile) {
  AxisPlan plan{.axis = axes.front(), .tile = tile};
  plan.with.assign(axes.begin() + 1, axes.end());
  return plan;
}

/// Whether both factors are only read: a tile that computed them would do it
/// once for every row or panel.
static bool readsInPlace(const Product &product) {
  auto isRead = [](Value factor) {
    auto load = factor.getDefiningOp<qn::LoadOp>();
    return load && load.getIndices().empty();
  };
  return isRead(product.rows) && isRead(product.columns);
}

/// Whether the launch is a register tile of rows and lanes.
static bool isTile(const LaunchPlan &launch) {
  return launch.axes.size() > 1 && launch.axes.end()[-2].copies > 1 &&
         launch.axes.back().copies > 1;
}

/// A launch that packs, or reads what was packed, for each position of the
/// batch.
static LaunchPlan packedOf(const LaunchPlan &launch, Value when) {
  LaunchPlan packed;
  packed.stores = launch.stores;
  packed.parallel = launch.parallel;
  packed.when = when;
  packed.tiling = launch.tiling;
  for (unsigned axis : launch.tiling->batch)
    packed.axes.push_back(AxisPlan{.axis = axis});
  return packed;
}

/// Launches that sum parts of a product for all of its few rows and columns,
/// and add them up.
static void addDeepSums(const LaunchPlan &launch, Value when,
                        SmallVectorImpl<LaunchPlan> &all) {
  const Tiling &tiling = *launch.tiling;
  LaunchPlan merge = packedOf(launch, when);
  LaunchPlan parts = merge;
  parts.kind = LaunchKind::SumParts;
  parts.parallel = AxisSet();
  for (unsigned axis : tiling.batch)
    parts.parallel |= axisBit(axis);
  parts.axes.push_back(flattened(tiling.products[0].sums, cost::sumPart));
  parts.taskElements = 1 << 18;
  all.push_back(std::move(parts));
  merge.kind = LaunchKind::SumMerge;
  merge.axes.push_back(flattened(tiling.rows, tiling.height));
  merge.taskElements = 1 << 18;
  all.push_back(std::move(merge));
}

/// Launches that pack rows, then blocks of columns.
static void addBlocks(const TargetInfo &target, const LaunchPlan &launch,
                      const ProductConditions &when,
                      SmallVectorImpl<LaunchPlan> &all) {
  const Tiling &tiling = *launch.tiling;
  for (unsigned i = 0; i < tiling.products.size(); ++i) {
    LaunchPlan pack = packedOf(launch, when.packsRows);
    pack.kind = LaunchKind::Pack;
    pack.product = i;
    pack.axes.push_back(flattened(tiling.rows, tiling.height));
    pack.taskElements = 65536;
    all.push_back(std::move(pack));
  }
  LaunchPlan packed = packedOf(launch, when.packed);
  packed.kind = LaunchKind::Contract;
  AxisPlan rows = flattened(tiling.rows, tiling.rowBlock);
  rows.narrow = llvm::alignTo(cost::smallRowBlock, tiling.height);
  rows.narrowBelow =
      std::int64_t(2) * target.cores * tiling.rowBlock * tiling.blockWidth();
  rows.narrowBy.assign(tiling.rows.begin(), tiling.rows.end());
  llvm::append_range(rows.narrowBy, tiling.columns);
  // Of three blocks one thread would make two.
  rows.evenCount = target.cores;
  rows.evenStep = tiling.height;
  packed.axes.push_back(rows);
  AxisPlan columns = flattened(tiling.columns, tiling.blockWidth());
  // Few columns make more units of one panel, for all threads to have some.
  columns.narrow = tiling.width();
  columns.narrowBelow = 4 * tiling.blockWidth();
  packed.axes.push_back(columns);
  packed.taskElements = 1 << 18;
  all.push_back(std::move(packed));
  if (!when.streamed)
    return;
  LaunchPlan streamed = packedOf(launch, when.streamed);
  streamed.kind = LaunchKind::Stream;
  AxisPlan line = flattened(tiling.columns, tiling.lineColumns);
  line.narrow = tiling.lineColumns / 2;
  line.narrowBelow = target.cores * tiling.lineColumns;
  streamed.axes.push_back(line);
  streamed.taskElements = 65536;
  all.push_back(std::move(streamed));
}

/// What is read where it lies: columns that few rows meet, or that the second
/// cache holds.
ProductLimits ScheduleChooser::limitsOf(const LaunchPlan &launch, bool dots,
                                        const Tiling &tiling) const {
  ProductLimits limits;
  const Product &product = tiling.products.front();
  if (tiling.products.size() != 1)
    return limits;
  // What is reduced in a factor would be made again in every block.
  if (!model.factsOf(product.rows).combined)
    limits.deepFrom = 2 * cost::sumPart;
  if (tiling.byColumns || dots)
    limits.fewRows = cost::dotRows;
  std::int64_t l2Elements =
      target.l2Bytes / (tiling.element.getIntOrFloatBitWidth() / 8);
  if (isTile(launch) && !tiling.tiles && readsInPlace(product))
    limits.fewElements = l2Elements / 4;
  if (dots && !tiling.byColumns && !tiling.pairs && readsInPlace(product))
    limits.fewRowElements = l2Elements / 8;
  if (!tiling.byColumns || tiling.pairs || product.window ||
      product.turnColumns || product.sums.size() != 1)
    return limits;
  // Rows of states would read the columns once for each row.
  limits.fewRows = cost::stateRows;
  limits.streamedRows = cost::streamedRows;
  return limits;
}

/// Contractions get launches that pack their factors beside those that read
/// them in place; the extents decide at run time which of them have units.
void ScheduleChooser::addPacked(LaunchPlan launch, Tiling found,
                                SmallVectorImpl<LaunchPlan> &all) {
  std::optional<Columns> sums = columnsOf(launch);
  bool single = found.products.size() == 1;
  found.number = launches.size() + all.size();
  found.byColumns = sums && single && sums->lane == found.columns.back();
  LaunchPlan inPlace = launch;
  // Lanes run along the sum where only few columns, or rows, get here.
  inPlace.lane = found.products[0].sums.back();
  inPlace.axes.clear();
  for (unsigned axis : axisList(launch.parallel))
    inPlace.axes.push_back(AxisPlan{.axis = axis});
  bool dots = planDots(inPlace) && found.products[0].turnColumns;
  ProductLimits limits = limitsOf(launch, dots, found);
  if (auto row = rowOfWindows(launch, found); row && !found.byColumns) {
    inPlace = std::move(*row);
    limits.fewRows = cost::packedRows;
    limits.fewNearRows = cost::packedNearRows;
  }
  if (limits.streamedRows)
    found.lineColumns = 4 * found.blockWidth();
  if (limits.deepFrom)
    found.part = partOfSum(host, found.products[0]);
  ProductConditions when = conditionsOf(host, model, target, found, limits);
  auto tiling = std::make_shared<const Tiling>(std::move(found));
  launch.tiling = inPlace.tiling = tiling;
  addBlocks(target, launch, when, all);
  if (when.fewRows)
    addStateRows(launch, std::move(*sums), when.fewRows, all);
  if (when.small) {
    launch.when = when.small;
    all.push_back(std::move(launch));
  }
  inPlace.when = when.inPlace;
  all.push_back(inPlace);
  if (when.deep)
    addDeepSums(inPlace, when.deep, all);
}

/// Products that other reductions walk over: columns packed once, then blocks
/// of rows; for few rows nothing is packed.
void ScheduleChooser::addRowBlocks(const LaunchPlan &launch, RowBlocks found,
                                   SmallVectorImpl<LaunchPlan> &all) {
  auto blocks = std::make_shared<const RowBlocks>(std::move(found));
  Value isFew =
      host.isAtMost(host.extentOf(blocks->scores.rows), cost::rowsInPlace);
  LaunchPlan rows;
  rows.when = host.negated(isFew);
  rows.stores = launch.stores;
  rows.parallel = launch.parallel;
  rows.blocks = blocks;
  rows.lane = blocks->inner();
  for (unsigned axis : blocks->scores.batch)
    rows.axes.push_back(AxisPlan{.axis = axis});
  for (unsigned sums = 0; sums <= blocks->sums.size(); ++sums) {
    const Tiling &tiling =
        sums ? blocks->sums[sums - 1].tiling : blocks->scores;
    for (unsigned i = 0; i < tiling.products.size(); ++i) {
      LaunchPlan pack = rows;
      pack.kind = LaunchKind::PackColumns;
      pack.product = i;
      pack.sums = sums;
      pack.axes.push_back(flattened(tiling.columns, tiling.width()));
      pack.taskElements = 65536;
      all.push_back(std::move(pack));
    }
  }
  rows.kind = LaunchKind::Rows;
  rows.axes.push_back(flattened(blocks->scores.rows, blocks->rowBlock()));
  rows.taskElements = 1 << 18;
  all.push_back(rows);
  rows.when = isFew;
  rows.blocks = std::make_shared<const RowBlocks>(
      *findRowBlocks(model, target, launch.stores, launch.parallel, uneven,
                     /*inPlace=*/true));
  rows.axes.back().tile = cost::rowsInPlace;
  all.push_back(std::move(rows));
}

/// How a launch keeps products for blocks of rows. Launches of `open` that keep
/// the same ones join it.
std::optional<RowBlocks>
ScheduleChooser::rowBlocksOf(LaunchPlan &launch,
                             std::vector<LaunchPlan> &open) const {
  auto find = [&](const LaunchPlan &of) {
    return findRowBlocks(model, target, of.stores, of.parallel, uneven,
                         /*inPlace=*/false);
  };
  auto count = [](const RowBlocks &of) { return of.scores.products.size(); };
  auto isStaged = [&](const LaunchPlan &of) {
    return model.kernel.isStaged(qn::StoreOp(of.stores.front()).getTensor());
  };
  std::optional<RowBlocks> blocks = find(launch);
  for (std::size_t i = open.size(); blocks && !isStaged(launch) && i-- > 0;) {
    std::optional<RowBlocks> other;
    if (open[i].kind == LaunchKind::Stores && !isStaged(open[i]))
      other = find(open[i]);
    if (!other)
      continue;
    LaunchPlan both = launch;
    llvm::append_range(both.stores, open[i].stores);
    both.parallel &= open[i].parallel;
    std::optional<RowBlocks> joined = find(both);
    if (joined && count(*joined) < count(*blocks) + count(*other)) {
      launch = std::move(both);
      blocks = std::move(joined);
      open.erase(open.begin() + i);
    }
  }
  return blocks;
}

void ScheduleChooser::addContractions() {
  SmallVector<LaunchPlan, 2> all;
  auto addOthers = [&](LaunchPlan launch) {
    std::optional<LaunchPlan> narrow = narrowLines(launch);
    if (!narrow)
      narrow = alongWindows(launch);
    if (narrow)
      launch.when = host.negated(narrow->when);
    SmallVector<LaunchPlan, 2> others =
        launch.turned >= 0 ? deinterleaved(launch) : shortRows(launch);
    all.push_back(std::move(launch));
    if (narrow)
      all.push_back(std::move(*narrow));
    llvm::append_range(all, std::move(others));
  };
  std::vector<LaunchPlan> open(std::make_move_iterator(launches.rbegin()),
                               std::make_move_iterator(launches.rend()));
  while (!open.empty()) {
    LaunchPlan launch = std::move(open.back());
    open.pop_back();
    if (launch.kind != LaunchKind::Stores) {
      all.push_back(std::move(launch));
      continue;
    }
    if (auto blocks = rowBlocksOf(launch, open))
      addRowBlocks(launch, std::move(*blocks), all);
    else if (auto tiling = findTiling(model, target, launch.stores,
                                      launch.parallel, uneven))
      addPacked(std::move(launch), std::move(*tiling), all);
    else if (auto columns = columnsOf(launch))
      addColumns(std::move(launch), std::move(*columns), all);
    else
      addOthers(std::move(launch));
  }
  launches = std::move(all);
}
