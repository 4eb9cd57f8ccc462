// Chooses the launches of a kernel, and how each of them cuts its axes.
#pragma once

#include "dsl/schedule/HostValues.h"
#include "dsl/schedule/LoopChoice.h"
#include "dsl/schedule/ProductChoice.h"
#include "dsl/schedule/Schedule.h"

namespace quern {

class ScheduleChooser : private LoopChoice {
public:
  /// Marks in `model` what launches of their own make.
  ScheduleChooser(KernelModel &model, const TargetInfo &target);

  Schedule schedule() && { return std::move(made); }

private:
  std::optional<int> portableAxis(const LaunchPlan &launch) const;
  void splitReductions();
  void splitGroup(llvm::ArrayRef<qn::ReduceOp> members);
  bool isSplit(qn::ReduceOp op) const;
  void addCompact(qn::CompactOp compact);
  void stageValues();
  void formLaunches();
  bool onlyNeighbours(const LaunchPlan &launch) const;
  bool writesRows(const LaunchPlan &launch) const;
  int reusedAxis(const LaunchPlan &launch, int lane) const;
  int turnedAxis(const LaunchPlan &launch) const;
  void planTurned(LaunchPlan &launch, unsigned turned);
  bool planDots(LaunchPlan &launch);
  AxisSet combinedOf(const LaunchPlan &launch) const;
  void planReduced(LaunchPlan &launch);
  bool mayBeShort(const LaunchPlan &launch) const;
  /// What runs instead of a launch for calls with short rows, or lines.
  llvm::SmallVector<LaunchPlan, 2> shortRows(LaunchPlan &launch);
  llvm::SmallVector<LaunchPlan, 2> deinterleaved(LaunchPlan &launch);
  void planTile(LaunchPlan &launch, unsigned rows, unsigned lane);
  void planWindow(LaunchPlan &launch, unsigned rows, unsigned lane,
                  bool once = false);
  bool planTwoAxes(LaunchPlan &launch);
  void widenShared(const LaunchPlan &launch, AxisPlan &plan) const;
  int placesAxis(const LaunchPlan &launch) const;
  void planPlaces(LaunchPlan &launch, unsigned rows);
  void planScatter(LaunchPlan &launch);
  void planShortRows(LaunchPlan &launch) const;
  std::int64_t worthOfTask(const LaunchPlan &launch) const;
  /// With lanes along one of the axes that may have them.
  void planAxes(LaunchPlan &launch, AxisSet mayBeLanes);
  std::optional<LaunchPlan> narrowLines(const LaunchPlan &launch);
  std::optional<LaunchPlan> alongWindows(const LaunchPlan &launch);
  std::optional<LaunchPlan> rowOfWindows(const LaunchPlan &launch,
                                         const Tiling &tiling);
  void addContractions();
  ProductLimits limitsOf(const LaunchPlan &launch, bool dots,
                         const Tiling &tiling) const;
  void addPacked(LaunchPlan launch, Tiling found,
                 llvm::SmallVectorImpl<LaunchPlan> &all);
  void addColumns(LaunchPlan launch, Columns found,
                  llvm::SmallVectorImpl<LaunchPlan> &all);
  void addStateRows(const LaunchPlan &launch, Columns found, mlir::Value when,
                    llvm::SmallVectorImpl<LaunchPlan> &all);
  std::optional<Columns> columnsOf(const LaunchPlan &launch) const;
  std::optional<Columns> partsOf(const LaunchPlan &launch) const;
  mlir::Value partsPay(const LaunchPlan &launch, const Columns &columns);
  void addParts();
  void chooseForm();
  bool canTurn(const LaunchPlan &launch) const;
  std::optional<RowBlocks> rowBlocksOf(LaunchPlan &launch,
                                       std::vector<LaunchPlan> &open) const;
  void addRowBlocks(const LaunchPlan &launch, RowBlocks found,
                    llvm::SmallVectorImpl<LaunchPlan> &all);

  KernelModel &marked; ///< the model, to mark in it
  Schedule made;
  HostValues host;
  llvm::SmallVector<LaunchPlan, 2> &launches = made.launches;
};

} // namespace quern
