// Bytes for truth values and small floats, gathers of what is smaller than a
// word, and tables as globals.
#include "dsl/lower/InMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

Type quern::memoryType(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  unsigned bits = element.getIntOrFloatBitWidth();
  bool asBits = bits <= 8 || element.isBF16();
  return asBits ? IntegerType::get(element.getContext(), std::max(bits, 8u))
                : element;
}

Type quern::elementOf(Value place) {
  if (auto operand = dyn_cast<qn::OperandType>(place.getType()))
    return operand.getElementType();
  return cast<MemRefType>(place.getType()).getElementType();
}

static Type like(Value value, Type element) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
}

static bool isKeptAsBits(Type element) {
  return isa<FloatType>(element) && memoryType(element) != element;
}

Value quern::fromMemory(OpBuilder &b, Location loc, Value raw, Type element) {
  if (element.isInteger(1)) {
    Value zero =
        arith::ConstantOp::create(b, loc, b.getZeroAttr(raw.getType()));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, raw, zero);
  }
  if (isKeptAsBits(element))
    return arith::BitcastOp::create(b, loc, like(raw, element), raw);
  return raw;
}

Value quern::toMemory(OpBuilder &b, Location loc, Value value, Type element) {
  Type memory = like(value, memoryType(element));
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, loc, memory, value);
  if (isKeptAsBits(element))
    return arith::BitcastOp::create(b, loc, memory, value);
  return value;
}

namespace {
/// Elements counted from an address that is a multiple of a word's.
struct FromWord {
  Value base;   ///< a pointer, or one for each lane
  Value places; ///< integers, one for each lane
};
} // namespace

static Value splat(OpBuilder &b, Location loc, Type like, std::int64_t value) {
  auto type = cast<VectorType>(like);
  Attribute number = b.getIntegerAttr(type.getElementType(), value);
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(type, number));
}

/// A pointer moved down to the word that it lies in, and by how many elements.
static std::pair<Value, Value> wordOf(OpBuilder &b, Location loc, Value pointer,
                                      unsigned bytes) {
  bool isVector = isa<VectorType>(pointer.getType());
  Type word = like(pointer, b.getI64Type());
  auto number = [&](std::int64_t value) -> Value {
    if (isVector)
      return splat(b, loc, word, value);
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  };
  Value bits = LLVM::PtrToIntOp::create(b, loc, word, pointer);
  Value behind = arith::AndIOp::create(b, loc, bits, number(3));
  Value down = arith::SubIOp::create(b, loc, number(0), behind);
  Value base = LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(),
                                   pointer, ArrayRef<LLVM::GEPArg>{down});
  if (bytes == 2)
    behind = arith::ShRUIOp::create(b, loc, behind, number(1));
  return {base, behind};
}

/// One base and short steps from it, where the pointers were made so: one
/// gather reads twice as many.
static FromWord fromWord(OpBuilder &b, Location loc, Value pointers,
                         unsigned bytes) {
  auto made = pointers.getDefiningOp<LLVM::GEPOp>();
  bool isSteps = made && !isa<VectorType>(made.getBase().getType()) &&
                 made.getElemType().isIntOrFloat() &&
                 made.getElemType().getIntOrFloatBitWidth() == 8 * bytes &&
                 made.getDynamicIndices().size() == 1;
  if (!isSteps) {
    auto [base, behind] = wordOf(b, loc, pointers, bytes);
    return {base, behind};
  }
  auto [base, behind] = wordOf(b, loc, made.getBase(), bytes);
  Value steps = made.getDynamicIndices().front();
  auto type = cast<VectorType>(steps.getType());
  if (!type.getElementType().isInteger(64))
    behind = arith::TruncIOp::create(b, loc, type.getElementType(), behind);
  behind = vector::BroadcastOp::create(b, loc, type, behind);
  return {base, arith::AddIOp::create(b, loc, steps, behind)};
}

Value quern::gatherSmall(OpBuilder &b, Location loc, VectorType type,
                         Value pointers, Value mask, Value otherwise) {
  unsigned bytes = type.getElementTypeBitWidth() / 8;
  FromWord from = fromWord(b, loc, pointers, bytes);
  Type steps = from.places.getType();
  Type words = type.clone(b.getI32Type());
  unsigned log = bytes == 2 ? 1 : 2;
  Value word =
      arith::ShRSIOp::create(b, loc, from.places, splat(b, loc, steps, log));
  Value at = LLVM::GEPOp::create(b, loc, pointers.getType(), b.getI32Type(),
                                 from.base, ArrayRef<LLVM::GEPArg>{word});
  Value read = LLVM::masked_gather::create(
      b, loc, words, at, mask, splat(b, loc, words, 0), /*alignment=*/4);
  Value part = arith::AndIOp::create(b, loc, from.places,
                                     splat(b, loc, steps, (1 << log) - 1));
  part = arith::ShLIOp::create(b, loc, part,
                               splat(b, loc, steps, bytes == 2 ? 4 : 3));
  if (steps != words)
    part = arith::TruncIOp::create(b, loc, words, part);
  read = arith::ShRUIOp::create(b, loc, read, part);
  Type bits = type.clone(b.getIntegerType(8 * bytes));
  read = arith::TruncIOp::create(b, loc, bits, read);
  if (bits != type)
    read = arith::BitcastOp::create(b, loc, type, read);
  if (!otherwise)
    return read;
  return arith::SelectOp::create(b, loc, mask, read, otherwise);
}

std::string quern::tableGlobal(OpBuilder &b, Operation *kernel, qn::LookupOp op,
                               unsigned space) {
  auto module = kernel->getParentOfType<ModuleOp>();
  auto globals = module.getOps<LLVM::GlobalOp>();
  for (LLVM::GlobalOp global : globals)
    if (global.getValueOrNull() == op.getTable())
      return global.getSymName().str();
  std::string name =
      SymbolTable::getSymbolName(kernel).str() + "_table" +
      std::to_string(std::distance(globals.begin(), globals.end()));
  auto table = cast<RankedTensorType>(op.getTable().getType());
  auto array = LLVM::LLVMArrayType::get(op.getType(), table.getNumElements());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  LLVM::GlobalOp::create(b, op.getLoc(), array, /*isConstant=*/true,
                         LLVM::Linkage::Internal, name, op.getTable(), 64,
                         space);
  return name;
}
