// Makes code for one value in one context, on demand and once.
#pragma once

#include "dsl/gpu/Team.h"
#include "dsl/lower/Access.h"
#include "dsl/lower/Buffered.h"
#include "dsl/lower/Loops.h"
#include "dsl/lower/Packet.h"
#include "dsl/lower/Sites.h"
#include "dsl/lower/TaskMemory.h"
#include "dsl/lower/Walk.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::arith {
enum class CmpIPredicate : std::uint64_t;
} // namespace mlir::arith

namespace mlir::scf {
class WhileOp;
} // namespace mlir::scf

namespace quern {

class Emitter {
public:
  using Values = llvm::SmallVector<mlir::Value>;
  using Body = llvm::function_ref<void(Frame &, Values &states)>;
  /// How a position moves from lane to lane: not, or by equal steps.
  enum class Motion : std::uint8_t { Still, Even };

  Emitter(const KernelModel &model, const Schedule &schedule,
          const TargetInfo &target, const Packet &packet,
          std::vector<ErrorSite> &sites, mlir::OpBuilder &builder);

  mlir::Value packetPointer;          ///< of the function under construction
  const LaunchPlan *launch = nullptr; ///< the one under construction
  bool streaming = false; ///< whole vectors are stored past the caches
  bool aligned = false;   ///< whole vectors lie at multiples of their size
  Ahead ahead;            ///< what is asked for before its turn
  /// Positions of loads that are inside wherever code is being made.
  llvm::SmallDenseSet<std::pair<mlir::Operation *, unsigned>> inside;
  /// The threads of a GPU that share a unit; null on a CPU.
  const Team *team = nullptr;
  llvm::DenseMap<mlir::Value, Buffered> buffered;
  /// Ends of axes within this unit, where they are not the axes' extents.
  llvm::SmallDenseMap<unsigned, mlir::Value, 2> limits;
  /// Axes that count groups of elements here, and the logarithm of their size.
  llvm::SmallDenseMap<unsigned, mlir::Value, 2> grouped;
  llvm::SmallPtrSet<mlir::Operation *, 8> wanted; ///< the launch's reductions
  llvm::SmallDenseSet<mlir::Value> reduced;       ///< operands that those read
  TaskMemory memory;                              ///< of the task
  bool valid = true;                              ///< no diagnostic was given
  using Local = llvm::DenseMap<mlir::Value, mlir::Value>;

  // EmitValue.cpp
  mlir::Value emit(Frame &frame, mlir::Value value, Copies copies);
  Values emitAll(Frame &frame, mlir::ValueRange values, Copies copies);
  mlir::Value constant(Frame &frame, std::int64_t value);
  mlir::Value extent(Frame &frame, unsigned axis);
  mlir::Value word(Frame &frame, unsigned word, mlir::Type type);
  mlir::Value position(Frame &frame, unsigned axis, Copies copies);
  mlir::Value lanePosition(Frame &frame, unsigned axis, Copies copies);
  mlir::Value widen(Frame &frame, mlir::Value value, unsigned lanes);
  mlir::Value wide(Frame &frame, mlir::Value value, Copies copies,
                   unsigned lanes);
  /// Copies the code of a region for given arguments; gives what it yields.
  Values inlineRegion(Frame &frame, mlir::Region &region,
                      mlir::ValueRange arguments, Copies copies);
  std::optional<mlir::Value> laneStep(Frame &frame, mlir::Value value,
                                      const Binding &lane, Copies copies);

  // EmitLoop.cpp
  /// Opens the loops one in the other and `body` in the innermost; states go
  /// through all of them.
  void nest(Frame &frame, llvm::ArrayRef<LoopSpec> loops, Values &states,
            Body body);
  llvm::SmallVector<Copies> copiesOf(const Frame &frame, AxisSet axes) const;

  // EmitStaged.cpp
  mlir::Value stride(Frame &frame, mlir::BlockArgument operand, unsigned axis);
  mlir::Value pointerTo(Frame &frame, mlir::BlockArgument operand);
  /// Bytes of the workspace up to slot `before`, or of all slots.
  mlir::Value stagedBytes(Frame &frame,
                          std::optional<unsigned> before = std::nullopt);
  /// How many elements an operand of these axes has.
  mlir::Value elementsOf(Frame &frame, qn::OperandType type);
  mlir::Value inWorkspace(Frame &frame, mlir::Value bytes); ///< the place
  mlir::Value room(Frame &frame, mlir::Type element, std::int64_t count);

