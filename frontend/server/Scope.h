// The names that may stand at a place of a text, and what it is part of.
#pragma once

#include "frontend/server/Features.h"

namespace quern::server {

struct VisibleName {
  llvm::StringRef name;
  NameTarget target;
};

/// Declarations and constants of the module, of what it imports, and of the
/// prelude; builtins; in this order, so that the first of a name counts.
std::vector<VisibleName> moduleNames(const Request &request);
/// Names of the declaration around a place: parameters, axes, and variables
/// that are made in front of it.
std::vector<VisibleName> localNames(const Analysis &analysis,
                                    std::size_t offset);
/// The tokens of the declaration around a place.
std::pair<std::size_t, std::size_t> tokensAround(const Analysis &analysis,
                                                 std::size_t offset);
/// The last token that begins in front of a place, layout left out; nothing at
/// the begin of a text.
std::optional<std::size_t> tokenInFront(const Analysis &analysis,
                                        std::size_t offset);
bool isLayout(TokenKind kind);
/// Is the place within a comment, a string or a docstring?
bool isInWords(const Analysis &analysis, std::size_t offset);

} // namespace quern::server
