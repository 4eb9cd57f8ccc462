// The texts of the kernel library, which are part of this binary.
#pragma once

#include <iterator>
#include <span>
#include <string_view>

namespace quern::jit {

struct EmbeddedModule {
  std::string_view name;   ///< as in `from name use …`
  std::string_view path;   ///< for messages: "prelude/math.qn"
  std::string_view family; ///< its folder; "prelude" is visible everywhere
  std::string_view text;
};

/// In the order in which they may use each other.
std::span<const EmbeddedModule> embeddedModules();

} // namespace quern::jit
