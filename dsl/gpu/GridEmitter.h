// Makes the code of one thread of an explicit kernel: operations one by one,
// control flow as it is, and what threads do together by the device's means.
#pragma once

#include "dsl/gpu/Device.h"
#include "dsl/lower/InMemory.h"
#include "dsl/lower/Packet.h"
#include "dsl/lower/Sites.h"
#include "dsl/threads/Rebuild.h"
#include "dsl/threads/ThreadModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace quern {

/// Which lanes of the warp are known to be at this point.
struct LanesHere {
  /// One bit for each lane; null: the whole warp. AMD's hardware knows it.
  mlir::Value set;
  /// Control flow has parted lanes: any may be missing. Otherwise only the last
  /// ones of a block's last warp.
  bool divided = false;
};

class GridEmitter {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  GridEmitter(const ThreadModel &model, const TargetInfo &target,
              const Packet &packet, std::vector<ErrorSite> &sites,
              mlir::OpBuilder &builder)
      : model(model), target(target), packet(packet),
        sites(sites, model.kernel.getSymName()), b(builder),
        device(target, builder) {}

  // Grid.cpp
  /// Adds the entry to the end of `module`, and describes how it is launched.
  LaunchEntry build(mlir::ModuleOp module, llvm::StringRef name);
  /// False after a diagnostic was given.
  bool valid = true;

private:
  // Grid.cpp
  std::optional<HostPlan> planShape() const;
  unsigned leastBlocks() const;
  void entryFunction(mlir::ModuleOp module, llvm::StringRef name);
  void loadWords();
  void findNumbers();
  void findThread(qn::LaunchOp launch);
  mlir::Value lanesThere();
  bool isFlat() const;
  /// Whether every warp of a block is whole.
  bool isWhole() const;
  /// Warps of a block, at most.
  unsigned warpCount() const;

  // GridShared.cpp
  struct Shared {
    mlir::Type element;
    std::int64_t count = 0;
    std::string name = {};
    std::int64_t offset = 0; ///< in the memory that the launch asks for
  };
  void planShared();
  mlir::Operation *largestArray();
  std::int64_t placeShared(mlir::ModuleOp module, llvm::StringRef name);
  mlir::Value sharedBase(const Shared &shared);
  /// A place of eight bytes for state `number` of warp `warp`.
  mlir::Value stateSlot(unsigned number, mlir::Value warp);
  mlir::Value localArray(qn::LocalOp op);

  // GridControl.cpp
  void block(mlir::Block &from);
  void emit(mlir::Operation *op);
  mlir::Value single(mlir::Operation *op);
  void branch(mlir::scf::IfOp op);
  void countedLoop(mlir::scf::ForOp op);
  void partingLoop(mlir::scf::ForOp op);
  void whileLoop(mlir::scf::WhileOp op);
  mlir::Value decided(mlir::Value value, mlir::Operation *op);
  mlir::Value agreed(mlir::Value value, mlir::Operation *op);
  bool partsWarp(mlir::Operation *op, mlir::ValueRange deciders) const;
  mlir::Value hereOrAll();
  Values inlined(mlir::Region &region, mlir::ValueRange arguments);

  // GridValues.cpp
  mlir::Value get(mlir::Value value);
  Values getAll(mlir::ValueRange values);
  void plain(mlir::Operation *op);
  mlir::Value constant(std::int64_t value, mlir::Type type = {});
  mlir::Value short32(std::int64_t value) {
    return constant(value, b.getI32Type());
  }
  mlir::Value lookup(qn::LookupOp op);
  mlir::Value required(qn::RequireOp op);
  /// A value of a thread that the device gives, or null for others.
  mlir::Value special(mlir::Operation *op);

  // GridMemory.cpp
  struct Place {
    mlir::Value pointer, good; ///< `good`: whether it is in range, or null
    mlir::Type element;        ///< in memory
  };
  Place place(mlir::Operation *op, mlir::Value of, mlir::ValueRange indices,
              bool checked, std::optional<std::uint64_t> part);
  mlir::Value offsetOf(mlir::Value of, mlir::ValueRange indices,
                       std::optional<std::uint64_t> part);
  Values stridesOf(mlir::Value of);
  mlir::Type offsetType(mlir::Value of) const;
  mlir::Value inRange(mlir::Operation *op, mlir::Value of, unsigned dimension,
                      mlir::Value index);
  void record(std::int64_t site, mlir::Value index, mlir::Value extent);
  mlir::Value guarded(mlir::Value good, mlir::Type type,
                      llvm::function_ref<mlir::Value()> body) {
    return guardedBy(b, loc, good, type, body);
  }
  mlir::Value read(qn::ReadOp op);
  void write(qn::WriteOp op);
  mlir::Value atomic(qn::AtomicOp op);

