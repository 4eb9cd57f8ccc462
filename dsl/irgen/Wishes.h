// A Specialization from words on a command line, with defaults for the rest.
#pragma once

#include "dsl/Specialization.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace quern {

namespace typed {
struct Declaration;
} // namespace typed

/// What a person asks for by name; everything else has a default: the first of
/// f32, i64, bool, c64 that a type parameter admits, packs and `elementwise` of
/// one axis, operands contiguous and present, constants at their default or
/// first choice.
struct SpecializationWishes {
  std::map<std::string, std::string> types;     ///< "T" → "bf16"
  std::map<std::string, std::string> constants; ///< "TILE" → "32"
  /// "S" → "2"; the name of an `elementwise` → its number of axes.
  std::map<std::string, std::string> ranks;
  /// "x" → "d1": one letter for each axis, `0`, `1` or `d` for a run-time
  /// stride; results are "result0", "result1", …
  std::map<std::string, std::string> layouts;
  std::set<std::string> absent;
  bool listed = false; ///< as a call of an `each` on a GPU
};

/// Splits "T=f32,U=i64"; nothing when a part has no `=`.
std::optional<std::map<std::string, std::string>>
splitWishes(std::string_view text);

/// Nothing, with the reason in `problem`, when a wish cannot be met.
std::optional<Specialization> specialize(const typed::Declaration &declaration,
                                         const SpecializationWishes &wishes,
                                         std::string &problem);

} // namespace quern
