// Tensors with fewer or shorter axes than their declaration names: which of
// these they are spread along.
#pragma once

#include "backend-torch/ops/RowBinding.h"

namespace quern {

/// The extents that the axes of a declaration have in one call.
class AxisExtents {
public:
  AxisExtents(const Graph &graph, const RowBinding &binding);

  /// The tensor as one with all axes of its pattern, if it lacks some or has
  /// them once only; else nothing.
  std::optional<WholeTensor> spread(const TypePattern &pattern, ValueId value,
                                    const TensorFacts &facts) const;

private:
  using Key = std::pair<std::string, int>; ///< an axis, or one of a pack

  std::vector<Key> keysOf(const TypePattern &pattern) const;
  bool isOne(Size size) const { return graph.sizes.constantOf(size) == 1; }
  void notePacks(const TypePattern &pattern, std::size_t rank);
  void noteExtents(const TypePattern &pattern, const TensorFacts &facts);

  const Graph &graph;
  std::map<std::string, int> packs; ///< how many axes each stands for
  std::map<Key, Size> extents;
};

} // namespace quern