  // GridCopies.cpp
  void copy(qn::CopyOp op);
  mlir::Value allThere(qn::CopyOp op, mlir::Value of, mlir::ValueRange indices);
  mlir::Value canMove(mlir::Value of, mlir::ValueRange indices, unsigned bytes);
  void copyPieces(qn::CopyOp op, mlir::Value to, mlir::Value from,
                  mlir::Type piece, unsigned bytes, unsigned count);
  void copyOneByOne(qn::CopyOp op, const Place &to, const Place &from,
                    std::uint64_t count);
  void copyElements(qn::CopyOp op, const Place &to, const Place &from,
                    mlir::Value first, std::uint64_t count);

  // GridTiles.cpp
  struct Factor;
  MatrixLayout layout; ///< of the product at hand
  void multiplyTile(qn::MultiplyTileOp op);
  Values sumsOf(mlir::Value tile, unsigned parts);
  mlir::Value shareAt(mlir::Value tile, unsigned place);
  Factor factorOf(qn::MultiplyTileOp op, bool isRight);
  mlir::Value isWhole(const Factor &factor);
  mlir::Value piece(const Factor &factor, mlir::Value line, mlir::Value depth,
                    bool isWhole);
  bool isInBanks(mlir::Value of) const;
  bool isThere(qn::MultiplyTileOp op, mlir::Value of, unsigned dimension,
               mlir::Value index, std::int64_t count) const;
  mlir::Value othersAreThere(qn::MultiplyTileOp op, mlir::Value of,
                             mlir::ValueRange indices,
                             mlir::ValueRange extents);
  Values banks(const Factor &factor, std::int64_t line, std::int64_t depth);
  mlir::Value pieceOfTile(const Factor &factor, MatrixLane own,
                          std::int64_t line, std::int64_t depth,
                          MatrixLayout::Place place);
  Values fragments(qn::MultiplyTileOp op, llvm::ArrayRef<Factor> factors,
                   unsigned depth, bool isWhole);

  // GridTogether.cpp
  mlir::Value shuffle(qn::ShuffleOp op);
  mlir::Value vote(qn::VoteOp op);
  mlir::Value isHere(mlir::Value lane);
  mlir::Value laneBefore(unsigned by, bool reverse, mlir::Value &takes);
  Values fromLane(mlir::ValueRange values, mlir::Value lane);
  Values chosen(mlir::Value condition, mlir::ValueRange yes,
                mlir::ValueRange no);
  Values combineWarp(mlir::Region &merge, Values states);
  Values prefixWarp(mlir::Region &merge, Values states, bool reverse);
  Values shiftWarp(mlir::ValueRange states, mlir::ValueRange inits,
                   bool reverse);
  Values combineRow(mlir::Region &merge, Values states);
  void combine(qn::CombineOp op);
  void prefix(qn::PrefixOp op);
  void leaveStates(mlir::Value leaves, mlir::ValueRange states);
  Values mergeWarps(mlir::Region &merge, mlir::ValueRange inits,
                    mlir::Value first, mlir::Value end, bool reverse);
  Values mergeIf(mlir::Value takes, mlir::Region &merge, mlir::ValueRange left,
                 mlir::ValueRange right, mlir::ValueRange otherwise);
  mlir::Value warpsOfBlock();
  // GridDivided.cpp
  Values combineDivided(qn::CombineOp op);
  Values prefixDivided(qn::PrefixOp op);
  mlir::Value lanesNow();
  Values
  overLanes(mlir::ValueRange inits, bool reverse,
            llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> round);

  const ThreadModel &model;
  const TargetInfo &target;
  const Packet &packet;
  Sites sites;
  mlir::OpBuilder &b;
  Device device;
  mlir::Location loc = b.getUnknownLoc();

  mlir::Value packetPointer;
  Values words;                                         ///< of the packet
  std::array<mlir::Value, 3> threadNumber, blockNumber; ///< i32
  mlir::Value thread, lane, warp;      ///< i32, numbers in the block
  mlir::Value threads;                 ///< i32, of the block
  mlir::Operation *entryEnd = nullptr; ///< memory is reserved before it
  LanesHere here;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  llvm::MapVector<mlir::Operation *, Shared> shared;
  std::optional<Shared> states, decision;
  std::string dynamicShared; ///< the memory that the launch asks for
};

} // namespace quern
