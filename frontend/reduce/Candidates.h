// Ways to make a text smaller: each takes one thing of its syntax tree away.
#pragma once

#include "frontend/ast/Decl.h"
#include "frontend/lex/TokenBuffer.h"

#include <string>
#include <vector>

namespace quern::reduce {

/// Replaces a part of the text; offsets are the file's, from 0 on.
struct Edit {
  std::size_t begin = 0, end = 0;
  std::string text;

  bool operator==(const Edit &) const = default;
  std::ptrdiff_t saved() const {
    return static_cast<std::ptrdiff_t>(end - begin) -
           static_cast<std::ptrdiff_t>(text.size());
  }
};

/// All edits of a text that was read without errors, those that save most
/// first. Declarations named in `kept` keep their names and signatures.
std::vector<Edit> candidates(const TokenBuffer &tokens,
                             const ast::Module &module,
                             llvm::ArrayRef<std::string> kept);

/// The text after the edit.
std::string applied(llvm::StringRef text, const Edit &edit);

} // namespace quern::reduce
