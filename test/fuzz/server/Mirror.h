// A document as an editor keeps it: UTF-16, with edits of its own making.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <random>
#include <string>
#include <vector>

namespace quern::fuzz {

using Random = std::mt19937_64;

/// A number below `count`; 0 for none.
std::size_t pick(Random &random, std::size_t count);

/// Applies edits without what the server uses for it.
class Mirror {
public:
  explicit Mirror(llvm::StringRef text);

  /// Changes the text; gives the `TextDocumentContentChangeEvent`.
  llvm::json::Value edit(Random &random);
  /// The whole text once more, as it was in the beginning.
  llvm::json::Value restore();
  std::string text() const;
  llvm::json::Value position(std::size_t unit) const;
  /// A place where an editor may have its cursor.
  std::size_t place(Random &random) const;
  std::size_t size() const { return units.size(); }
  std::size_t lineCount() const;

private:
  llvm::json::Value replace(std::size_t begin, std::size_t end,
                            const std::u16string &text);
  std::u16string piece(Random &random) const;
  std::size_t lineBegin(std::size_t unit) const;
  std::size_t lineEnd(std::size_t unit) const;

  std::u16string original, units;
};

/// A word of the language, or letters that are none.
std::string randomWord(Random &random);

} // namespace quern::fuzz
