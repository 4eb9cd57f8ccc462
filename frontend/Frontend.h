// The front end's facade: text to syntax tree.
#pragma once

#include "frontend/ast/Decl.h"
#include "frontend/diagnostics/Engine.h"
#include "frontend/source/SourceManager.h"

#include <memory>

namespace quern {

class TokenBuffer;

/// Reads the whole text; never null. What could not be read is in
/// `diagnostics`, and the tree holds error nodes or flags in its place.
std::unique_ptr<ast::Module> parse(const SourceFile &file,
                                   DiagnosticEngine &diagnostics);

/// The same from tokens.
std::unique_ptr<ast::Module> parse(const TokenBuffer &tokens,
                                   DiagnosticEngine &diagnostics);

/// Loads `path` ("-": standard input) or reports why that failed.
const SourceFile *loadSource(SourceManager &sources, llvm::StringRef path,
                             DiagnosticEngine &diagnostics);

} // namespace quern
