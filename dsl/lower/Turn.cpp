// Transposes of registers.
#include "dsl/lower/Turn.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// Turns R vectors of L lanes into R vectors that hold lane after lane: the
/// elements of one lane in order, then those of the next. Every step exchanges
/// one bit of the vector's number with one of the lane's.
SmallVector<Value> quern::turned(OpBuilder &builder, Location loc,
                                 SmallVector<Value> vectors) {
  unsigned lanes = cast<VectorType>(vectors[0].getType()).getNumElements(),
           count = vectors.size();
  unsigned vectorBits = llvm::Log2_32(count), laneBits = llvm::Log2_32(lanes);
  // What each place holds: (vector, lane) of the input.
  using Place = std::pair<unsigned, unsigned>;
  SmallVector<SmallVector<Place>> holds(count);
  for (unsigned v = 0; v < count; ++v)
    for (unsigned l = 0; l < lanes; ++l)
      holds[v].push_back({v, l});
  auto wanted = [&](unsigned v, unsigned l) {
    unsigned flat = v * lanes + l;
    return Place{flat % count, flat / count};
  };
  for (unsigned step = 0; step < vectorBits; ++step) {
    unsigned bit = 1u << step;
    bool lastStep = step + 1 == vectorBits;
    unsigned laneBit = 1u << (laneBits - vectorBits + step);
    SmallVector<Value> next(count);
    auto before = holds;
    for (unsigned v = 0; v < count; ++v) {
      unsigned low = v & ~bit, high = v | bit;
      SmallVector<std::int64_t> mask;
      for (unsigned l = 0; l < lanes; ++l) {
        unsigned from = l & laneBit ? high : low;
        unsigned lane = v & bit ? l | laneBit : l & ~laneBit;
        Place content = before[from][lane];
        if (lastStep)
          content = wanted(v, l);
        for (unsigned side = 0; side < 2; ++side)
          for (unsigned at = 0; at < lanes; ++at)
            if (before[side ? high : low][at] == content)
              mask.push_back(side * lanes + at);
        holds[v][l] = content;
      }
      assert(mask.size() == lanes && "every lane has one source");
      next[v] = vector::ShuffleOp::create(builder, loc, vectors[low],
                                          vectors[high], mask);
    }
    vectors = std::move(next);
  }
  return vectors;
}
