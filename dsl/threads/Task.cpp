// The plan and task functions of an explicit kernel, and its loops over blocks
// and threads.
#include "dsl/dialect/CountedOperations.h"
#include "dsl/gpu/Grid.h"
#include "dsl/lower/HostPlan.h"
#include "dsl/threads/Mark.h"
#include "dsl/threads/ThreadEmitter.h"
#include "dsl/threads/Threads.h"
#include "dsl/threads/Tiles.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

/// Threads of a task at least, so that handing it out does not count.
static constexpr std::int64_t taskThreads = 4096;

Block *ThreadEmitter::function(ModuleOp module, StringRef name,
                               unsigned integers) {
  b.setInsertionPointToEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Type> arguments{pointer};
  arguments.append(integers, b.getI64Type());
  if (integers == 0)
    arguments.push_back(pointer);
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), arguments);
  auto made = LLVM::LLVMFuncOp::create(b, loc, name, type);
  made.setPassthroughAttr(b.getArrayAttr(b.getStringAttr(threadsAttribute)));
  Block *entry = made.addEntryBlock(b);
  packetPointer = entry->getArgument(0);
  b.setInsertionPointToEnd(entry);
  return entry;
}

/// All words of the packet; those not needed are dropped later.
void ThreadEmitter::loadWords() {
  shared.clear();
  words.clear();
  Type pointer = packetPointer.getType();
  SmallVector<Type> types(packet.words.size(), b.getI64Type());
  types[Packet::errorWord] = types[Packet::workspaceWord] = pointer;
  for (BlockArgument argument : model.kernel.block().getArguments()) {
    Type type = argument.getType();
    if (isa<qn::OperandType>(type))
      type = pointer;
    else if (type.getIntOrFloatBitWidth() == 1)
      type = b.getI8Type();
    types[packet.argumentWord(argument.getArgNumber())] = type;
  }
  for (auto [number, type] : llvm::enumerate(types)) {
    Value at = LLVM::GEPOp::create(
        b, loc, pointer, b.getI64Type(), packetPointer,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
    words.push_back(LLVM::LoadOp::create(b, loc, type, at, 8));
  }
}

Value ThreadEmitter::launchValue(unsigned operand) {
  return scalarOf(model.kernel.launch()->getOperand(operand));
}

void ThreadEmitter::buildPlan(ModuleOp module, StringRef name) {
  Block *entry = function(module, name, 0);
  loadWords();
  Value units = constant(1), size = constant(1), least = constant(0);
  for (unsigned dimension = 0; dimension < 3; ++dimension) {
    Value count = launchValue(dimension), threads = launchValue(3 + dimension);
    units = arith::MulIOp::create(b, loc, units, count);
    least = arith::MinSIOp::create(b, loc, least, count);
    size = arith::MulIOp::create(b, loc, size, threads);
  }
  // What cannot be launched is one unit, whose task says so.
  Value isGood = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, least,
                                       constant(0));
  isGood = arith::AndIOp::create(b, loc, isGood, hasCountableBlocks());
  units = arith::SelectOp::create(b, loc, isGood, units, constant(1));
  size = arith::MaxSIOp::create(b, loc, size, constant(1));
  Value grain = arith::DivSIOp::create(b, loc, constant(taskThreads), size);
  grain = arith::MaxSIOp::create(b, loc, grain, constant(1));
  ownPlanned = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
  writePlan(b, loc, entry->getArgument(1),
            {units, grain, constant(0), ownPlanned, grain});
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

/// `mostBlocks` or fewer. The product may have more than 64 bits, so the last
/// count is compared with how often the others fit into that number.
Value ThreadEmitter::hasCountableBlocks() {
  Value least = launchValue(2), most = constant(mostBlocks);
  for (unsigned dimension : {0, 1}) {
    Value count = launchValue(dimension);
    least = arith::MinUIOp::create(b, loc, least, count);
    count = arith::MaxUIOp::create(b, loc, count, constant(1));
    most = arith::DivUIOp::create(b, loc, most, count);
  }
  using Predicate = arith::CmpIPredicate;
  Value fits =
      arith::CmpIOp::create(b, loc, Predicate::ule, launchValue(2), most);
  Value isEmpty =
      arith::CmpIOp::create(b, loc, Predicate::eq, least, constant(0));
  return arith::OrIOp::create(b, loc, fits, isEmpty);
}

/// At least no blocks, one thread along every dimension, and not too many.
ThreadEmitter::LaunchCheck ThreadEmitter::checkLaunch() {
  // Three factors of 2^20 and less have a product.
  Value size = constant(1), most = constant(1 << 20);
  for (unsigned operand = 3; operand < 6; ++operand) {
    Value count = arith::MinSIOp::create(b, loc, launchValue(operand), most);
    size = arith::MulIOp::create(b, loc, size, count);
  }
  LaunchCheck check{arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle,
                                          size, constant(maximumThreads)),
                    size, constant(maximumThreads)};
  Value isCountable = hasCountableBlocks(), all = constant(mostBlocks);
  check.isGood = arith::AndIOp::create(b, loc, check.isGood, isCountable);
  check.given = arith::SelectOp::create(b, loc, isCountable, check.given, all);
  check.limit = arith::SelectOp::create(b, loc, isCountable, check.limit, all);
  for (unsigned operand = 0; operand < 6; ++operand) {
    Value given = launchValue(operand), least = constant(operand < 3 ? 0 : 1);
    Value isGood =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, given, least);
    check.isGood = arith::AndIOp::create(b, loc, check.isGood, isGood);
    check.given = arith::SelectOp::create(b, loc, isGood, check.given, given);
    check.limit = arith::SelectOp::create(b, loc, isGood, check.limit, least);
  }
  return check;
}