  // EmitAccess.cpp
  mlir::Value advance(Frame &frame, qn::OperandType type, mlir::Value pointer,
                      mlir::Value offset);
  mlir::Value address(Frame &frame, mlir::BlockArgument operand, AxisSet axes,
                      Copies copies);
  void emitStores(Frame &frame, llvm::ArrayRef<qn::StoreOp> stores);
  bool keepsValues() const { return !keptValues.empty(); }
  /// The binding whose lanes a value over `axes` has, or null.
  const Binding *laneOf(const Frame &frame, AxisSet axes) const;
  /// A slot of eight bytes in the workspace.
  mlir::Value slot(Frame &frame, mlir::Value number, unsigned offset);
  mlir::Value readSlot(Frame &frame, mlir::Value slot, mlir::Type type);
  void writeSlot(Frame &frame, mlir::Value slot, mlir::Value value);
  /// Reads an element, neighbours or pointers; `otherwise` without `mask`.
  mlir::Value read(Frame &frame, mlir::Value pointer, mlir::Type element,
                   unsigned lanes, mlir::Value mask, mlir::Value otherwise,
                   bool aligned = false);
  void write(Frame &frame, mlir::Value pointer, mlir::Value value,
             mlir::Type element, mlir::Value mask, bool aligned = false);

  // EmitScan.cpp
  /// The scans along `axes` that values need; false after a diagnostic.
  bool scansBehind(mlir::ValueRange values, AxisSet axes,
                   llvm::SmallVectorImpl<qn::ScanOp> &scans);
  /// Opens `loops`, the innermost along the axis of the scans.
  void nestScans(Frame &frame, llvm::ArrayRef<LoopSpec> loops,
                 llvm::ArrayRef<qn::ScanOp> scans, Values &states, Body body);

  // EmitReduce.cpp
  mlir::Value maskOf(Frame &frame, qn::ReduceOp op, Copies copies);
  void stepCount(Frame &frame, qn::ReduceOp op, Copies copies,
                 mlir::Value &state, unsigned lanes);
  /// One step of a reduction from and to `state`.
  void stepOne(Frame &frame, qn::ReduceOp op, Copies copies,
               llvm::MutableArrayRef<mlir::Value> state,
               mlir::ValueRange even = {}, const Local &known = Local());
  Values evenStates(Frame &frame, qn::ReduceOp op, Copies copies,
                    llvm::ArrayRef<mlir::Value> state);
  /// The states after the positions `lower` to `upper` of an axis.
  Values partialStates(Frame &frame, llvm::ArrayRef<qn::ReduceOp> members,
                       const LoopSpec &split);

  // dsl/gpu/SharedLoop.cpp
  /// Whether code here belongs to one thread of a team alone.
  bool isOneThread(const Frame &frame) const;
  /// The axis among `candidates` that lanes, or threads, run along, or -1.
  int laneAxis(const Frame &frame, AxisSet candidates) const;
  /// How a loop along that axis is walked in `frame`.
  AxisPlan lanePlan(const Frame &frame, unsigned axis, bool reduces) const;
  std::pair<mlir::Value, mlir::Value> ownChunk(Frame &frame,
                                               mlir::Value length);
  /// Merges the states of all threads of a team; every thread gets the result.
  Values mergeTeam(Frame &frame, qn::ReduceOp op, Values state);

  // EmitKept.cpp
  /// Chooses the values of the launch that are kept from one pass to the next.
  void findKept();

  // EmitScatter.cpp
  void scatter(Frame &frame, qn::ScatterOp op, Copies copies);
  mlir::Value goodPlaces(Frame &frame, qn::ScatterOp op, Copies copies);
  void combine(Frame &frame, qn::ScatterOp op, mlir::ValueRange pointers,
               Values values, mlir::Value mask, Copies copies);

  mlir::OpBuilder &in(Frame &frame);

private:
  friend class PackedWriter;
  friend class KeptRow;

