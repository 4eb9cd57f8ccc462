// Copies of neighbours: 16 bytes at a time where addresses allow it.
#include "dsl/gpu/GridEmitter.h"

using namespace mlir;
using namespace quern;

static unsigned unitOf(Value place) {
  return isa<ComplexType>(elementOf(place)) ? 2 : 1;
}

/// Whether all that is copied is in range, and a record of the first that is
/// not.
Value GridEmitter::allThere(qn::CopyOp op, Value of, ValueRange indices) {
  Value all;
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
      record(sites.of(op, dimension, axis, ErrorSite::Kind::Index), at, extent);
      return {};
    });
    all = all ? Value(arith::AndIOp::create(b, loc, all, fits)) : fits;
  }
  return all;
}

/// Whether pieces of so many bytes can be moved from or to a place; null:
/// certainly not. Arrays of the text begin at multiples of 16 bytes.
Value GridEmitter::canMove(Value of, ValueRange indices, Value pointer,
                           unsigned bytes) {
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
    low = LLVM::PtrToIntOp::create(b, loc, word, pointer);
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

void GridEmitter::copyOneByOne(qn::CopyOp op, const Place &to,
                               const Place &from, std::uint64_t count) {
  Value toStep = stridesOf(op.getTo()).back();
  Value fromStep = stridesOf(op.getFrom()).back();
  unsigned unit = unitOf(op.getTo());
  unsigned width = to.element.getIntOrFloatBitWidth() / 8;
  for (std::uint64_t number = 0; number < count; ++number) {
    auto at = [&](const Place &of, Value step) -> Value {
      Value by = arith::MulIOp::create(
          b, loc, constant(number / unit, step.getType()), step);
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
      Value canTo =
          canMove(op.getTo(), op.getToIndices(), to.pointer, each * width);
      Value canFrom = canMove(op.getFrom(), op.getFromIndices(), from.pointer,
                              each * width);
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
