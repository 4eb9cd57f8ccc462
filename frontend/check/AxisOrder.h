// The order of a value's axes, for positions that need one.
#pragma once

#include "frontend/typed/Declaration.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace quern::check {

using typed::AxisId;

/// Which axes are known to come before which others. Two may come in both
/// orders, when operands disagree, or in none.
class AxisOrder {
public:
  /// Axes in the order in which they are listed.
  void addList(llvm::ArrayRef<AxisId> list);
  void add(const AxisOrder &other);
  /// Every axis of `first` comes before every other one of `second`.
  void addBefore(llvm::ArrayRef<AxisId> first, llvm::ArrayRef<AxisId> second);
  /// Leaves axes out; what they put in order stays in order.
  void remove(llvm::ArrayRef<AxisId> axes);
  void rename(AxisId from, AxisId to);
  bool isBefore(AxisId first, AxisId second) const;
  /// Follows chains: what comes before a later one's axis comes before that.
  void close();

private:
  /// Of each axis those that come after it.
  llvm::SmallVector<llvm::SmallBitVector, 8> rows;
};

/// Two axes of a value that no order, or two orders, put in place.
struct UnorderedAxes {
  AxisId first, second;
  bool isContradiction = false;
};

/// The orders of names. A name with a written type has the order of that type,
/// any other the union of the orders of the values that it was given.
class AxisOrders {
public:
  /// Adds what a name gets: a value, or one element of a tuple.
  void define(const typed::Variable &variable, const typed::Expression *value,
              llvm::ArrayRef<typed::Axis> table, int element = -1);
  void write(const typed::Variable &variable, llvm::ArrayRef<AxisId> axes);
  /// Sorts `axes` in the order that they have in `value`; else which do not.
  std::optional<UnorderedAxes> sort(const typed::Expression *value,
                                    llvm::MutableArrayRef<AxisId> axes,
                                    llvm::ArrayRef<typed::Axis> table) const;

private:
  friend class OrderFinder;
  /// By the place of the name, as passes over a body make new variables, and by
  /// the element; -1 where the name is no tuple.
  llvm::DenseMap<std::pair<unsigned, int>, AxisOrder> orders;
  llvm::DenseMap<unsigned, llvm::SmallVector<AxisId, 4>> written;
};

} // namespace quern::check
