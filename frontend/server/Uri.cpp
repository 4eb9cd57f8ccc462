// Encodes and decodes `file:` URIs.
#include "frontend/server/Uri.h"

#include "llvm/ADT/StringExtras.h"

using namespace quern;

std::string server::pathOfUri(llvm::StringRef uri) {
  if (!uri.consume_front_insensitive("file://"))
    return "";
  // A host may stand here: "file://localhost/a.qn".
  std::size_t begin = uri.find('/');
  if (begin == llvm::StringRef::npos)
    return "";
  uri = uri.drop_front(begin);
  std::string path;
  for (std::size_t i = 0; i != uri.size(); ++i) {
    std::uint8_t byte = 0;
    bool isEncoded = uri[i] == '%' && i + 2 < uri.size() &&
                     llvm::tryGetHexFromNibbles(uri[i + 1], uri[i + 2], byte);
    path += isEncoded ? static_cast<char>(byte) : uri[i];
    i += isEncoded ? 2 : 0;
  }
  return path;
}

std::string server::uriOfPath(llvm::StringRef path) {
  std::string uri = "file://";
  for (char c : path) {
    if (llvm::isAlnum(c) || llvm::StringRef("/-._~").contains(c))
      uri += c;
    else
      uri += "%" + llvm::toHex(llvm::StringRef(&c, 1));
  }
  return uri;
}
