// Few words go through a buffer of about twice what is wanted; when it is full
// its first ones stay, and from then on only smaller words than those come in.
// Many are chosen by the word behind them, whose bits are found by counting.
#include "dsl/lower/FirstFew.h"
#include "dsl/lower/MergeSort.h"
#include "dsl/lower/RadixSort.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace quern;
using P = arith::CmpIPredicate;

namespace {

struct Picker {
  using Body = llvm::function_ref<void(Value)>;

  OpBuilder &b;
  Location loc;
  const FewMemory &memory;
  Value count, wanted;
  unsigned lanes;
  Value zero, one, width; ///< width: as many as there are lanes

  VectorType vectorType() const {
    return VectorType::get({std::int64_t(lanes)}, b.getI64Type());
  }
  Value integer(std::int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  }
  Value spread(Value value) {
    return vector::BroadcastOp::create(b, loc, vectorType(), value);
  }
  Value same(std::int64_t value) {
    return arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(vectorType(), b.getI64IntegerAttr(value)));
  }
  Value load(Value array, Value index, bool wide = false) {
    Type type = wide ? Type(vectorType()) : Type(b.getI64Type());
    return LLVM::LoadOp::create(b, loc, type, wordAt(b, loc, array, index), 8);
  }
  void store(Value value, Value array, Value index) {
    LLVM::StoreOp::create(b, loc, value, wordAt(b, loc, array, index), 8);
  }
  Value sum(Value left, Value right) {
    return arith::AddIOp::create(b, loc, left, right);
  }
  Value compare(P how, Value left, Value right) {
    return arith::CmpIOp::create(b, loc, how, left, right);
  }
  void each(Value lower, Value upper, Value step, Body body);
  Value steps();
  Value isBefore(Value other, Value own, bool orSame);
  Value counted(Value rank, Value from, Value to, Value own, bool orSame);
  Value among(Value rank, Value block, Value own);
  void rank(Value low, Value high);
  void place(Value low, Value high, Value most);
  void numberPlaces(Value end);
  /// How many words stand in front of the others, and the word that all those
  /// are smaller than which may yet belong to them.
  struct Kept {
    Value held, limit;
  };
  Kept keepRanked(Value held);
  Kept keep(Value held);
  Value append(Value held, Value at, Value goes, bool numbered);
  Value bitsOf(Value mask);
  Value countOf(Value mask);
  ValueRange admit(Kept kept, Value next, Value room, bool orSame = false);
  void endVector(Value held);
  Value lastOfLanes();
  ValueRange firstStretch(Value room);
  Value fewest();
  Value below(Value word, Value among);
  ValueRange wordBehind(Value among);
  Kept choose(Value among, bool numbered);
  Value sortAll(Value held);
  Value most();
};

/// A loop without states.
void Picker::each(Value lower, Value upper, Value step, Body body) {
  auto loop = scf::ForOp::create(b, loc, lower, upper, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

/// 0, 1, 2, … in the lanes.
Value Picker::steps() {
  auto numbers = llvm::to_vector(llvm::seq<std::int64_t>(0, lanes));
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(vectorType(), ArrayRef(numbers)));
}

Value Picker::isBefore(Value other, Value own, bool orSame) {
  return compare(orSame ? P::ule : P::ult, other, own);
}

/// `rank` and how many words of whole vectors go before `own`.
Value Picker::counted(Value rank, Value from, Value to, Value own,
                      bool orSame) {
  auto loop = scf::ForOp::create(b, loc, from, to, width, ValueRange{rank});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Value now = loop.getRegionIterArg(0);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Value at = sum(loop.getInductionVar(), integer(lane));
    Value goes = isBefore(spread(load(memory.words, at)), own, orSame);
    now = sum(now, arith::ExtUIOp::create(b, loc, vectorType(), goes));
  }
  scf::YieldOp::create(b, loc, ValueRange{now});
  return loop.getResult(0);
}