  // EmitValue.cpp
  Frame &home(Frame &from, AxisSet axes);
  Copies project(const Frame &frame, AxisSet axes, Copies copies) const;
  mlir::Value compute(Frame &frame, mlir::Value value, Copies copies);
  mlir::Value parameter(Frame &frame, mlir::BlockArgument argument);
  mlir::Value wholeRounds(Frame &frame, mlir::BlockArgument argument);
  Values operation(Frame &frame, mlir::Operation *op, Local &local,
                   Copies copies);
  Values elementwise(Frame &frame, mlir::Operation *op, Values operands);
  Values localOperands(Frame &frame, mlir::Operation *op, Local &local,
                       Copies copies);
  mlir::Value unsupported(mlir::Operation *op, mlir::Type type,
                          llvm::StringRef what);

  // EmitAccess.cpp
  mlir::Value load(Frame &frame, qn::LoadOp load, Local &local, Copies copies);
  mlir::Value loadTurned(Frame &frame, qn::LoadOp load, Copies copies);
  mlir::Value lookup(Frame &frame, qn::LookupOp op, Local &local,
                     Copies copies);
  mlir::Value lookupIn(Frame &frame, qn::LookupOp op, mlir::Value index);
  StrideClass strideAlong(qn::OperandType type, unsigned axis) const;
  mlir::Value stagedStride(Frame &frame, mlir::BlockArgument operand,
                           unsigned axis);
  mlir::Value part(Frame &frame, qn::OperandType type, mlir::Value pointer,
                   std::optional<std::uint64_t> part);
  mlir::Value lanePointers(Frame &frame, mlir::BlockArgument operand,
                           mlir::Value pointer, const Binding &lane);
  mlir::Value fromMemory(Frame &frame, mlir::Value raw, mlir::Type element);
  mlir::Value toMemory(Frame &frame, mlir::Value value, mlir::Type element);
  using Reads = llvm::function_ref<mlir::Value(Frame &)>;
  mlir::Value whereThere(Frame &frame, Reads body);
  mlir::Value loadOwn(Frame &frame, mlir::BlockArgument operand,
                      std::optional<std::uint64_t> half, mlir::Type element,
                      Copies copies);
  void store(Frame &frame, qn::StoreOp op, mlir::Value stored, Copies copies);
  bool liesPaired(const Frame &frame, mlir::BlockArgument operand) const;
  mlir::Value halfOfPairs(Frame &frame, mlir::Value pointer, mlir::Type element,
                          const Binding &lane, unsigned half);
  void storePairs(Frame &frame, qn::StoreOp first, qn::StoreOp second,
                  Copies copies);
  void storeAll(Frame &frame, llvm::ArrayRef<qn::StoreOp> stores);

  // EmitAhead.cpp
  void fetchAhead(Frame &frame, const Access &access, Copies copies);
  void fetchForMasked(Frame &frame, mlir::Value pointer);
  void fetchOwn(Frame &frame, mlir::BlockArgument operand, mlir::Value at);
  void fetchLines(Frame &frame);
  void fetchRow(Frame &frame, const Access &access, Copies copies);

  // EmitAffine.cpp
  mlir::Value ramp(Frame &frame, mlir::Value step, unsigned lanes);
  mlir::Value lanesInside(Frame &frame, mlir::Value first, mlir::Value extent,
                          mlir::Value ramp);
  mlir::Value readEither(Frame &frame, qn::LoadOp load, unsigned lanes,
                         mlir::Value first, Reads yes, Reads no);
  mlir::Value goodSteps(Frame &frame, Walk &walk, const Binding &lane);
  mlir::Value endsInside(Frame &frame, Walk &walk, const Binding &lane);
  mlir::Value readSteps(Frame &frame, Walk &walk, unsigned lanes,
                        mlir::Value mask, mlir::Value otherwise);
  mlir::Value readGood(Frame &frame, Walk &walk, const Binding &lane);
  bool stepsOf(Frame &frame, Walk &walk, const Binding &lane);
  mlir::Value affine(Frame &frame, qn::LoadOp load, Copies copies);
  mlir::Value readWalk(Frame &frame, Walk &walk, const Binding &lane);

