// Builds an entry: the team's part of the grid, and a loop over its units.
#include "dsl/gpu/Entry.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

/// Numbers of units and tiles: 32 bits where offsets have 32 bits.
Type EntryBuilder::countType() const {
  return model.kernel.getWide() ? builder.getI64Type() : builder.getI32Type();
}

Value EntryBuilder::fit(Value value) {
  Type type = countType();
  if (value.getType() == type)
    return value;
  if (type.isInteger(32))
    return arith::TruncIOp::create(builder, loc, type, value);
  return arith::ExtUIOp::create(builder, loc, type, value);
}

Value EntryBuilder::number(std::int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(countType(), value));
}

/// Whether a result of 16 bits is added up over windows of space: their places
/// are more than 128 registers hold.
static bool hasShortSpace(const KernelModel &model, const LaunchPlan &launch) {
  constexpr std::size_t channelsAndPlane = 3;
  return llvm::any_of(
             launch.stores,
             [](qn::StoreOp store) {
               Type type = store.getTensor().getType().getElementType();
               return type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 16;
             }) &&
         llvm::any_of(model.reductions, [](qn::ReduceOp op) {
           return op.getAxes().size() > channelsAndPlane;
         });
}

/// Blocks for which a multiprocessor's registers have to be enough: two cover
/// each other's barriers, where sums and factors leave room for another one's.
unsigned EntryBuilder::leastBlocks() const {
  // A warp's sums of f64 are half of what it would have otherwise.
  if (!plan.staged && plan.product)
    return plan.product->elementBytes() == 8 ? 2 : 1;
  if (!plan.staged)
    return hasShortSpace(model, launch) ? 3 : 1;
  return plan.isLarge || plan.product->elementBytes() > 2 ? 0 : 2;
}

/// A function of one parameter: the packet and the number of blocks, or a table
/// of them.
Block *EntryBuilder::entryFunction(ModuleOp module, StringRef name) {
  builder.setInsertionPointToEnd(module.getBody());
  Block *entry = device.entry(loc, name,
                              {.block = {plan.threads, 1, 1},
                               .isFlat = true,
                               .isMost = plan.isSized(),
                               .isListed = model.kernel.getListed(),
                               .blocks = leastBlocks(),
                               .isLight = plan.together > 1,
                               .cluster = plan.cluster},
                              packet.words.size(), 1);
  emitter.packetPointer = entry->getArgument(0);
  return entry;
}

/// Threads of the team and warps of a block, as the host computes them.
void EntryBuilder::sizeTeam(Frame &root, Team &made) {
  if (!plan.isSized())
    return;
  Value lanes = emitter.extent(root, launch.lane);
  OpBuilder &b = emitter.in(root);
  Value warps = math("addi", lanes, stepLanes() - 1);
  warps = math("divui", warps, stepLanes());
  warps = math("maxui", warps, 1);
  warps = math("minui", warps, plan.threads / target.warp);
  made.count = math("muli", warps, std::int64_t(target.warp) * plan.cluster);
  made.warps = arith::TruncIOp::create(b, loc, b.getI32Type(), warps);
}

Team EntryBuilder::makeTeam(Frame &root, Value thread) {
  unsigned warp = target.warp;
  Team made{.device = &device,
            .kind = plan.team,
            .size = plan.teamSize(warp),
            .blocks = plan.cluster,
            .vectors = plan.vectors,
            .copies = plan.copies,
            .isFull = plan.isFull};
  auto word = [&](std::int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  };
  made.lane = arith::AndIOp::create(builder, loc, thread, word(warp - 1));
  made.warp = arith::DivUIOp::create(builder, loc, thread, word(warp));
  made.thread = plan.team >= TeamKind::Block  ? thread
                : plan.team == TeamKind::Warp ? made.lane
                                              : word(0);
  made.leads = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                     thread, word(0));
  sizeTeam(root, made);
  if (plan.sharedLanes)
    made.kept = {.sharedLanes = plan.sharedLanes, .memory = shared(rowsName)};
  if (plan.team == TeamKind::Cluster) {
    Value block = math("andi", blockNumber(), plan.cluster - 1);
    Value before =
        made.warps ? math("muli", made.warps, warp) : word(plan.threads);
    before = arith::MulIOp::create(builder, loc, before, block);
    made.thread = arith::AddIOp::create(builder, loc, before, thread);
  }
  made.isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       made.thread, word(0));
  return made;
}

