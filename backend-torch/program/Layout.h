// Where the elements of a group's tensors lie, along the group's axes.
#pragma once

#include "backend-torch/program/Program.h"

namespace quern {

/// The axes of one kernel, after neighbours that every tensor walks with one
/// stride have become one.
class Layout {
public:
  Layout(const FusionPlan &plan, const Group &group);

  struct Axis {
    std::vector<Atom> atoms; ///< outermost first
    Size extent = 0;
    bool isReduced = false;
    std::string name;
  };
  const std::vector<Axis> &axes() const { return allAxes; }
  /// Axes of a value in the order of its dimensions.
  std::vector<int> axesOf(ValueId value) const;
  /// The number of the axis that an atom is part of.
  int axisOf(Atom atom) const;
  /// The operand with its own axes, or with all of them, absent ones at stride
  /// 0.
  KernelOperand operand(ValueId value, bool allAxes) const;

private:
  struct Walk {
    std::vector<Atom> order;
    std::map<Atom, Size> strides;
  };
  Walk walkOf(ValueId value) const;
  const Placement &placementOf(const Place &place) const;
  void mergeNeighbours();
  bool canMerge(const Axis &outer, const Axis &inner) const;
  void nameAxes();

  const FusionPlan &plan;
  const Group &group;
  std::map<ValueId, Walk> walks;
  std::vector<Axis> allAxes;
};

} // namespace quern
