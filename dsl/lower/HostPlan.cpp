// A value of the host is a 64-bit integer: narrow integers are kept with their
// sign, truth values are 0 or 1.
#include "dsl/lower/HostPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace quern;

static unsigned widthOf(Value value) {
  return value.getType().getIntOrFloatBitWidth();
}

std::uint32_t HostPlanBuilder::add(Kind kind, ArrayRef<std::uint32_t> operands,
                                   std::int64_t value) {
  HostStep step{.kind = kind, .value = value};
  llvm::copy(operands, step.operands.begin());
  made.steps.push_back(step);
  return made.steps.size() - 1;
}

std::uint32_t HostPlanBuilder::signedFrom(std::uint32_t step, unsigned width) {
  if (width >= 64)
    return step;
  return add(width == 1 ? Kind::ZeroExtend : Kind::SignExtend, {step}, width);
}

std::optional<std::uint32_t> HostPlanBuilder::stepOf(Value value) {
  if (auto found = steps.find(value); found != steps.end())
    return found->second;
  std::optional<std::uint32_t> step;
  if (APInt number; matchPattern(value, m_ConstantInt(&number)))
    step = add(Kind::Constant, {},
               number.getBitWidth() == 1 ? number.getZExtValue()
                                         : number.getSExtValue());
  else if (std::optional<unsigned> word = wordOf(value))
    step = signedFrom(add(Kind::Word, {}, *word), widthOf(value));
  else if (value.getDefiningOp())
    step = make(value.getDefiningOp());
  if (step)
    steps[value] = *step;
  return step;
}

/// Quotients that `arith` rounds towards -inf or +inf, from the one that is cut
/// off: one less or more where there is a rest of the other, or of the same,
/// sign.
std::optional<std::uint32_t>
HostPlanBuilder::divided(Operation *op, std::uint32_t a, std::uint32_t b) {
  bool isFloor = isa<arith::FloorDivSIOp>(op);
  if (!isFloor && !isa<arith::CeilDivSIOp>(op))
    return std::nullopt;
  std::uint32_t zero = add(Kind::Constant, {}, 0);
  std::uint32_t quotient = add(Kind::Divide, {a, b});
  std::uint32_t rest = add(Kind::Remainder, {a, b});
  std::uint32_t exact = add(Kind::Equal, {rest, zero});
  std::uint32_t mixed = add(Kind::Xor, {rest, b});
  std::uint32_t differs = add(Kind::Less, {mixed, zero});
  std::uint32_t one = add(Kind::Constant, {}, 1);
  std::uint32_t moves = isFloor ? differs : add(Kind::Xor, {differs, one});
  std::uint32_t by = add(Kind::Choose, {exact, zero, moves});
  return add(isFloor ? Kind::Subtract : Kind::Add, {quotient, by});
}

/// Of an integer of so many bits.
std::uint32_t HostPlanBuilder::leadingZeros(std::uint32_t step,
                                            unsigned width) {
  if (width == 64)
    return add(Kind::LeadingZeros, {step});
  step = add(Kind::ZeroExtend, {step}, width);
  std::uint32_t others = add(Kind::Constant, {}, 64 - width);
  return add(Kind::Subtract, {add(Kind::LeadingZeros, {step}), others});
}

std::uint32_t HostPlanBuilder::compared(Operation *op, std::uint32_t a,
                                        std::uint32_t b) {
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = cast<arith::CmpIOp>(op).getPredicate();
  bool isUnsigned = predicate >= Predicate::ult;
  Kind less = isUnsigned ? Kind::LessUnsigned : Kind::Less;
  auto negated = [&](std::uint32_t step) {
    return add(Kind::Xor, {step, add(Kind::Constant, {}, 1)});
  };
  switch (predicate) {
  case Predicate::eq:
    return add(Kind::Equal, {a, b});
  case Predicate::ne:
    return negated(add(Kind::Equal, {a, b}));
  case Predicate::slt:
  case Predicate::ult:
    return add(less, {a, b});
  case Predicate::sgt:
  case Predicate::ugt:
    return add(less, {b, a});
  case Predicate::sge:
  case Predicate::uge:
    return negated(add(less, {a, b}));
  case Predicate::sle:
  case Predicate::ule:
    return negated(add(less, {b, a}));
  }
  llvm_unreachable("every comparison has its steps");
}

namespace {
/// Operations that are one step, and whether they see numbers without sign.
struct Plain {
  HostStep::Kind kind;
  bool isUnsigned = false;
};
} // namespace

