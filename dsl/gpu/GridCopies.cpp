// Copies of neighbours: 16 bytes at a time where addresses allow it.
#include "dsl/gpu/GridEmitter.h"
#include "dsl/lower/LoopHints.h"

using namespace mlir;
using namespace quern;

static unsigned unitOf(Value place) {
  return isa<ComplexType>(elementOf(place)) ? 2 : 1;
}

/// Whether all that is copied is in range, and a record of the first that is
/// not.
Value GridEmitter::allThere(qn::CopyOp op, Value of, ValueRange indices) {
  Value all;
  // Sites number the places of what is read behind those of what is written.
  unsigned before = of == op.getTo() && indices == op.getToIndices()
                        ? 0
                        : op.getToIndices().size();
  for (unsigned dimension = 0; dimension < indices.size(); ++dimension) {
    StringRef axis;
    Value extent;
    if (auto memory = dyn_cast<MemRefType>(of.getType())) {
      extent = constant(memory.getDimSize(dimension));
    } else {
      axis = cast<qn::OperandType>(of.getType()).getAxes()[dimension];
      extent = words[packet.extentWord(model.kernel.axisNumber(axis))];
    }
    Value first = get(indices[dimension]), last = first;
    if (dimension + 1 == indices.size())
      last = arith::AddIOp::create(b, loc, first, constant(op.getCount() - 1));
    using Predicate = arith::CmpIPredicate;
    Value begins = arith::CmpIOp::create(b, loc, Predicate::ult, first, extent);
    Value ends = arith::CmpIOp::create(b, loc, Predicate::ult, last, extent);
    Value fits = arith::AndIOp::create(b, loc, begins, ends);
    Value away =
        arith::XOrIOp::create(b, loc, fits, constant(1, b.getI1Type()));
    guarded(away, {}, [&]() -> Value {
      Value at = arith::SelectOp::create(b, loc, begins, extent, first);
      std::string name = axis.empty() ? std::to_string(dimension) : axis.str();
      record(sites.of(op, before + dimension, name, ErrorSite::Kind::Index), at,
             extent);
      return {};
    });
    all = all ? Value(arith::AndIOp::create(b, loc, all, fits)) : fits;
  }
  return all;
}

/// Whether pieces of so many bytes can be moved from or to a place; null:
/// certainly not. Arrays of the text begin at multiples of 16 bytes. Of a
/// tensor all lines must: what is asked is the same in every round of a loop.
Value GridEmitter::canMove(Value of, ValueRange indices, unsigned bytes) {
  Value low;
  Type word = b.getI64Type();
  if (isa<MemRefType>(of.getType())) {
    low = arith::MulIOp::create(
        b, loc, offsetOf(of, indices, {}),
        short32(memoryType(elementOf(of)).getIntOrFloatBitWidth() / 8));
    low = arith::ExtUIOp::create(b, loc, word, low);
  } else {
    auto strides = cast<qn::OperandType>(of.getType()).getStrides();
    if (strides.back() != StrideClass::One)
      return {};
    low = LLVM::PtrToIntOp::create(b, loc, word, get(of));
    unsigned width = memoryType(elementOf(of)).getIntOrFloatBitWidth() / 8;
    Values parts = stridesOf(of);
    parts.back() = arith::MulIOp::create(
        b, loc,
        arith::TruncIOp::create(b, loc, b.getI32Type(), get(indices.back())),
        short32(unitOf(of)));
    for (Value part : parts) {
      if (part.getType() != word)
        part = arith::ExtSIOp::create(b, loc, word, part);
      part = arith::MulIOp::create(b, loc, part, constant(width));
      low = arith::OrIOp::create(b, loc, low, part);
    }
  }
  low = arith::AndIOp::create(b, loc, low, constant(bytes - 1));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, low,
                               constant(0));
}

