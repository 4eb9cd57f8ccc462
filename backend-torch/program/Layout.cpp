// Strides along axes, and the merging of axes.
#include "backend-torch/program/Layout.h"
#include "backend-torch/program/Whole.h"

#include <algorithm>

namespace quern {

const Placement &Layout::placementOf(const Place &place) const {
  return std::get<Placement>(plan.analysis->operations[place.node]);
}

Layout::Walk Layout::walkOf(ValueId value) const {
  auto placed = group.placed.find(value);
  ValueId memory =
      placed == group.placed.end() ? value : placementOf(placed->second).target;
  const TensorFacts *facts = plan.graph->values[memory].tensor();
  Dimensions dims = group.draft.dimensionsOf(value);
  Walk walk;
  for (std::size_t d = 0; d != dims.size(); ++d) {
    Size stride = facts->strides[d];
    for (std::size_t i = dims[d].size(); i != 0; --i) {
      Atom atom = dims[d][i - 1];
      walk.strides[atom] = stride;
      stride = plan.sizes->multiply(stride, group.draft.table().extent(atom));
    }
    walk.order.insert(walk.order.end(), dims[d].begin(), dims[d].end());
  }
  return walk;
}

Layout::Layout(const FusionPlan &plan, const Group &group)
    : plan(plan), group(group) {
  for (ValueId value : group.inputs)
    walks[value] = walkOf(value);
  for (ValueId value : group.outputs)
    walks[value] = walkOf(value);
  Dimension reduced = group.draft.reducedAxes();
  for (Atom atom : group.draft.space()) {
    bool isReduced =
        std::find(reduced.begin(), reduced.end(), atom) != reduced.end();
    allAxes.push_back({.atoms = {atom},
                       .extent = group.draft.table().extent(atom),
                       .isReduced = isReduced,
                       .name = ""});
  }
  mergeNeighbours();
  nameAxes();
}

bool Layout::canMerge(const Axis &outer, const Axis &inner) const {
  if (outer.isReduced != inner.isReduced)
    return false;
  Atom last = outer.atoms.back(), first = inner.atoms.front();
  // A call speaks of this very axis.
  const AxisTable &table = group.draft.table();
  if (table.isWhole(last) || table.isWhole(first))
    return false;
  // The inner axis as a whole is walked from its first atom.
  for (const auto &[value, walk] : walks) {
    auto a = walk.strides.find(last), b = walk.strides.find(first);
    if (a == walk.strides.end() && b == walk.strides.end())
      continue;
    if (a == walk.strides.end() || b == walk.strides.end())
      return false;
    Size extent = group.draft.table().extent(first);
    if (a->second != plan.sizes->multiply(b->second, extent))
      return false;
    auto place = std::find(walk.order.begin(), walk.order.end(), last);
    if (place + 1 == walk.order.end() || *(place + 1) != first)
      return false;
  }
  return true;
}

void Layout::mergeNeighbours() {
  std::vector<Axis> merged;
  for (Axis &axis : allAxes) {
    if (merged.empty() || !canMerge(merged.back(), axis)) {
      merged.push_back(std::move(axis));
      continue;
    }
    Axis &outer = merged.back();
    outer.atoms.insert(outer.atoms.end(), axis.atoms.begin(), axis.atoms.end());
    outer.extent = plan.sizes->multiply(outer.extent, axis.extent);
  }
  allAxes = std::move(merged);
}

/// Rows are R0, R1, …; axes that a reduction removes are C0, C1, …, numbered as
/// they come in the declaration: what differs in nothing else has one text.
void Layout::nameAxes() {
  int rows = 0, reduced = 0;
  auto name = [&](const std::vector<ValueId> &values) {
    for (ValueId value : values)
      for (int number : axesOf(value))
        if (Axis &axis = allAxes[number]; axis.name.empty())
          axis.name = axis.isReduced ? "C" + std::to_string(reduced++)
                                     : "R" + std::to_string(rows++);
  };
  name(group.inputs);
  name(group.outputs);
}

int Layout::axisOf(Atom atom) const {
  for (std::size_t i = 0; i != allAxes.size(); ++i)
    if (std::find(allAxes[i].atoms.begin(), allAxes[i].atoms.end(), atom) !=
        allAxes[i].atoms.end())
      return static_cast<int>(i);
  return -1;
}

std::vector<int> Layout::axesOf(ValueId value) const {
  std::vector<int> result;
  for (Atom atom : walks.at(value).order) {
    int axis = axisOf(atom);
    if (result.empty() || result.back() != axis)
      result.push_back(axis);
  }
  return result;
}

KernelOperand Layout::operand(ValueId value, bool all) const {
  const Graph &graph = *plan.graph;
  const TensorFacts *facts = graph.values[value].tensor();
  KernelOperand operand{.value = value,
                        .base = plan.analysis->baseOf(value),
                        .type = *facts->type,
                        .extents = {},
                        .strides = {},
                        .offset = offsetInBase(plan, value)};
  if (auto placed = group.placed.find(value); placed != group.placed.end()) {
    const Placement &placement = placementOf(placed->second);
    operand.base = placement.target;
    operand.offset = offsetOfPart(plan, placement, placed->second.part);
    operand.isPlaced = true;
  }
  const Walk &walk = walks.at(value);
  std::vector<int> own = axesOf(value);
  std::vector<int> wanted = own;
  if (all) {
    wanted.clear();
    for (std::size_t i = 0; i != allAxes.size(); ++i)
      wanted.push_back(static_cast<int>(i));
  }
  for (int axis : wanted) {
    auto stride = walk.strides.find(allAxes[axis].atoms.back());
    operand.extents.push_back(allAxes[axis].extent);
    operand.strides.push_back(stride == walk.strides.end()
                                  ? plan.sizes->constant(0)
                                  : stride->second);
  }
  return operand;
}

} // namespace quern
