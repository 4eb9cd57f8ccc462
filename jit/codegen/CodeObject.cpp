// Relocatable AMDGPU objects become code objects: lld, in this process.
#include "jit/codegen/Codegen.h"

#include "jit/cache/Files.h"
#include "jit/session/Forks.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace quern;

namespace {

/// A folder of its own for what lld reads and writes: it names its output
/// anew, so neither can be a file without a place.
class LinkFolder {
public:
  LinkFolder() {
    problem = llvm::sys::fs::createUniqueDirectory("quern", path);
  }
  ~LinkFolder() {
    if (!problem)
      llvm::sys::fs::remove_directories(path);
  }
  LinkFolder(const LinkFolder &) = delete;
  LinkFolder &operator=(const LinkFolder &) = delete;

  std::string file(llvm::StringRef name) const {
    llvm::SmallString<128> whole(path);
    llvm::sys::path::append(whole, name);
    return whole.str().str();
  }
  std::error_code write(llvm::StringRef name, llvm::StringRef bytes) {
    if (problem)
      return problem;
    return jit::writeFile(file(name), bytes);
  }

private:
  llvm::SmallString<128> path;
  std::error_code problem;
};

} // namespace

Result<std::string> jit::linkCodeObject(const std::string &object) {
  LinkFolder folder;
  if (std::error_code problem = folder.write("kernel.o", object))
    return Error{"no place to link a code object: " + problem.message(), {}};
  std::string input = folder.file("kernel.o"), output = folder.file("kernel");
  std::string log;
  llvm::raw_string_ostream messages(log);
  const char *arguments[] = {"ld.lld", "-shared",      "--no-undefined",
                             "-o",     output.c_str(), input.c_str()};
  // lld keeps its state in globals.
  static auto &linking = *new ProcessMutex;
  std::lock_guard lock(linking);
  lld::Result linked = lld::lldMain(arguments, messages, messages,
                                    {{lld::Gnu, &lld::elf::link}});
  if (linked.retCode != 0)
    return Error{"the code object does not link: " + log, {}};
  auto bytes = llvm::MemoryBuffer::getFile(output);
  if (!bytes)
    return Error{"the code object is gone: " + bytes.getError().message(), {}};
  return (*bytes)->getBuffer().str();
}