/// The same among the words of one vector: equal ones in front count.
Value Picker::among(Value rank, Value block, Value own) {
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Value other = spread(load(memory.words, sum(block, integer(lane))));
    Value behind = compare(P::ugt, steps(), same(lane));
    Value goes =
        arith::SelectOp::create(b, loc, behind, isBefore(other, own, true),
                                isBefore(other, own, false));
    rank = sum(rank, arith::ExtUIOp::create(b, loc, vectorType(), goes));
  }
  return rank;
}

/// Counts for each word of a stretch how many of it go before. Behind the last
/// word of all stand some that go before none.
void Picker::rank(Value low, Value high) {
  each(low, high, width, [&](Value block) {
    Value own = load(memory.words, block, /*wide=*/true), rank = same(0);
    if (!memory.places) {
      rank = counted(rank, low, high, own, false);
    } else {
      rank = counted(rank, low, block, own, true);
      rank = among(rank, block, own);
      rank = counted(rank, sum(block, width), high, own, false);
    }
    store(rank, memory.spare, block);
  });
}

/// Puts the words of a stretch where their ranks say; of ranks from `most` on
/// the place does not matter.
void Picker::place(Value low, Value high, Value most) {
  each(low, high, one, [&](Value at) {
    Value rank = load(memory.spare, at);
    rank = sum(low, arith::MinUIOp::create(b, loc, rank, most));
    store(load(memory.words, at), memory.first, rank);
    if (memory.places)
      store(load(memory.places, at), memory.firstPlaces, rank);
  });
}

void Picker::numberPlaces(Value end) {
  if (memory.places)
    each(zero, end, width,
         [&](Value at) { store(sum(spread(at), steps()), memory.places, at); });
}

/// The first words to the front; gives how many, and the last of them.
Picker::Kept Picker::keepRanked(Value held) {
  rank(zero, held);
  place(zero, held, wanted);
  each(zero, wanted, one, [&](Value at) {
    store(load(memory.first, at), memory.words, at);
    if (memory.places)
      store(load(memory.firstPlaces, at), memory.places, at);
  });
  Value last = arith::SubIOp::create(b, loc, wanted, one);
  return {wanted, load(memory.words, last)};
}

