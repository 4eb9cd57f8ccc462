// Where the axes of a declaration lie in tensors, once a call's `dim` says
// which dimension one of them is.
#pragma once

#include "backend-torch/ops/Pattern.h"

#include <functional>
#include <map>
#include <optional>

namespace quern {

/// Dimensions are those of the tensor that has the chosen axis. Made empty, it
/// takes every pattern for itself.
class AxisPlaces {
public:
  /// Nothing where two packs stand on one side of the chosen axis.
  static std::optional<AxisPlaces> find(const TypePattern &pattern,
                                        std::size_t rank,
                                        const std::string &axis,
                                        const std::vector<int> &selected);

  /// The dimensions of a tensor of this rank, for each axis of its pattern; -1
  /// for an axis that a 0-d tensor lacks. `isOne` tells extents of 1, which
  /// `keepdim` leaves behind.
  std::optional<std::vector<std::vector<int>>>
  dimensions(const TypePattern &pattern, std::size_t rank,
             const std::function<bool(int)> &isOne) const;

  /// Packs and the dimensions they stand for.
  const std::map<std::string, std::vector<int>> &packs() const {
    return packPlaces;
  }

private:
  bool spread(const std::vector<AxisPattern> &axes,
              const std::vector<int> &dims);

  std::optional<std::vector<std::vector<int>>>
  place(const TypePattern &pattern, const std::map<int, int> &number,
        const std::vector<int> &free) const;

  std::optional<std::vector<std::vector<int>>>
  likeChosen(const TypePattern &pattern) const;

  bool isChosen = false;             ///< by a call's `dim`
  std::vector<AxisPattern> chosenIn; ///< the pattern that has the chosen axis
  std::size_t rank = 0;
  std::map<std::string, std::vector<int>> places, packPlaces;
};

} // namespace quern
