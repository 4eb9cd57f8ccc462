// Looks overloads up in the embedded table.
#include "frontend/aten/Schemas.h"

using namespace quern;

/// The line that begins with `overload` and a blank; empty without one.
static llvm::StringRef lineOf(llvm::StringRef overload) {
  llvm::StringRef rest(aten::table);
  while (!rest.empty()) {
    std::size_t middle = rest.rfind('\n', rest.size() / 2);
    std::size_t begin = middle == llvm::StringRef::npos ? 0 : middle + 1;
    std::size_t end = rest.find('\n', begin);
    llvm::StringRef line = rest.slice(begin, end);
    llvm::StringRef name = line.split(' ').first;
    if (name == overload)
      return line;
    // A blank sorts before all that names are made of.
    rest = overload < name ? rest.take_front(begin) : rest.drop_front(end + 1);
  }
  return {};
}

std::optional<llvm::SmallVector<aten::Argument, 8>>
aten::argumentsOf(llvm::StringRef overload) {
  llvm::StringRef line = lineOf(overload);
  if (line.empty())
    return std::nullopt;
  llvm::SmallVector<Argument, 8> arguments;
  llvm::StringRef rest = line.split(' ').second;
  while (!rest.empty()) {
    auto [word, behind] = rest.split(' ');
    auto [name, mark] = word.split(':');
    arguments.push_back({name, !mark.empty()});
    rest = behind;
  }
  return arguments;
}

void aten::forEachOverload(llvm::function_ref<void(llvm::StringRef)> visit) {
  llvm::StringRef rest(table);
  while (!rest.empty()) {
    auto [line, behind] = rest.split('\n');
    visit(line.split(' ').first);
    rest = behind;
  }
}
