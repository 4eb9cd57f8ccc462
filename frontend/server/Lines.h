// Places in a text as the language server protocol counts them.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <vector>

namespace quern::server {

/// Line and UTF-16 code unit within it, both from 0.
struct Position {
  std::uint32_t line = 0, character = 0;
};

/// Where the lines of a text begin. Lines end with "\n", "\r\n" or "\r".
class LineTable {
public:
  LineTable() = default;
  explicit LineTable(llvm::StringRef text);

  /// The byte at a place; for a place past the end of a line or of the text,
  /// that end.
  std::size_t offsetOf(llvm::StringRef text, Position position) const;
  Position positionOf(llvm::StringRef text, std::size_t offset) const;

private:
  std::vector<std::size_t> begins{0};
};

} // namespace quern::server
