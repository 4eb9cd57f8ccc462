// The written types of a library declaration, taken apart: `T[*R, C]?`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quern {

struct AxisPattern {
  std::string name;
  bool isPack = false;
  bool operator==(const AxisPattern &) const = default;
};

struct TypePattern {
  std::string element; ///< "T", "f32", "acc(T)"
  bool hasAxes = false, optional = false;
  /// A dimension is split or computed, `(G C)` or `P = …`.
  bool isIrregular = false;
  std::vector<AxisPattern> axes;
};

TypePattern parsePattern(std::string_view written);

} // namespace quern
