// Memory of a block and of a thread: arrays of the text, and places where warps
// leave their states.
#include "dsl/dialect/Refusal.h"
#include "dsl/gpu/GridEmitter.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;

static constexpr std::int64_t arrayAlignment = 16;

static std::int64_t countOf(MemRefType type) {
  return type.getNumElements() *
         (isa<ComplexType>(type.getElementType()) ? 2 : 1);
}

/// Arrays of the text, a slot of each state for each warp, and one for what the
/// first thread decides.
void GridEmitter::planShared() {
  unsigned stateCount = 0;
  bool decides = false;
  model.kernel.walk([&](Operation *op) {
    if (auto array = dyn_cast<qn::SharedOp>(op)) {
      auto type = cast<MemRefType>(array.getType());
      shared[op] = {.element = memoryType(type.getElementType()),
                    .count = countOf(type)};
    }
    if (isa<qn::CombineOp, qn::PrefixOp>(op) && model.waits(op))
      stateCount = std::max(stateCount, op->getNumResults());
    SmallVector<Value, 3> deciders;
    if (auto branch = dyn_cast<scf::IfOp>(op))
      deciders = {branch.getCondition()};
    if (auto loop = dyn_cast<scf::ForOp>(op))
      deciders = {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      deciders = {loop.getConditionOp().getCondition()};
    decides |= model.waits(op) && llvm::any_of(deciders, [&](Value value) {
                 return model.differs(value);
               });
  });
  if (stateCount)
    states = Shared{.element = b.getI64Type(),
                    .count = std::int64_t(stateCount) * warpCount()};
  if (decides)
    decision = Shared{.element = b.getI64Type(), .count = 1};
}

/// The one to begin with where there are too many.
Operation *GridEmitter::largestArray() {
  auto count = [](const auto &entry) {
    return entry.second.count * entry.second.element.getIntOrFloatBitWidth();
  };
  auto most = llvm::max_element(
      shared, [&](auto &a, auto &b) { return count(a) < count(b); });
  return most == shared.end() ? model.kernel.getOperation() : most->first;
}

/// Places everything; gives the bytes a launch asks for. A block that takes
/// much has one piece of memory, whose size only the launch says.
std::int64_t GridEmitter::placeShared(ModuleOp module, StringRef name) {
  std::int64_t bytes = 0;
  SmallVector<Shared *> all;
  for (auto &[op, array] : shared)
    all.push_back(&array);
  for (std::optional<Shared> *own : {&states, &decision})
    if (*own)
      all.push_back(&**own);
  for (Shared *array : all) {
    array->offset = bytes;
    bytes +=
        llvm::alignTo(array->count * array->element.getIntOrFloatBitWidth() / 8,
                      arrayAlignment);
  }
  if (bytes > target.sharedBytes) {
    refuse(largestArray(), "QN2057")
        << "the `shared` arrays of a block take " << bytes << " bytes, "
        << target.name << " has " << target.sharedBytes;
    valid = false;
  }
  b.setInsertionPointToStart(module.getBody());
  auto global = [&](Type type, const std::string &symbol,
                    LLVM::Linkage linkage) {
    LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/false, linkage, symbol,
                           Attribute(), arrayAlignment, 3);
  };
  bool asks = bytes > unaskedBytes && target.kind == TargetKind::Nvptx;
  if (asks) {
    dynamicShared = (name + "_shared").str();
    global(LLVM::LLVMArrayType::get(b.getI8Type(), 0), dynamicShared,
           LLVM::Linkage::External);
    return bytes;
  }
  for (auto [number, array] : llvm::enumerate(all)) {
    array->name = (name + "_shared" + Twine(number)).str();
    global(LLVM::LLVMArrayType::get(array->element, array->count), array->name,
           LLVM::Linkage::Internal);
  }
  return 0;
}

Value GridEmitter::sharedBase(const Shared &array) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext(), 3);
  if (dynamicShared.empty())
    return LLVM::AddressOfOp::create(b, loc, pointer, array.name);
  Value base = LLVM::AddressOfOp::create(b, loc, pointer, dynamicShared);
  return LLVM::GEPOp::create(
      b, loc, pointer, b.getI8Type(), base,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(array.offset)});
}

Value GridEmitter::stateSlot(unsigned number, Value of) {
  Value base = sharedBase(*states);
  Value at = arith::AddIOp::create(b, loc, of, short32(number * warpCount()));
  return LLVM::GEPOp::create(b, loc, base.getType(), b.getI64Type(), base,
                             ArrayRef<LLVM::GEPArg>{at});
}

/// An array of the thread's own, taken once where the entry begins.
Value GridEmitter::localArray(qn::LocalOp op) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(entryEnd);
  auto type = cast<MemRefType>(op.getType());
  Type pointer =
      LLVM::LLVMPointerType::get(b.getContext(), device.localSpace());
  return LLVM::AllocaOp::create(b, loc, pointer,
                                memoryType(type.getElementType()),
                                short32(countOf(type)), arrayAlignment);
}
