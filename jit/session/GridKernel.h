// A kernel on a GPU: its loaded image, its packet, and how it is launched.
#pragma once

#include "jit/bind/Binding.h"
#include "jit/session/Devices.h"
#include "jit/session/GridTable.h"
#include "jit/session/HostSteps.h"

#include <optional>

namespace quern::jit {

/// Blocks of the grid and threads of a block along x, y, z.
struct GridShape {
  std::array<std::int64_t, 3> blocks, threads;
};

/// A bound kernel made ready for its device. Thread-safe once made.
class GridKernel {
public:
  /// Decides entries and grids for the extents, and loads those. `words` is
  /// the packet but for pointers, `numbers` where an operand given as a number
  /// has its word and its bits.
  struct Number {
    std::size_t word;
    std::uint64_t bits[2];
  };
  static Result<std::unique_ptr<GridKernel>>
  make(std::shared_ptr<SessionDevice> owner,
       std::shared_ptr<const CompiledKernel> kernel, const Binding &binding,
       std::vector<std::uint64_t> words, const std::vector<Number> &numbers);

  /// The entries that run for these extents and words.
  static Variant variantOf(const KernelAbi &abi, const Extents &extents,
                           std::span<const std::uint64_t> words);

  std::size_t workspaceBytes() const { return workspace; }

  /// A word of the packet that the caller fills.
  struct PointerWord {
    std::size_t word;
    std::uint64_t address;
  };
  struct Call {
    const GridKernel *kernel;
    llvm::SmallVector<PointerWord, 8> pointers;
  };
  /// Whether a launch of each of the two can be one.
  bool sharesLaunches(const GridKernel &other) const;
  /// Launches everything in the stream's order, of several listed calls that
  /// share launches and touch nothing that another one writes. Kernels that
  /// check indices are waited for, and their record given; others return at
  /// once.
  static Result<ErrorRecord> run(std::span<const Call> calls,
                                 Device::StreamHandle stream);

private:
  struct Launch {
    SessionDevice::Entry entry;
    LaunchShape shape;
    BlockNeed need; ///< where the compiler chose the grid
    bool isCluster = false;
    /// The words behind the packet: the number of blocks, or the numbers of an
    /// explicit kernel's first one.
    std::vector<std::uint64_t> behind;
  };
  GridKernel(std::shared_ptr<SessionDevice> owner,
             std::shared_ptr<const CompiledKernel> kernel)
      : owner(std::move(owner)), kernel(std::move(kernel)) {}
  Result<std::monostate> choose(const LaunchEntry &launch,
                                const Extents &extents);
  Result<BlockNeed> needOf(const GridEntry &entry,
                           const SessionDevice::Entry &loaded,
                           std::uint32_t threads, std::int64_t units);
  Result<std::monostate> layOut(const LaunchEntry &launch);
  Result<std::monostate> refuse(const LaunchEntry &launch, std::int64_t given,
                                std::int64_t limit);
  void addPieces(const SessionDevice::Entry &entry, const GridShape &shape,
                 std::uint32_t sharedBytes);
  static Result<std::monostate> start(const Launch &launch,
                                      const LaunchShape &shape,
                                      std::span<void *const> parameters,
                                      Device::StreamHandle stream);
  Result<std::monostate> launchAll(const std::vector<std::uint64_t> &words,
                                   Device::StreamHandle stream) const;
  Result<std::monostate> launchFar(const std::vector<std::uint64_t> &words,
                                   Device::StreamHandle stream) const;
  Result<std::monostate> launchListed(std::span<const Call> calls,
                                      const std::vector<std::uint64_t> &words,
                                      Device::StreamHandle stream) const;
  Result<std::monostate> launchTable(const Launch &launch,
                                     const GridTable &table,
                                     Device::StreamHandle stream) const;
  static std::vector<std::uint64_t> packetsOf(std::span<const Call> calls,
                                              std::size_t &bytes);
  Result<bool> canCopy(Device::StreamHandle stream) const;
  Result<std::monostate> placeNumbers(const std::vector<Number> &numbers);

  std::shared_ptr<SessionDevice> owner;
  std::shared_ptr<const CompiledKernel> kernel;
  std::vector<Launch> launches;
  std::size_t workspace = 0;
  ErrorRecord refused; ///< why nothing is launched, if so
  bool checks = false; ///< whether a launch may fail when it runs
  bool isListed = false;
  std::vector<std::uint64_t> packet;
  std::optional<Device::Memory> numberMemory;
};

} // namespace quern::jit