/// The same by the word behind them, which many words find sooner.
Picker::Kept Picker::keep(Value held) {
  Type word = b.getI64Type();
  auto branch = scf::IfOp::create(b, loc, TypeRange{word, word},
                                  compare(P::ugt, wanted, integer(3L * lanes)),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (bool isMany : {true, false}) {
    b.setInsertionPointToStart(isMany ? branch.thenBlock()
                                      : branch.elseBlock());
    Kept kept = isMany ? choose(held, /*numbered=*/true) : keepRanked(held);
    scf::YieldOp::create(b, loc, ValueRange{kept.held, kept.limit});
  }
  return {branch.getResult(0), branch.getResult(1)};
}

Value Picker::bitsOf(Value mask) {
  return LLVM::BitcastOp::create(b, loc, b.getIntegerType(lanes), mask);
}

Value Picker::countOf(Value mask) {
  Value bits = bitsOf(mask);
  bits = LLVM::CtPopOp::create(b, loc, bits.getType(), bits);
  return arith::ExtUIOp::create(b, loc, b.getI64Type(), bits);
}

/// Puts the words of a vector that `goes` says behind the ones that are held;
/// gives how many are held then. Those that are not `numbered` stand where they
/// were given.
Value Picker::append(Value held, Value at, Value goes, bool numbered) {
  Value mask = bitsOf(goes);
  Value none =
      arith::ConstantOp::create(b, loc, b.getIntegerAttr(mask.getType(), 0));
  auto branch =
      scf::IfOp::create(b, loc, TypeRange{b.getI64Type()},
                        compare(P::ne, mask, none), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, ValueRange{held});
  b.setInsertionPointToStart(branch.thenBlock());
  auto put = [&](Value vector, Value array) {
    Value packed = LLVM::CallIntrinsicOp::create(
                       b, loc, vectorType(),
                       b.getStringAttr("llvm.experimental.vector.compress"),
                       ValueRange{vector, goes, vector})
                       .getResult(0);
    store(packed, array, held);
  };
  put(load(memory.words, at, /*wide=*/true), memory.words);
  if (memory.places)
    put(numbered ? load(memory.places, at, /*wide=*/true)
                 : sum(spread(at), steps()),
        memory.places);
  scf::YieldOp::create(b, loc, ValueRange{sum(held, countOf(goes))});
  return branch.getResult(0);
}

/// Fills the buffer from the words from `next` on; gives how many are held, and
/// the first word that was not looked at.
ValueRange Picker::admit(Kept kept, Value next, Value room, bool orSame) {
  Value limit = spread(kept.limit);
  Type integer = b.getI64Type();
  auto loop = scf::WhileOp::create(b, loc, TypeRange{integer, integer},
                                   ValueRange{kept.held, next});
  OpBuilder::InsertionGuard guard(b);
  Block *test =
      b.createBlock(&loop.getBefore(), {}, {integer, integer}, {loc, loc});
  Value held = test->getArgument(0), at = test->getArgument(1);
  Value goesOn = arith::AndIOp::create(b, loc, compare(P::ult, at, count),
                                       compare(P::ule, sum(held, width), room));
  scf::ConditionOp::create(b, loc, goesOn, test->getArguments());
  Block *body =
      b.createBlock(&loop.getAfter(), {}, {integer, integer}, {loc, loc});
  at = body->getArgument(1);
  Value goes = isBefore(load(memory.words, at, /*wide=*/true), limit, orSame);
  held = append(body->getArgument(0), at, goes, /*numbered=*/false);
  scf::YieldOp::create(b, loc, ValueRange{held, sum(at, width)});
  return loop.getResults();
}

/// Words that go before none in what is left of the last vector that is held.
void Picker::endVector(Value held) {
  Value rest = arith::AndIOp::create(b, loc, held, integer(lanes - 1));
  Value block = arith::SubIOp::create(b, loc, held, rest);
  Value last = spread(arith::SubIOp::create(b, loc, rest, one));
  Value words =
      arith::SelectOp::create(b, loc, compare(P::ugt, steps(), last), same(-1),
                              load(memory.words, block, /*wide=*/true));
  store(words, memory.words, block);
}

/// A word that the wanted ones are not behind, if they are no more than lanes:
/// as many of the lanes' own smallest words are not behind it.
Value Picker::lastOfLanes() {
  auto loop =
      scf::ForOp::create(b, loc, zero, count, width, ValueRange{same(-1)});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Value words = load(memory.words, loop.getInductionVar(), /*wide=*/true);
    Value least =
        arith::MinUIOp::create(b, loc, loop.getRegionIterArg(0), words);
    scf::YieldOp::create(b, loc, ValueRange{least});
  }
  Value least = loop.getResult(0), rank = same(0);
  store(least, memory.spare, zero);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Value other = spread(load(memory.spare, integer(lane)));
    Value goes = isBefore(other, least, /*orSame=*/true);
    rank = sum(rank, arith::ExtUIOp::create(b, loc, vectorType(), goes));
  }
  Value enough = compare(P::uge, rank, spread(wanted));
  Value chosen = arith::SelectOp::create(b, loc, enough, least, same(-1));
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::MINUI,
                                     chosen);
}

