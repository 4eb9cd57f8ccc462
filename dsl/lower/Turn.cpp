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

/// Two vectors as one.
static Value behindEachOther(OpBuilder &builder, Value first, Value second) {
  std::int64_t lanes = cast<VectorType>(first.getType()).getNumElements();
  auto all = llvm::to_vector(llvm::seq<std::int64_t>(0, 2 * lanes));
  return vector::ShuffleOp::create(builder, first.getLoc(), first, second, all);
}

/// The elements of two vectors in turns, of the lower or the upper half of each
/// segment.
static Value interleaved(OpBuilder &builder, Value first, Value second,
                         std::int64_t segment, bool upper) {
  std::int64_t lanes = cast<VectorType>(first.getType()).getNumElements();
  SmallVector<std::int64_t> mask;
  for (std::int64_t lane = 0; lane != lanes; ++lane) {
    std::int64_t within = lane % segment;
    std::int64_t from = lane - within + within / 2 + (upper ? segment / 2 : 0);
    mask.push_back(within % 2 ? lanes + from : from);
  }
  return vector::ShuffleOp::create(builder, first.getLoc(), first, second,
                                   mask);
}

SmallVector<Value> quern::turnedBeside(OpBuilder &builder, Location loc,
                                       SmallVector<Value> rows) {
  std::size_t side = rows.size();
  for (std::size_t round = side; round > 1; round /= 2) {
    SmallVector<Value> next;
    for (std::size_t row = 0; row != side / 2; ++row)
      for (bool upper : {false, true})
        next.push_back(interleaved(builder, rows[row], rows[row + side / 2],
                                   std::int64_t(side), upper));
    rows = std::move(next);
  }
  return rows;
}

/// Every step exchanges one bit of the vector's number with one of the
/// segment's.
SmallVector<Value> quern::turnedSegments(OpBuilder &builder, Location loc,
                                         SmallVector<Value> vectors) {
  std::int64_t lanes = cast<VectorType>(vectors[0].getType()).getNumElements();
  std::int64_t count = vectors.size(), length = lanes / count;
  for (std::int64_t bit = count / 2; bit; bit /= 2) {
    SmallVector<Value> next;
    for (std::int64_t number = 0; number != count; ++number) {
      SmallVector<std::int64_t> mask;
      for (std::int64_t lane = 0; lane != lanes; ++lane) {
        std::int64_t segment = lane / length;
        std::int64_t from = number & bit ? segment | bit : segment & ~bit;
        std::int64_t high = segment & bit ? lanes : 0;
        mask.push_back(high + from * length + lane % length);
      }
      next.push_back(vector::ShuffleOp::create(
          builder, loc, vectors[number & ~bit], vectors[number | bit], mask));
    }
    vectors = std::move(next);
  }
  return vectors;
}

SmallVector<Value> quern::turnedRows(OpBuilder &builder, Location loc,
                                     ArrayRef<Value> rows) {
  std::size_t side = cast<VectorType>(rows[0].getType()).getNumElements();
  SmallVector<Value> all(rows);
  if (rows.size() == side)
    return turned(builder, loc, std::move(all));
  // The same row of every square becomes one vector.
  for (std::size_t count = rows.size(); count != side; count /= 2) {
    SmallVector<Value> both;
    for (std::size_t at = 0; at != count; at += 2 * side)
      for (std::size_t row = at; row != at + side; ++row)
        both.push_back(behindEachOther(builder, all[row], all[row + side]));
    all = std::move(both);
  }
  return turnedBeside(builder, loc, std::move(all));
}

Value quern::turnedRound(OpBuilder &builder, Value value) {
  std::int64_t lanes = cast<VectorType>(value.getType()).getNumElements();
  auto picks = llvm::to_vector(llvm::reverse(llvm::seq<std::int64_t>(lanes)));
  return vector::ShuffleOp::create(builder, value.getLoc(), value, value,
                                   picks);
}
