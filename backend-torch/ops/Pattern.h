// The written types of a library declaration, taken apart: `T[*R, C]?`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quern {

struct AxisPattern {
  std::string name; ///< of `P = …` what stands on the left; `(G C)` as written
  bool isPack = false;
  bool operator==(const AxisPattern &) const = default;
};

struct TypePattern {
  std::string element; ///< "T", "f32", "acc(T)"
  bool hasAxes = false, optional = false, isList = false;
  /// A dimension is split or computed, `(G C)` or `P = …`.
  bool isIrregular = false;
  bool isComputed = false; ///< some dimension is
  std::vector<AxisPattern> axes;
};

TypePattern parsePattern(std::string_view written);

/// Without the blanks at both ends.
std::string_view trimmed(std::string_view text);
/// Parts between commas that stand in no parentheses.
std::vector<std::string_view> splitAtCommas(std::string_view text);

} // namespace quern
