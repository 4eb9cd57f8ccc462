// The order of words in a kernel's packet; std only (docs/decisions/0003).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quern {

struct PacketWord {
  enum class Kind : std::uint8_t {
    ErrorRecord, ///< pointer to an ErrorRecord
    Workspace,   ///< pointer to plan[2] bytes, or null
    Pointer,     ///< data of operand `operand`
    Extent,      ///< extent of concrete axis `axis`
    Stride,      ///< stride of `operand` along its own axis number `axis`
    Scalar       ///< scalar parameter `operand`, its bits in the low bytes
  };
  Kind kind;
  std::uint16_t operand = 0;
  std::uint16_t axis = 0;
};

/// Written by a kernel whose checked index is out of range, or that finds what
/// its text requires not to hold.
struct ErrorRecord {
  std::int64_t site = 0; ///< 0: no error; else 1 + index into KernelAbi::sites
  std::int64_t index = 0;
  std::int64_t extent = 0;
};

/// A place in the source that may fail, for the message.
struct ErrorSite {
  enum class Kind : std::uint8_t {
    Index,    ///< an index out of range
    Barrier,  ///< threads of a block part before a barrier
    Threads,  ///< a block has too many threads, or a grid or block too few
    Required, ///< what the text requires does not hold; `axis` says it
    Unsigned  ///< an index out of range, a number of 64 bits without a sign
  };
  std::string kernel, axis, location;
  Kind kind = Kind::Index;
};

/// One way to run a launch on a GPU (docs/decisions/0008).
struct GridEntry {
  std::string symbol;
  /// The entry is meant for extents of the launch's lane axis up to this; -1
  /// for any. The first entry that fits is launched.
  std::int64_t mostLanes = -1;
  std::uint32_t threads = 1;       ///< of a block
  std::uint32_t unitsPerBlock = 1; ///< units a block works on at a time
  std::uint32_t resident = 0; ///< blocks of a multiprocessor at most; 0: any
  std::uint32_t cluster = 1;  ///< blocks that work on a unit, side by side
  /// Blocks do not go on to further units: there is one for each, or a cluster.
  bool isOnce = false;
  /// For each `stepLanes` elements of the lane axis a block has `stepThreads`
  /// threads, `threads` at most; 0: always `threads`.
  std::uint32_t stepLanes = 0, stepThreads = 0;
  std::uint32_t sharedBytes = 0; ///< to be asked for when launching
  /// Units from which on the entry is meant: fewer large ones would leave most
  /// of a device idle.
  std::uint32_t leastUnits = 0;
  /// Elements of one unit along each parallel axis: the number of units is the
  /// product of the extents divided by these, rounded up.
  struct Tile {
    std::uint16_t axis = 0;
    std::uint32_t elements = 1;
    std::uint32_t most = 0;  ///< tiles at most, larger ones then; 0: any number
    std::uint32_t least = 0; ///< of the extent, from which on an entry is meant
  };
  std::vector<Tile> tiles = {};
};

/// A part of the workspace: `bytes` for each tile, rounded up to 8.
struct WorkspaceTerm {
  std::uint64_t bytes = 0;
  std::vector<GridEntry::Tile> tiles = {};
};

/// One step of a computation on the host, in 64-bit integers (HostSteps.def).
struct HostStep {
  enum class Kind : std::uint8_t {
#define QN_HOST_STEP(kind, name, operands) kind,
#include "dsl/HostSteps.def"
  };
  Kind kind;
  std::array<std::uint32_t, 3> operands = {}; ///< numbers of earlier steps
  std::int64_t value = 0; ///< a constant, a word's number, a width
};

/// Numbers that the host computes from the words of a packet.
struct HostPlan {
  std::vector<HostStep> steps;
  std::vector<std::uint32_t> results; ///< numbers of steps
};

/// How an explicit kernel is launched on a GPU (docs/decisions/0010).
struct GridGeometry {
  /// Gives the blocks along x, y, z, then the threads of a block.
  HostPlan shape;
  std::uint32_t sharedBytes = 0; ///< to be asked for when launching
  std::uint32_t threadsSite = 0; ///< 1 + the site of a launch
};

struct LaunchEntry {
  /// Gives one number: 0 where the launch is left out; no steps: it runs
  /// always.
  HostPlan when = {};
  // For a CPU:
  std::string task = {}; ///< the symbol in the object
  /// Gives the units, how many of them are worth a task, the bytes of workspace
  /// for all and for each worker, and how many units run before anybody asks
  /// whether the call is to go on. Without steps where the code is left out.
  HostPlan plan = {};
  // For a GPU:
  std::vector<GridEntry> grids = {};
  int laneAxis = -1;
  std::vector<WorkspaceTerm> workspace = {};
  /// Of an explicit kernel: its only grid has no tiles then.
  GridGeometry geometry = {};
};

struct KernelAbi {
  std::vector<PacketWord> words;
  std::vector<LaunchEntry> launches;
  std::vector<ErrorSite> sites;
};

/// Which code a call needs of a kernel: for each launch the number of the entry
/// that runs, 0 on a CPU, or `leftOut`.
using Variant = std::vector<int>;
constexpr int leftOut = -1;

/// Chooses a variant by what decides it: the words, and for each launch its
/// `when`, its choice and its entries.
using ChooseVariant = std::function<Variant(const KernelAbi &)>;

/// Blocks of a grid on a CPU at most; what is known of one with more is this.
constexpr std::int64_t mostBlocks = std::int64_t(1) << 62;

/// Words that a GPU's entry takes by value: drivers have 4096 bytes for
/// parameters, of which a launch's own words need a few. A longer packet lies
/// in the device's memory, and the parameter says where.
constexpr std::size_t mostWordsByValue = 504;

/// The parameter of a listed entry (docs/decisions/0020), in words: a head, and
/// room for a table. The head says where the table is, 0 for here; how many
/// bytes behind its beginning the map of blocks is; and the number of the last
/// block that is in the map.
constexpr std::size_t listWords = 512, listHead = 3;
/// Words of a row behind its packet: how many blocks it has, and the number of
/// the first one.
constexpr std::size_t rowOwn = 2;
/// The map has 16 bits for a block.
constexpr std::size_t mostRows = 1 << 16;

} // namespace quern
