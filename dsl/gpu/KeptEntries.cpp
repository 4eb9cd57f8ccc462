// The cost model of rows that blocks keep: threads, their registers, and what
// shared memory has of a row.
#include "dsl/gpu/KeptEntries.h"

using namespace quern;

EntryPlan quern::keeping(EntryPlan entry, unsigned kept,
                         const TargetInfo &target) {
  entry.kept = kept;
  entry.mostLanes = std::int64_t(entry.teamSize(target.warp)) * kept;
  for (AxisPlan &axis : entry.launch.axes)
    axis.copies = axis.tile = 1;
  return entry;
}

/// Elements of a row that a block keeps in shared memory, whole vectors of its
/// threads; beside them there is room for the states of warps.
static std::int64_t sharedToKeep(const EntryPlan &entry, unsigned bytes,
                                 const TargetInfo &target) {
  constexpr std::int64_t forStates = 3 << 10, forBlock = 1 << 10;
  std::int64_t turn = std::int64_t(entry.threads) * entry.vectors;
  std::int64_t room = target.sharedBytes / entry.together - forStates -
                      (entry.together - 1) * forBlock;
  return room / (bytes * turn) * turn;
}

/// A block, or a cluster, that keeps the rest of a row in shared memory.
static EntryPlan sharing(EntryPlan block, unsigned kept, unsigned bytes,
                         const TargetInfo &target) {
  EntryPlan entry = keeping(std::move(block), kept, target);
  entry.sharedLanes = bytes ? sharedToKeep(entry, bytes, target) : 0;
  entry.mostLanes += entry.cluster * entry.sharedLanes;
  return entry;
}

/// Longer rows are read again, such that all those under way are found in the
/// second cache.
static constexpr std::int64_t longRow = 1 << 18;

static EntryPlan ofBlocks(EntryPlan block, unsigned blocks) {
  block.cluster = blocks;
  block.team = blocks > 1 ? TeamKind::Cluster : TeamKind::Block;
  return block;
}

/// Threads of few registers: a multiprocessor has 1024 of them, and two blocks
/// rather than one, since a block that waits, for its own warps or for others
/// of a cluster, has nothing under way.
static void keepLightly(std::vector<EntryPlan> &made, EntryPlan block,
                        const RowRoom &room, unsigned operations,
                        const TargetInfo &target) {
  constexpr unsigned all = 1024, half = all / 2, some = 24;
  // A loop through shared memory needs a few registers of its own.
  constexpr unsigned fewer = 8;
  unsigned kept = room.light - fewer;
  auto withThreads = [&](unsigned threads) {
    EntryPlan made = block;
    made.threads = threads;
    made.together = all / threads;
    return made;
  };
  auto add = [&](EntryPlan entry) {
    if (entry.mostLanes > made.back().mostLanes)
      made.push_back(std::move(entry));
  };
  // Up to where two blocks fit. Those that stay for many rows, since all share
  // something, need more than 64 registers.
  EntryPlan sized =
      keeping(withThreads(room.hasShared ? half : all), room.kept, target);
  sized.together = room.hasShared ? 1 : 2;
  sized.mostLanes /= 2;
  add(sized);
  add(sharing(withThreads(half), kept, room.bytes, target));
  // What is done to elements is covered by another block's reads and writes,
  // what the blocks of a cluster wait for each other only in part.
  if (operations <= some)
    add(sharing(withThreads(all), kept, room.bytes, target));
  for (unsigned blocks = 2;
       blocks <= target.cluster && made.back().mostLanes < longRow; blocks *= 2)
    add(sharing(ofBlocks(withThreads(half), blocks), kept, room.bytes, target));
}

/// Of rows that are longer than a block keeps, clusters have the fewest blocks
/// that do: what blocks wait for each other is covered by nothing, or by one
/// other block.
void quern::keepInBlocks(std::vector<EntryPlan> &made, EntryPlan block,
                         const RowRoom &room, unsigned operations,
                         const TargetInfo &target) {
  block.sharesRows = room.hasShared;
  // Where there are no clusters the assembler needs a few more registers.
  if (room.light && target.cluster > 1)
    return keepLightly(made, std::move(block), room, operations, target);
  block.threads = 512;
  made.push_back(keeping(block, room.kept, target));
  for (unsigned blocks = 1; blocks <= target.cluster; blocks *= 2) {
    EntryPlan entry =
        sharing(ofBlocks(block, blocks), room.kept, room.bytes, target);
    if (entry.mostLanes > made.back().mostLanes)
      made.push_back(entry);
    if (entry.mostLanes >= longRow)
      break;
  }
}