void ThreadEmitter::buildTask(ModuleOp module, StringRef name) {
  Block *entry = function(module, name, 3);
  loadWords();
  auto own = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
  ownWorkspace = arith::MulIOp::create(b, loc, entry->getArgument(3), own);
  entryEnd = constant(0).getDefiningOp();
  Value begin = entry->getArgument(1), end = entry->getArgument(2);
  for (unsigned operand = 0; operand < 6; ++operand)
    launchValue(operand);
  LaunchCheck check = checkLaunch();
  auto branch =
      scf::IfOp::create(b, loc, check.isGood, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    blockLoop(begin, end);
    b.setInsertionPointToStart(branch.elseBlock());
    record(
        sites.of(model.kernel.launch(), 0, "block", ErrorSite::Kind::Threads),
        check.given, check.limit);
  }
  for (arith::ConstantOp each : {own, ownPlanned}) // known only now
    each.setValueAttr(b.getI64IntegerAttr(ownBytes));
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

void ThreadEmitter::blockLoop(Value begin, Value end) {
  auto loop = scf::ForOp::create(b, loc, begin, end, constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  Value rest = loop.getInductionVar();
  for (unsigned dimension = 0; dimension < 2; ++dimension) {
    Value count = launchValue(dimension);
    blockNumber[dimension] = arith::RemUIOp::create(b, loc, rest, count);
    rest = arith::DivUIOp::create(b, loc, rest, count);
  }
  blockNumber[2] = rest;
  region(model.kernel.block());
}

/// The lanes where `first + lane < end`; null: all of them.
Value ThreadEmitter::laneMask(Value first, Value end,
                              std::optional<std::int64_t> known) {
  if (known && *known % lanes == 0)
    return {};
  return lanesBelow(first, end, /*orEqual=*/false);
}

/// The number, counted from the end where threads go backwards.
Value ThreadEmitter::inOrder(Value number, Value count) {
  if (!isReversed)
    return number;
  Value last = arith::SubIOp::create(b, loc, count, constant(1));
  return arith::SubIOp::create(b, loc, last, number);
}

/// A loop over the threads' numbers along a dimension.
void ThreadEmitter::rows(unsigned dimension, llvm::function_ref<void()> body) {
  Value zero = constant(0);
  threadRow[dimension] = zero;
  if (model.block[dimension] == 1)
    return body();
  auto loop =
      scf::ForOp::create(b, loc, zero, launchValue(3 + dimension), constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  threadRow[dimension] =
      inOrder(loop.getInductionVar(), launchValue(3 + dimension));
  body();
}

/// One vector of threads, the number `number` along x or in the block.
void ThreadEmitter::vectorOfThreads(Value number,
                                    llvm::function_ref<void()> body) {
  auto [x, y, z] = model.block;
  Value end = launchValue(3);
  std::optional<std::int64_t> known = x;
  if (model.isLinear) {
    for (unsigned dimension = 1; dimension < 3; ++dimension)
      end = arith::MulIOp::create(b, loc, end, launchValue(3 + dimension));
    known = std::nullopt;
    vectorNumber = number;
  } else {
    Value all = arith::DivUIOp::create(
        b, loc, arith::AddIOp::create(b, loc, end, constant(lanes - 1)),
        constant(lanes));
    Value row = arith::MulIOp::create(b, loc, threadRow[2], launchValue(4));
    row = arith::AddIOp::create(b, loc, row, threadRow[1]);
    row = arith::MulIOp::create(b, loc, row, all);
    vectorNumber = arith::AddIOp::create(b, loc, row, number);
  }
  threadRow[0] = arith::MulIOp::create(b, loc, number, constant(lanes));
  LaneScope inside(nullptr, laneMask(threadRow[0], end, known));
  scope = &inside;
  body();
  scope = nullptr;
}

void ThreadEmitter::threads(llvm::function_ref<void()> body) {
  auto vectors = [&] {
    Value count = launchValue(3);
    if (model.isLinear)
      for (unsigned dimension = 1; dimension < 3; ++dimension)
        count =
            arith::MulIOp::create(b, loc, count, launchValue(3 + dimension));
    count = arith::DivUIOp::create(
        b, loc, arith::AddIOp::create(b, loc, count, constant(lanes - 1)),
        constant(lanes));
    auto loop = scf::ForOp::create(b, loc, constant(0), count, constant(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    vectorOfThreads(inOrder(loop.getInductionVar(), count), body);
  };
  if (model.isLinear)
    return vectors();
  rows(2, [&] { rows(1, [&] { vectors(); }); });
}

std::optional<KernelAbi> quern::lowerThreads(qn::KernelOp kernel,
                                             const TargetInfo &target) {
  expandTiles(kernel, target);
  ThreadModel model(kernel, target);
  if (target.isGpu())
    return lowerToGrid(model, target);
  Packet packet(kernel);
  KernelAbi abi;
  abi.words = packet.words;
  CountedOperations counted(*kernel.getContext());
  OpBuilder builder(kernel.getContext(), &counted);
  auto module = kernel->getParentOfType<ModuleOp>();
  ThreadEmitter emitter(model, target, packet, abi.sites, builder);
  std::string name = kernel.getSymName().str();
  LaunchEntry &launch = abi.launches.emplace_back();
  launch.task = name + "_task";
  emitter.buildPlan(module, planOf(launch.task));
  emitter.buildTask(module, launch.task);
  if (!emitter.valid || !takePlan(module, launch))
    return std::nullopt;
  kernel.erase();
  return abi;
}
