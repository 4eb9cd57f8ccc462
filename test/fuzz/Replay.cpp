// Runs a fuzz target over files and folders of inputs: the kept corpus in the
// ordinary tests, without libFuzzer.
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <cstdio>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size);

static unsigned replayFolder(llvm::StringRef folder) {
  unsigned count = 0;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator at(folder, error), end;
       at != end && !error; at.increment(error)) {
    auto buffer = llvm::MemoryBuffer::getFile(at->path());
    if (!buffer)
      continue;
    llvm::StringRef text = (*buffer)->getBuffer();
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t *>(text.data()),
                           text.size());
    ++count;
  }
  return count;
}

int main(int count, char **words) {
  unsigned replayed = 0;
  for (int i = 1; i < count; ++i)
    replayed += replayFolder(words[i]);
  std::printf("%u inputs replayed\n", replayed);
  return replayed ? 0 : 1;
}