  // EmitPieces.cpp
  using Motions = llvm::DenseMap<mlir::Value, std::optional<Motion>>;
  std::optional<Motion> motion(mlir::Value value, const Binding &lane,
                               Motions &known);
  mlir::Value sameOutcome(Ends &ends, mlir::arith::CmpIPredicate predicate,
                          mlir::Value a, mlir::Value b);
  mlir::Value sameGrowth(Ends &ends, mlir::Value value, mlir::Value other);
  mlir::Value holdsByChoice(Ends &ends, mlir::Operation *op);
  mlir::Value holds(Ends &ends, mlir::Value value);
  mlir::Value wrapsRarely(Frame &frame, llvm::ArrayRef<mlir::Value> seen,
                          const Binding &lane, Copies copies);
  Values readEnds(Ends &ends, qn::LoadOp load, unsigned lanes);
  Values lookAtEnds(Frame &frame, qn::LoadOp load, const Binding &lane,
                    Copies copies, mlir::Value hope);
  mlir::Value readPieces(Frame &frame, qn::LoadOp load, const Binding &lane,
                         Copies copies, mlir::ValueRange found);
  mlir::Value pieced(Frame &frame, qn::LoadOp load, Copies copies);

  // EmitNear.cpp, EmitFew.cpp
  int nearIndex(qn::LoadOp load, const Binding &lane) const;
  bool looksAtAll(const Frame &frame, qn::LoadOp load) const;
  mlir::Value permuted(Frame &frame, qn::LoadOp load, unsigned moving,
                       Values indices, mlir::Value base, mlir::Value offsets,
                       mlir::Value good);
  mlir::Value nearby(Frame &frame, qn::LoadOp load, const Binding &lane,
                     mlir::ValueRange indices, mlir::Value good,
                     mlir::Value otherwise, Reads apart);
  mlir::Value fewOrAll(Frame &frame, qn::LoadOp load, mlir::ValueRange indices,
                       std::array<mlir::Value, 2> ends, Reads apart);

  // EmitErrors.cpp
  mlir::Value badLanes(Frame &frame, const Suspect &suspect, mlir::Value good);
  void report(Frame &frame, const Suspect &suspect, mlir::Value good);
  mlir::Value required(Frame &frame, qn::RequireOp op, Values operands);

  // EmitIndexed.cpp
  mlir::Value readBeside(Frame &frame, qn::LoadOp load, mlir::Value pointer,
                         const Binding &lane, mlir::Value good,
                         mlir::Value otherwise);
  mlir::Value gathered(Frame &frame, qn::LoadOp load, Local &local,
                       Copies copies);
  mlir::Value indexed(Frame &frame, qn::LoadOp load, Local &local,
                      Copies copies);
  mlir::Value inRange(Frame &frame, mlir::Value index, mlir::Value extent);
  mlir::Value goodLanes(Frame &frame, const Access &access,
                        mlir::ValueRange indices, mlir::Value when,
                        bool report);
  mlir::Value both(Frame &frame, mlir::Value a, mlir::Value b);
  mlir::Value elementPointer(Frame &frame, const Access &access,
                             mlir::ValueRange indices);
  mlir::Value neighbours(Frame &frame, const Access &access,
                         const Binding &lane, Copies copies);
  mlir::Value guardedScalar(Frame &frame, qn::LoadOp load,
                            mlir::ValueRange indices, mlir::Value good,
                            mlir::Value otherwise);

  // EmitBeside.cpp
  static constexpr Copies allBeside = ~Copies(0); ///< all rows' in one vector
  mlir::Value beside(Frame &frame, mlir::Value value);
  bool storeBeside(Frame &frame, qn::StoreOp op, mlir::Value stored,
                   Copies copies);
  Values rowAfterRow(const ReductionGroup &group,
                     llvm::function_ref<Values(ReductionGroup &)> make) const;

