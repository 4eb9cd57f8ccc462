// What the checker of a declaration knows while it reads the text.
#pragma once

#include "frontend/check/Arguments.h"
#include "frontend/check/AxisOrder.h"
#include "frontend/check/CheckerTypes.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace quern::check {

/// A `mut` parameter of lifted text, and the variable that the text assigns.
struct MutVariable {
  const typed::Variable *parameter, *variable;
};

class LoopBody;

struct CheckerState {
  Place place = Place::Scalar;
  bool isSilent = false;  ///< the text had a syntax error, or a trial pass
  bool hasFailed = false; ///< an error was reported, or would have been
  unsigned depth = 0, loops = 0, nesting = 0;
  LoopBody *loop = nullptr; ///< the innermost around the text at hand

  llvm::SmallVector<typed::TypeParameter, 4> typeParameters;
  llvm::SmallVector<const typed::ConstantParameter *, 4> constantParameters;
  llvm::SmallVector<typed::Axis, 8> axes;
  llvm::SmallVector<typed::Parameter, 8> parameters;
  llvm::SmallVector<typed::Result, 4> results;
  llvm::SmallVector<typed::ExtentCheck, 2> extentChecks;
  llvm::SmallVector<ElementMask, 4> masks; ///< per type parameter, narrowed
  llvm::SmallPtrSet<const typed::Variable *, 4> knownPresent, knownAbsent;

  llvm::SmallVector<MutVariable, 2> mutVariables;
  llvm::SmallPtrSet<const typed::Variable *, 2> refusedTargets;
  /// Names of blocks that have ended, and warnings that wait until it is known
  /// that no later use meant one of them.
  llvm::DenseMap<llvm::StringRef, Span> endedNames;
  llvm::SmallVector<std::pair<llvm::StringRef, Span>, 4> unusedNames;
  ArgumentNames argumentNames;
  AxisOrders axisOrders;
  llvm::DenseMap<llvm::StringRef, Binding> names;
  /// What inner scopes replaced, to be put back; nothing: the name was new.
  llvm::SmallVector<std::pair<llvm::StringRef, std::optional<Binding>>, 16>
      shadowed;
  /// What the expression at hand is for, to say what a bare axis may mean.
  AxisUse axisUse = AxisUse::Any;
  /// Values that stand for axes without `index` or `size`: reported already.
  llvm::SmallPtrSet<const Expression *, 4> bareAxes;
  /// Names that `let` gave to what is an extent to `Extents`.
  llvm::SmallPtrSet<const typed::Variable *, 4> extentNames;
  /// Axes that `over i: lo .. hi` brought in: their names are variables.
  llvm::DenseSet<unsigned> variableAxes;
  /// Axes of the conditions around the statement at hand.
  AxisList controlAxes;
  /// Axes that a `var` of lifted text gets from assignments behind its
  /// definition, by the definition's place; grows over passes.
  llvm::DenseMap<unsigned, llvm::SmallVector<AxisId, 4>> widened;
  bool hasWidened = false;
  /// What a part of a reduction returns; null: not known yet.
  const Type *returnType = nullptr;
  bool learnsReturn = false; ///< the first `return` decides `returnType`
  /// Of a kernel, once it is met.
  std::optional<Span> firstLaunch;
};

} // namespace quern::check
