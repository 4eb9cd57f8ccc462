// Bytes for truth values and small floats, gathers of what is smaller than a
// word, and tables as globals.
#include "dsl/lower/InMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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
  /// Whether elements of two bytes begin one byte behind those places: a
  /// number, or one for each lane. Null for bytes.
  Value odd;
};

/// Reads elements of one or two bytes by the words that hold them.
class SmallGather {
public:
  SmallGather(OpBuilder &b, Location loc, VectorType type, Value pointers,
              Value mask)
      : b(b), loc(loc), type(type), words(type.clone(b.getI32Type())),
        bytes(type.getElementTypeBitWidth() / 8), pointers(pointers.getType()),
        mask(mask) {
    from = fromWord(pointers);
  }

  /// The elements as integers, in words.
  Value make();

private:
  Value number(Type like, std::int64_t value);
  Value asWords(Value value);
  FromWord wordOf(Value pointer);
  FromWord fromWord(Value pointers);
  Value wordsAt(Value places);
  Value acrossWords(Value low, Value shift);

  OpBuilder &b;
  Location loc;
  VectorType type, words;
  unsigned bytes;
  Type pointers;
  Value mask;
  FromWord from;
};
} // namespace

Value SmallGather::number(Type like, std::int64_t value) {
  TypedAttr attribute = b.getIntegerAttr(getElementTypeOrSelf(like), value);
  if (auto vector = dyn_cast<VectorType>(like))
    attribute = DenseElementsAttr::get(vector, attribute);
  return arith::ConstantOp::create(b, loc, attribute);
}

/// Small numbers in the type of the words.
Value SmallGather::asWords(Value value) {
  if (!getElementTypeOrSelf(value).isInteger(32))
    value = arith::TruncIOp::create(b, loc, like(value, b.getI32Type()), value);
  if (!isa<VectorType>(value.getType()))
    value = vector::BroadcastOp::create(b, loc, words, value);
  return value;
}

/// A pointer moved down to the word that it lies in, and by how much.
FromWord SmallGather::wordOf(Value pointer) {
  Type word = like(pointer, b.getI64Type());
  Value bits = LLVM::PtrToIntOp::create(b, loc, word, pointer);
  Value behind = arith::AndIOp::create(b, loc, bits, number(word, 3));
  Value down = arith::SubIOp::create(b, loc, number(word, 0), behind);
  Value base = LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(),
                                   pointer, ArrayRef<LLVM::GEPArg>{down});
  if (bytes == 1)
    return {base, behind, Value()};
  Value odd = arith::AndIOp::create(b, loc, behind, number(word, 1));
  behind = arith::ShRUIOp::create(b, loc, behind, number(word, 1));
  return {base, behind, odd};
}

/// One base and short steps from it, where the pointers were made so: one
/// gather reads twice as many.
FromWord SmallGather::fromWord(Value pointers) {
  auto made = pointers.getDefiningOp<LLVM::GEPOp>();
  bool isSteps = made && !isa<VectorType>(made.getBase().getType()) &&
                 made.getElemType().isIntOrFloat() &&
                 made.getElemType().getIntOrFloatBitWidth() == 8 * bytes &&
                 made.getDynamicIndices().size() == 1;
  if (!isSteps)
    return wordOf(pointers);
  FromWord base = wordOf(made.getBase());
  Value steps = made.getDynamicIndices().front(), behind = base.places;
  auto type = cast<VectorType>(steps.getType());
  if (!type.getElementType().isInteger(64))
    behind = arith::TruncIOp::create(b, loc, type.getElementType(), behind);
  behind = vector::BroadcastOp::create(b, loc, type, behind);
  base.places = arith::AddIOp::create(b, loc, steps, behind);
  return base;
}

/// The words that hold elements.
Value SmallGather::wordsAt(Value places) {
  Value log = number(places.getType(), bytes == 2 ? 1 : 2);
  Value word = arith::ShRSIOp::create(b, loc, places, log);
  Value at = LLVM::GEPOp::create(b, loc, pointers, b.getI32Type(), from.base,
                                 ArrayRef<LLVM::GEPArg>{word});
  return LLVM::masked_gather::create(b, loc, words, at, mask, number(words, 0),
                                     /*alignment=*/4);
}

/// Elements at odd addresses, of which some lie in two words.
Value SmallGather::acrossWords(Value low, Value shift) {
  Value odd = asWords(from.odd);
  Value bits = arith::ShLIOp::create(b, loc, odd, number(words, 3));
  shift = arith::AddIOp::create(b, loc, shift, bits);
  Type steps = from.places.getType();
  Value more = odd;
  if (steps != words)
    more = arith::ExtUIOp::create(b, loc, steps, odd);
  Value high = wordsAt(arith::AddIOp::create(b, loc, from.places, more));
  // By all 32 bits in two steps: none of them is as long as a word.
  Value left = arith::SubIOp::create(b, loc, number(words, 31), shift);
  high = arith::ShLIOp::create(b, loc, high, left);
  high = arith::ShLIOp::create(b, loc, high, number(words, 1));
  low = arith::ShRUIOp::create(b, loc, low, shift);
  return arith::OrIOp::create(b, loc, low, high);
}

Value SmallGather::make() {
  Value low = wordsAt(from.places);
  Value last = number(from.places.getType(), bytes == 2 ? 1 : 3);
  Value shift = asWords(arith::AndIOp::create(b, loc, from.places, last));
  shift =
      arith::ShLIOp::create(b, loc, shift, number(words, bytes == 2 ? 4 : 3));
  if (!from.odd)
    return arith::ShRUIOp::create(b, loc, low, shift);
  Value any = from.odd;
  if (isa<VectorType>(any.getType()))
    any = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, any);
  any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, any,
                              number(any.getType(), 0));
  auto branch = scf::IfOp::create(b, loc, TypeRange{words}, any,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, loc, acrossWords(low, shift));
  b.setInsertionPointToEnd(branch.elseBlock());
  Value inWord = arith::ShRUIOp::create(b, loc, low, shift);
  scf::YieldOp::create(b, loc, inWord);
  return branch.getResult(0);
}

Value quern::gatherSmall(OpBuilder &b, Location loc, VectorType type,
                         Value pointers, Value mask, Value otherwise) {
  Value read = SmallGather(b, loc, type, pointers, mask).make();
  Type bits = type.clone(b.getIntegerType(type.getElementTypeBitWidth()));
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
