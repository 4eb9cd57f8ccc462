// Finds states that remember the number of an element.
#include "dsl/schedule/Ascending.h"

#include "dsl/dialect/Behind.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

/// Whether `value` is the distance from the first position along an axis.
static bool isDistance(const KernelModel &model, Value value, StringRef name) {
  Value first;
  if (auto difference = value.getDefiningOp<arith::SubIOp>()) {
    first = difference.getRhs();
    value = difference.getLhs();
  }
  if (auto index = value.getDefiningOp<qn::IndexOp>())
    return !first && index.getAxis() == name;
  auto local = value.getDefiningOp<qn::AxisOp>();
  if (!local || local.getAxis() != name)
    return false;
  return first ? first == local.getLower()
               : matchPattern(local.getLower(), m_Zero());
}

/// Whether `value` counts the positions along `names` in their order.
static bool counts(const KernelModel &model, Value value,
                   ArrayRef<Attribute> names) {
  auto last = cast<StringAttr>(names.back());
  if (names.size() == 1)
    return isDistance(model, value, last);
  auto sum = value.getDefiningOp<arith::AddIOp>();
  auto rows = sum ? sum.getLhs().getDefiningOp<arith::MulIOp>() : nullptr;
  if (!rows || !isDistance(model, sum.getRhs(), last))
    return false;
  Value length = rows.getRhs();
  qn::AxisOp local = model.localAxis(model.axisOf(last));
  auto size = length.getDefiningOp<qn::SizeOp>();
  bool isLength = local ? length == local.getUpper() &&
                              matchPattern(local.getLower(), m_Zero())
                        : size && size.getAxis() == last;
  return isLength && counts(model, rows.getLhs(), names.drop_back()) &&
         !(model.axesOf(length) & model.axesOf(rows.getLhs()));
}

/// Whether `value` is one of two, chosen by whatever.
static bool isEither(Value value, Value number, Value state) {
  return holdsBehind(value, [&](Value each) {
    if (each == state || each == number || each.getType().isInteger(1))
      return Found::Yes;
    return each.getDefiningOp<arith::SelectOp>() ? Found::IfBehind : Found::No;
  });
}

/// What a comparison gives whose left side is larger, or its right side;
/// nothing where that does not tell.
static std::optional<bool> ofLarger(arith::CmpIPredicate predicate,
                                    bool isLeft) {
  switch (predicate) {
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::sge:
    return isLeft;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::sle:
    return !isLeft;
  case arith::CmpIPredicate::ne:
    return true;
  case arith::CmpIPredicate::eq:
    return false;
  default:
    return std::nullopt;
  }
}

static bool isNegative(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) && number.isNegative();
}

/// The tests of a step that compare the number with the state.
static void addTests(Block &step, Value number, Value state,
                     SmallVectorImpl<std::pair<Value, bool>> &found) {
  for (auto test : step.getOps<arith::CmpIOp>()) {
    bool isLeft = test.getLhs() == number && test.getRhs() == state;
    if (!isLeft && (test.getLhs() != state || test.getRhs() != number))
      continue;
    if (std::optional<bool> holds = ofLarger(test.getPredicate(), isLeft))
      found.push_back({test, *holds});
  }
}

SmallVector<std::pair<Value, bool>>
quern::ascendingTests(const KernelModel &model, qn::ReduceOp op) {
  SmallVector<std::pair<Value, bool>> found;
  Block &step = op.getStep().front();
  unsigned states = op.getInits().size();
  for (auto [input, number] :
       llvm::zip_equal(op.getInputs(), step.getArguments().drop_front(states)))
    for (auto [init, state, next] :
         llvm::zip_equal(op.getInits(), step.getArguments().take_front(states),
                         step.getTerminator()->getOperands()))
      if (isNegative(init) && isEither(next, number, state) &&
          counts(model, input, op.getAxes().getValue()))
        addTests(step, number, state, found);
  return found;
}
