// Relocatable AMDGPU objects become code objects: lld, in this process.
#include "jit/codegen/Codegen.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace quern;

namespace {

/// A file that has a path as long as it lives, and no place on a disk.
class MemoryFile {
public:
  explicit MemoryFile(const char *name)
      : descriptor(memfd_create(name, MFD_CLOEXEC)),
        path("/proc/self/fd/" + std::to_string(descriptor)) {}
  ~MemoryFile() {
    if (descriptor >= 0)
      close(descriptor);
  }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  bool write(llvm::StringRef bytes) const {
    llvm::raw_fd_ostream out(descriptor, /*shouldClose=*/false);
    out << bytes;
    out.flush();
    return !out.has_error();
  }

  const int descriptor;
  const std::string path;
};

} // namespace

Result<std::string> jit::linkCodeObject(const std::string &object) {
  // lld keeps its state in globals.
  static std::mutex linking;
  std::lock_guard lock(linking);
  MemoryFile input("quern.o"), output("quern.hsaco");
  if (input.descriptor < 0 || output.descriptor < 0 || !input.write(object))
    return Error{"no memory for a code object", {}};
  std::string log;
  llvm::raw_string_ostream messages(log);
  const char *arguments[] = {"ld.lld", "-shared",           "--no-undefined",
                             "-o",     output.path.c_str(), input.path.c_str()};
  lld::Result linked = lld::lldMain(arguments, messages, messages,
                                    {{lld::Gnu, &lld::elf::link}});
  if (linked.retCode != 0)
    return Error{"the code object does not link: " + log, {}};
  auto bytes = llvm::MemoryBuffer::getFile(output.path);
  if (!bytes)
    return Error{"the code object is gone: " + bytes.getError().message(), {}};
  return (*bytes)->getBuffer().str();
}
