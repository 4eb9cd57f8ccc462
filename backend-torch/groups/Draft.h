// A group while it grows: its nodes and the axes of every value it touches.
#pragma once

#include "backend-torch/groups/Axes.h"
#include "backend-torch/ops/AxisPlaces.h"
#include "backend-torch/ops/Operation.h"

#include <map>
#include <set>

namespace quern {

/// What the parts of fusion share of one graph.
struct Analysis {
  const Graph *graph = nullptr;
  SizeTable *sizes = nullptr;
  std::vector<Operation> operations; ///< of each node
  /// Of each node: the attention that it is a part of, or -1.
  std::vector<int> attention;
  /// Of each node: the number that it fills its result with.
  std::vector<std::optional<PrimitiveCall>> fills;

  /// The value whose memory a value lies in, through all views.
  ValueId baseOf(ValueId value) const;
  const Operation &producerOperation(ValueId value) const {
    return operations[graph->values[value].node];
  }
  /// A node that the language writes without a library function.
  const PrimitiveCall *primitiveAt(int node) const {
    if (fills[node])
      return &*fills[node];
    return std::get_if<PrimitiveCall>(&operations[node]);
  }
};

/// The axes of one call by name, each with the dimensions it stands for.
using NamedAxes = std::map<std::string, Dimensions>;

class Draft {
public:
  /// With `takesFills` it computes by itself what is one number throughout,
  /// where a node that it takes in reads that.
  explicit Draft(const Analysis &analysis, bool takesFills = false)
      : analysis(&analysis), axes(analysis.sizes), takesFills(takesFills) {}

  /// Takes a node in; the reason why not, or nothing. After a refusal the draft
  /// is spoilt, and the caller goes back to his copy.
  std::optional<std::string> add(int node);
  /// Takes a library declaration in that is launched as it is: the only node.
  void addWhole(int node, const WholeCall &call);
  /// Takes copies into places in; again the only node.
  void addPlacement(int node, const Placement &placement);
  bool isWhole() const { return whole; }
  /// Gives dimensions to a view of what the group computes, or says why not.
  std::optional<std::string> look(ValueId view) { return place(view); }

  bool computes(ValueId value) const { return computed.contains(value); }
  const std::vector<int> &nodes() const { return members; }
  const std::set<ValueId> &inputs() const { return outside; }
  /// Whether a node is a fill that was computed anew.
  bool isRefilled(int node) const { return refilled.contains(node); }
  bool hasRefilled() const { return !refilled.empty(); }
  /// The dimensions of a value that the group computes or reads.
  Dimensions dimensionsOf(ValueId value) const;
  /// Axes that a value varies along, of those that its dimensions have.
  std::set<Atom> variation(ValueId value) const;
  /// Every axis of the group, in order of appearance.
  std::vector<Atom> space() const;
  /// The axes that results may lie on: all, or `rows` only, those that no
  /// reduction removes.
  std::set<Atom> resultSpace(bool rows) const;
  /// The axes that reductions of the group remove; empty without one.
  Dimension reducedAxes() const { return axes.resolve(reduced); }
  bool hasReduction() const { return isRowwise; }
  const AxisTable &table() const { return axes; }
  /// The axes that a member's declaration names.
  const NamedAxes &namedAxes(int node) const { return named.at(node); }

private:
  using Reason = std::optional<std::string>;

  Reason take(int node);
  bool meetsItself() const;
  Reason place(ValueId value);
  void refill(ValueId value);
  Reason placeView(ValueId value, const ViewOf &view);
  Reason addPrimitive(const Node &node, const PrimitiveCall &call);
  Reason addElementwise(const Node &node, const LibraryCall &call);
  Reason addRowwise(const Node &node, const LibraryCall &call);
  Reason alignOperands(const Node &node, const std::vector<ValueId> &operands);
  Reason bindOperand(const CallOperand &operand, const AxisPlaces &places,
                     NamedAxes &names);
  Reason bindResult(ValueId value, const TypePattern &pattern,
                    const AxisPlaces &places, const NamedAxes &names);
  bool continuesAttention() const;
  Reason chooseReduced(const LibraryCall &call, const NamedAxes &names);
  void compute(ValueId value, Dimensions dims, std::set<Atom> varies);

  const Analysis *analysis;
  AxisTable axes;
  std::vector<int> members;
  std::set<ValueId> outside, computed;
  std::map<ValueId, Dimensions> dimensions;
  std::map<ValueId, std::set<Atom>> varies;
  std::map<int, NamedAxes> named; ///< of rowwise calls
  Dimension reduced;
  Dimension picked; ///< axes of operands that are read at computed places only
  std::set<int> refilled;
  bool takesFills, isRowwise = false, whole = false;
};

} // namespace quern