/// What is in the buffer first, and the first word that was not looked at.
ValueRange Picker::firstStretch(Value room) {
  Value isLong = arith::AndIOp::create(b, loc, compare(P::ult, room, count),
                                       compare(P::ule, wanted, width));
  Type word = b.getI64Type();
  auto branch = scf::IfOp::create(b, loc, TypeRange{word, word}, isLong,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  ValueRange states = admit({zero, lastOfLanes()}, zero, room, /*orSame=*/true);
  endVector(states.front());
  scf::YieldOp::create(b, loc, states);
  b.setInsertionPointToStart(branch.elseBlock());
  Value start = arith::MinUIOp::create(b, loc, room, count);
  numberPlaces(start);
  scf::YieldOp::create(b, loc, ValueRange{start, start});
  return branch.getResults();
}

/// The first ones by the buffer. To count costs its square, but the steps do
/// not wait for each other.
Value Picker::fewest() {
  // Whole vectors: twice what is wanted, and one more.
  Value room = sum(sum(wanted, wanted), integer(2 * lanes - 1));
  room = arith::AndIOp::create(b, loc, room, integer(-std::int64_t(lanes)));
  Type word = b.getI64Type();
  auto loop =
      scf::WhileOp::create(b, loc, TypeRange{word, word}, firstStretch(room));
  OpBuilder::InsertionGuard guard(b);
  Block *test = b.createBlock(&loop.getBefore(), {}, {word, word}, {loc, loc});
  scf::ConditionOp::create(b, loc, compare(P::ult, test->getArgument(1), count),
                           test->getArguments());
  Block *body = b.createBlock(&loop.getAfter(), {}, {word, word}, {loc, loc});
  Kept kept = keep(body->getArgument(0));
  ValueRange states = admit(kept, body->getArgument(1), room);
  endVector(states.front());
  scf::YieldOp::create(b, loc, states);
  b.setInsertionPointAfter(loop);
  rank(zero, loop.getResult(0));
  place(zero, loop.getResult(0), wanted);
  return memory.places ? memory.firstPlaces : memory.first;
}

/// How many words are smaller, among so many.
Value Picker::below(Value word, Value among) {
  Value limit = spread(word);
  auto loop =
      scf::ForOp::create(b, loc, zero, among, width, ValueRange{same(0)});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Value words = load(memory.words, loop.getInductionVar(), /*wide=*/true);
  Value less = arith::ExtUIOp::create(b, loc, vectorType(),
                                      compare(P::ult, words, limit));
  scf::YieldOp::create(b, loc, ValueRange{sum(loop.getRegionIterArg(0), less)});
  b.setInsertionPointAfter(loop);
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD,
                                     loop.getResult(0));
}

/// The largest word that no more than the wanted ones are below, or one between
/// them and the next; and how many are below it. Its bits are found from the
/// highest down.
ValueRange Picker::wordBehind(Value among) {
  Value top = integer(std::numeric_limits<std::int64_t>::min());
  Type word = b.getI64Type();
  SmallVector<Type, 3> types(3, word);
  SmallVector<Location, 3> places(3, loc);
  auto loop = scf::WhileOp::create(b, loc, types, ValueRange{zero, zero, top});
  OpBuilder::InsertionGuard guard(b);
  Block *test = b.createBlock(&loop.getBefore(), {}, types, places);
  Value goesOn = arith::AndIOp::create(
      b, loc, compare(P::ne, test->getArgument(1), wanted),
      compare(P::ne, test->getArgument(2), zero));
  scf::ConditionOp::create(b, loc, goesOn, test->getArguments());
  Block *body = b.createBlock(&loop.getAfter(), {}, types, places);
  Value found = body->getArgument(0), bit = body->getArgument(2);
  Value trial = arith::OrIOp::create(b, loc, found, bit);
  Value less = below(trial, among);
  Value fits = compare(P::ule, less, wanted);
  found = arith::SelectOp::create(b, loc, fits, trial, found);
  less = arith::SelectOp::create(b, loc, fits, less, body->getArgument(1));
  bit = arith::ShRUIOp::create(b, loc, bit, one);
  scf::YieldOp::create(b, loc, ValueRange{found, less, bit});
  return loop.getResults().drop_back();
}

