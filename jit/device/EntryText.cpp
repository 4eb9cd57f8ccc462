// Cuts entries out of PTX. The text is LLVM's: an entry begins with its
// directive at the beginning of a line, and ends with a brace there.
#include "jit/device/EntryText.h"

namespace quern::jit {

std::string textOfEntry(std::string_view image, std::string_view symbol) {
  constexpr std::string_view begin = "\n.visible .entry ", end = "\n}\n";
  std::string text;
  bool isFound = false, hasOthers = false;
  std::size_t rest = 0;
  while (true) {
    std::size_t at = image.find(begin, rest);
    if (at == image.npos)
      break;
    std::size_t last = image.find(end, at);
    if (last == image.npos)
      return {};
    std::string_view name = image.substr(at + begin.size());
    name = name.substr(0, name.find('('));
    // The line break before the directive, and the one behind the brace, stay.
    std::size_t behind = last + end.size() - 1;
    bool isIt = name == symbol;
    text += image.substr(rest, (isIt ? behind : at) - rest);
    isFound |= isIt;
    hasOthers |= !isIt;
    rest = behind;
  }
  if (!isFound || !hasOthers)
    return {};
  return text += image.substr(rest);
}

} // namespace quern::jit
