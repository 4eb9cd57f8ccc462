// Where code for a GPU reads and writes otherwise than code for a CPU.
#include "dsl/gpu/Device.h"
#include "dsl/lower/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;

/// Pointers in a packet lead to device memory; LLVM finds out where they go.
Value Emitter::globalPointer(Value at) {
  Location loc = at.getLoc();
  Type global = LLVM::LLVMPointerType::get(builder.getContext(), 1);
  Value loaded = LLVM::LoadOp::create(builder, loc, global, at, 8);
  return LLVM::AddrSpaceCastOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), loaded);
}

/// `position * stride` in 32 bits, which is what a GPU multiplies fast. Without
/// a stride the sum of a position and a constant stays one for addressing.
Value Emitter::shortOffset(Frame &frame, Value position, Value stride) {
  if (!stride)
    return position;
  OpBuilder &b = in(frame);
  Location loc = position.getLoc();
  Type word = b.getI32Type();
  Value offset = arith::TruncIOp::create(b, loc, word, position);
  Value step = arith::TruncIOp::create(b, loc, word, stride);
  offset = arith::MulIOp::create(b, loc, offset, step);
  return arith::ExtSIOp::create(b, loc, b.getI64Type(), offset);
}

void Device::storePast(Location loc, Value pointer, Value value) {
  Type word = builder.getI32Type();
  Value words =
      LLVM::BitcastOp::create(builder, loc, VectorType::get({4}, word), value);
  SmallVector<Value> operands{LLVM::AddrSpaceCastOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), 1),
      pointer)};
  for (std::int64_t number = 0; number < 4; ++number) {
    Value at = arith::ConstantOp::create(builder, loc,
                                         builder.getI32IntegerAttr(number));
    operands.push_back(LLVM::ExtractElementOp::create(builder, loc, words, at));
  }
  auto dialect =
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
  LLVM::InlineAsmOp::create(builder, loc, TypeRange(), operands,
                            "st.global.cs.v4.b32 [$0], {$1, $2, $3, $4};",
                            "l,r,r,r,r,~{memory}",
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::TailCallKind::None, dialect, ArrayAttr());
}

/// Whether a team stores a whole aligned vector so, to where others see it.
bool Emitter::storePast(Frame &frame, Value pointer, Value value) {
  constexpr unsigned whole = 128;
  auto vector = dyn_cast<VectorType>(value.getType());
  bool isOwn = cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
  if (!team->passesBy || isOwn || !vector ||
      vector.getNumElements() * vector.getElementTypeBitWidth() != whole)
    return false;
  in(frame);
  team->device->storePast(pointer.getLoc(), pointer, value);
  return true;
}

/// The first thread that finds an error writes all of it.
void quern::claimError(OpBuilder &builder, Value record, ValueRange parts) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = record.getLoc();
  Type word = builder.getI64Type();
  Value none =
      arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
  Value claimed = LLVM::AtomicCmpXchgOp::create(
      builder, loc, record, none, parts[0], LLVM::AtomicOrdering::monotonic,
      LLVM::AtomicOrdering::monotonic);
  claimed =
      LLVM::ExtractValueOp::create(builder, loc, claimed, ArrayRef<int64_t>{1});
  auto branch = scf::IfOp::create(builder, loc, claimed, false);
  builder.setInsertionPointToStart(branch.thenBlock());
  for (unsigned place : {1, 2}) {
    Value at = LLVM::GEPOp::create(
        builder, loc, record.getType(), word, record,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(place)});
    LLVM::StoreOp::create(builder, loc, parts[place], at, 8);
  }
}
