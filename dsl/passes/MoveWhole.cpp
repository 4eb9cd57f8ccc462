// Makes complex elements that are only moved numbers of as many bits.
#include "dsl/dialect/Dialect.h"
#include "dsl/passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace quern {
#define GEN_PASS_DEF_QNMOVEWHOLE
#include "dsl/passes/Passes.h.inc"
} // namespace quern

using namespace mlir;
using namespace quern;

namespace {

/// The halves of an element.
using Halves = std::pair<Value, Value>;

class Mover {
public:
  explicit Mover(qn::RowwiseOp kernel)
      : kernel(kernel), whole(IntegerType::get(kernel.getContext(), 64)) {}
  /// Whether all complex elements of the kernel come from operands and go to
  /// results whole.
  bool isPure();
  void rewrite();

private:
  bool collectStores();
  bool isWhole(Value re, Value im);
  bool hasOtherUses() const;
  bool takes(Value re, Value im);
  Value make(OpBuilder &b, Value re, Value im);

  qn::RowwiseOp kernel;
  Type whole;
  SmallVector<BlockArgument> operands;
  SmallVector<std::pair<qn::StoreOp, qn::StoreOp>> stores;
  SetVector<Operation *> parted; ///< what makes halves, users in front
  DenseMap<Halves, Value> made;
};

} // namespace

static bool isPair(std::optional<std::uint64_t> re,
                   std::optional<std::uint64_t> im) {
  return re && im && *re == 0 && *im == 1;
}

static bool isMoved(Type type) {
  auto tensor = dyn_cast<qn::OperandType>(type);
  auto element =
      tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
  return element && element.getElementType().isF32();
}

bool Mover::takes(Value re, Value im) {
  parted.insert(re.getDefiningOp());
  parted.insert(im.getDefiningOp());
  return true;
}

/// Whether two values are the halves of an element that an operand has, or of
/// one of several.
bool Mover::isWhole(Value re, Value im) {
  if (!re || !im)
    return re == im;
  FloatAttr left, right;
  if (matchPattern(re, m_Constant(&left)) &&
      matchPattern(im, m_Constant(&right)))
    return true;
  if (auto a = re.getDefiningOp<arith::SelectOp>())
    if (auto b = im.getDefiningOp<arith::SelectOp>())
      return a.getCondition() == b.getCondition() && takes(re, im) &&
             isWhole(a.getTrueValue(), b.getTrueValue()) &&
             isWhole(a.getFalseValue(), b.getFalseValue());
  if (auto a = re.getDefiningOp<qn::JoinedOp>())
    if (auto b = im.getDefiningOp<qn::JoinedOp>())
      return isMoved(a.getOperandType()) && isPair(a.getPart(), b.getPart()) &&
             llvm::equal(a.getOperands(), b.getOperands()) &&
             a.getAxis() == b.getAxis() && takes(re, im);
  auto a = re.getDefiningOp<qn::LoadOp>(), b = im.getDefiningOp<qn::LoadOp>();
  return a && b && isMoved(a.getTensor().getType()) &&
         isPair(a.getPart(), b.getPart()) && a.getTensor() == b.getTensor() &&
         llvm::equal(a.getIndices(), b.getIndices()) &&
         a.getWhen() == b.getWhen() && a.getChecked() == b.getChecked() &&
         takes(re, im) && isWhole(a.getOutside(), b.getOutside());
}

/// The stores of each complex operand are one of each half.
bool Mover::collectStores() {
  for (BlockArgument argument : kernel.block().getArguments()) {
    if (!isMoved(argument.getType()))
      continue;
    operands.push_back(argument);
    qn::StoreOp halves[2];
    for (Operation *user : argument.getUsers()) {
      auto store = dyn_cast<qn::StoreOp>(user);
      if (!store && !isa<qn::LoadOp, qn::JoinedOp>(user))
        return false;
      if (!store)
        continue;
      qn::StoreOp &half = halves[store.getPart().value_or(0) & 1];
      if (half || store->getBlock() != &kernel.block())
        return false;
      half = store;
    }
    if (!halves[0] != !halves[1])
      return false;
    if (halves[0])
      stores.push_back({halves[0], halves[1]});
  }
  return !operands.empty();
}

