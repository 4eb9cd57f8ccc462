// Chooses entries and grids, and launches them with a packet.
#include "jit/session/GridKernel.h"

#include "jit/device/RunMemory.h"
#include "jit/session/Variants.h"

#include <algorithm>

namespace quern::jit {
namespace {

/// Words that a launch has behind the packet.
constexpr std::size_t mostBehind = 3;

/// How often a grid may fill the device.
constexpr std::int64_t fillings = 16;

/// Calls' parts of a workspace begin as a driver's memory does.
constexpr std::size_t roomOfCall = 256;

std::int64_t ceilDivide(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

std::int64_t lanesOf(const LaunchEntry &launch, const Extents &extents) {
  bool hasLane = launch.laneAxis >= 0 &&
                 launch.laneAxis < static_cast<int>(extents.size());
  return hasLane ? extents[launch.laneAxis] : 0;
}

/// Threads of a block; the entry itself computes them so too.
std::uint32_t threadsOf(const GridEntry &entry, std::int64_t lanes) {
  if (!entry.stepLanes)
    return entry.threads;
  std::int64_t wanted = ceilDivide(lanes, entry.stepLanes) * entry.stepThreads;
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(wanted, entry.stepThreads, entry.threads));
}

std::int64_t tilesOf(const std::vector<GridEntry::Tile> &tiles,
                     const Extents &extents) {
  std::int64_t units = 1;
  for (const GridEntry::Tile &tile : tiles) {
    std::int64_t count = ceilDivide(extents[tile.axis], tile.elements);
    units *= tile.most ? std::min<std::int64_t>(count, tile.most) : count;
  }
  return units;
}

/// The number of the first entry meant for these extents and so many units.
std::optional<int> entryFor(const LaunchEntry &launch, const Extents &extents) {
  std::int64_t lanes = lanesOf(launch, extents);
  auto found = std::ranges::find_if(launch.grids, [&](const GridEntry &entry) {
    return (entry.mostLanes < 0 || lanes <= entry.mostLanes) &&
           std::ranges::all_of(entry.tiles,
                               [&](const GridEntry::Tile &tile) {
                                 return extents[tile.axis] >= tile.least;
                               }) &&
           (!entry.leastUnits ||
            tilesOf(entry.tiles, extents) >= entry.leastUnits);
  });
  if (found == launch.grids.end())
    return std::nullopt;
  return static_cast<int>(found - launch.grids.begin());
}

std::size_t workspaceOf(const LaunchEntry &launch, const Extents &extents) {
  constexpr std::int64_t word = 8;
  std::int64_t words = 0;
  for (const WorkspaceTerm &term : launch.workspace)
    words += ceilDivide(std::int64_t(term.bytes) * tilesOf(term.tiles, extents),
                        word);
  return words * word;
}

} // namespace

Variant GridKernel::variantOf(const KernelAbi &abi, const Extents &extents,
                              std::span<const std::uint64_t> words) {
  Variant variant;
  for (const LaunchEntry &launch : abi.launches)
    variant.push_back(runs(launch, words)
                          ? entryFor(launch, extents).value_or(leftOut)
                          : leftOut);
  return variant;
}

Result<std::unique_ptr<GridKernel>>
GridKernel::make(std::shared_ptr<SessionDevice> owner,
                 std::shared_ptr<const CompiledKernel> kernel,
                 const Binding &binding, std::vector<std::uint64_t> words,
                 const std::vector<Number> &numbers) {
  std::unique_ptr<GridKernel> made(
      new GridKernel(std::move(owner), std::move(kernel)));
  made->packet = std::move(words);
  made->isListed = binding.specialization.listed;
  made->checks =
      std::ranges::any_of(made->kernel->abi.sites, [](const ErrorSite &site) {
        return site.kind != ErrorSite::Kind::Threads;
      });
  for (const LaunchEntry &launch : made->kernel->abi.launches) {
    auto chosen = launch.geometry.shape.steps.empty()
                      ? made->choose(launch, binding.extents)
                      : made->layOut(launch);
    if (!chosen)
      return chosen.error();
  }
  if (auto placed = made->placeNumbers(numbers); !placed)
    return placed.error();
  return made;
}

Result<std::monostate> GridKernel::choose(const LaunchEntry &launch,
                                          const Extents &extents) {
  if (!runs(launch, packet))
    return std::monostate();
  std::optional<int> number = entryFor(launch, extents);
  if (!number)
    return Error{"no entry of the kernel is meant for these extents", {}};
  const GridEntry *entry = &launch.grids[*number];
  std::int64_t units = tilesOf(entry->tiles, extents);
  workspace = std::max(workspace, workspaceOf(launch, extents));
  if (units == 0)
    return std::monostate();
  auto loaded = owner->entry(kernel, entry->symbol);
  if (!loaded)
    return loaded.error();
  std::uint32_t threads = threadsOf(*entry, lanesOf(launch, extents));
  auto need = needOf(*entry, *loaded, threads, units);
  if (!need)
    return need.error();
  Launch chosen{*loaded, {}, *need, entry->cluster > 1, {}};
  chosen.shape.grid[0] = unsigned(std::min(need->wanted, need->most));
  chosen.shape.block[0] = threads;
  chosen.shape.sharedBytes = entry->sharedBytes;
  chosen.behind = {chosen.shape.grid[0]};
  launches.push_back(std::move(chosen));
  return std::monostate();
}

/// As many blocks as the device holds at a time, or so many times over; each
/// goes on to its next unit a grid further. A block that comes late covers with
/// its reads what another one does last (on an H200 softmax of 1024 columns was
/// 88 % as fast as a copy with one filling, 99 % with 16), and what a block
/// does first is not done for each unit (with a block a unit: gelu 85 %, with
/// 16 fillings 93 %). Tiles of products take most of a device's memory each.
/// Rows that are kept have a block each, and clusters are one for each unit
/// too: how many of them fit a device is its own affair, and one that came late
/// would have all its units behind the others.
Result<BlockNeed> GridKernel::needOf(const GridEntry &entry,
                                     const SessionDevice::Entry &loaded,
                                     std::uint32_t threads,
                                     std::int64_t units) {
  if (entry.cluster > 1 || entry.isOnce) {
    constexpr std::int64_t mostClusters = std::int64_t(1) << 24;
    std::int64_t all =
        (entry.isOnce ? units : std::min(units, mostClusters)) * entry.cluster;
    return BlockNeed{all, all};
  }
  auto resident =
      loaded.image->occupancy(loaded.function, threads, entry.sharedBytes);
  if (!resident)
    return resident.error();
  std::int64_t each = std::max(*resident, 1);
  if (entry.resident)
    each = std::min<std::int64_t>(each, entry.resident);
  if (!entry.sharedBytes)
    each *= fillings;
  return BlockNeed{ceilDivide(units, entry.unitsPerBlock),
                   std::int64_t(owner->device->facts().processors) * each};
}

/// Every run gives this error.
Result<std::monostate> GridKernel::refuse(const LaunchEntry &launch,
                                          std::int64_t given,
                                          std::int64_t limit) {
  refused = {launch.geometry.threadsSite, given, limit};
  return std::monostate();
}

/// An explicit kernel is launched as its text says, in as many pieces as the
/// driver's limits ask for.
Result<std::monostate> GridKernel::layOut(const LaunchEntry &launch) {
  std::vector<std::int64_t> numbers = evaluate(launch.geometry.shape, packet);
  GridShape shape;
  std::copy_n(numbers.begin(), 3, shape.blocks.begin());
  std::copy_n(numbers.begin() + 3, 3, shape.threads.begin());
  bool isEmpty = false;
  for (std::int64_t count : shape.blocks) {
    isEmpty |= count == 0;
    if (count < 0)
      return refuse(launch, count, 0);
  }
  if (isEmpty)
    return std::monostate();
  std::int64_t threads = 1;
  for (std::int64_t count : shape.threads) {
    if (count < 1)
      return refuse(launch, count, 1);
    threads = std::min(threads * std::min<std::int64_t>(count, 1 << 20),
                       std::int64_t(1) << 40);
  }
  constexpr std::int64_t mostBlocks = std::int64_t(1) << 32;
  for (std::int64_t count : shape.blocks)
    if (count >= mostBlocks)
      return Error{"a grid of " + std::to_string(count) +
                       " blocks along one dimension, fewer than " +
                       std::to_string(mostBlocks) + " are possible",
                   {}};
  int most = owner->device->facts().blockThreads;
  if (threads > most)
    return refuse(launch, threads, most);
  auto loaded = owner->entry(kernel, launch.grids.front().symbol);
  if (!loaded)
    return loaded.error();
  addPieces(*loaded, shape, launch.geometry.sharedBytes);
  return std::monostate();
}

/// Pieces of the grid, x fastest.
void GridKernel::addPieces(const SessionDevice::Entry &entry,
                           const GridShape &shape, std::uint32_t sharedBytes) {
  // AMD counts threads, not blocks, along a dimension in 32 bits; both have 16
  // bits for blocks along y and z.
  std::array<std::int64_t, 3> most = {std::int64_t(1) << 21, 65535, 65535};
  Launch piece{entry, {}, {}, false, {}};
  piece.shape.sharedBytes = sharedBytes;
  for (unsigned dimension = 0; dimension < 3; ++dimension)
    piece.shape.block[dimension] =
        static_cast<unsigned>(shape.threads[dimension]);
  auto size = [&](unsigned dimension, std::int64_t first) {
    return static_cast<unsigned>(
        std::min(shape.blocks[dimension] - first, most[dimension]));
  };
  for (std::int64_t z = 0; z < shape.blocks[2]; z += most[2])
    for (std::int64_t y = 0; y < shape.blocks[1]; y += most[1])
      for (std::int64_t x = 0; x < shape.blocks[0]; x += most[0]) {
        piece.shape.grid = {size(0, x), size(1, y), size(2, z)};
        piece.behind = {std::uint64_t(x), std::uint64_t(y), std::uint64_t(z)};
        launches.push_back(piece);
      }
}

/// Kernels read operands through pointers; a number becomes memory once.
Result<std::monostate>
GridKernel::placeNumbers(const std::vector<Number> &numbers) {
  if (numbers.empty())
    return std::monostate();
  Device &device = *owner->device;
  std::vector<std::uint64_t> values;
  for (const Number &number : numbers)
    values.insert(values.end(), number.bits, number.bits + 2);
  std::size_t bytes = values.size() * sizeof(std::uint64_t);
  auto memory = device.allocate(bytes);
  if (!memory)
    return memory.error();
  for (std::size_t i = 0; i < numbers.size(); ++i)
    packet[numbers[i].word] = memory->address() + i * sizeof(numbers[i].bits);
  auto copied = device.copyIn(memory->address(), values.data(), bytes, nullptr);
  if (copied)
    copied = device.wait(nullptr);
  numberMemory.emplace(std::move(*memory));
  return copied;
}

Result<std::monostate> GridKernel::start(const Launch &launch,
                                         const LaunchShape &shape,
                                         std::span<void *const> parameters,
                                         Device::StreamHandle stream) {
  return launch.entry.image->launch(launch.entry.function, shape, parameters,
                                    stream);
}

/// With the words as the parameter.
Result<std::monostate>
GridKernel::launchAll(const std::vector<std::uint64_t> &words,
                      Device::StreamHandle stream) const {
  std::array<std::uint64_t, mostWordsByValue + mostBehind> whole;
  std::ranges::copy(words, whole.begin());
  void *parameters[] = {whole.data()};
  for (const Launch &launch : launches) {
    std::ranges::copy(launch.behind, whole.begin() + words.size());
    if (auto done = start(launch, launch.shape, parameters, stream); !done)
      return done;
  }
  return std::monostate();
}

/// A graph would copy words whenever it runs, when they are gone.
Result<bool> GridKernel::canCopy(Device::StreamHandle stream) const {
  auto captured = owner->device->isCapturing(stream);
  if (!captured)
    return captured.error();
  if (*captured && packet.size() > mostWordsByValue)
    return Error{"a kernel of " + std::to_string(packet.size()) +
                     " words cannot be captured, at most " +
                     std::to_string(mostWordsByValue) + " can",
                 {}};
  return !*captured;
}

/// With the words of all launches in the device's memory.
Result<std::monostate>
GridKernel::launchFar(const std::vector<std::uint64_t> &words,
                      Device::StreamHandle stream) const {
  std::size_t each = words.size() + mostBehind;
  std::vector<std::uint64_t> all;
  for (const Launch &launch : launches) {
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), launch.behind.begin(), launch.behind.end());
    all.resize(all.size() + mostBehind - launch.behind.size());
  }
  if (all.empty())
    return std::monostate();
  if (auto can = canCopy(stream); !can)
    return can.error();
  constexpr std::size_t word = sizeof(std::uint64_t);
  RunMemory memory(*owner->device, stream);
  if (auto taken = memory.take(all.size() * word); !taken)
    return taken;
  // What a driver has not copied when it returns, it has copied elsewhere.
  if (auto copied = owner->device->copyIn(memory.address, all.data(),
                                          all.size() * word, stream);
      !copied)
    return copied;
  std::uint64_t address = memory.address;
  for (const Launch &launch : launches) {
    void *parameters[] = {&address};
    if (auto done = start(launch, launch.shape, parameters, stream); !done)
      return done;
    address += each * word;
  }
  return std::monostate();
}