GridEntry EntryBuilder::build(ModuleOp module, StringRef name) {
  if (plan.staged)
    makeStages(module, name);
  if (plan.turns)
    makeSquares(module, name);
  if (plan.sharedLanes)
    makeRows(module);
  Block *entry = entryFunction(module, name);
  Frame root;
  root.block = entry;
  builder.setInsertionPointToEnd(entry);
  if (model.kernel.getListed())
    findRow();
  Value thread = device.threadNumber(loc);
  team = makeTeam(root, thread);
  emitter.team = &team;
  emitter.in(root);
  bool isCluster = plan.team == TeamKind::Cluster;
  if (isCluster)
    device.arriveCluster(loc);
  versions(root);
  builder.setInsertionPointToEnd(entry);
  if (isCluster)
    device.awaitCluster(loc);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  emitter.team = nullptr;
  return describe(name);
}

GridEntry EntryBuilder::describe(StringRef name) const {
  GridEntry description{.symbol = name.str(),
                        .mostLanes = plan.mostLanes,
                        .threads = plan.threads,
                        .unitsPerBlock = unitsPerBlock(),
                        .resident = plan.resident,
                        .cluster = plan.cluster,
                        .isOnce = isOnce(),
                        .sharedBytes = askedBytes,
                        .leastUnits = std::uint32_t(plan.leastUnits)};
  if (plan.isSized()) {
    description.stepLanes = stepLanes();
    description.stepThreads = target.warp;
  }
  if (launch.kind != LaunchKind::Merge)
    for (const AxisPlan &axis : launch.axes) {
      description.tiles.push_back(describeTile(axis));
      if (axis.tile > 1)
        description.tiles.back().least = std::uint32_t(plan.leastSide);
    }
  return description;
}

GridEntry::Tile EntryBuilder::describeTile(const AxisPlan &axis) {
  return {static_cast<std::uint16_t>(axis.axis),
          static_cast<std::uint32_t>(axis.tile),
          static_cast<std::uint32_t>(axis.most)};
}

void EntryBuilder::describeWorkspace(LaunchEntry &entry) const {
  entry.laneAxis = launch.lane;
  entry.workspace.clear();
  if (model.kernel.getStaged())
    return describeStaged(entry);
  entry.workspace.push_back({.bytes = schedule.partsOffset});
  if (launch.hasStateRows())
    describeParts(entry);
  if (!launch.reductions.empty())
    entry.workspace.push_back(
        {std::uint64_t(8) * stateCount(), {describeTile(launch.axes.front())}});
}

/// Slots of staged operands one behind the other, then the room of a sort.
void EntryBuilder::describeStaged(LaunchEntry &entry) const {
  auto term = [&](qn::OperandType type, std::uint64_t bytes) {
    WorkspaceTerm made{.bytes = bytes};
    for (StringAttr axis : type.getAxes())
      made.tiles.push_back({static_cast<std::uint16_t>(model.axisOf(axis)), 1});
    entry.workspace.push_back(std::move(made));
  };
  for (qn::OperandType type : schedule.staged.slots())
    term(type, storedBytes(type.getElementType()));
  if (qn::SortOp sort = launch.sort)
    term(sort.getOrder().getType(), 8 * scratchWords(sort));
}