  // EmitControl.cpp
  Values control(Frame &frame, mlir::Operation *op, Local &local,
                 Copies copies);
  Values conditional(Frame &frame, mlir::Operation *op, Local &local,
                     Copies copies);
  Values whereTaken(Frame &frame, mlir::Value taken, mlir::Region &region,
                    Local &local, Copies copies);
  Values whileLoop(Frame &frame, mlir::Operation *op, Local &local,
                   Copies copies);
  Values lanesLeave(Frame &frame, mlir::scf::WhileOp loop,
                    mlir::ValueRange states,
                    llvm::function_ref<void(mlir::Block *)> test,
                    llvm::function_ref<Values(mlir::Block *)> step);
  Values whileStates(Frame &frame, mlir::scf::WhileOp loop, Local &local,
                     Copies copies, unsigned lanes);
  Values whileTest(Frame &test, mlir::scf::WhileOp loop, Local local,
                   mlir::ValueRange states, Copies copies);
  Values lanesLoop(Frame &frame, mlir::scf::WhileOp loop, Local &local,
                   mlir::ValueRange states, Copies copies);
  void whileLeave(Frame &test, mlir::scf::WhileOp loop, mlir::Value goes,
                  mlir::ValueRange handed, unsigned lanes);
  mlir::Value withinBounds(Frame &body, mlir::Value at, mlir::Value lower,
                           mlir::Value upper);
  mlir::Value extremeLane(Frame &frame, mlir::Value value, bool largest);
  Values countedLoop(Frame &frame, mlir::Operation *op, Local &local,
                     Copies copies);
  Values regionValues(Frame &frame, mlir::Region &region, Local local,
                      mlir::ValueRange arguments, Copies copies);
  mlir::Value operand(Frame &frame, mlir::Value value, Local &local,
                      Copies copies);
  unsigned lanesInside(Frame &frame, mlir::Operation *op, Local &local);
  Values select(Frame &frame, mlir::Value condition, mlir::ValueRange yes,
                mlir::ValueRange no);

  // EmitRounds.cpp
  Frame roundFrame(Frame &frame, mlir::scf::WhileOp loop, mlir::Region &region,
                   mlir::Block *block, mlir::ValueRange arguments,
                   Copies copies);
  Values firstRound(Frame &frame, mlir::scf::WhileOp loop, Copies copies);
  Values rounds(Frame &frame, mlir::scf::WhileOp loop, Copies copies);

  // dsl/gpu/SharedLoop.cpp
  mlir::Value teamTimes(Frame &frame, std::int64_t factor);
  void sharedLoop(Frame &frame, const LoopSpec &loop,
                  llvm::ArrayRef<LoopSpec> rest, Values &states, Body body);
  void chunkLoop(Frame &frame, LoopSpec loop, llvm::ArrayRef<LoopSpec> rest,
                 Values &states, Body body);
  void sharedPart(Frame &frame, const LoopSpec &part,
                  llvm::ArrayRef<LoopSpec> rest, Values &states, Body body);
  // dsl/gpu/KeptRow.cpp
  bool isKeptRow(Frame &frame, const LoopSpec &loop);
  void keptRow(Frame &frame, const LoopSpec &loop, Values &states, Body body);
  Values mergeThreads(Frame &frame, qn::ReduceOp op, Values state,
                      unsigned threads);
  mlir::Value warpSlot(unsigned number, mlir::Value warp);
  Values mergeWarps(Frame &frame, qn::ReduceOp op, Values state);
  // dsl/gpu/Cluster.cpp
  Values mergeBlocks(Frame &frame, qn::ReduceOp op, Values state);

  // dsl/gpu/TeamScan.cpp
  void teamScans(Frame &frame, const LoopSpec &loop,
                 llvm::ArrayRef<qn::ScanOp> scans, Values &states, Body body);
  void scanStretches(Frame &frame, const LoopSpec &loop, mlir::Value lower,
                     mlir::Value upper, llvm::ArrayRef<qn::ScanOp> scans,
                     unsigned own, Values &states, Body body);
  void inRangeOnly(Frame &frame, llvm::MutableArrayRef<mlir::Value> states,
                   Body body);
  Values teamScan(Frame &frame, qn::ScanOp scan, Copies copies, unsigned lanes,
                  llvm::MutableArrayRef<mlir::Value> state);
  Values fromLane(Frame &frame, mlir::ValueRange states, mlir::Value from);
  Values beforeThread(Frame &frame, qn::ScanOp scan, Copies copies,
                      mlir::ValueRange own,
                      llvm::MutableArrayRef<mlir::Value> state);
  Values behindWarps(Frame &frame, qn::ScanOp scan, Copies copies,
                     mlir::ValueRange states, Values &base);
  void leaveWarpStates(Frame &frame, mlir::ValueRange states, unsigned lane);

