// Keeps freed blocks and gives out the smallest that is large enough.
#include "jit/pool/Scratch.h"

#include <cstdlib>
#include <sys/mman.h>
#include <utility>

using namespace quern::jit;

static constexpr std::size_t alignment = 64;
/// A block is not given out for less than this part of it.
static constexpr std::size_t waste = 4;

/// Large pages, of which a large block has two at least.
static constexpr std::size_t page = 2 << 20;

/// What is too large to be kept is fresh in every run: a fault each 4 KiB costs
/// more than most kernels do. Where the system has no large pages, small ones
/// serve as well.
static char *allocate(std::size_t bytes) {
  bool isLarge = bytes >= 2 * page;
  void *memory = nullptr;
  if (posix_memalign(&memory, isLarge ? page : alignment, bytes) != 0)
    return nullptr;
  if (isLarge)
    madvise(memory, bytes / page * page, MADV_HUGEPAGE);
  return static_cast<char *>(memory);
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
