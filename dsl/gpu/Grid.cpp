// The entry of an explicit kernel: packet, numbers of thread and block, launch.
#include "dsl/gpu/Grid.h"
#include "dsl/dialect/CountedOperations.h"
#include "dsl/gpu/GridEmitter.h"
#include "dsl/lower/HostPlan.h"
#include "dsl/threads/Tiles.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

/// Words behind the packet: the numbers of the first block along x, y, z.
static constexpr unsigned firstBlockWords = 3;

bool GridEmitter::isFlat() const {
  return model.block[1] == 1 && model.block[2] == 1;
}

bool GridEmitter::isWhole() const {
  auto [x, y, z] = model.block;
  return x && y && z && *x * *y * *z % target.warp == 0;
}

unsigned GridEmitter::warpCount() const {
  auto [x, y, z] = model.block;
  std::int64_t most = x && y && z ? *x * *y * *z : maximumThreads;
  return llvm::divideCeil(most, target.warp);
}

/// Tiles are many registers: three blocks of four warps share those of a
/// multiprocessor, or two where a thread's arrays ask for more; a block of
/// eight takes all of them then.
unsigned GridEmitter::leastBlocks() const {
  constexpr std::int64_t fewThreads = 128, mostWords = 112;
  auto [x, y, z] = model.block;
  std::int64_t threads = x && y && z ? *x * *y * *z : maximumThreads;
  bool multiplies = false;
  std::int64_t bytes = 0;
  model.kernel.walk([&](Operation *op) {
    if (auto product = dyn_cast<qn::MultiplyTileOp>(op))
      multiplies |= isMatrixProduct(product, target);
    if (auto array = dyn_cast<qn::LocalOp>(op)) {
      auto type = cast<MemRefType>(array.getType());
      Type element = memoryType(type.getElementType());
      bytes += type.getNumElements() * element.getIntOrFloatBitWidth() / 8;
    }
  });
  bool isFull = bytes > 4 * mostWords;
  if (!multiplies || threads > 2 * fewThreads)
    return 1;
  return threads <= fewThreads ? (isFull ? 2 : 3) : (isFull ? 0 : 1);
}

void GridEmitter::entryFunction(ModuleOp module, StringRef name) {
  b.setInsertionPointToEnd(module.getBody());
  Block *entry =
      device.entry(loc, name, {.block = model.block, .blocks = leastBlocks()},
                   packet.words.size(), firstBlockWords);
  packetPointer = entry->getArgument(0);
  b.setInsertionPointToEnd(entry);
}

/// All words of the packet; those not needed are dropped later.
void GridEmitter::loadWords() {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext(), 1);
  SmallVector<Type> types(packet.words.size(), b.getI64Type());
  types[Packet::errorWord] = types[Packet::workspaceWord] = pointer;
  for (BlockArgument argument : model.kernel.block().getArguments()) {
    Type type = argument.getType();
    types[packet.argumentWord(argument.getArgNumber())] =
        isa<qn::OperandType>(type) ? pointer : memoryType(type);
  }
  types.append(firstBlockWords, b.getI32Type());
  for (auto [number, type] : llvm::enumerate(types)) {
    Value at = LLVM::GEPOp::create(
        b, loc, packetPointer.getType(), b.getI64Type(), packetPointer,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
    words.push_back(LLVM::LoadOp::create(b, loc, type, at, 8));
  }
  for (BlockArgument argument : model.kernel.block().getArguments()) {
    Value word = words[packet.argumentWord(argument.getArgNumber())];
    if (!isa<qn::OperandType>(argument.getType()))
      word = fromMemory(b, loc, word, argument.getType());
    values[argument] = word;
  }
}

/// Blocks are counted on from the launch's first one.
void GridEmitter::findNumbers() {
  for (unsigned dimension = 0; dimension < 3; ++dimension) {
    Value first = words[packet.words.size() + dimension];
    blockNumber[dimension] = arith::AddIOp::create(
        b, loc, device.blockNumber(loc, dimension), first);
    threadNumber[dimension] = model.block[dimension] == 1
                                  ? short32(0)
                                  : device.threadNumber(loc, dimension);
  }
}

