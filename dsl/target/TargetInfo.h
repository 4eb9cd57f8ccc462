// What the compiler knows of the machine code is made for; std only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quern {

/// Who makes the machine; decides the back end and how threads are spelled.
enum class TargetKind : std::uint8_t { Cpu, Nvptx, Amdgpu };

struct TargetInfo {
  std::string name;     ///< "x86-64-v3", or the host CPU's name
  std::string triple;   ///< LLVM's
  std::string cpu;      ///< LLVM's
  std::string features; ///< "+avx2,-sse4a", LLVM's
  unsigned vectorBytes = 16;
  unsigned vectorRegisters = 16;
  bool hasFma = false;
  bool hasMask = false;    ///< masked loads and stores in one instruction
  bool hasBf16Dot = false; ///< sums of two bf16 products at once (vdpbf16ps)
  bool hasTiles = false;   ///< registers of 16 x 16 words (AMX), for bf16
  std::int64_t l1Bytes = 32 << 10, l2Bytes = 512 << 10, l3Bytes = 8 << 20;
  unsigned cores = 1;
  TargetKind kind = TargetKind::Cpu;
  unsigned warp = 1;            ///< threads that shuffle among each other
  std::int64_t sharedBytes = 0; ///< a block may have at most
  unsigned cluster = 1; ///< blocks that can read each other's shared memory

  bool isGpu() const { return kind != TargetKind::Cpu; }

  /// Threads of an explicit kernel that run in step: the lanes of a vector of
  /// 32-bit numbers.
  unsigned warpSize() const { return isGpu() ? warp : vectorBytes / 4; }
};

/// A row of the table by name; `native` is not one.
std::optional<TargetInfo> targetNamed(std::string_view name);

/// The row whose vectors suit the named features, with the rest filled in by
/// the caller: what the JIT found out about this machine.
TargetInfo targetForHost(std::string cpu, std::string features, bool hasAvx2,
                         bool hasAvx512, std::string triple);

} // namespace quern
