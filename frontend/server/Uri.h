// Names of documents: `file:` URIs and paths.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace quern::server {

/// "/a b.qn" of "file:///a%20b.qn"; empty for other schemes.
std::string pathOfUri(llvm::StringRef uri);
std::string uriOfPath(llvm::StringRef path);

} // namespace quern::server
