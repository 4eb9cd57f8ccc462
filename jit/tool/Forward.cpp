// Opens the compiler's library for the verbs that need it.
#include "jit/tool/Tool.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <dlfcn.h>
#include <vector>

using namespace quern;

/// The library lies beside the program's folder: `bin/quern`,
/// `lib/libquern.so`.
static llvm::SmallString<128> libraryPath() {
  static constexpr char anchor = 0;
  std::string program =
      llvm::sys::fs::getMainExecutable(nullptr, const_cast<char *>(&anchor));
  llvm::SmallString<128> path(llvm::sys::path::parent_path(program));
  llvm::sys::path::append(path, "..", "lib", "libquern.so");
  return path;
}

int tool::forward(llvm::StringRef verb, Arguments arguments) {
  llvm::SmallString<128> path = libraryPath();
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    llvm::errs() << "quern: `" << verb << "` needs libquern.so: " << dlerror()
                 << '\n';
    return failure;
  }
  using Entry = int (*)(const char *verb, int count, const char *const *words);
  auto entry = reinterpret_cast<Entry>(dlsym(library, "quern_tool"));
  if (!entry) {
    llvm::errs() << "quern: " << path << " is of another version\n";
    return failure;
  }
  std::vector<std::string> owned;
  for (llvm::StringRef argument : arguments)
    owned.push_back(argument.str());
  std::vector<const char *> words;
  for (const std::string &argument : owned)
    words.push_back(argument.c_str());
  return entry(verb.str().c_str(), static_cast<int>(words.size()),
               words.data());
}
