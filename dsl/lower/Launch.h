// The two functions of a launch: how much there is to do, and a part of it.
#pragma once

#include "dsl/lower/Columns.h"
#include "dsl/lower/FirstFew.h"
#include "dsl/lower/RowBlock.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/SetVector.h"

namespace quern {

/// Words a sort needs for each element besides the result's own.
std::int64_t scratchWords(qn::SortOp sort);

class LaunchBuilder {
public:
  LaunchBuilder(const KernelModel &model, const Schedule &schedule,
                const LaunchPlan &launch, const TargetInfo &target,
                const Packet &packet, Emitter &emitter,
                mlir::OpBuilder &builder);

  /// These add a function to the end of `module`, for calls for which the
  /// launch runs.
  void buildPlan(mlir::ModuleOp module, llvm::StringRef name);
  void buildTask(mlir::ModuleOp module, llvm::StringRef name);

protected:
  mlir::Block *function(mlir::ModuleOp module, llvm::StringRef name,
                        unsigned integers);
  mlir::Value extent(Frame &root, const AxisPlan &axis);
  mlir::Value tile(Frame &root, const AxisPlan &axis);
  mlir::Value wholeTile(Frame &root, const AxisPlan &axis);
  mlir::Value tiles(Frame &root, const AxisPlan &axis);
  mlir::Value localExtent(Frame &root, unsigned axis);
  mlir::Value elements(Frame &root);
  mlir::Value unasked(Frame &root, mlir::Value work, mlir::Value grain);
  Emitter::Values firstPosition(Frame &root, mlir::Value begin);
  Emitter::Values nextPosition(Frame &frame, mlir::ValueRange position);
  void unitByUnit(Frame &root, mlir::Value begin, mlir::Value end);
  Ahead rowsAhead() const;
  void unit(Frame &frame, mlir::ValueRange position);
  void elementLoops(Frame &frame, llvm::SmallVectorImpl<LoopSpec> &loops);
  void packedUnit(Frame &frame, mlir::ValueRange position);
  void inner(Frame &frame, llvm::ArrayRef<qn::StoreOp> stores);
  // Streaming.cpp
  mlir::Value addressBits(Frame &root, mlir::BlockArgument result);
  mlir::Value passedBytes(Frame &root);
  mlir::Value cacheLimit(Frame &root);
  mlir::Value exceedsCaches(Frame &root);
  bool streamsVectors() const;
  void vectorsPast(Frame &frame, LoopSpec &loop, Emitter::Body body);
  void rowPast(Frame &frame, LoopSpec &row, Emitter::Body body);
  void streamedUnits(Frame &root, mlir::Value begin, mlir::Value end);
  // LaunchFlat.cpp
  llvm::SetVector<mlir::Value> flatOperands() const;
  mlir::Value linesFollow(Frame &root, llvm::ArrayRef<mlir::Value> operands);
  mlir::Value elementsBefore(Frame &root, mlir::Value unit);
  void flatUnits(Frame &frame, mlir::Value begin, mlir::Value end);
  void units(Frame &root, mlir::Value begin, mlir::Value end);
  // LaunchLines.cpp
  using OtherLines = llvm::function_ref<void(Frame &)>;
  using LinesOfLength = llvm::function_ref<void(Frame &, std::int64_t)>;
  mlir::Value stepsBy(Frame &frame, mlir::BlockArgument operand, unsigned axis,
                      mlir::Value step, std::int64_t known);
  mlir::Value areLines(Frame &frame, unsigned axis,
                       llvm::ArrayRef<mlir::Value> tensors,
                       std::int64_t length);
  /// What `make` makes of lines along `axis` of each short length, and
  /// `others` of those that are longer or apart in one of the tensors.
  void byLength(Frame &frame, unsigned axis,
                llvm::ArrayRef<mlir::Value> tensors, LinesOfLength make,
                OtherLines others, std::int64_t length = 2);
  // Deinterleave.cpp
  void deinterleave(Frame &frame, llvm::ArrayRef<qn::LoadOp> loads,
                    std::int64_t length);
  void deinterleavedLines(Frame &frame, llvm::ArrayRef<LoopSpec> loops,
                          llvm::ArrayRef<qn::LoadOp> loads, OtherLines others);
  // LaunchTurned.cpp
  mlir::Value fillLines(Frame &at, qn::LoadOp load, unsigned side);
  void turnedLines(Frame &at, LoopSpec squares, unsigned length,
                   llvm::ArrayRef<qn::LoadOp> loads);
  void takeSquare(Frame &square, qn::LoadOp load, mlir::Value buffer,
                  mlir::Value start);
  mlir::Value linesMeet(Frame &frame, llvm::ArrayRef<qn::LoadOp> loads);
  void linesInTurn(Frame &frame, llvm::ArrayRef<LoopSpec> loops,
                   llvm::ArrayRef<qn::LoadOp> loads);
  // Interleave.cpp
  void interleavedLines(Frame &frame, const LoopSpec &lines,
                        const LoopSpec &along);
  void interleave(Frame &frame, std::int64_t length);
  void storeLoops(Frame &frame, llvm::ArrayRef<qn::StoreOp> stores,
                  AxisSet missing);
  // LaunchDots.cpp
  void findDots();
  void makeDotBuffers(Frame &root);
  mlir::Value together(Frame &frame, mlir::ValueRange values);
  void finishDots(Frame &frame, llvm::ArrayRef<LoopSpec> loops);
  // LaunchSplit.cpp
  unsigned stateCount() const;
  mlir::Value workspace(Frame &root);
  mlir::Value namedWorkspace(Frame &root);
  mlir::Value ownWorkspace(Frame &root);
  mlir::Value ownMemory(Frame &root, mlir::Value worker);
  mlir::Value roomMemory(Frame &root, mlir::Value worker);
  void partials(Frame &frame, mlir::Value number, const LoopSpec &split);
  void merge(Frame &frame);
  void saveResults(Frame &frame, mlir::ValueRange states);
  Emitter::Values partSlots(Frame &body, mlir::Value number);
  using SlotsOfPart =
      llvm::function_ref<Emitter::Values(Frame &, mlir::Value number)>;
  Emitter::Values mergedParts(Frame &frame,
                              llvm::ArrayRef<qn::ReduceOp> members,
                              const LoopSpec &parts, mlir::Value by,
                              SlotsOfPart slotsOf);

