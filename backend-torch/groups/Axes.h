// Axes of a fused group: what the dimensions of its tensors have in common.
#pragma once

#include "backend-torch/graph/SizeTable.h"

#include <span>

namespace quern {

/// An axis that no tensor of the group takes apart, as far as is known.
using Atom = int;

/// One dimension of a tensor: the axes it is made of, outermost first. Empty
/// for an extent of 1.
using Dimension = std::vector<Atom>;
using Dimensions = std::vector<Dimension>;

/// Axes are made fresh, unified where tensors meet, and split where a view
/// takes a dimension apart. Copies are cheap enough to try something out.
class AxisTable {
public:
  explicit AxisTable(SizeTable *sizes) : sizes(sizes) {}

  Dimension fresh(Size extent);
  /// The axes that a dimension is made of now.
  Dimension resolve(const Dimension &dimension) const;
  Size extent(Atom atom) const { return atoms[atom].extent; }

  /// Makes two dimensions one. False where their extents do not factor alike;
  /// the table is then spoilt, and the caller goes back to his copy.
  bool unify(const Dimension &a, const Dimension &b);
  /// The dimensions of a view with extents `to` of a tensor with `from`.
  std::optional<Dimensions> reshape(const Dimensions &from,
                                    std::span<const Size> to);
  /// Forbids that an axis be taken apart. False where it already is.
  bool keepWhole(const Dimension &dimension);
  bool isWhole(Atom atom) const { return atoms[root(atom)].isWhole; }

private:
  struct Entry {
    Size extent;
    Atom same = -1; ///< unified with
    std::vector<Atom> parts;
    bool isWhole = false;
  };

  Atom root(Atom atom) const;
  void resolve(Atom atom, Dimension &into) const;
  bool join(Atom a, Atom b);
  /// Splits off the outer `outer`; gives both parts.
  std::optional<std::pair<Atom, Atom>> split(Atom atom, Size outer);

  SizeTable *sizes;
  std::vector<Entry> atoms;
};

} // namespace quern
