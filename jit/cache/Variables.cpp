// Reads the variables of the environment: here and nowhere else in this room.
#include "jit/cache/Variables.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdlib>

namespace quern::jit {

bool keepsEveryStage() {
  const char *wish = std::getenv("QUERN_CACHE_KEEP");
  return wish && llvm::StringRef(wish).equals_insensitive("all");
}

bool keepsEveryCheck() {
  const char *wish = std::getenv("QUERN_BOUNDS");
  return wish && llvm::StringRef(wish).equals_insensitive("all");
}

std::string reproducerFolder() {
  const char *folder = std::getenv("QUERN_REPRODUCE");
  return folder ? folder : "";
}

GivenSchedule givenSchedule() {
  GivenSchedule given;
  if (const char *path = std::getenv("QUERN_SCHEDULE"))
    given.name = path;
  if (given.name.empty())
    return given;
  auto text = llvm::MemoryBuffer::getFile(given.name);
  if (text)
    given.text = (*text)->getBuffer().str();
  else
    given.problem =
        "cannot read `" + given.name +
        "`, which `QUERN_SCHEDULE` names: " + text.getError().message();
  return given;
}

Listeners wishedListeners() {
  auto wish = [](const char *variable) {
    const char *text = std::getenv(variable);
    return llvm::StringRef(text ? text : "");
  };
  llvm::StringRef perf = wish("QUERN_PERF");
  return {.perfNames = perf == "1",
          .perfLines = perf == "lines",
          .debugger = wish("QUERN_GDB") == "1"};
}

std::string defaultCacheFolder() {
  if (const char *own = std::getenv("QUERN_CACHE_DIR"); own && *own)
    return own;
  if (const char *base = std::getenv("XDG_CACHE_HOME"); base && *base == '/')
    return std::string(base) + "/quern";
  if (const char *home = std::getenv("HOME"); home && *home == '/')
    return std::string(home) + "/.cache/quern";
  return "";
}

/// A number of the environment, unless it says nothing.
static std::string readLimit(const char *variable, std::uint64_t &limit) {
  const char *text = std::getenv(variable);
  if (!text || !*text)
    return "";
  std::uint64_t given = 0;
  if (llvm::StringRef(text).getAsInteger(10, given) || given == 0)
    return std::string("`") + variable + "` is `" + text +
           "`, must be a number from 1";
  limit = given;
  return "";
}

Result<Limits> wishedLimits() {
  Limits limits;
  for (auto [variable, limit] :
       {std::pair("QUERN_MOST_OPERATIONS", &limits.operations),
        std::pair("QUERN_MOST_TOKENS", &limits.text.tokens),
        std::pair("QUERN_MOST_STEPS", &limits.text.steps),
        std::pair("QUERN_MOST_KERNELS", &limits.kernels),
        std::pair("QUERN_MOST_THREADS", &limits.threads)})
    if (std::string problem = readLimit(variable, *limit); !problem.empty())
      return Error{problem, {}};
  return limits;
}

} // namespace quern::jit
