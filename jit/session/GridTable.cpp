// Deals a device's blocks out to calls and writes the table that says so.
#include "jit/session/GridTable.h"

#include "dsl/KernelAbi.h"

#include <algorithm>

namespace quern::jit {
namespace {

/// Blocks that a word of the map tells of.
constexpr std::size_t blocksOfWord = 4, bitsOfRow = 16;

/// In proportion to what calls want, where that is more than there is; each has
/// one at least.
std::vector<std::int64_t> shares(std::span<const BlockNeed> needs) {
  std::int64_t all = 0;
  for (const BlockNeed &need : needs)
    all += need.wanted;
  std::vector<std::int64_t> made;
  for (const BlockNeed &need : needs) {
    std::int64_t share = all <= need.most
                             ? need.wanted
                             : std::int64_t(double(need.wanted) / double(all) *
                                            double(need.most));
    made.push_back(std::clamp<std::int64_t>(share, 1, need.wanted));
  }
  return made;
}

std::size_t wordsOfMap(std::int64_t blocks) {
  return (std::size_t(blocks) + blocksOfWord - 1) / blocksOfWord;
}

} // namespace

GridTable::GridTable(std::span<const std::uint64_t> packets,
                     std::span<const BlockNeed> needs) {
  std::size_t packetWords = packets.size() / needs.size();
  for (std::int64_t share : shares(needs)) {
    lastMapped = blocks;
    std::span packet = packets.first(packetWords);
    packets = packets.subspan(packetWords);
    words.insert(words.end(), packet.begin(), packet.end());
    words.insert(words.end(), {std::uint64_t(share), blocks});
    blocks += unsigned(share);
  }
  std::size_t rowWords = packetWords + rowOwn, map = words.size();
  mapBytes = map * sizeof(std::uint64_t);
  words.resize(map + wordsOfMap(std::int64_t(lastMapped) + 1));
  for (std::size_t block = 0, row = 0; block <= lastMapped; ++block) {
    std::uint64_t end = words[row * rowWords + packetWords] +
                        words[row * rowWords + packetWords + 1];
    row += block == end;
    words[map + block / blocksOfWord] |= std::uint64_t(row)
                                         << block % blocksOfWord * bitsOfRow;
  }
}

bool GridTable::fitsParameter() const {
  return words.size() + listHead <= listWords;
}

std::size_t callsInParameter(std::span<const BlockNeed> needs,
                             std::size_t packetWords) {
  std::size_t count = 1;
  for (std::int64_t before = 0; count < needs.size(); ++count) {
    before += needs[count - 1].wanted;
    std::int64_t mapped =
        std::min(before, needs[count].most + std::int64_t(count)) + 1;
    if (listHead + (count + 1) * (packetWords + rowOwn) + wordsOfMap(mapped) >
        listWords)
      break;
  }
  return count;
}

} // namespace quern::jit
