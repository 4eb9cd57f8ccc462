// Reads the module files beside a text.
#include "frontend/check/Beside.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace quern;

ModuleLoader quern::modulesBeside(llvm::StringRef path) {
  std::string folder = llvm::sys::path::parent_path(path).str();
  // Shared, as a function object is copied.
  auto text = std::make_shared<std::unique_ptr<llvm::MemoryBuffer>>();
  return [folder, text](llvm::StringRef name) -> std::optional<ModuleText> {
    llvm::SmallString<128> file(folder);
    for (llvm::StringRef part : llvm::split(name, '.'))
      llvm::sys::path::append(file, part);
    file += ".qn";
    auto buffer = llvm::MemoryBuffer::getFile(file);
    if (!buffer)
      return std::nullopt;
    *text = std::move(*buffer);
    return ModuleText{file.str().str(), (*text)->getBuffer()};
  };
}
