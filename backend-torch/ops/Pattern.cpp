// Takes a written tensor type apart.
#include "backend-torch/ops/Pattern.h"

namespace quern {

static std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

static bool isName(std::string_view text) {
  for (char c : text)
    if (c != '_' && !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') &&
        !(c >= 'A' && c <= 'Z'))
      return false;
  return !text.empty();
}

static void addAxis(std::string_view text, TypePattern &pattern) {
  text = trim(text);
  AxisPattern axis;
  if (text.starts_with('*')) {
    axis.isPack = true;
    text.remove_prefix(1);
  }
  if (!isName(text)) {
    pattern.isIrregular = true;
    return;
  }
  axis.name = text;
  pattern.axes.push_back(std::move(axis));
}

TypePattern parsePattern(std::string_view written) {
  TypePattern pattern;
  std::string_view text = trim(written);
  if (text.starts_with("mut "))
    text = trim(text.substr(4));
  if (text.ends_with('?')) {
    pattern.optional = true;
    text = trim(text.substr(0, text.size() - 1));
  }
  std::size_t open = text.find('[');
  pattern.element = trim(text.substr(0, open));
  if (open == std::string_view::npos || !text.ends_with(']'))
    return pattern;
  pattern.hasAxes = true;
  text = trim(text.substr(open + 1, text.size() - open - 2));
  while (!text.empty()) {
    std::size_t comma = text.find(',');
    addAxis(text.substr(0, comma), pattern);
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  }
  return pattern;
}

} // namespace quern
