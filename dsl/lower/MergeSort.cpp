// Runs of 1, 2, 4, … elements merged in pairs, without a branch an element.
#include "dsl/lower/MergeSort.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

Value quern::wordAt(OpBuilder &b, Location loc, Value pointer, Value index) {
  return LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI64Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{index});
}

namespace {

struct Sorter {
  OpBuilder &b;
  Location loc;
  Value count, zero, one;

  Value integer(std::int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  }
  Value load(Value array, Value index) {
    return LLVM::LoadOp::create(b, loc, b.getI64Type(),
                                wordAt(b, loc, array, index), 8);
  }
  Value least(Value left, Value right) {
    return arith::MinUIOp::create(b, loc, left, right);
  }
  Value sum(Value left, Value right) {
    return arith::AddIOp::create(b, loc, left, right);
  }
  Value compare(arith::CmpIPredicate how, Value left, Value right) {
    return arith::CmpIOp::create(b, loc, how, left, right);
  }
  void mergePair(ValueRange from, ValueRange to, Value low, Value width);
  void pass(ValueRange from, ValueRange to, Value width);
};

/// Of equal words the left one goes first. Reads may run one element past the
/// right run, never past the array.
void Sorter::mergePair(ValueRange from, ValueRange to, Value low, Value width) {
  using P = arith::CmpIPredicate;
  Value middle = least(sum(low, width), count);
  Value high = least(sum(middle, width), count);
  Value last = arith::SubIOp::create(b, loc, count, one);
  auto loop =
      scf::ForOp::create(b, loc, low, high, one, ValueRange{low, middle});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Value left = loop.getRegionIterArg(0), right = loop.getRegionIterArg(1);
  Value there = least(right, last);
  Value a = load(from[0], left), c = load(from[0], there);
  Value hasLeft = compare(P::ult, left, middle);
  Value noRight = compare(P::uge, right, high);
  Value first = arith::OrIOp::create(b, loc, noRight, compare(P::ule, a, c));
  first = arith::AndIOp::create(b, loc, hasLeft, first);
  for (auto [number, array] : llvm::enumerate(from)) {
    Value x = number ? load(array, left) : a;
    Value y = number ? load(array, there) : c;
    Value chosen = arith::SelectOp::create(b, loc, first, x, y);
    LLVM::StoreOp::create(
        b, loc, chosen, wordAt(b, loc, to[number], loop.getInductionVar()), 8);
  }
  Value step = arith::ExtUIOp::create(b, loc, b.getI64Type(), first);
  Value other = arith::SubIOp::create(b, loc, one, step);
  scf::YieldOp::create(b, loc, ValueRange{sum(left, step), sum(right, other)});
}

void Sorter::pass(ValueRange from, ValueRange to, Value width) {
  Value both = sum(width, width);
  auto loop = scf::ForOp::create(b, loc, zero, count, both);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  mergePair(from, to, loop.getInductionVar(), width);
}

} // namespace

SmallVector<Value, 4> quern::inPasses(OpBuilder &b, Location loc, Value state,
                                      ArrayRef<Value> from, ArrayRef<Value> to,
                                      llvm::function_ref<Value(Value)> isLeft,
                                      Pass pass) {
  SmallVector<Value, 6> states{state};
  llvm::append_range(states, from);
  llvm::append_range(states, to);
  SmallVector<Type, 6> types(ValueRange(states).getTypes());
  SmallVector<Location, 6> places(types.size(), loc);
  auto loop = scf::WhileOp::create(b, loc, types, states);
  OpBuilder::InsertionGuard guard(b);
  Block *test = b.createBlock(&loop.getBefore(), {}, types, places);
  scf::ConditionOp::create(b, loc, isLeft(test->getArgument(0)),
                           test->getArguments());
  Block *body = b.createBlock(&loop.getAfter(), {}, types, places);
  ValueRange arrays = ValueRange(body->getArguments()).drop_front();
  ValueRange source = arrays.take_front(from.size());
  ValueRange target = arrays.drop_front(from.size());
  SmallVector<Value, 6> next{pass(body->getArgument(0), source, target)};
  llvm::append_range(next, target);
  llvm::append_range(next, source);
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value, 4>(
      loop.getResults().drop_front().take_front(from.size()));
}

SmallVector<Value, 4> quern::mergeSort(OpBuilder &b, Location loc,
                                       ArrayRef<Value> from, ArrayRef<Value> to,
                                       Value count, std::int64_t sorted) {
  Sorter sorter{b, loc, count, {}, {}};
  sorter.zero = sorter.integer(0);
  sorter.one = sorter.integer(1);
  return inPasses(
      b, loc, sorter.integer(sorted), from, to,
      [&](Value width) {
        return sorter.compare(arith::CmpIPredicate::ult, width, count);
      },
      [&](Value width, ValueRange source, ValueRange target) {
        sorter.pass(source, target, width);
        return sorter.sum(width, width);
      });
}
