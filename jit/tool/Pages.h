// The pages of the diagnostics, which are part of the program.
#pragma once

#include <iterator>
#include <span>
#include <string_view>

namespace quern::tool {

struct Page {
  std::string_view code; ///< "QN1304"
  std::string_view text; ///< Markdown
};

/// In the order of their codes.
std::span<const Page> diagnosticPages();

} // namespace quern::tool
