// What the front end's tests share: a text, lexed and parsed.
#pragma once

#include "frontend/Frontend.h"
#include "frontend/ast/Print.h"
#include "frontend/format/Format.h"
#include "frontend/lex/Lexer.h"

#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace quern::test {

struct Parsed {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  const SourceFile *file;
  TokenBuffer tokens;
  std::unique_ptr<ast::Module> module;

  explicit Parsed(llvm::StringRef text, unsigned errorLimit = 100)
      : diagnostics(errorLimit), file(sources.add("test.qn", text)),
        tokens(lex(*file, diagnostics)), module(parse(tokens, diagnostics)) {}

  std::vector<std::string> codes() {
    diagnostics.sort();
    std::vector<std::string> result;
    for (const SourceDiagnostic &each : diagnostics.diagnostics())
      result.push_back(each.code());
    return result;
  }
  std::string dump() const {
    std::string text;
    llvm::raw_string_ostream out(text);
    ast::print(*module, out);
    return text;
  }
};

using Codes = std::vector<std::string>;

/// `text` as the value that a function returns.
inline std::string returning(const std::string &text) {
  return "fn f(x: f32) -> f32:\n    return " + text + "\n";
}

inline std::string repeated(const std::string &text, unsigned count) {
  std::string result;
  for (unsigned i = 0; i < count; ++i)
    result += text;
  return result;
}

} // namespace quern::test
