// Finds a loaded binary by an address in it.
#include "jit/session/LoadedParts.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

using namespace quern;
using namespace quern::jit;

namespace {
struct Search {
  std::uintptr_t address;
  llvm::function_ref<void(const LoadedPart &part)> visit;
};
} // namespace

static int visitObject(dl_phdr_info *object, std::size_t, void *data) {
  const auto &search = *static_cast<Search *>(data);
  llvm::ArrayRef headers(object->dlpi_phdr, object->dlpi_phnum);
  if (llvm::none_of(headers, [&](const ProgramHeader &header) {
        std::uintptr_t begin = object->dlpi_addr + header.p_vaddr;
        return header.p_type == PT_LOAD && search.address >= begin &&
               search.address - begin < header.p_memsz;
      }))
    return 0;
  for (const ProgramHeader &header : headers)
    search.visit({header, object->dlpi_addr + header.p_vaddr});
  return 1;
}

void jit::forPartsOf(const void *address,
                     llvm::function_ref<void(const LoadedPart &part)> visit) {
  Search search{reinterpret_cast<std::uintptr_t>(address), visit};
  dl_iterate_phdr(visitObject, &search);
}
