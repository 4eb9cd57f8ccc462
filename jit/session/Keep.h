// Every stage of a kernel as files in the cache folder, for who asks.
#pragma once

#include "dsl/target/TargetInfo.h"
#include "jit/Jit.h"
#include "jit/cache/Entry.h"

namespace quern::jit {

/// A kernel as it is kept: one file a stage, and what describes them.
struct KeptKernel {
  std::string name, module;
  CacheKey key;
  TargetInfo target;
  const CacheEntry &entry;
  std::vector<StageText> stages;
};

/// The folder of a kernel inside that of the cache.
std::string keptFolder(const std::string &cache, const std::string &name,
                       const CacheKey &key);

/// Writes `NAME.STAGE` files and `NAME.json` into the kernel's folder, which
/// appears as a whole. Why it did not, or "".
std::string keepStages(const std::string &cache, const KeptKernel &kernel);

} // namespace quern::jit