  // dsl/gpu/DeviceMemory.cpp
  mlir::Value globalPointer(mlir::Value at);
  bool storePast(Frame &frame, mlir::Value pointer, mlir::Value value);
  mlir::Value shortOffset(Frame &frame, mlir::Value position,
                          mlir::Value stride);

  // EmitJoined.cpp
  mlir::Value wordAt(Frame &frame, unsigned first, unsigned step,
                     mlir::Value number, mlir::Type type);
  mlir::Value joinedEnd(Frame &frame, qn::JoinedOp op, mlir::Value number);
  mlir::Value joinedBegin(Frame &frame, qn::JoinedOp op, mlir::Value number);
  mlir::Value joinedAt(Frame &frame, qn::JoinedOp op, mlir::Value position);
  bool isCut(const LoopSpec &loop) const;
  void cutLoop(Frame &frame, LoopSpec loop, bool isWhole,
               llvm::ArrayRef<LoopSpec> rest, Values &states, Body body);
  void untilAligned(Frame &frame, LoopSpec &loop, llvm::ArrayRef<LoopSpec> rest,
                    Values &states, Body body);
  Frame *cutFrame(Frame &from, unsigned axis);
  mlir::Value joined(Frame &from, qn::JoinedOp op, Copies copies);
  mlir::Value joinedLanes(Frame &frame, qn::JoinedOp op, const Binding &lane,
                          Copies copies);
  mlir::Value joinedElement(Frame &frame, Frame &at, qn::JoinedOp op,
                            mlir::Value number, const Binding *lane,
                            Copies copies, LaneChoice choice);
  mlir::Value readLanes(Frame &frame, qn::JoinedOp op, mlir::Value pointer,
                        const Binding *lane, StrideClass along,
                        mlir::Value step, LaneChoice choice);

  // EmitLoop.cpp
  mlir::Value lengthOf(Frame &frame, const LoopSpec &loop);
  void openLoop(Frame &frame, const LoopSpec &loop,
                llvm::ArrayRef<LoopSpec> rest, Values &states, Body body);
  void laneLoop(Frame &frame, const LoopSpec &loop,
                llvm::ArrayRef<LoopSpec> rest, Values &states, Body body);
  bool restInCopies(Frame &frame, const LoopSpec &loop, mlir::Value lower,
                    llvm::ArrayRef<LoopSpec> rest, Values &states, Body body);
  void plainLoop(Frame &frame, const LoopSpec &loop, mlir::Value lower,
                 mlir::Value upper, bool masked, llvm::ArrayRef<LoopSpec> rest,
                 Values &states, Body body);
  void piecesLoop(Frame &frame, const LoopSpec &loop, mlir::Value lower,
                  llvm::ArrayRef<LoopSpec> rest, Values &states, Body body);
  void maskedTurn(Frame &frame, const LoopSpec &loop,
                  llvm::ArrayRef<LoopSpec> rest, Values &states, Body body);
  mlir::Value laneMask(Frame &frame, mlir::Value position, mlir::Value upper,
                       unsigned lanes);

  // EmitWindow.cpp
  Reach reach(Frame &frame, const ReductionGroup &group, mlir::Value index);
  mlir::Value interior(Frame &frame, const ReductionGroup &group);
  void inBothCases(Frame &frame, mlir::Value test, Values &states, Body body);

  // EmitSliding.cpp
  bool slides(qn::LoadOp load, const Binding &beside, unsigned along) const;
  bool slidingLoops(Frame &frame, const ReductionGroup &group, Values &states);
  void slide(Frame &frame, const ReductionGroup &group,
             llvm::ArrayRef<qn::LoadOp> loads, const Binding &beside,
             Values &states);

