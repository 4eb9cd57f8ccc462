// Takes a written tensor type apart.
#include "backend-torch/ops/Pattern.h"

namespace quern {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> splitAtCommas(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i != text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[')
      ++depth;
    if (text[i] == ')' || text[i] == ']')
      --depth;
    if (text[i] != ',' || depth != 0)
      continue;
    parts.push_back(trimmed(text.substr(start, i - start)));
    start = i + 1;
  }
  if (!trimmed(text.substr(start)).empty())
    parts.push_back(trimmed(text.substr(start)));
  return parts;
}

static bool isName(std::string_view text) {
  for (char c : text)
    if (c != '_' && !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') &&
        !(c >= 'A' && c <= 'Z'))
      return false;
  return !text.empty();
}

static void addAxis(std::string_view text, TypePattern &pattern) {
  AxisPattern axis;
  if (text.starts_with('*')) {
    axis.isPack = true;
    text.remove_prefix(1);
  }
  std::string_view name = trimmed(text.substr(0, text.find('=')));
  if (!isName(text))
    pattern.isIrregular = true;
  bool isSplit = name.starts_with('(') && name.ends_with(')');
  if (isName(name) || isSplit)
    axis.name = name;
  if (name.size() != text.size() || !(isName(name) || isSplit))
    pattern.isComputed = true;
  pattern.axes.push_back(std::move(axis));
}

TypePattern parsePattern(std::string_view written) {
  TypePattern pattern;
  std::string_view text = trimmed(written);
  if (text.starts_with("mut "))
    text = trimmed(text.substr(4));
  if (text.ends_with('?')) {
    pattern.optional = true;
    text = trimmed(text.substr(0, text.size() - 1));
  }
  if (text.starts_with("list[") && text.ends_with(']')) {
    pattern.isList = true;
    text = trimmed(text.substr(5, text.size() - 6));
  }
  std::size_t open = text.find('[');
  pattern.element = trimmed(text.substr(0, open));
  if (open == std::string_view::npos || !text.ends_with(']'))
    return pattern;
  pattern.hasAxes = true;
  text = text.substr(open + 1, text.size() - open - 2);
  for (std::string_view axis : splitAtCommas(text))
    addAxis(axis, pattern);
  return pattern;
}

} // namespace quern
