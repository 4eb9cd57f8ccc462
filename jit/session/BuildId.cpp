// Reads the linker's build id of the binary that this code is in.
#include "jit/session/BuildId.h"

#include "llvm/Config/llvm-config.h"

#include <cstring>
#include <link.h>

using namespace quern;

namespace {

struct Search {
  std::uintptr_t address;
  std::string found;
};

void readNotes(const char *at, std::size_t size, Search &search) {
  const char *end = at + size;
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const char *name = at + sizeof note;
    const char *value = name + (note.n_namesz + 3) / 4 * 4;
    at = value + (note.n_descsz + 3) / 4 * 4;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(name, "GNU", 4) == 0)
      search.found.assign(value, note.n_descsz);
  }
}

int visit(dl_phdr_info *object, std::size_t, void *data) {
  auto &search = *static_cast<Search *>(data);
  bool mine = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = object->dlpi_phdr[i];
    std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    mine |= part.p_type == PT_LOAD && search.address >= begin &&
            search.address - begin < part.p_memsz;
  }
  if (!mine)
    return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = object->dlpi_phdr[i];
    if (part.p_type == PT_NOTE)
      readNotes(
          reinterpret_cast<const char *>(object->dlpi_addr + part.p_vaddr),
          part.p_memsz, search);
  }
  return 1;
}

} // namespace

std::string quern::jit::buildIdentity() {
  Search search{reinterpret_cast<std::uintptr_t>(&buildIdentity), {}};
  dl_iterate_phdr(visit, &search);
  return search.found + "/" LLVM_VERSION_STRING "/" QUERN_VERSION;
}