  // EmitPortable.cpp
  Values takeTurns(Frame &frame, ReductionGroup &group, unsigned bit,
                   mlir::Value turn);
  Values pieceOfTree(Frame &frame, ReductionGroup group, unsigned number);
  Values treeOf(Frame &frame, const ReductionGroup &group, unsigned pieces,
                Values first);
  using Make = llvm::function_ref<Values(Frame &)>;
  Values byLength(Frame &frame, const ReductionGroup &group, unsigned pieces,
                  Make longer, Make shorter);
  Values rowsByLoop(Frame &frame, const ReductionGroup &group, unsigned pieces);
  Values maskedTree(Frame &frame, const ReductionGroup &group, unsigned pieces);
  bool shortTree(Frame &frame, ReductionGroup &group, Values &states);

  // EmitReduce.cpp
  void loops(Frame &frame, const ReductionGroup &group, Values &states);
  void reduce(Frame &frame, qn::ReduceOp op);
  ReductionGroup groupOf(Frame &frame, qn::ReduceOp op);
  AxisSet masking(const Frame &frame, qn::ReduceOp op) const;
  void planLoops(Frame &frame, ReductionGroup &group);
  AxisPlan innerPlan(Frame &frame, ReductionGroup &group, unsigned lane);
  Values allStates(Frame &frame, ReductionGroup &group);
  void run(Frame &frame, ReductionGroup &group);
  Values initialStates(Frame &frame, const ReductionGroup &group);
  void step(Frame &frame, const ReductionGroup &group, Values &states);
  void stepInOrder(Frame &frame, qn::ReduceOp op, llvm::ArrayRef<Copies> copies,
                   llvm::MutableArrayRef<mlir::Value> state);
  Values mergeNeighbours(Frame &frame, qn::ReduceOp op, const Values &left,
                         const Values &right, unsigned lanes);
  void planOrdered(Frame &frame, ReductionGroup &group);
  void finish(Frame &frame, const ReductionGroup &group, Values &states);
  llvm::SmallVector<Values> mergeLanes(Frame &frame, qn::ReduceOp op,
                                       llvm::SmallVector<Values> states);
  bool separateTail(const ReductionGroup &group) const;
  Values mergeStates(Frame &frame, const ReductionGroup &group,
                     mlir::ValueRange left, mlir::ValueRange right);

  // EmitRuns.cpp
  bool needsRuns(const ReductionGroup &group) const;
  void inRuns(Frame &frame, const ReductionGroup &group, Values &states);
  void runsOf(Frame &frame, const ReductionGroup &group, mlir::ValueRange fresh,
              Values &carried);

  // EmitKept.cpp
  mlir::Value candidate(mlir::Value value, qn::StoreOp store, AxisSet missing,
                        llvm::DenseMap<mlir::Value, mlir::Value> &known);
  mlir::Value candidateWithin(mlir::Value value, qn::StoreOp store,
                              AxisSet missing,
                              llvm::DenseMap<mlir::Value, mlir::Value> &known);
  qn::ReduceOp writerOf(mlir::Value value, qn::StoreOp store);
  void keep(Frame &frame, const ReductionGroup &group);
  mlir::Value kept(Frame &frame, mlir::Value value, Copies copies);
  mlir::Value readBuffered(Frame &frame, mlir::Value value, Copies copies);

  // EmitScan.cpp
  Values scanStates(Frame &frame, llvm::ArrayRef<qn::ScanOp> scans);
  void stepScans(Frame &frame, llvm::ArrayRef<qn::ScanOp> scans,
                 llvm::MutableArrayRef<mlir::Value> states);
  Values plainScan(Frame &frame, qn::ScanOp scan, Copies copies,
                   llvm::MutableArrayRef<mlir::Value> state);
  Values laneScan(Frame &frame, qn::ScanOp scan, Copies copies, unsigned lanes,
                  llvm::MutableArrayRef<mlir::Value> state);

  llvm::MapVector<mlir::Value, Kept> keptValues;
  llvm::SmallPtrSet<mlir::Operation *, 4> running; ///< loops being made
  const KernelModel &model;
  const Schedule &schedule;
  const TargetInfo &target;
  const Packet &packet;
  Sites sites;
  mlir::OpBuilder &builder;
};

} // namespace quern
