// Makes the code of one block of threads: stages of vectors of threads, and the
// control flow all threads share around them.
#pragma once

#include "dsl/KernelAbi.h"
#include "dsl/lower/InMemory.h"
#include "dsl/lower/Packet.h"
#include "dsl/lower/Sites.h"
#include "dsl/threads/Rebuild.h"
#include "dsl/threads/ThreadModel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace quern {

/// A value in a vector of threads: one number for all lanes, `scalar + step *
/// lane`, or a number for each lane.
struct Lanes {
  mlir::Value scalar;
  std::int64_t step = 0;
  mlir::Value vector;

  bool isUniform() const { return !vector && step == 0; }
  bool isLinear() const { return !vector && step != 0; }
};

/// The inside of a region that a vector of threads runs: at least one lane of
/// `mask` is set; null: all lanes.
struct LaneScope {
  LaneScope *outer = nullptr;
  mlir::Value mask;
  llvm::DenseMap<mlir::Value, Lanes> values;

  LaneScope(LaneScope *outer, mlir::Value mask) : outer(outer), mask(mask) {}
};

/// A comparison of order as it reads with its sides exchanged.
mlir::arith::CmpIPredicate exchanged(mlir::arith::CmpIPredicate predicate);

class ThreadEmitter {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  ThreadEmitter(const ThreadModel &model, const TargetInfo &target,
                const Packet &packet, std::vector<ErrorSite> &sites,
                mlir::OpBuilder &builder)
      : model(model), target(target), packet(packet),
        sites(sites, model.kernel.getSymName()), b(builder),
        lanes(model.lanes) {}

  // Task.cpp
  /// Whether the launch can be, and else what was given and what is needed.
  struct LaunchCheck {
    mlir::Value isGood, given, limit;
  };
  LaunchCheck checkLaunch();
  mlir::Value hasCountableBlocks();
  void buildPlan(mlir::ModuleOp module, llvm::StringRef name);
  void buildTask(mlir::ModuleOp module, llvm::StringRef name);
  /// False after a diagnostic was given.
  bool valid = true;

private:
  // Task.cpp
  mlir::Block *function(mlir::ModuleOp module, llvm::StringRef name,
                        unsigned integers);
  void loadWords();
  mlir::Value launchValue(unsigned operand);
  void blockLoop(mlir::Value begin, mlir::Value end);

  // BlockControl.cpp: what all threads of a block do together
  void region(mlir::Block &block);
  void flush(llvm::ArrayRef<mlir::Operation *> stage);
  void sharedOperation(mlir::Operation *op);
  void together(mlir::Operation *op);
  void sharedIf(mlir::scf::IfOp op);
  void sharedFor(mlir::scf::ForOp op);
  mlir::Block *begin(mlir::Region &region, mlir::TypeRange types);
  void sharedWhile(mlir::scf::WhileOp op);
  Values sharedOnly(mlir::ValueRange like, mlir::ValueRange values);
  void keepOthers(mlir::ValueRange targets, mlir::ValueRange values);
  void bindShared(mlir::ValueRange targets, mlir::ValueRange values);
  mlir::Value agreed(mlir::Value value, mlir::Operation *at);
  void combineBlock(qn::CombineOp op);
  void prefixBlock(qn::PrefixOp op);
  /// Runs `body` for every vector of threads of the block.
  void threads(llvm::function_ref<void()> body);
  mlir::Value inOrder(mlir::Value number, mlir::Value count);
  void rows(unsigned dimension, llvm::function_ref<void()> body);
  void vectorOfThreads(mlir::Value number, llvm::function_ref<void()> body);
  mlir::Value laneMask(mlir::Value first, mlir::Value end,
                       std::optional<std::int64_t> known);

