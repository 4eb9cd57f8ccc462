// An entry point of a launch on a GPU.
#pragma once

#include "dsl/gpu/Device.h"
#include "dsl/gpu/Product.h"
#include "dsl/gpu/Registers.h"
#include "dsl/gpu/Team.h"
#include "dsl/lower/Launch.h"
#include "dsl/schedule/EntryPlan.h"

namespace quern {

class EntryBuilder : LaunchBuilder {
public:
  EntryBuilder(const KernelModel &model, const Schedule &schedule,
               const EntryPlan &plan, const TargetInfo &target,
               const Packet &packet, Emitter &emitter, mlir::OpBuilder &builder)
      : LaunchBuilder(model, schedule, plan.launch, target, packet, emitter,
                      builder),
        plan(plan), device(target, builder) {
    if (plan.product)
      layout = matrixLayout(target, plan.product->sumType());
  }

  /// What decides whether the entry is the one that runs.
  GridEntry describe(llvm::StringRef name) const;
  /// Adds the function to the end of `module` and describes it whole.
  GridEntry build(mlir::ModuleOp module, llvm::StringRef name);
  /// What the launch needs of the workspace.
  void describeWorkspace(LaunchEntry &entry) const;

private:
  /// Where a warp's tile lies, and what of it a lane reads.
  struct Tile {
    mlir::Value firstRow, firstColumn;
    MatrixLane lane;
    mlir::Value laneDepth, laneRow, laneColumn; ///< the lane's, i64
    Emitter::Values rows, columns;              ///< of each piece of each part
    mlir::Value blockRow, blockColumn;          ///< where the block's tile lies
    mlir::Value warpRow, warpColumn;            ///< and the warp's in it, i32
  };
  /// Neighbours of a factor, sixteen bytes, and where they lie in its tile.
  struct Chunk {
    bool isRight = false, alongDepth = false;
    std::int64_t length = 0;            ///< of a line
    mlir::Value line = {}, number = {}; ///< of the tile, in the line, i32
    mlir::Value source = {}, left = {}; ///< how many are inside, i32
  };
  void describeStaged(LaunchEntry &entry) const;
  mlir::Block *entryFunction(mlir::ModuleOp module, llvm::StringRef name);
  unsigned leastBlocks() const;
  // Listed.cpp
  void findRow();
  /// Of the block among those of its call.
  mlir::Value blockNumber() {
    return listedBlock ? listedBlock : device.blockNumber(loc);
  }
  Team makeTeam(Frame &root, mlir::Value thread);
  void sizeTeam(Frame &root, Team &made);
  unsigned unitsPerBlock() const {
    return std::max(1u, plan.threads / plan.teamSize(target.warp));
  }
  /// Whether there is a block, or a cluster, for each unit. A loop over units
  /// would have what is the same in all of them in registers beside the rows.
  /// Where these are enough, a block that stays finds what all rows share in
  /// its first cache (layer norm of 4096 columns on an H200: 95 % of a copy
  /// with a loop, 82 % without).
  bool isOnce() const {
    bool hasRoom = plan.isSized() && plan.team == TeamKind::Block &&
                   (plan.sharesRows || plan.together == 1);
    return plan.isKeptByBlocks() && !hasRoom &&
           target.kind == TargetKind::Nvptx && !model.kernel.getListed();
  }
  /// Elements of a row for which every block has a warp.
  std::int64_t stepLanes() const {
    return std::int64_t(target.warp) * plan.kept * plan.cluster;
  }
  // Versions.cpp
  llvm::SmallVector<mlir::BlockArgument> nearOperands();
  llvm::SmallVector<mlir::BlockArgument> phasedOperands();
  bool storesPast(bool isPhased) const;
  void addBits(Frame &root, mlir::Value &bits, mlir::Value value,
               std::int64_t multiple);
  mlir::Value isZero(Frame &root, mlir::Value bits);
  mlir::Value addressOf(Frame &root, mlir::BlockArgument operand);
  mlir::Value isAligned(Frame &root);
  mlir::Value strideAlong(Frame &root, mlir::BlockArgument operand,
                          unsigned axis);
  mlir::Value areInPhase(Frame &root, llvm::ArrayRef<mlir::BlockArgument> rows);
  void choose(Frame &root, mlir::Value condition,
              llvm::function_ref<void(Frame &)> then,
              llvm::function_ref<void(Frame &)> otherwise);
  void versions(Frame &root);
  void makeRows(mlir::ModuleOp module);
  // Entry.cpp
  void unitIn(Frame &root, mlir::Block *body, mlir::Operation *around,
              mlir::Value unit);
  void version(Frame &root, unsigned vectors);
  mlir::Value fit(mlir::Value value);
  mlir::Value number(std::int64_t value);
  mlir::Value unitCount(Frame &root);
  mlir::Value tileCount(Frame &root, const AxisPlan &axis);
  Emitter::Values positions(Frame &frame, mlir::Value unit);
  void inBands(Frame &frame, llvm::MutableArrayRef<mlir::Value> position);
  std::array<mlir::Value, 2> cornerOf(Frame &frame, mlir::ValueRange position,
                                      unsigned second);
  void work(Frame &frame, mlir::ValueRange position);
  static GridEntry::Tile describeTile(const AxisPlan &axis);
  void share(mlir::ModuleOp module, llvm::StringRef symbol, std::int64_t bytes);
  mlir::Value shared(llvm::StringRef symbol);
  mlir::Value inShared(llvm::StringRef symbol, mlir::Value bytes);
  // Turned.cpp
  /// A load, and the memory of the block that a square of its operand has.
  struct Square {
    qn::LoadOp load;
    std::string symbol;
  };
  void makeSquares(mlir::ModuleOp module, llvm::StringRef name);
  mlir::Value inSquare(Square &square, mlir::Value line, mlir::Value place);
  Frame elementOf(Frame &frame, mlir::ValueRange corner, mlir::Value turned,
                  mlir::Value lane, bool clamps);
  void fillSquares(Frame &frame, mlir::ValueRange corner);
  void turnedUnit(Frame &frame, mlir::ValueRange position);
  // Parts.cpp
  Emitter::Values mergedByTeam(Frame &frame,
                               llvm::ArrayRef<qn::ReduceOp> members,
                               LoopSpec parts, SlotsOfPart slotsOf);
  void mergeParts(Frame &frame);
  LoopSpec everyPart(Frame &frame, const AxisPlan &split);
  void describeParts(LaunchEntry &entry) const;
  mlir::Value dealParts(Frame &frame, LoopSpec &parts, bool ordered);
  AxisPlan partAxis() const;
  LoopSpec rowsOf(Frame &frame, mlir::Value part);
  void partUnit(Frame &frame, mlir::ValueRange position);
  void mergeUnit(Frame &frame, mlir::ValueRange position);
  Emitter::Values stateSlots(Frame &frame, mlir::Value part,
                             std::int64_t lane = 0);
  void leaveStates(Frame &frame, mlir::Value part, mlir::ValueRange states);
  // Product.cpp
  void product(Frame &frame, mlir::ValueRange position);
  void productAt(Frame &frame, mlir::Value row, mlir::Value column);
  Tile productTile(Frame &frame, mlir::Value rows, mlir::Value columns);
  void productStep(Frame &body, const Tile &tile, mlir::Value depth,
                   mlir::Value end, Emitter::Values &sums);
  mlir::Value fragmentPiece(Frame &body, bool isRight, mlir::Value line,
                            mlir::Value depth, mlir::Value end, unsigned count);
  Emitter::Values fragment(Frame &body, const Tile &tile, bool isRight,
                           unsigned part, mlir::Value depth, mlir::Value end);
  mlir::Value joined(mlir::ValueRange parts);
  void multiplyAll(llvm::ArrayRef<Emitter::Values> left,
                   llvm::ArrayRef<Emitter::Values> right,
                   llvm::MutableArrayRef<mlir::Value> rest);
  void storeTile(Frame &frame, const Tile &tile, mlir::ValueRange sums);
  void storeParts(Frame &frame, const Tile &tile, mlir::ValueRange sums,
                  bool isWhole);
  void storeSums(Frame &frame, const Tile &tile, mlir::ValueRange sums,
                 std::int64_t below, std::int64_t beside, bool isWhole);
  mlir::Value isInside(Frame &frame, mlir::Value row, mlir::Value column,
                       std::int64_t beside);
  void storeWhere(Frame &frame, mlir::Value condition, mlir::Value row,
                  mlir::Value column, mlir::Value sum);
  /// Fragments of a warp's tile, one below and one beside the other.
  unsigned rowParts() const { return inPasses ? 1 : warpRowParts(); }
  unsigned warpRowParts() const { return plan.staged ? 4 : 2; }
  unsigned columnParts() const {
    return !plan.staged ? 2
                        : (plan.isLarge ? 512 : 256) / matrixSize *
                              target.warp / plan.threads;
  }
  void findWarpTile(Frame &frame, Tile &tile, mlir::Value rows,
                    mlir::Value columns);
  Emitter::Values directSums(Frame &frame, const Tile &tile,
                             Emitter::Values sums);
  // StagedProduct.cpp
  void makeStages(mlir::ModuleOp module, llvm::StringRef name);
  Emitter::Values stagedSums(Frame &frame, const Tile &tile,
                             Emitter::Values sums);
  void copyFirst(Frame &frame, const Tile &tile);
  void copyChunks(Frame &body, const Tile &tile, mlir::Value depth,
                  mlir::Value stage);
  void copyStage(Frame &body, const Tile &tile, mlir::Value depth,
                 mlir::Value stage);
  void copyLater(Frame &body, const Tile &tile, mlir::Value depth,
                 mlir::Value stage);
  Chunk chunkOf(Frame &body, bool isRight, mlir::Value corner,
                mlir::Value depth, std::int64_t number);
  void copyChunk(const Chunk &at, mlir::Value stage);
  mlir::Value byteOf(mlir::Value pointer, std::int64_t bytes);
  std::int64_t lineOf(bool isRight) const;
  mlir::Value elementAt(Frame &body, mlir::BlockArgument operand, unsigned axis,
                        mlir::Value row, mlir::Value step);
  void multiplyStage(Frame &body, const Tile &tile, mlir::Value stage,
                     Emitter::Values &sums);
  Emitter::Values stagedFragment(bool isRight, mlir::Value first, unsigned part,
                                 std::int64_t depth, mlir::Value stage);
  bool byFragments() const {
    return device.hasAsyncCopies() && plan.product->elementBytes() == 2;
  }
  // SteadyProduct.cpp
  /// Chunks of a factor that a thread copies, and where they lie next.
  struct Moving {
    bool isRight = false;
    std::int64_t count = 0; ///< in a stage
    Emitter::Values from{}; ///< of each, or one that moves through all
    mlir::Value apart = {}; ///< bytes from one to the next; null: a line
    mlir::Value place = {}; ///< of the first in a stage, i32
    std::int64_t below = 0; ///< bytes from each to the next, there
  };
  struct Fragments {
    llvm::SmallVector<Emitter::Values> left, right;
  };
  Moving movingChunks(Frame &frame, const Tile &tile, bool isRight,
                      mlir::Value depth);
  void copyMoving(Moving &moving, std::int64_t number, mlir::Value stage);
  mlir::Value steadyEnd(Frame &frame);
  Fragments stagedFragments(const Tile &tile, std::int64_t depth,
                            mlir::Value stage);
  void steadyTurn(const Tile &tile, llvm::MutableArrayRef<Moving> moving,
                  Fragments &held, mlir::Value read, mlir::Value next,
                  mlir::Value write, Emitter::Values &sums);
  mlir::Value stageBehind(mlir::Value stage);
  void steadyTurns(const Tile &tile, llvm::MutableArrayRef<Moving> moving,
                   Fragments &held, mlir::Value begin, mlir::Value end,
                   Emitter::Values &states);
  mlir::Value steadySums(Frame &frame, const Tile &tile,
                         Emitter::Values &states);
  // LaneProduct.cpp
  unsigned lanesAcross() const { return target.warp / lanesBelow; }
  void laneProduct(Frame &frame, mlir::Value row, mlir::Value column);
  Tile laneTile(Frame &frame, mlir::Value row, mlir::Value column);
  Emitter::Values laneSquare(const Tile &tile, bool isRight, std::int64_t first,
                             std::int64_t number, mlir::Value stage);
  void multiplyLanes(const Tile &tile, mlir::Value stage,
                     Emitter::Values &sums);
  void storeLanes(Frame &frame, const Tile &tile, mlir::ValueRange sums);
  // BufferedProduct.cpp
  Emitter::Values bufferedSums(Frame &frame, const Tile &tile,
                               Emitter::Values sums);
  Emitter::Values bufferedFragment(const Tile &tile, bool isRight,
                                   mlir::Value first, std::int64_t depth,
                                   mlir::Value stage);
  mlir::Value fromStage(mlir::Type type, mlir::Value place, mlir::Value stage,
                        bool isRight, std::int64_t bytes);
  mlir::Value alongLine(bool isRight, mlir::Value line, mlir::Value depth,
                        mlir::Value stage);
  mlir::Value acrossLines(bool isRight, mlir::Value line, mlir::Value depth,
                          mlir::Value stage);
  mlir::Value loadChunk(const Chunk &at);
  void leaveChunk(const Chunk &at, mlir::Value value, mlir::Value stage);
  // StagedProduct.cpp
  mlir::Value chunkPlace(mlir::Value line, mlir::Value number,
                         std::int64_t length);
  mlir::Value inStages(mlir::Value bytes) {
    return inShared(stagesName, bytes);
  }
  mlir::Value short32(std::int64_t value);
  /// An operation of `arith` on a number and a constant.
  mlir::Value math(llvm::StringRef name, mlir::Value a, std::int64_t other);
  mlir::Type countType() const;

  /// Of a warp's lanes that multiply by themselves so many stand below each
  /// other; each has so many rows.
  static constexpr std::int64_t lanesBelow = 8, laneRows = 8;
  std::int64_t laneColumns() const {
    return std::int64_t(matrixSize) * columnParts() / lanesAcross();
  }

  const EntryPlan &plan;
  Device device;
  MatrixLayout layout;
  Team team;
  std::string stagesName;       ///< the memory of staged tiles
  std::string rowsName;         ///< and of rows that are kept
  std::uint32_t askedBytes = 0; ///< of shared memory, when launching
  std::vector<Square> squares;
  mlir::Value listedBlock; ///< where a launch serves several calls
  bool inPasses = false;   ///< rows of a warp's tile come sixteen after sixteen
};

} // namespace quern
