// How a block of a launch that serves several calls finds its own.
#include "dsl/gpu/Entry.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;

/// The table is in the parameter or where that says; the map gives the block's
/// row, which is the packet of its call. Blocks behind the map's last one are
/// of the last row.
void EntryBuilder::findRow() {
  OpBuilder &b = builder;
  Type word = b.getI64Type(), half = b.getI32Type();
  Value parameter = emitter.packetPointer;
  Type pointer = parameter.getType();
  auto place = [&](Value from, Type element, LLVM::GEPArg by) -> Value {
    return LLVM::GEPOp::create(b, loc, pointer, element, from,
                               ArrayRef<LLVM::GEPArg>{by});
  };
  auto load = [&](Type type, Value from, LLVM::GEPArg by) -> Value {
    return LLVM::LoadOp::create(b, loc, type, place(from, type, by),
                                type == half ? 4 : 8);
  };
  Value address = load(word, parameter, 0);
  Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
  Value isHere =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, address, zero);
  Value far = LLVM::IntToPtrOp::create(b, loc, pointer, address);
  Value table = arith::SelectOp::create(
      b, loc, isHere, place(parameter, word, int(listHead)), far);
  Value map = place(table, b.getI8Type(), load(word, parameter, 1));
  Value number = device.blockNumber(loc);
  Value last = arith::TruncIOp::create(b, loc, half, load(word, parameter, 2));
  Value mapped = arith::MinUIOp::create(b, loc, number, last);
  // Two rows at a time: there are scalar loads of 32 bits, not of 16.
  Value rows = load(half, map, math("shrui", mapped, 1));
  Value shift = math("shli", math("andi", mapped, 1), 4);
  rows = arith::ShRUIOp::create(b, loc, rows, shift);
  Value row = math("andi", rows, mostRows - 1);
  std::size_t words = packet.words.size();
  emitter.packetPointer =
      place(table, word, math("muli", row, std::int64_t(words + rowOwn)));
  Value first = load(word, emitter.packetPointer, int(words + 1));
  first = arith::TruncIOp::create(b, loc, half, first);
  listedBlock = arith::SubIOp::create(b, loc, number, first);
}