  // LaunchCompact.cpp
  void begins(Frame &frame);
  void compact(Frame &frame, mlir::Value number, const LoopSpec &part);

  // LaunchSort.cpp
  mlir::Value sortedBytes(Frame &root);
  mlir::Value sortBytes(Frame &root);
  void makeSortRoom(Frame &root, mlir::Value ownMemory);
  mlir::Value packedWord(Frame &at, mlir::Value key, mlir::Value position);
  void fillWords(Frame &frame, mlir::Value array);
  void pickRow(Frame &frame);
  FewMemory sortMemory(mlir::OpBuilder &b);
  void fillKeys(Frame &frame, llvm::ArrayRef<mlir::Value> arrays);
  void sortRows(Frame &frame);
  void sortRow(Frame &frame);

  // LaunchScatter.cpp
  using Loops = llvm::SmallVector<LoopSpec>;
  using Positions = llvm::SmallVector<std::pair<mlir::Operation *, unsigned>>;
  void scatterLoops(Frame &frame, llvm::ArrayRef<LoopSpec> tiles);
  void inOrder(Frame &frame, const Loops &loops);
  Positions numbersOfAxes(AxisSet moving) const;
  mlir::Value axesFit(Frame &frame, const Positions &positions);
  Positions cheapPositions() const;
  mlir::Value allInRange(Frame &frame, const LoopSpec &loop);
  void inStretches(Frame &frame, const Loops &loops);
  void twice(Frame &frame, mlir::Value known, const Positions &positions,
             llvm::function_ref<void(Frame &, bool)> body);
  void findWanted();

  const KernelModel &model;
  const Schedule &schedule;
  const LaunchPlan &launch;
  const TargetInfo &target;
  const Packet &packet;
  Emitter &emitter;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// Whether the launch stores past the caches, where the loop of a unit asks.
  mlir::Value past;
  /// Bytes of rooms in a worker's own workspace, known once the task is made.
  llvm::SmallVector<mlir::arith::ConstantOp, 2> roomBytes;
  /// A worker's own memory for the rows it sorts, and the bytes of an array.
  mlir::Value sortRoom, sortStride;
  std::optional<ContractionBuilder> contraction;
  std::optional<RowBlockBuilder> rowBlocks;
  std::optional<ColumnBuilder> columns;
  /// A sum of a tile that more is made of, and where those of a tile lie.
  struct Dot {
    mlir::Value sum, buffer;
  };
  llvm::SmallVector<Dot, 2> dots;
};

} // namespace quern
