// Writes a kernel's stages beside the cache's entries.
#include "jit/session/Keep.h"

#include "jit/cache/Files.h"
#include "jit/session/AbiText.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace quern;
using namespace quern::jit;

namespace {

std::string describe(const KeptKernel &kernel) {
  llvm::json::Object object{
      {"kernel", kernel.name},
      {"module", kernel.module},
      {"hash", kernel.key.text()},
      {"target", llvm::json::Object{{"name", kernel.target.name},
                                    {"triple", kernel.target.triple},
                                    {"cpu", kernel.target.cpu},
                                    {"features", kernel.target.features}}}};
  if (auto abi = readAbi(kernel.entry.description)) {
    llvm::Expected<llvm::json::Value> parsed =
        llvm::json::parse(printAbi(*abi));
    if (parsed)
      object["abi"] = std::move(*parsed);
    else
      llvm::consumeError(parsed.takeError());
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  out << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object)));
  return text;
}

} // namespace

std::string quern::jit::keptFolder(const std::string &cache,
                                   const std::string &name,
                                   const CacheKey &key) {
  llvm::SmallString<128> folder(cache);
  llvm::sys::path::append(folder, "stages", name + "-" + key.text());
  return folder.str().str();
}

std::string quern::jit::keepStages(const std::string &cache,
                                   const KeptKernel &kernel) {
  std::string folder = keptFolder(cache, kernel.name, kernel.key);
  llvm::SmallString<128> making;
  std::string parent = llvm::sys::path::parent_path(folder).str();
  if (auto problem = llvm::sys::fs::create_directories(parent))
    return problem.message();
  if (auto problem =
          llvm::sys::fs::createUniqueDirectory(folder + ".making", making))
    return problem.message();
  std::string stem = (making + "/" + kernel.name).str();
  auto write = [&](const std::string &suffix, llvm::StringRef bytes) {
    return !writeFile(stem + "." + suffix, bytes);
  };
  bool written =
      write("obj", kernel.entry.object) && write("json", describe(kernel));
  for (const auto &[stage, text] : kernel.stages)
    written = written && write(stage, text);
  // Another process may have been faster; both made the same.
  if (!written || llvm::sys::fs::rename(making, folder))
    llvm::sys::fs::remove_directories(making);
  return written ? "" : "cannot write all files";
}
