// Writes the map that `perf report` and `perf annotate` name functions by.
#include "jit/orc/Listeners.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cinttypes>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

using namespace quern;

/// Where `perf` looks, whatever the environment says.
static constexpr llvm::StringLiteral folder = "/tmp";

/// One write, so that lines of two threads do not mix.
static void append(const std::string &lines) {
  std::string path = folder.str() + "/perf-" + std::to_string(::getpid());
  path += ".map";
  // A link that somebody else put there is not followed.
  int file =
      ::open(path.c_str(),
             O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0)
    return;
  [[maybe_unused]] ssize_t written = ::write(file, lines.data(), lines.size());
  ::close(file);
}

void jit::addToPerfMap(const std::string &object,
                       const std::vector<std::string> &symbols,
                       const std::vector<void *> &addresses) {
  auto file = llvm::object::ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(object, "kernel"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return;
  }
  std::string lines;
  for (llvm::object::ELFSymbolRef symbol : (*file)->symbols()) {
    auto name = symbol.getName();
    if (!name) {
      llvm::consumeError(name.takeError());
      continue;
    }
    auto found = llvm::find(symbols, name->str());
    if (found == symbols.end() || symbol.getSize() == 0)
      continue;
    char text[64];
    std::snprintf(
        text, sizeof text, "%" PRIxPTR " %" PRIx64 " ",
        reinterpret_cast<std::uintptr_t>(addresses[found - symbols.begin()]),
        symbol.getSize());
    lines += text + ("quern::" + name->str()) + "\n";
  }
  if (!lines.empty())
    append(lines);
}