  // LaneValues.cpp
  Lanes get(mlir::Value value);
  Lanes make(mlir::Operation *op, unsigned result);
  mlir::Value vectorOf(Lanes value);
  mlir::Value spread(mlir::Value scalar);
  mlir::Value scalarOf(mlir::Value value);
  std::optional<Lanes> linear(mlir::Operation *op,
                              llvm::ArrayRef<Lanes> operands);
  std::optional<Lanes> compare(mlir::arith::CmpIOp op, Lanes left, Lanes right);
  bool isNarrow(mlir::Value value) const;
  bool hasRoom(mlir::Value value) const;
  mlir::Value lanesBelow(mlir::Value first, mlir::Value bound, bool orEqual);
  llvm::SmallVector<Lanes> elementwise(mlir::Operation *op,
                                       llvm::ArrayRef<Lanes> operands);
  Values cloneWith(mlir::Operation *op, mlir::ValueRange operands,
                   unsigned width);
  Lanes threadNumber(qn::ThreadOp op);
  Lanes lookup(qn::LookupOp op);
  Lanes required(qn::RequireOp op);
  mlir::Type wide(mlir::Type type) const;
  mlir::Value constant(std::int64_t value, mlir::Type type = {});
  mlir::Value lowLanes(mlir::Value count);
  mlir::Value laneNumbers(mlir::Type type, std::int64_t step = 1);
  mlir::Value zero(mlir::Type type);
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value without(mlir::Value mask, mlir::Value taken);
  mlir::Value anyLane(mlir::Value mask);
  void set(mlir::Value value, Lanes lanes) { scope->values[value] = lanes; }
  /// Inlines a region's operations on whatever its arguments are here.
  Values inlined(mlir::Region &region, mlir::ValueRange arguments);

  // LaneControl.cpp
  void emit(mlir::Operation *op);
  void arm(mlir::Block &block, mlir::Value mask,
           llvm::function_ref<void()> finish);
  void decidedIf(mlir::scf::IfOp op, bool isTaken);
  void uniformIf(mlir::scf::IfOp op, mlir::Value condition);
  void dividedIf(mlir::scf::IfOp op, mlir::Value condition);
  bool isHarmless(mlir::Block &block, mlir::Operation *at) const;
  void speculate(mlir::scf::IfOp op, mlir::Value condition);
  void whileLoop(mlir::scf::WhileOp op);
  Values whileStates(mlir::scf::WhileOp op, bool divided);
  void whileTest(mlir::scf::WhileOp op, mlir::ValueRange arguments,
                 bool divided);
  void whileRound(mlir::scf::WhileOp op, mlir::ValueRange arguments,
                  bool divided);
  mlir::Value asArgument(mlir::Value like, mlir::Value value);
  void bindArgument(mlir::Value like, mlir::Value value);
  mlir::Type argumentType(mlir::Value like);

  // LaneLoops.cpp
  struct Meeting;
  std::optional<Meeting> meeting(mlir::scf::ForOp loop);
  Values rounds(mlir::scf::ForOp op, mlir::Value lower, mlir::Value upper,
                mlir::Value step, mlir::ValueRange inits);
  Values parted(mlir::scf::ForOp op, const Meeting &at, mlir::Value lower,
                mlir::Value upper, mlir::Value step, Values states);
  void countedLoop(mlir::scf::ForOp op);
  void dividedLoop(mlir::scf::ForOp op, Lanes lower, Lanes upper, Lanes step);
  mlir::Value below(Lanes value, Lanes bound);

  // LaneMemory.cpp
  /// Where the lanes of an access lie: `base`, and offsets from it in elements.
  struct Address {
    mlir::Value base;
    std::int64_t step = 0; ///< from lane to lane
    mlir::Value offsets;   ///< instead of `step`: one for each lane
    bool isFar = false;    ///< whether lanes' offsets may need 64 bits
    mlir::Type element;    ///< in memory
    mlir::Value mask;      ///< lanes that take part; null: all
    mlir::Value good;      ///< uniform address: whether it is in range; or null
  };
  struct Extent {
    llvm::StringRef axis; ///< of a tensor
    mlir::Value size;
    std::int64_t fixed = 0; ///< of an array
  };
  struct Stride {
    std::int64_t fixed = 0;
    mlir::Value dynamic; ///< instead of `fixed`
  };
  Address address(mlir::Operation *op, mlir::Value place,
                  mlir::ValueRange indices, bool checked,
                  std::optional<std::uint64_t> part);
  void layout(mlir::Value place, llvm::SmallVectorImpl<Stride> &strides,
              llvm::SmallVectorImpl<Extent> &extents);
  void addOffset(Address &at, mlir::Value &sum, Lanes index, Stride stride);
  void check(mlir::Operation *op, Address &at, unsigned dimension, Lanes index,
             Extent extent);
  void report(mlir::Operation *op, unsigned dimension, llvm::StringRef axis,
              mlir::Value bad, Lanes index, mlir::Value extent,
              ErrorSite::Kind kind = ErrorSite::Kind::Index);
  void record(std::int64_t site, mlir::Value index, mlir::Value extent);
  Lanes read(qn::ReadOp op);
  Lanes readAt(Address &at, mlir::Type type);
  void write(qn::WriteOp op);
  void storeMasked(const Address &at, mlir::Value stored);
  mlir::Value pointers(const Address &at);
  mlir::Value fromMemory(mlir::Value raw, mlir::Type element) {
    return quern::fromMemory(b, loc, raw, element);
  }
  mlir::Value toMemory(mlir::Value value, mlir::Type element) {
    return quern::toMemory(b, loc, value, element);
  }
  mlir::Value guarded(mlir::Value good, mlir::Type type,
                      llvm::function_ref<mlir::Value()> body) {
    return guardedBy(b, loc, good, type, body);
  }

