// The table of targets.
#include "dsl/target/TargetInfo.h"

#include <iterator>

using namespace quern;

namespace {
struct Row {
  const char *name, *triple, *cpu, *features;
  unsigned vectorBytes, vectorRegisters;
  bool hasFma, hasMask, hasBf16Dot, hasTiles;
  std::int64_t l1Bytes, l2Bytes, l3Bytes;
};

struct GpuRow {
  const char *name;
  TargetKind kind;
  const char *triple, *cpu, *features;
  unsigned warp;
  std::int64_t sharedBytes;
  unsigned cluster;
};
} // namespace

static constexpr Row rows[] = {
#define QN_TARGET(...) {__VA_ARGS__},
#include "dsl/target/Targets.def"
};

static constexpr GpuRow gpuRows[] = {
#define QN_GPU_TARGET(name, kind, ...) {name, TargetKind::kind, __VA_ARGS__},
#include "dsl/target/Targets.def"
};

std::optional<TargetInfo> quern::targetNamed(std::string_view name) {
  for (const Row &row : rows)
    if (name == row.name)
      return TargetInfo{row.name,     row.triple,      row.cpu,
                        row.features, row.vectorBytes, row.vectorRegisters,
                        row.hasFma,   row.hasMask,     row.hasBf16Dot,
                        row.hasTiles, row.l1Bytes,     row.l2Bytes,
                        row.l3Bytes};
  for (const GpuRow &row : gpuRows)
    if (name == row.name) {
      TargetInfo target{row.name, row.triple, row.cpu, row.features};
      target.hasFma = true;
      target.kind = row.kind;
      target.warp = row.warp;
      target.sharedBytes = row.sharedBytes;
      target.cluster = row.cluster;
      return target;
    }
  return std::nullopt;
}

TargetInfo quern::targetForHost(std::string cpu, std::string features,
                                bool hasAvx2, bool hasAvx512,
                                std::string triple) {
  bool arm = triple.rfind("aarch64", 0) == 0;
  const char *level = arm         ? "aarch64"
                      : hasAvx512 ? "x86-64-v4"
                      : hasAvx2   ? "x86-64-v3"
                                  : "x86-64-v2";
  TargetInfo target = *targetNamed(level);
  target.name = cpu;
  target.cpu = std::move(cpu);
  auto has = [&](const char *feature) {
    return hasAvx512 && features.find(feature) != std::string::npos;
  };
  target.hasBf16Dot = has("+avx512bf16");
  target.hasTiles = target.hasBf16Dot && has("+amx-tile") && has("+amx-bf16");
  target.features = std::move(features);
  target.triple = std::move(triple);
  return target;
}
