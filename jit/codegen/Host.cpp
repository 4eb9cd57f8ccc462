// Finds out what this machine is, and targets by name.
#include "jit/codegen/Codegen.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <sched.h>
#include <unistd.h>
#include <vector>

namespace quern::jit {

namespace {

/// "+avx2,-sse4a", in a fixed order: it is part of cache keys.
std::string featureText(const llvm::StringMap<bool> &features) {
  std::vector<std::string> parts;
  for (const auto &feature : features)
    parts.push_back((feature.getValue() ? "+" : "-") + feature.getKey().str());
  llvm::sort(parts, [](const std::string &a, const std::string &b) {
    return a.compare(1, a.npos, b, 1, b.npos) < 0;
  });
  // LLVM splits 512-bit vectors on some CPUs by default; the lowering has
  // already chosen the width.
  parts.push_back("-prefer-256-bit");
  return llvm::join(parts, ",");
}

void cacheSizes(TargetInfo &target) {
  auto known = [](int name, std::int64_t &bytes) {
    if (long found = sysconf(name); found > 0)
      bytes = found;
  };
  known(_SC_LEVEL1_DCACHE_SIZE, target.l1Bytes);
  known(_SC_LEVEL2_CACHE_SIZE, target.l2Bytes);
  known(_SC_LEVEL3_CACHE_SIZE, target.l3Bytes);
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    target.cores = std::max(1, CPU_COUNT(&set));
}

} // namespace

TargetInfo hostTarget() {
  llvm::StringMap<bool, llvm::MallocAllocator> features =
      llvm::sys::getHostCPUFeatures();
  auto has = [&](std::initializer_list<llvm::StringRef> names) {
    return llvm::all_of(names,
                        [&](llvm::StringRef name) { return features[name]; });
  };
  bool hasAvx2 = has({"avx2", "fma", "bmi2", "f16c", "lzcnt"});
  bool hasAvx512 = hasAvx2 && has({"avx512f", "avx512bw", "avx512cd",
                                   "avx512dq", "avx512vl"});
  TargetInfo target =
      targetForHost(llvm::sys::getHostCPUName().str(), featureText(features),
                    hasAvx2, hasAvx512, llvm::sys::getProcessTriple());
  cacheSizes(target);
  return target;
}

Result<TargetInfo> findTarget(const std::string &name) {
  if (name.empty() || name == "native")
    return hostTarget();
  if (std::optional<TargetInfo> target = targetNamed(name))
    return *target;
  return Error{llvm::formatv("no target `{0}`; known are native"
#define QN_TARGET(name, ...) ", " name
#define QN_GPU_TARGET(name, ...) ", " name
#include "dsl/target/Targets.def"
                             ,
                             name),
               {}};
}

} // namespace quern::jit