  // LaneAtomics.cpp
  Lanes atomic(qn::AtomicOp op);
  mlir::Value laneOffsets(const Address &at, bool isNarrow);
  mlir::Value lanePointer(const Address &at, mlir::Value offsets,
                          mlir::Type offset, unsigned number);
  mlir::Value atomicLanes(qn::AtomicOp op, const Address &at, mlir::Value mask);
  mlir::Value atomicLane(qn::AtomicOp op, mlir::Value pointer,
                         mlir::Value value, mlir::Value expected,
                         bool isShared);

  // LaneTogether.cpp: what the lanes of a vector do together
  Lanes shuffle(qn::ShuffleOp op);
  mlir::Value permuted(mlir::Value vector, llvm::ArrayRef<std::int64_t> from);
  mlir::Value pick(mlir::Value vector, mlir::Value numbers);
  Lanes ballot(qn::BallotOp op);
  Lanes vote(qn::VoteOp op);
  /// Combines the lanes of `states`, in order; gives scalars.
  Values combineLanes(mlir::Region &merge, Values states,
                      mlir::ValueRange inits);
  /// The states up to each lane, in order or in reverse.
  Values prefixLanes(mlir::Region &merge, Values states, bool reverse);
  Values shifted(mlir::ValueRange states, mlir::ValueRange fill,
                 std::int64_t distance);
  void combineWarp(qn::CombineOp op);
  void prefixWarp(qn::PrefixOp op);
  Values statesOf(mlir::ValueRange values, mlir::ValueRange inits);

  // Storage.cpp
  mlir::Value slotOf(mlir::Value value);
  mlir::Value slotPointer(mlir::Value value);
  void keep(mlir::Value value, Lanes lanes);
  Lanes kept(mlir::Value value);
  mlir::Value arrayBase(mlir::Value array);
  mlir::Value reserve(mlir::Type element, std::int64_t count);
  std::int64_t vectorCount() const;

  const ThreadModel &model;
  const TargetInfo &target;
  const Packet &packet;
  Sites sites;
  mlir::OpBuilder &b;
  mlir::Location loc = b.getUnknownLoc();
  const unsigned lanes;

  mlir::Value packetPointer;
  Values words;                        ///< of the packet
  mlir::Operation *entryEnd = nullptr; ///< memory is reserved before it
  llvm::DenseMap<mlir::Value, mlir::Value> shared;
  std::array<mlir::Value, 3> blockNumber, threadRow;
  mlir::Value vectorNumber; ///< of the vector of threads within the block
  LaneScope *scope = nullptr;
  std::int64_t stackBytes = 0;        ///< reserved on the stack
  std::int64_t ownBytes = 0;          ///< and in the worker's own workspace,
  mlir::arith::ConstantOp ownPlanned; ///< as the plan says it
  mlir::Value ownWorkspace;           ///< which begins so far behind the first
  llvm::DenseMap<mlir::Value, bool> decided; ///< in what is made now
  bool isReversed = false; ///< threads go from the last to the first
  llvm::DenseMap<mlir::Value, mlir::Value> slots, arrays;
};

} // namespace quern
