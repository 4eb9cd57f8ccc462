// What the values of a kernel depend on: axis sets, reductions passed, stores.
#pragma once

#include "dsl/dialect/Dialect.h"

#include "dsl/schedule/AxisSet.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace quern {

/// What is known of one value. Axes count the kernel's in order, then local
/// ones as they come, then loops of the text that hold reductions.
struct ValueFacts {
  AxisSet axes;      ///< axes the value depends on
  AxisSet combined;  ///< axes reduced or scanned over on the way to it
  unsigned rank = 0; ///< reductions one behind the other on the way to it
};

class KernelModel {
public:
  explicit KernelModel(qn::RowwiseOp kernel);

  mutable qn::RowwiseOp kernel; ///< MLIR knows no const operations
  llvm::SmallVector<qn::StoreOp> stores;
  llvm::SmallVector<qn::ReduceOp> reductions;
  llvm::SmallVector<qn::ScanOp> scans;
  llvm::SmallVector<qn::ScatterOp> scatters;
  llvm::SmallVector<qn::CompactOp> compacts;
  llvm::SmallVector<qn::SortOp> sorts;
  llvm::SmallVector<qn::JoinedOp> joined;
  /// False after a diagnostic about the kernel was given.
  bool valid = true;

  /// From now on a reduction's results count as known before the launch:
  /// another launch makes them.
  void materialise(qn::ReduceOp op);
  bool isMaterialised(mlir::Operation *op) const {
    return materialised.contains(op);
  }

  unsigned declaredAxes() const { return declared; }
  unsigned axisCount() const { return declared + locals.size(); }
  unsigned axisOf(llvm::StringRef name) const;
  mlir::StringAttr nameOf(unsigned axis) const;
  /// The operation that brought a local axis in; null for a declared one.
  qn::AxisOp localAxis(unsigned axis) const;
  const ValueFacts &factsOf(mlir::Value value) const;
  AxisSet axesOf(mlir::Value value) const { return factsOf(value).axes; }
  AxisSet axesOf(mlir::ArrayAttr axes) const;
  /// The axes along which an operand has more than one element.
  AxisSet axesOf(qn::OperandType type) const;
  /// The axes on which the bounds of some local axis depend.
  AxisSet unevenAxes() const;
  /// What a store needs: its own axes and the facts of its value.
  ValueFacts factsOf(qn::StoreOp store) const;

  /// What a sort needs: the axes of its rows and the facts of its keys.
  ValueFacts factsOf(qn::SortOp sort) const;

  /// The bit of a loop of the text that holds reductions: what depends on its
  /// rounds has it among its axes. None for other operations.
  AxisSet roundsOf(mlir::Operation *op) const { return rounds.lookup(op); }

  /// Whether lanes along an axis read each line once, and others for other
  /// rows. Windows read it several times, so that it is near from the first on.
  bool readsOnce(qn::LoadOp load, unsigned axis) const;

  /// Some read of operands that are joined along an axis; null: there is none.
  qn::JoinedOp joinedAlong(unsigned axis) const;
  /// Whether an operand is joined behind another one.
  static bool isBehind(mlir::BlockArgument operand);

  /// Which states of a reduction its step makes of themselves and constants
  /// alone; none, unless it divides by what it makes of them.
  llvm::SmallVector<bool, 4> evenStates(qn::ReduceOp op) const;
  /// Whether every step adds its own rounding to that of the steps before.
  static bool addsRounding(qn::ReduceOp op);

  /// The axes a scatter runs over.
  AxisSet scatterAxes(qn::ScatterOp scatter) const;
  /// Those along which it writes to places of their own.
  AxisSet ownPlaces(qn::ScatterOp scatter) const;

private:
  void visitAll();
  void visit(mlir::Operation *op);
  ValueFacts own(mlir::Operation *op) const;
  void addOutside(mlir::Operation *op, ValueFacts &facts);
  bool takeFacts(mlir::Value into, mlir::Value from, AxisSet own, bool begins);
  void visitRounds(mlir::Operation *op);

  unsigned declared = 0;
  llvm::SmallVector<qn::AxisOp> locals;
  llvm::SmallPtrSet<mlir::Operation *, 4> materialised;
  llvm::StringMap<unsigned> numbers;
  llvm::DenseMap<mlir::Operation *, AxisSet> rounds;
  llvm::DenseMap<mlir::Value, ValueFacts> facts;
};

} // namespace quern