Value EntryBuilder::tileCount(Frame &root, const AxisPlan &axis) {
  Value extent = emitter.extent(root, axis.axis);
  emitter.in(root);
  Value count = fit(extent);
  if (axis.tile > 1) {
    count = arith::AddIOp::create(builder, loc, count, number(axis.tile - 1));
    count = arith::DivUIOp::create(builder, loc, count, number(axis.tile));
  }
  if (axis.most)
    count = arith::MinUIOp::create(builder, loc, count, number(axis.most));
  return count;
}

Value EntryBuilder::unitCount(Frame &root) {
  emitter.in(root);
  Value count = number(1);
  if (launch.kind == LaunchKind::Merge)
    return count;
  for (const AxisPlan &axis : launch.axes) {
    Value tiles = tileCount(root, axis);
    count = arith::MulIOp::create(emitter.in(root), loc, count, tiles);
  }
  return count;
}

/// Tile numbers of a unit along the parallel axes, as i64.
Emitter::Values EntryBuilder::positions(Frame &frame, Value unit) {
  Emitter::Values position(launch.axes.size());
  for (unsigned axis = position.size(); axis-- > 0;) {
    Value at = unit;
    if (axis > 0) {
      Value count = tileCount(*frame.parent, launch.axes[axis]);
      OpBuilder &b = emitter.in(frame);
      at = arith::RemUIOp::create(b, loc, unit, count);
      unit = arith::DivUIOp::create(b, loc, unit, count);
    }
    OpBuilder &b = emitter.in(frame);
    if (at.getType().isInteger(32))
      at = arith::ExtUIOp::create(b, loc, b.getI64Type(), at);
    position[axis] = at;
  }
  if (plan.bandTiles > 1)
    inBands(frame, position);
  return position;
}

/// The last two axes again, in another order: bands of so many tiles of the
/// first of them, in which this one counts up fastest. Tiles that are made
/// at the same time then read few lines of both factors.
void EntryBuilder::inBands(Frame &frame, MutableArrayRef<Value> position) {
  std::size_t axis = position.size() - 2;
  Value firsts = tileCount(*frame.parent, launch.axes[axis]);
  Value seconds = tileCount(*frame.parent, launch.axes[axis + 1]);
  OpBuilder &b = emitter.in(frame);
  auto make = [&](auto op, Value left, Value right) -> Value {
    return decltype(op)::create(b, loc, left, right);
  };
  firsts = device.fromHere(loc, firsts);
  seconds = device.fromHere(loc, seconds);
  Value place = make(arith::MulIOp(), fit(position[axis]), seconds);
  place = make(arith::AddIOp(), place, fit(position[axis + 1]));
  Value most = number(plan.bandTiles);
  Value each = make(arith::MulIOp(), seconds, most);
  Value begin = make(arith::DivUIOp(), place, each);
  place = make(arith::RemUIOp(), place, each);
  begin = make(arith::MulIOp(), begin, most);
  Value height =
      make(arith::MinUIOp(), make(arith::SubIOp(), firsts, begin), most);
  Value first = make(arith::RemUIOp(), place, height);
  first = make(arith::AddIOp(), begin, first);
  Value second = make(arith::DivUIOp(), place, height);
  auto wide = [&](Value value) -> Value {
    Type type = b.getI64Type();
    return value.getType() == type
               ? value
               : Value(arith::ExtUIOp::create(b, loc, type, value));
  };
  position[axis] = wide(first);
  position[axis + 1] = wide(second);
}

/// Where a unit begins along the axes that it has several elements of, of which
/// `second` is given behind the other one; along the rest it has a position.
std::array<Value, 2> EntryBuilder::cornerOf(Frame &frame, ValueRange position,
                                            unsigned second) {
  std::array<Value, 2> corner;
  for (auto [axis, at] : llvm::zip(launch.axes, position)) {
    if (axis.tile == 1) {
      frame.bind(Binding{.axis = axis.axis, .position = at});
      continue;
    }
    Value size = emitter.constant(frame, axis.tile);
    corner[axis.axis == second] =
        arith::MulIOp::create(emitter.in(frame), loc, at, size);
  }
  return corner;
}

