// Bytes for truth values and small floats, and tables as globals.
#include "dsl/lower/InMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

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
