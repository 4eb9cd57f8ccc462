// Words go to the places that counts of a byte give them, from the lowest byte
// up; bytes in which all words are alike take no pass.
#include "dsl/lower/RadixSort.h"
#include "dsl/lower/MergeSort.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;
using P = arith::CmpIPredicate;

namespace {

struct RadixSorter {
  OpBuilder &b;
  Location loc;

  Value integer(std::int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  }
  Value load(Value array, Value index) {
    return LLVM::LoadOp::create(b, loc, b.getI64Type(),
                                wordAt(b, loc, array, index), 8);
  }
  void store(Value value, Value array, Value index) {
    LLVM::StoreOp::create(b, loc, value, wordAt(b, loc, array, index), 8);
  }
  template <typename Op> Value make(Value left, Value right) {
    return Op::create(b, loc, left, right);
  }
  template <typename Op> Value make(Value left, std::int64_t right) {
    return make<Op>(left, integer(right));
  }
  Value byteOf(Value word, Value shift) {
    return make<arith::AndIOp>(make<arith::ShRUIOp>(word, shift), 255);
  }
  void each(Value upper, llvm::function_ref<void(Value)> body);
  void countBytes(Value words, Value table, Value count, Value shift);
  void placesOfBytes(Value table);
  void pass(ValueRange from, ValueRange to, Value table, Value count,
            Value shift);
};

void RadixSorter::each(Value upper, llvm::function_ref<void(Value)> body) {
  auto loop =
      scf::ForOp::create(b, loc, integer(0), upper, integer(1), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void RadixSorter::countBytes(Value words, Value table, Value count,
                             Value shift) {
  each(integer(radixTable), [&](Value at) { store(integer(0), table, at); });
  each(count, [&](Value at) {
    Value byte = byteOf(load(words, at), shift);
    store(make<arith::AddIOp>(load(table, byte), 1), table, byte);
  });
}

/// Where the first element of each byte goes, instead of how many there are.
void RadixSorter::placesOfBytes(Value table) {
  auto loop = scf::ForOp::create(b, loc, integer(0), integer(radixTable),
                                 integer(1), ValueRange{integer(0)});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Value byte = loop.getInductionVar(), place = loop.getRegionIterArg(0);
  Value next = make<arith::AddIOp>(place, load(table, byte));
  store(place, table, byte);
  scf::YieldOp::create(b, loc, ValueRange{next});
}

void RadixSorter::pass(ValueRange from, ValueRange to, Value table, Value count,
                       Value shift) {
  countBytes(from[0], table, count, shift);
  placesOfBytes(table);
  each(count, [&](Value at) {
    Value word = load(from[0], at), byte = byteOf(word, shift);
    Value place = load(table, byte);
    store(make<arith::AddIOp>(place, 1), table, byte);
    for (auto [number, array] : llvm::enumerate(from))
      store(number ? load(array, at) : word, to[number], place);
  });
}

} // namespace

Value quern::varyingBits(OpBuilder &b, Location loc, Value words, Value count,
                         unsigned lanes) {
  RadixSorter sorter{b, loc};
  auto type = VectorType::get({std::int64_t(lanes)}, b.getI64Type());
  auto numbers = llvm::to_vector(llvm::seq<std::int64_t>(0, lanes));
  Value steps = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  auto spread = [&](Value value) -> Value {
    return vector::BroadcastOp::create(b, loc, type, value);
  };
  Value zero = sorter.integer(0);
  Value first = spread(sorter.load(words, zero)), end = spread(count);
  auto loop = scf::ForOp::create(b, loc, zero, count, sorter.integer(lanes),
                                 ValueRange{none});
  b.setInsertionPointToEnd(loop.getBody());
  Value at = loop.getInductionVar();
  Value own = LLVM::LoadOp::create(b, loc, type, wordAt(b, loc, words, at), 8);
  Value position = arith::AddIOp::create(b, loc, spread(at), steps);
  Value there = arith::CmpIOp::create(b, loc, P::ult, position, end);
  Value differ = arith::XOrIOp::create(b, loc, own, first);
  differ = arith::SelectOp::create(b, loc, there, differ, none);
  Value all = arith::OrIOp::create(b, loc, loop.getRegionIterArg(0), differ);
  scf::YieldOp::create(b, loc, ValueRange{all});
  b.setInsertionPointAfter(loop);
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::OR,
                                     loop.getResult(0));
}

/// A pass takes half as long as merging all runs in pairs, or ordering the
/// first ones, and its table as long as 256 elements.
Value quern::radixPays(OpBuilder &b, Location loc, Value count, Value varying,
                       std::int64_t run) {
  RadixSorter sorter{b, loc};
  constexpr std::int64_t low = 0x7f7f7f7f7f7f7f7f;
  Value bytes = sorter.make<arith::AndIOp>(varying, low);
  bytes = sorter.make<arith::AddIOp>(bytes, low);
  bytes = sorter.make<arith::OrIOp>(bytes, varying);
  bytes = sorter.make<arith::AndIOp>(bytes, ~low); // a bit for each byte
  bytes = LLVM::CtPopOp::create(b, loc, bytes.getType(), bytes);
  Value runs = sorter.make<arith::SubIOp>(count, 1);
  runs = sorter.make<arith::DivUIOp>(runs, run);
  Value zeros = LLVM::CountLeadingZerosOp::create(b, loc, runs.getType(), runs,
                                                  /*is_zero_poison=*/false);
  Value rounds = sorter.make<arith::SubIOp>(sorter.integer(65), zeros);
  Value merging = sorter.make<arith::MulIOp>(rounds, count);
  merging = sorter.make<arith::AddIOp>(merging, merging);
  Value passes = sorter.make<arith::MulIOp>(
      bytes, sorter.make<arith::AddIOp>(count, radixTable));
  return arith::CmpIOp::create(b, loc, P::ule, passes, merging);
}

SmallVector<Value, 4> quern::radixSort(OpBuilder &b, Location loc,
                                       ArrayRef<Value> from, ArrayRef<Value> to,
                                       Value table, Value count,
                                       Value varying) {
  RadixSorter sorter{b, loc};
  return inPasses(
      b, loc, varying, from, to,
      [&](Value left) -> Value {
        return arith::CmpIOp::create(b, loc, P::ne, left, sorter.integer(0));
      },
      [&](Value left, ValueRange source, ValueRange target) {
        Value shift = LLVM::CountTrailingZerosOp::create(
            b, loc, left.getType(), left, /*is_zero_poison=*/true);
        shift = sorter.make<arith::AndIOp>(shift, -8);
        sorter.pass(source, target, table, count, shift);
        Value done = sorter.make<arith::ShLIOp>(sorter.integer(255), shift);
        done = sorter.make<arith::XOrIOp>(done, -1);
        return sorter.make<arith::AndIOp>(left, done);
      });
}