static std::optional<Plain> plainStep(Operation *op) {
  using Kind = HostStep::Kind;
  return llvm::TypeSwitch<Operation *, std::optional<Plain>>(op)
      .Case<arith::AddIOp>([](auto) { return Plain{Kind::Add}; })
      .Case<arith::SubIOp>([](auto) { return Plain{Kind::Subtract}; })
      .Case<arith::MulIOp>([](auto) { return Plain{Kind::Multiply}; })
      .Case<arith::DivSIOp>([](auto) { return Plain{Kind::Divide}; })
      .Case<arith::RemSIOp>([](auto) { return Plain{Kind::Remainder}; })
      .Case<arith::DivUIOp>(
          [](auto) { return Plain{Kind::DivideUnsigned, true}; })
      .Case<arith::RemUIOp>(
          [](auto) { return Plain{Kind::RemainderUnsigned, true}; })
      .Case<arith::MinSIOp>([](auto) { return Plain{Kind::Smallest}; })
      .Case<arith::MaxSIOp>([](auto) { return Plain{Kind::Largest}; })
      .Case<arith::MinUIOp>(
          [](auto) { return Plain{Kind::SmallestUnsigned, true}; })
      .Case<arith::MaxUIOp>(
          [](auto) { return Plain{Kind::LargestUnsigned, true}; })
      .Case<arith::AndIOp>([](auto) { return Plain{Kind::And}; })
      .Case<arith::OrIOp>([](auto) { return Plain{Kind::Or}; })
      .Case<arith::XOrIOp>([](auto) { return Plain{Kind::Xor}; })
      .Case<arith::ShLIOp>([](auto) { return Plain{Kind::ShiftLeft}; })
      .Case<arith::ShRSIOp>([](auto) { return Plain{Kind::ShiftRight}; })
      .Case<arith::ShRUIOp>(
          [](auto) { return Plain{Kind::ShiftRightUnsigned, true}; })
      .Default([](auto) { return std::nullopt; });
}

std::optional<std::uint32_t> HostPlanBuilder::make(Operation *op) {
  SmallVector<std::uint32_t, 3> of;
  for (Value operand : op->getOperands()) {
    auto step =
        isa<IntegerType>(operand.getType()) ? stepOf(operand) : std::nullopt;
    if (!step)
      return std::nullopt;
    of.push_back(*step);
  }
  if (isa<arith::CmpIOp>(op) || plainStep(op).value_or(Plain{}).isUnsigned) {
    bool isUnsigned =
        !isa<arith::CmpIOp>(op) ||
        cast<arith::CmpIOp>(op).getPredicate() >= arith::CmpIPredicate::ult;
    unsigned width = widthOf(op->getOperand(0));
    if (isUnsigned && width < 64)
      for (std::uint32_t &step : of)
        step = add(Kind::ZeroExtend, {step}, width);
  }
  if (isa<arith::CmpIOp>(op))
    return compared(op, of[0], of[1]);
  if (isa<math::CountLeadingZerosOp>(op))
    return leadingZeros(of[0], widthOf(op->getResult(0)));
  if (isa<arith::SelectOp>(op))
    return add(Kind::Choose, of);
  if (isa<arith::ExtSIOp>(op))
    return add(Kind::SignExtend, of, widthOf(op->getOperand(0)));
  if (isa<arith::ExtUIOp>(op))
    return add(Kind::ZeroExtend, of, widthOf(op->getOperand(0)));
  if (isa<arith::TruncIOp>(op))
    return signedFrom(of[0], widthOf(op->getResult(0)));
  std::optional<std::uint32_t> step;
  if (auto plain = plainStep(op))
    step = add(plain->kind, of);
  else if (of.size() == 2)
    step = divided(op, of[0], of[1]);
  if (!step)
    return std::nullopt;
  return signedFrom(*step, widthOf(op->getResult(0)));
}

std::optional<HostPlan> HostPlanBuilder::build(ValueRange values) {
  for (Value value : values) {
    auto step = stepOf(value);
    if (!step)
      return std::nullopt;
    made.results.push_back(*step);
  }
  return std::move(made);
}

/// The number of the word at an address, counted from `pointer`.
static std::optional<unsigned> wordNumber(Value address, Value pointer) {
  auto place = address.getDefiningOp<LLVM::GEPOp>();
  if (!place || place.getBase() != pointer ||
      !place.getDynamicIndices().empty())
    return std::nullopt;
  return place.getRawConstantIndices().front();
}

std::optional<HostPlan> quern::readPlan(LLVM::LLVMFuncOp function) {
  Value packet = function.getArgument(0), plan = function.getArgument(1);
  SmallVector<Value> written;
  for (auto store : function.getBody().front().getOps<LLVM::StoreOp>())
    if (auto number = wordNumber(store.getAddr(), plan)) {
      written.resize(std::max<std::size_t>(written.size(), *number + 1));
      written[*number] = store.getValue();
    }
  auto wordOf = [&](Value value) -> std::optional<unsigned> {
    auto load = value.getDefiningOp<LLVM::LoadOp>();
    return load ? wordNumber(load.getAddr(), packet) : std::nullopt;
  };
  std::optional<HostPlan> made = HostPlanBuilder(wordOf).build(written);
  if (!made)
    function.emitError(notOfHost);
  return made;
}

std::string quern::planOf(StringRef task) {
  task.consume_back("_task");
  return (task + "_plan").str();
}

bool quern::takePlan(ModuleOp module, LaunchEntry &launch) {
  auto made =
      readPlan(module.lookupSymbol<LLVM::LLVMFuncOp>(planOf(launch.task)));
  if (made)
    launch.plan = std::move(*made);
  return made.has_value();
}

void quern::erasePlans(ModuleOp module, const KernelAbi &abi) {
  for (const LaunchEntry &launch : abi.launches)
    if (Operation *function = module.lookupSymbol(planOf(launch.task)))
      function->erase();
}