/// Memory of a block, for every thread of it. Much of it is asked for when
/// launching, and then all that there is.
void EntryBuilder::share(ModuleOp module, StringRef symbol,
                         std::int64_t bytes) {
  if (bytes > target.sharedBytes) {
    model.kernel.emitError()
        << "the threads of a block share " << bytes << " bytes, " << target.name
        << " has " << target.sharedBytes;
    emitter.valid = false;
    return;
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  bool asks = bytes > unaskedBytes && target.kind == TargetKind::Nvptx;
  if (asks)
    askedBytes = std::uint32_t(bytes);
  if (module.lookupSymbol(symbol))
    return;
  LLVM::GlobalOp::create(
      builder, loc,
      LLVM::LLVMArrayType::get(builder.getI8Type(), asks ? 0 : bytes),
      /*isConstant=*/false,
      asks ? LLVM::Linkage::External : LLVM::Linkage::Internal, symbol,
      Attribute(), /*alignment=*/128, /*addrSpace=*/3);
}

Value EntryBuilder::shared(StringRef symbol) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext(), 3);
  return LLVM::AddressOfOp::create(builder, loc, pointer, symbol);
}

/// So many bytes, i32, from where it begins.
Value EntryBuilder::inShared(StringRef symbol, Value bytes) {
  Value base = shared(symbol);
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(),
                             base, ArrayRef<LLVM::GEPArg>{bytes});
}

/// One unit that is not a merge of everything.
void EntryBuilder::work(Frame &frame, ValueRange position) {
  if (plan.product)
    product(frame, position);
  else if (plan.turns)
    turnedUnit(frame, position);
  else if (launch.kind == LaunchKind::ColumnMerge)
    mergeUnit(frame, position);
  else if (launch.kind == LaunchKind::ColumnParts || plan.byColumns)
    partUnit(frame, position);
  else
    unit(frame, position);
}

/// One unit, inside of `around`.
void EntryBuilder::unitIn(Frame &root, Block *body, Operation *around,
                          Value unit) {
  Operation *anchor = std::exchange(root.anchor, around);
  Frame frame = Frame::inside(root, body);
  frame.anchor = body->getTerminator();
  if (launch.kind == LaunchKind::Merge)
    mergeParts(frame);
  else
    work(frame, positions(frame, unit));
  root.anchor = anchor;
}

/// The units of a team, a grid apart. What it keeps of rows is said before.
void EntryBuilder::version(Frame &root, unsigned vectors) {
  team.vectors = vectors;
  Value blocks = emitter.word(root, packet.words.size(), builder.getI64Type());
  Value units = unitCount(root);
  emitter.in(root);
  std::int64_t each = unitsPerBlock();
  Value block = blockNumber();
  if (plan.cluster > 1) {
    block = math("divui", block, plan.cluster);
    blocks = math("divui", blocks, plan.cluster);
  }
  Value first = arith::MulIOp::create(builder, loc, fit(block), number(each));
  if (plan.team < TeamKind::Block) {
    Value mine =
        plan.team == TeamKind::Warp ? team.warp : device.threadNumber(loc);
    first = arith::AddIOp::create(builder, loc, first, fit(mine));
  }
  if (isOnce()) {
    Value isThere = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, first, units);
    auto branch = scf::IfOp::create(builder, loc, isThere, false);
    return unitIn(root, branch.thenBlock(), branch, first);
  }
  Value by = arith::MulIOp::create(builder, loc, fit(blocks), number(each));
  auto loop = scf::ForOp::create(builder, loc, first, units, by, ValueRange(),
                                 nullptr, /*unsignedCmp=*/true);
  unitIn(root, loop.getBody(), loop, loop.getInductionVar());
}