/// Leaves the wanted of so many words, and perhaps a few that are equal to
/// their last, in front of the others.
Picker::Kept Picker::choose(Value among, bool numbered) {
  ValueRange found = wordBehind(among);
  Value limit = spread(found[0]);
  Value spare = arith::SubIOp::create(b, loc, wanted, found[1]);
  auto loop =
      scf::ForOp::create(b, loc, zero, among, width, ValueRange{zero, zero});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Value at = loop.getInductionVar(), equals = loop.getRegionIterArg(1);
  Value words = load(memory.words, at, /*wide=*/true);
  Value isEqual = compare(P::eq, words, limit);
  Value wantsMore = compare(P::ult, equals, spare);
  auto mask = VectorType::get({std::int64_t(lanes)}, b.getI1Type());
  Value more = arith::AndIOp::create(
      b, loc, isEqual, vector::BroadcastOp::create(b, loc, mask, wantsMore));
  Value goes =
      arith::OrIOp::create(b, loc, more, compare(P::ult, words, limit));
  Value held = append(loop.getRegionIterArg(0), at, goes, numbered);
  scf::YieldOp::create(b, loc, ValueRange{held, sum(equals, countOf(isEqual))});
  b.setInsertionPointAfter(loop);
  return {loop.getResult(0), found[0]};
}

/// By passes over the bytes that differ, or by runs that are put in order by
/// counting, then merged.
Value Picker::sortAll(Value held) {
  std::int64_t run = std::int64_t(8) * lanes;
  SmallVector<Value, 2> words{memory.words}, room{memory.first};
  if (memory.places) {
    words.push_back(memory.places);
    room.push_back(memory.firstPlaces);
  }
  Value varying = varyingBits(b, loc, memory.words, held, lanes);
  if (!memory.places) // places in the low half are in order
    varying = arith::AndIOp::create(b, loc, varying, integer(-1L << 32));
  auto branch = scf::IfOp::create(b, loc, TypeRange{memory.words.getType()},
                                  radixPays(b, loc, held, varying, run),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value sorted =
      radixSort(b, loc, words, room, memory.table, held, varying).back();
  scf::YieldOp::create(b, loc, sorted);
  b.setInsertionPointToStart(branch.elseBlock());
  each(zero, held, integer(run), [&](Value low) {
    Value high = arith::MinUIOp::create(b, loc, sum(low, integer(run)), held);
    rank(low, high);
    place(low, high, integer(run));
  });
  sorted = mergeSort(b, loc, room, words, held, run).back();
  scf::YieldOp::create(b, loc, sorted);
  return branch.getResult(0);
}

/// Any number of words.
Value Picker::most() {
  Value isAll = compare(P::eq, wanted, count);
  auto branch = scf::IfOp::create(b, loc, TypeRange{b.getI64Type()}, isAll,
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    numberPlaces(count);
    scf::YieldOp::create(b, loc, ValueRange{count});
    b.setInsertionPointToStart(branch.elseBlock());
    Value held = choose(count, /*numbered=*/false).held;
    store(same(-1), memory.words, held);
    scf::YieldOp::create(b, loc, ValueRange{held});
  }
  return sortAll(branch.getResult(0));
}

} // namespace

unsigned quern::fewSlack(unsigned lanes) { return 2 * lanes; }

Value quern::findFirst(OpBuilder &b, Location loc, const FewMemory &memory,
                       Value count, Value wanted, unsigned lanes) {
  Picker picker{b, loc, memory, count, wanted, lanes, {}, {}, {}};
  picker.zero = picker.integer(0);
  picker.one = picker.integer(1);
  picker.width = picker.integer(lanes);
  picker.store(picker.same(-1), memory.words, count);
  Value isFew =
      picker.compare(P::ule, wanted, picker.integer(std::int64_t(16) * lanes));
  auto branch =
      scf::IfOp::create(b, loc, TypeRange{memory.words.getType()}, isFew,
                        /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, ValueRange{picker.fewest()});
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, ValueRange{picker.most()});
  return branch.getResult(0);
}