bool GridKernel::sharesLaunches(const GridKernel &other) const {
  return isListed && other.isListed && kernel == other.kernel &&
         std::ranges::equal(
             launches, other.launches, [](const Launch &a, const Launch &b) {
               return a.entry.function.handle == b.entry.function.handle &&
                      a.shape.block == b.shape.block && !a.isCluster &&
                      !b.isCluster;
             });
}

/// The table in the parameter, or in memory with an address there.
Result<std::monostate>
GridKernel::launchTable(const Launch &launch, const GridTable &table,
                        Device::StreamHandle stream) const {
  std::array<std::uint64_t, listWords> parameter = {0, table.mapBytes,
                                                    table.lastMapped};
  RunMemory memory(*owner->device, stream);
  if (table.fitsParameter()) {
    std::ranges::copy(table.words, parameter.begin() + listHead);
  } else {
    std::size_t bytes = table.words.size() * sizeof(std::uint64_t);
    if (auto taken = memory.take(bytes); !taken)
      return taken;
    if (auto copied = owner->device->copyIn(memory.address, table.words.data(),
                                            bytes, stream);
        !copied)
      return copied;
    parameter[0] = memory.address;
  }
  void *parameters[] = {parameter.data()};
  LaunchShape shape = launch.shape;
  shape.grid[0] = table.blocks;
  return start(launch, shape, parameters, stream);
}

