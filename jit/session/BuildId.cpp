// Reads the linker's build id of the binary that this code is in.
#include "jit/session/BuildId.h"
#include "jit/session/LoadedParts.h"

#include "llvm/Config/llvm-config.h"

#include <cstring>

using namespace quern;

static void readNotes(const char *at, std::size_t size, std::string &found) {
  const char *end = at + size;
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const char *name = at + sizeof note;
    const char *value = name + (note.n_namesz + 3) / 4 * 4;
    at = value + (note.n_descsz + 3) / 4 * 4;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(name, "GNU", 4) == 0)
      found.assign(value, note.n_descsz);
  }
}

std::string quern::jit::buildIdentity() {
  std::string found;
  forPartsOf(reinterpret_cast<const void *>(&buildIdentity),
             [&](const LoadedPart &part) {
               if (part.header.p_type == PT_NOTE)
                 readNotes(reinterpret_cast<const char *>(part.begin),
                           part.header.p_memsz, found);
             });
  return found + "/" LLVM_VERSION_STRING "/" QUERN_VERSION;
}