/// The thread's number in the block, x fastest, and the lanes that there are.
void GridEmitter::findThread(qn::LaunchOp launch) {
  auto size = [&](unsigned dimension) -> Value {
    return arith::TruncIOp::create(b, loc, b.getI32Type(),
                                   get(launch->getOperand(3 + dimension)));
  };
  thread = threadNumber[0];
  threads = size(0);
  for (unsigned dimension : {1, 2}) {
    if (model.block[dimension] == 1)
      continue;
    Value before =
        arith::MulIOp::create(b, loc, threadNumber[dimension], threads);
    thread = arith::AddIOp::create(b, loc, thread, before);
    threads = arith::MulIOp::create(b, loc, threads, size(dimension));
  }
  lane = arith::AndIOp::create(b, loc, thread, short32(target.warp - 1));
  warp = arith::DivUIOp::create(b, loc, thread, short32(target.warp));
  if (!isWhole() && target.kind == TargetKind::Nvptx)
    here.set = lanesThere();
}

/// The lanes of this warp that the block has.
Value GridEmitter::lanesThere() {
  Value size = short32(target.warp);
  Value before = arith::MulIOp::create(b, loc, warp, size);
  Value count = arith::SubIOp::create(b, loc, threads, before);
  Value missing = arith::SubIOp::create(b, loc, size, count);
  missing = arith::MaxSIOp::create(b, loc, missing, short32(0));
  return arith::ShRUIOp::create(b, loc, short32(-1), missing);
}

/// How many blocks and threads the host is to launch.
std::optional<HostPlan> GridEmitter::planShape() const {
  qn::LaunchOp launch = model.kernel.launch();
  auto wordOf = [&](Value value) -> std::optional<unsigned> {
    if (auto size = value.getDefiningOp<qn::SizeOp>())
      return packet.extentWord(model.kernel.axisNumber(size.getAxis()));
    if (auto argument = dyn_cast<BlockArgument>(value))
      return packet.argumentWord(argument.getArgNumber());
    return std::nullopt;
  };
  auto shape = HostPlanBuilder(wordOf).build(launch->getOperands());
  if (!shape)
    launch.emitError("a number of blocks or threads is computed from integers "
                     "by arithmetic and comparisons");
  return shape;
}

LaunchEntry GridEmitter::build(ModuleOp module, StringRef name) {
  LaunchEntry made;
  auto shape = planShape();
  if (!shape) {
    valid = false;
    return made;
  }
  made.geometry.shape = std::move(*shape);
  planShared();
  made.geometry.sharedBytes = placeShared(module, name);
  entryFunction(module, name);
  loadWords();
  entryEnd = words.back().getDefiningOp();
  findNumbers();
  block(model.kernel.block());
  LLVM::ReturnOp::create(b, loc, ValueRange());
  auto [x, y, z] = model.block;
  bool isKnown = x && y && z;
  made.geometry.threadsSite =
      sites.of(model.kernel.launch(), 0, "block", ErrorSite::Kind::Threads);
  made.grids.push_back(
      {.symbol = name.str(),
       .threads = static_cast<std::uint32_t>(isKnown ? *x * *y * *z : 0)});
  return made;
}

std::optional<KernelAbi> quern::lowerToGrid(const ThreadModel &model,
                                            const TargetInfo &target) {
  qn::KernelOp kernel = model.kernel;
  Packet packet(kernel);
  KernelAbi abi;
  abi.words = packet.words;
  CountedOperations counted(*kernel.getContext());
  OpBuilder builder(kernel.getContext(), &counted);
  GridEmitter emitter(model, target, packet, abi.sites, builder);
  std::string name = kernel.getSymName().str();
  abi.launches.push_back(
      emitter.build(kernel->getParentOfType<ModuleOp>(), name));
  if (!emitter.valid)
    return std::nullopt;
  kernel.erase();
  return abi;
}