/// Each launch is one for all calls, or where memory cannot be filled as many
/// as parameters have room for.
Result<std::monostate>
GridKernel::launchListed(std::span<const Call> calls,
                         const std::vector<std::uint64_t> &words,
                         Device::StreamHandle stream) const {
  std::size_t packetWords = packet.size();
  for (std::size_t number = 0; number < launches.size(); ++number) {
    std::vector<BlockNeed> all;
    for (const Call &call : calls)
      all.push_back(call.kernel->launches[number].need);
    std::span needs(all);
    std::span packets(words);
    while (!needs.empty()) {
      std::size_t count = std::min(needs.size(), mostRows);
      std::size_t near = callsInParameter(needs, packetWords);
      if (near < count || packetWords > mostWordsByValue) {
        auto can = canCopy(stream);
        if (!can)
          return can.error();
        if (!*can)
          count = near;
      }
      GridTable table(packets.first(count * packetWords), needs.first(count));
      if (auto done = launchTable(launches[number], table, stream); !done)
        return done;
      needs = needs.subspan(count);
      packets = packets.subspan(count * packetWords);
    }
  }
  return std::monostate();
}

/// The packets, one behind the other, with places in the workspace counted from
/// where it begins; its bytes are left in `bytes`.
std::vector<std::uint64_t> GridKernel::packetsOf(std::span<const Call> calls,
                                                 std::size_t &bytes) {
  std::vector<std::uint64_t> words;
  for (const Call &call : calls) {
    std::size_t begin = words.size();
    words.insert(words.end(), call.kernel->packet.begin(),
                 call.kernel->packet.end());
    for (const PointerWord &pointer : call.pointers)
      words[begin + pointer.word] = pointer.address;
    words[begin + 1] = bytes;
    bytes +=
        (call.kernel->workspace + roomOfCall - 1) / roomOfCall * roomOfCall;
  }
  return words;
}