/// Piece after piece.
void GridEmitter::copyPieces(qn::CopyOp op, Value to, Value from, Type piece,
                             unsigned bytes, unsigned count) {
  bool isAsync =
      op.getIsAsync() && device.hasAsyncCopies() && bytes >= 4 &&
      isa<qn::OperandType>(op.getFrom().getType()) &&
      cast<LLVM::LLVMPointerType>(to.getType()).getAddressSpace() == 3;
  for (unsigned number = 0; number < count; ++number) {
    auto at = [&](Value base) -> Value {
      return LLVM::GEPOp::create(
          b, loc, base.getType(), piece, base,
          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
    };
    if (isAsync)
      device.copyAsync(loc, at(to), at(from), bytes);
    else
      LLVM::StoreOp::create(
          b, loc, LLVM::LoadOp::create(b, loc, piece, at(from), bytes), at(to),
          bytes);
  }
}

/// What is in no register goes in rounds of four where there are more: the
/// assembler would make few instructions conditional, and all would be issued.
void GridEmitter::copyOneByOne(qn::CopyOp op, const Place &to,
                               const Place &from, std::uint64_t count) {
  constexpr std::uint64_t atOnce = 4;
  auto isOwn = [](Value of) {
    auto memory = dyn_cast<MemRefType>(of.getType());
    return memory && memory.getMemorySpaceAsInt() == 5;
  };
  bool inRounds = unitOf(op.getTo()) == 1 && count > atOnce &&
                  count % atOnce == 0 && !isOwn(op.getTo()) &&
                  !isOwn(op.getFrom());
  if (!inRounds)
    return copyElements(op, to, from, {}, count);
  auto loop =
      scf::ForOp::create(b, loc, short32(0), short32(count), short32(atOnce));
  neverUnroll(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  copyElements(op, to, from, loop.getInductionVar(), atOnce);
}

/// So many elements from the number `first` (i32; null: 0) on.
void GridEmitter::copyElements(qn::CopyOp op, const Place &to,
                               const Place &from, Value first,
                               std::uint64_t count) {
  Value toStep = stridesOf(op.getTo()).back();
  Value fromStep = stridesOf(op.getFrom()).back();
  unsigned unit = unitOf(op.getTo());
  unsigned width = to.element.getIntOrFloatBitWidth() / 8;
  for (std::uint64_t number = 0; number < count; ++number) {
    auto at = [&](const Place &of, Value step) -> Value {
      Value by = constant(number / unit, step.getType());
      if (first)
        by = arith::AddIOp::create(
            b, loc, by,
            step.getType() == first.getType()
                ? first
                : arith::ExtUIOp::create(b, loc, step.getType(), first));
      by = arith::MulIOp::create(b, loc, by, step);
      by = arith::AddIOp::create(b, loc, by,
                                 constant(number % unit, step.getType()));
      return LLVM::GEPOp::create(b, loc, of.pointer.getType(), of.element,
                                 of.pointer, ArrayRef<LLVM::GEPArg>{by});
    };
    Value one =
        LLVM::LoadOp::create(b, loc, from.element, at(from, fromStep), width);
    LLVM::StoreOp::create(b, loc, one, at(to, toStep), width);
  }
}

void GridEmitter::copy(qn::CopyOp op) {
  Value there;
  if (op.getChecked())
    there = arith::AndIOp::create(
        b, loc, allThere(op, op.getTo(), op.getToIndices()),
        allThere(op, op.getFrom(), op.getFromIndices()));
  Place to = place(op, op.getTo(), op.getToIndices(), false, {});
  Place from = place(op, op.getFrom(), op.getFromIndices(), false, {});
  unsigned width = to.element.getIntOrFloatBitWidth() / 8;
  std::uint64_t count = op.getCount() * unitOf(op.getTo());
  // The largest power of two that all of it is a multiple of, up to 16 bytes.
  unsigned each = std::min<std::uint64_t>(count & -count, 16 / width);
  guarded(there, {}, [&]() -> Value {
    Value canBoth;
    if (each > 1 || (each == 1 && width >= 4)) {
      Value canTo = canMove(op.getTo(), op.getToIndices(), each * width);
      Value canFrom = canMove(op.getFrom(), op.getFromIndices(), each * width);
      if (canTo && canFrom)
        canBoth = arith::AndIOp::create(b, loc, canTo, canFrom);
    }
    Value oneByOne = canBoth ? Value(arith::XOrIOp::create(
                                   b, loc, canBoth, constant(1, b.getI1Type())))
                             : Value();
    if (canBoth)
      guarded(canBoth, {}, [&]() -> Value {
        Type piece =
            each == 1 ? to.element : Type(VectorType::get({each}, to.element));
        copyPieces(op, to.pointer, from.pointer, piece, each * width,
                   count / each);
        return {};
      });
    guarded(oneByOne, {}, [&]() -> Value {
      copyOneByOne(op, to, from, count);
      return {};
    });
    return {};
  });
}
