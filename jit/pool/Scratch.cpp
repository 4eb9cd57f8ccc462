// Keeps freed blocks and gives out the smallest that is large enough.
#include "jit/pool/Scratch.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace quern::jit;

static constexpr std::size_t alignment = 64;
/// A block is not given out for less than this part of it.
static constexpr std::size_t waste = 4;

/// Large pages, of which a large block has two at least.
static constexpr std::size_t page = 2 << 20;

static bool isLarge(std::size_t bytes) { return bytes >= 2 * page; }

/// A fault each 4 KiB of a fresh block costs more than most kernels do. Where
/// the system has no large pages, small ones serve as well.
static char *allocate(std::size_t bytes) {
  void *memory = nullptr;
  if (posix_memalign(&memory, isLarge(bytes) ? page : alignment, bytes) != 0)
    return nullptr;
  if (isLarge(bytes))
    madvise(memory, bytes / page * page, MADV_HUGEPAGE);
  return static_cast<char *>(memory);
}

/// Lets the system have the block's pages, if it needs them before they are
/// written again.
static void offer(char *memory, std::size_t bytes) {
#if defined(MADV_FREE)
  if (isLarge(bytes))
    madvise(memory, bytes / page * page, MADV_FREE);
#endif
}

std::size_t Scratch::shareOfMemory() {
  auto pages = static_cast<std::size_t>(std::max(sysconf(_SC_PHYS_PAGES), 0L));
  auto each = static_cast<std::size_t>(std::max(sysconf(_SC_PAGESIZE), 0L));
  return std::clamp(pages / 16 * each, held, std::size_t{1} << 30);
}

Scratch::~Scratch() {
  for (const Block &block : blocks)
    std::free(block.memory);
}

Scratch::Block Scratch::take(std::size_t bytes) {
  {
    std::lock_guard guard(mutex);
    auto best = blocks.end();
    for (auto block = blocks.begin(); block != blocks.end(); ++block)
      if (block->size >= bytes && block->size / waste <= bytes &&
          (best == blocks.end() || block->size < best->size))
        best = block;
    if (best != blocks.end()) {
      Block found = *best;
      blocks.erase(best);
      return found;
    }
  }
  return {allocate(bytes), bytes};
}

void Scratch::give(Block block) {
  std::vector<Block> dropped;
  {
    std::lock_guard guard(mutex);
    blocks.push_back(block);
    std::size_t total = 0;
    auto first = blocks.end();
    while (first != blocks.begin() && total + std::prev(first)->size <= most)
      total += (--first)->size;
    dropped.assign(blocks.begin(), first);
    blocks.erase(blocks.begin(), first);
    if (total > held)
      offer(block.memory, block.size);
  }
  for (const Block &old : dropped)
    std::free(old.memory);
}

std::size_t Scratch::kept() const {
  std::lock_guard guard(mutex);
  std::size_t total = 0;
  for (const Block &block : blocks)
    total += block.size;
  return total;
}

Scratch::Piece::Piece(Scratch &owner, std::size_t bytes) : owner(owner) {
  if (bytes == 0)
    return;
  size = (bytes + alignment - 1) / alignment * alignment;
  if (size < least) {
    memory = allocate(size);
    return;
  }
  Block block = owner.take(size);
  memory = block.memory;
  size = block.size;
}

Scratch::Piece::~Piece() {
  if (memory && size >= least)
    owner.give({memory, size});
  else
    std::free(memory);
}
