// Counts lines and UTF-16 code units.
#include "frontend/server/Lines.h"

#include <algorithm>

using namespace quern::server;

LineTable::LineTable(llvm::StringRef text) {
  for (std::size_t i = 0; i != text.size(); ++i) {
    bool isPair =
        text[i] == '\r' && i + 1 != text.size() && text[i + 1] == '\n';
    if ((text[i] == '\n' || text[i] == '\r') && !isPair)
      begins.push_back(i + 1);
  }
}

static bool isContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// UTF-16 code units of the character that begins with this byte of UTF-8: what
/// takes four bytes takes two units.
static std::uint32_t unitsOf(char c) {
  if (isContinuation(c))
    return 0;
  return static_cast<unsigned char>(c) >= 0xF0 ? 2 : 1;
}

std::size_t LineTable::offsetOf(llvm::StringRef text, Position position) const {
  if (position.line >= begins.size())
    return text.size();
  std::size_t offset = begins[position.line];
  std::uint32_t units = 0;
  while (offset < text.size() && text[offset] != '\n' && text[offset] != '\r') {
    units += unitsOf(text[offset]);
    if (units > position.character)
      break;
    do
      ++offset;
    while (offset < text.size() && isContinuation(text[offset]));
  }
  return offset;
}

Position LineTable::positionOf(llvm::StringRef text, std::size_t offset) const {
  offset = std::min(offset, text.size());
  auto next = std::upper_bound(begins.begin(), begins.end(), offset);
  Position position;
  position.line = static_cast<std::uint32_t>(next - begins.begin() - 1);
  for (char c : text.slice(begins[position.line], offset))
    position.character += unitsOf(c);
  return position;
}
