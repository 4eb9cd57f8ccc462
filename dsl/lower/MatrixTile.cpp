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

/// What tile registers begin with: zeros, or the sums so far.
Emitter::Values ContractionBuilder::loadTiles(Frame &frame, const TileAt &at,
                                              Value stride) {
  Type tile = LLVM::LLVMX86AMXType::get(builder.getContext());
  SmallVector<Type> types(across * across, tile);
  auto branch = scf::IfOp::create(in(frame), loc, types, at.isFirst, true);
  Operation *anchor = std::exchange(frame.anchor, branch);
  Frame yes = Frame::inside(frame, branch.thenBlock());
  Frame no = Frame::inside(frame, branch.elseBlock());
  Values zeros, sums;
  for (unsigned i = 0; i < types.size(); ++i) {
    zeros.push_back(Tiles{in(yes), loc}.zero());
    Value from = tileOfSums(no, at, i);
    sums.push_back(Tiles{in(no), loc}.load(from, stride));
  }
  scf::YieldOp::create(in(yes), loc, zeros);
  scf::YieldOp::create(in(no), loc, sums);
  frame.anchor = anchor;
  return Values(branch.getResults());
}

/// The register tile in tile registers: what lines of two by two of them hold.
void ContractionBuilder::matrixTile(Frame &frame, const TileAt &at) {
  std::int64_t line = tiling.lanes, wordBytes = 4;
  Value wide = number(frame, wordBytes);
  Value sumStride = binary(frame, '*', at.sumStep, wide);
  Values sums = loadTiles(frame, at, sumStride);
  Value zero = number(frame, 0), step = number(frame, line);
  auto loop = scf::ForOp::create(in(frame), loc, zero, at.count, step, sums);
  Operation *anchor = std::exchange(frame.anchor, loop);
  Frame inner = Frame::inside(frame, loop.getBody());
  Value word = loop.getInductionVar();
  Value rows = element(inner, at.rows, binary(inner, '*', word, at.deepStep));
  Value columns =
      element(inner, at.columns,
              binary(inner, '*', word, number(inner, tiling.width())));
  Value rowStride = number(inner, line * wordBytes);
  Value columnStride = number(inner, tiling.width() * wordBytes);
  Values left, right, now(loop.getRegionIterArgs());
  for (unsigned i = 0; i < across; ++i) {
    Value row = element(inner, rows, number(inner, i * line * line));
    Value column = element(inner, columns, number(inner, i * line));
    left.push_back(Tiles{in(inner), loc}.load(row, rowStride));
    right.push_back(Tiles{in(inner), loc}.load(column, columnStride));
  }
  for (auto [i, sum] : llvm::enumerate(now))
    sum = Tiles{in(inner), loc}.add(sum, left[i / across], right[i % across]);
  scf::YieldOp::create(in(inner), loc, now);
  frame.anchor = anchor;
  for (auto [i, sum] : llvm::enumerate(loop.getResults())) {
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