Result<ErrorRecord> GridKernel::run(std::span<const Call> calls,
                                    Device::StreamHandle stream) {
  const GridKernel &one = *calls.front().kernel;
  Device &device = *one.owner->device;
  ErrorRecord record = one.refused;
  if (record.site)
    return record;
  std::size_t bytes = 0;
  std::vector<std::uint64_t> words = packetsOf(calls, bytes);
  RunMemory scratch(device, stream), errors(device, stream);
  if (bytes)
    if (auto taken = scratch.take(bytes); !taken)
      return taken.error();
  if (one.checks) {
    if (auto taken = errors.take(sizeof(record)); !taken)
      return taken.error();
    if (auto clear = device.fill(errors.address, 0, sizeof(record), stream);
        !clear)
      return clear.error();
  }
  for (std::size_t begin = 0; begin < words.size();
       begin += one.packet.size()) {
    words[begin] = errors.address;
    words[begin + 1] += scratch.address;
  }
  auto launched = one.isListed ? one.launchListed(calls, words, stream)
                  : one.packet.size() <= mostWordsByValue
                      ? one.launchAll(words, stream)
                      : one.launchFar(words, stream);
  if (!launched)
    return launched.error();
  if (!one.checks)
    return record;
  // Nobody can wait for work that is only being recorded.
  auto captured = device.isCapturing(stream);
  if (!captured)
    return captured.error();
  if (*captured)
    return record;
  if (auto read =
          device.copyOut(&record, errors.address, sizeof(record), stream);
      !read)
    return read.error();
  if (auto waited = device.wait(stream); !waited)
    return waited.error();
  return record;
}

} // namespace quern::jit
