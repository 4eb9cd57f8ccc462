// Finds out what this machine is, and targets by name.
#include "jit/codegen/Codegen.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sched.h>
#include <string>
#include <sys/syscall.h>
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

/// The size of each level of data caches as one core sees them, in the
/// system's words; 0 where it does not say.
std::array<std::int64_t, 4> cachesOfCore() {
  std::array<std::int64_t, 4> levels{};
  for (unsigned number = 0;; ++number) {
    std::string folder =
        llvm::formatv("/sys/devices/system/cpu/cpu0/cache/index{0}/", number);
    auto line = [&](const char *file) {
      std::string text;
      std::ifstream stream(folder + file);
      std::getline(stream, text);
      return text;
    };
    std::string kind = line("type"), levelText = line("level");
    if (kind.empty())
      return levels;
    std::string sizeText = line("size");
    llvm::StringRef size = sizeText;
    std::size_t level = 0;
    std::int64_t kibibytes = 0;
    if (kind != "Instruction" && llvm::to_integer(levelText, level) &&
        level < levels.size() && !size.consumeInteger(10, kibibytes))
      levels[level] = kibibytes << 10;
  }
}

/// The C library alone would give the sum over a socket's last caches.
void cacheSizes(TargetInfo &target) {
  std::array<std::int64_t, 4> levels = cachesOfCore();
  auto known = [&](unsigned level, int name, std::int64_t &bytes) {
    long whole = sysconf(name);
    if (levels[level] > 0)
      bytes = levels[level];
    else if (whole > 0)
      bytes = whole;
  };
  known(1, _SC_LEVEL1_DCACHE_SIZE, target.l1Bytes);
  known(2, _SC_LEVEL2_CACHE_SIZE, target.l2Bytes);
  known(3, _SC_LEVEL3_CACHE_SIZE, target.l3Bytes);
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    target.cores = std::max(1, CPU_COUNT(&set));
}

/// Linux keeps tile registers from a process until it asks for them.
bool mayUseTiles() {
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  constexpr int requestComponent = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestComponent, tileData) == 0;
#else
  return false;
#endif
}

} // namespace

TargetInfo hostTarget() {
  llvm::StringMap<bool, llvm::MallocAllocator> features =
      llvm::sys::getHostCPUFeatures();
  if (features["amx-tile"] && !mayUseTiles())
    for (const char *name : {"amx-tile", "amx-bf16", "amx-int8", "amx-fp16"})
      features[name] = false;
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

std::optional<std::string> whyNotHere(const TargetInfo &target) {
  TargetInfo host = hostTarget();
  if (llvm::Triple(target.triple).getArch() !=
      llvm::Triple(host.triple).getArch())
    return "it is another architecture's";
  if (target.vectorBytes > host.vectorBytes)
    return llvm::formatv("its vectors have {0} bytes, the machine's {1}",
                         target.vectorBytes, host.vectorBytes)
        .str();
  if (target.hasBf16Dot && !host.hasBf16Dot)
    return "the machine has no dot products of bf16";
  if (target.hasTiles && !host.hasTiles)
    return "the machine has no tile registers";
  return std::nullopt;
}

bool isOnIntel() {
  using namespace llvm::sys::detail::x86;
  return getVendorSignature() == VendorSignatures::GENUINE_INTEL;
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
