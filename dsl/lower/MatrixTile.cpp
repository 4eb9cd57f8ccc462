// Products of bf16 in tile registers: lines of sixteen words, two summed
// elements in each.
#include "dsl/lower/Contract.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

/// Sums of two by two tile registers.
static constexpr unsigned across = 2;

namespace {
/// Makes instructions for tile registers of 16 lines of 64 bytes.
struct Tiles {
  OpBuilder &b;
  Location loc;

  Value lines() const {
    return arith::ConstantOp::create(b, loc, b.getI16IntegerAttr(16));
  }
  Value bytes() const {
    return arith::ConstantOp::create(b, loc, b.getI16IntegerAttr(64));
  }
  Type type() const { return LLVM::LLVMX86AMXType::get(b.getContext()); }
  Value make(StringRef name, ArrayRef<Value> arguments) const {
    return LLVM::CallIntrinsicOp::create(b, loc, type(), b.getStringAttr(name),
                                         arguments)
        ->getResult(0);
  }
  Value zero() const {
    return make("llvm.x86.tilezero.internal", {lines(), bytes()});
  }
  Value load(Value from, Value stride) const {
    return make("llvm.x86.tileloadd64.internal",
                {lines(), bytes(), from, stride});
  }
  Value add(Value sums, Value rows, Value columns) const {
    return make("llvm.x86.tdpbf16ps.internal",
                {lines(), bytes(), bytes(), sums, rows, columns});
  }
  void store(Value to, Value stride, Value tile) const {
    LLVM::CallIntrinsicOp::create(
        b, loc, b.getStringAttr("llvm.x86.tilestored64.internal"),
        ValueRange{lines(), bytes(), to, stride, tile});
  }
};
} // namespace

/// Where the first line of a tile register of sums lies.
Value ContractionBuilder::tileOfSums(Frame &frame, const TileAt &at,
                                     unsigned which) {
  std::int64_t line = tiling.lanes;
  Value row = number(frame, which / across * line);
  Value column = number(frame, which % across * line);
  row = binary(frame, '*', row, at.sumStep);
  return element(frame, at.sums, binary(frame, '+', row, column));
}

/// The register tile in tile registers: what lines of two by two of them hold.
void ContractionBuilder::matrixTile(Frame &frame, const TileAt &at) {
  std::int64_t line = tiling.lanes, wordBytes = 4;
  Value wide = number(frame, wordBytes);
  Value sumStride = binary(frame, '*', at.sumStep, wide);
  auto zero = [&](Frame &at, unsigned) { return Tiles{in(at), loc}.zero(); };
  auto load = [&](Frame &inside, unsigned which) {
    Value from = tileOfSums(inside, at, which);
    return Tiles{in(inside), loc}.load(from, sumStride);
  };
  auto meet = [&](Frame &inner, Value rows, Value columns, Values sums) {
    Value rowStride = number(inner, line * wordBytes);
    Value columnStride = number(inner, tiling.width() * wordBytes);
    Values left, right;
    for (unsigned i = 0; i < across; ++i) {
      Value row = element(inner, rows, number(inner, i * line * line));
      Value column = element(inner, columns, number(inner, i * line));
      left.push_back(Tiles{in(inner), loc}.load(row, rowStride));
      right.push_back(Tiles{in(inner), loc}.load(column, columnStride));
    }
    for (auto [i, sum] : llvm::enumerate(sums))
      sum = Tiles{in(inner), loc}.add(sum, left[i / across], right[i % across]);
    return sums;
  };
  SmallVector<Type> types(across * across,
                          LLVM::LLVMX86AMXType::get(builder.getContext()));
  Values sums = loadTile(frame, at, types, zero, load);
  for (auto [i, sum] :
       llvm::enumerate(alongTile(frame, at, line, sums, meet))) {
    Value to = tileOfSums(frame, at, i);
    Tiles{in(frame), loc}.store(to, sumStride, sum);
  }
}

/// Tile registers take whole lines of the summed axis: what is behind the last
/// element of a panel is zero.
void ContractionBuilder::clearLastLine(Frame &frame, Value base, Block depth,
                                       std::int64_t width) {
  if (!tiling.tiles)
    return;
  Value count = words(frame, binary(frame, '-', depth.upper, depth.lower));
  Value zero = number(frame, 0), last = number(frame, tiling.lanes - 1);
  OpBuilder &b = in(frame);
  Value rest = arith::AndIOp::create(b, loc, count, last);
  Value isWhole =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest, zero);
  Value all = number(frame, tiling.lanes * width);
  Value end = arith::SelectOp::create(in(frame), loc, isWhole, zero, all);
  Value start =
      binary(frame, '*', binary(frame, '-', count, rest), number(frame, width));
  Value line = element(frame, base, start);
  auto type = VectorType::get({std::int64_t(tiling.lanes)}, tiling.element);
  Value nothing =
      arith::ConstantOp::create(in(frame), loc, builder.getZeroAttr(type));
  loop(frame, zero, end, tiling.lanes, [&](Frame &at, Value place) {
    emitter.write(at, element(at, line, place), nothing, tiling.element,
                  Value());
  });
}

/// Where word `word` of the first row of a panel lies.
Value ContractionBuilder::lineStart(Frame &frame, Value word) {
  Value last = number(frame, tiling.lanes - 1);
  Value rest = arith::AndIOp::create(in(frame), loc, word, last);
  Value start = binary(frame, '*', binary(frame, '-', word, rest),
                       number(frame, tiling.height));
  return binary(frame, '+', start, rest);
}

/// The same word of as many rows as a vector has lanes.
Value ContractionBuilder::atLines(Frame &frame, Value first) {
  std::int64_t lanes = tiling.lanes;
  SmallVector<std::int64_t> steps;
  for (std::int64_t lane = 0; lane < lanes; ++lane)
    steps.push_back(lane * lanes);
  OpBuilder &b = in(frame);
  Value apart = arith::ConstantOp::create(b, loc, b.getI64VectorAttr(steps));
  return LLVM::GEPOp::create(b, loc, VectorType::get({lanes}, first.getType()),
                             tiling.element, first,
                             ArrayRef<LLVM::GEPArg>{apart});
}