bool Mover::hasOtherUses() const {
  return llvm::any_of(parted, [&](Operation *op) {
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      auto store = dyn_cast<qn::StoreOp>(user);
      return store ? !isMoved(store.getTensor().getType())
                   : !parted.contains(user);
    });
  });
}

bool Mover::isPure() {
  if (!collectStores())
    return false;
  for (auto [re, im] : stores)
    if (!isWhole(re.getValue(), im.getValue()))
      return false;
  auto isKnown = [&](Operation *user) {
    return isa<qn::StoreOp>(user) || parted.contains(user);
  };
  return !hasOtherUses() && llvm::all_of(operands, [&](BlockArgument operand) {
    return llvm::all_of(operand.getUsers(), isKnown);
  });
}

Value Mover::make(OpBuilder &b, Value re, Value im) {
  if (!re)
    return {};
  Value &value = made[{re, im}];
  if (value)
    return value;
  Location loc = re.getLoc();
  Value result;
  FloatAttr left, right;
  if (matchPattern(re, m_Constant(&left)) &&
      matchPattern(im, m_Constant(&right))) {
    APInt bits = right.getValue().bitcastToAPInt().zext(64).shl(32) |
                 left.getValue().bitcastToAPInt().zext(64);
    result = arith::ConstantOp::create(b, loc, b.getIntegerAttr(whole, bits));
  } else if (auto select = re.getDefiningOp<arith::SelectOp>()) {
    auto other = im.getDefiningOp<arith::SelectOp>();
    Value yes = make(b, select.getTrueValue(), other.getTrueValue());
    Value no = make(b, select.getFalseValue(), other.getFalseValue());
    result = arith::SelectOp::create(b, loc, select.getCondition(), yes, no);
  } else if (auto joined = re.getDefiningOp<qn::JoinedOp>()) {
    result =
        qn::JoinedOp::create(b, loc, whole, joined.getTensors(),
                             joined.getEnds(), joined.getAxis(), IntegerAttr());
  } else {
    auto load = re.getDefiningOp<qn::LoadOp>();
    Value outside =
        make(b, load.getOutside(), im.getDefiningOp<qn::LoadOp>().getOutside());
    auto moved = qn::LoadOp::create(b, loc, whole, load.getTensor(),
                                    load.getIndices(), outside, load.getWhen(),
                                    load.getChecked(), IntegerAttr());
    qn::keepUnsigned(load, 0, load.getIndices().size(), moved);
    result = moved;
  }
  return made[{re, im}] = result;
}

void Mover::rewrite() {
  for (BlockArgument operand : operands) {
    auto type = cast<qn::OperandType>(operand.getType());
    operand.setType(qn::OperandType::get(type.getContext(), whole,
                                         type.getAxes(), type.getStrides()));
  }
  for (auto [re, im] : stores) {
    Operation *last = re->isBeforeInBlock(im) ? im : re;
    OpBuilder b(last);
    made.clear();
    Value value = make(b, re.getValue(), im.getValue());
    qn::StoreOp::create(b, last->getLoc(), value, re.getTensor(),
                        IntegerAttr());
    re.erase();
    im.erase();
  }
  while (!parted.empty()) {
    const auto *unused =
        llvm::find_if(parted, [](Operation *op) { return op->use_empty(); });
    Operation *op = *unused;
    parted.erase(unused);
    op->erase();
  }
}

namespace {
struct QnMoveWholePass : quern::impl::QnMoveWholeBase<QnMoveWholePass> {
  void runOnOperation() override {
    for (qn::RowwiseOp kernel : getOperation().getOps<qn::RowwiseOp>())
      if (Mover mover(kernel); mover.isPure())
        mover.rewrite();
  }
};
} // namespace
