// What is proved of integers holds: random kernels are run as they are written,
// with wrapping numbers, and every proof is looked at where it was asked for.
#include "test/dsl/RandomKernel.h"

#include "dsl/passes/Passes.h"
#include "dsl/threads/Ranges.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace quern;

namespace {

/// What is claimed of a kernel.
struct Claims {
  explicit Claims(qn::KernelOp kernel) : ranges(kernel, 32) {}
  Ranges ranges;
  llvm::DenseMap<Value, ConstantIntRanges> of;
  llvm::DenseMap<std::pair<Operation *, unsigned>, bool> proved;
};

/// One thread of a kernel, operation by operation.
class Thread {
public:
  Thread(KernelMaker &made, Claims &claims) : made(made), claims(claims) {}

  bool run();
  std::string problem;

private:
  bool block(Block &block);
  bool operation(Operation *op);
  bool loop(scf::ForOp op);
  bool read(qn::ReadOp op);
  std::optional<APInt> result(Operation *op);
  static std::optional<APInt> folded(Operation *op, ArrayRef<APInt> in);
  APInt of(Value value) { return values.find(value)->second; }
  std::int64_t number(Value value) { return of(value).getSExtValue(); }
  bool set(Value value, const APInt &number);

  KernelMaker &made;
  Claims &claims;
  llvm::DenseMap<Value, APInt> values;
  std::array<std::int64_t, 2> extents;
  std::int64_t threadNumber = 0, blockNumber = 0;
  unsigned left = 2000; ///< operations until the thread is given up
};

bool Thread::set(Value value, const APInt &number) {
  values.insert_or_assign(value, number);
  if (number.getBitWidth() == 1)
    return true;
  auto known = claims.of.find(value);
  if (known == claims.of.end())
    known = claims.of.insert({value, claims.ranges.range(value)}).first;
  const ConstantIntRanges &range = known->second;
  bool isIn = range.smin().sle(number) && range.smax().sge(number) &&
              range.umin().ule(number) && range.umax().uge(number);
  if (!isIn)
    problem = llvm::formatv("{0} is {1}, not in {2}", value, number, range);
  return isIn;
}

/// What is undefined has no value.
std::optional<APInt> Thread::folded(Operation *op, ArrayRef<APInt> in) {
  unsigned bits = op->getResult(0).getType().getIntOrFloatBitWidth();
  if (isa<arith::TruncIOp>(op))
    return in[0].trunc(bits);
  if (isa<arith::ExtSIOp>(op))
    return in[0].sext(bits);
  if (isa<arith::ExtUIOp>(op))
    return in[0].zext(bits);
  if (isa<arith::SelectOp>(op))
    return in[0].isOne() ? in[1] : in[2];
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return APInt(
        1, arith::applyCmpPredicate(compare.getPredicate(), in[0], in[1]));
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp>(op);
  if (isSigned || isa<arith::DivUIOp, arith::RemUIOp>(op))
    if (in[1].isZero() ||
        (isSigned && in[0].isMinSignedValue() && in[1].isAllOnes()))
      return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<APInt>>(op)
      .Case<arith::AddIOp>([&](auto) { return in[0] + in[1]; })
      .Case<arith::SubIOp>([&](auto) { return in[0] - in[1]; })
      .Case<arith::MulIOp>([&](auto) { return in[0] * in[1]; })
      .Case<arith::AndIOp>([&](auto) { return in[0] & in[1]; })
      .Case<arith::OrIOp>([&](auto) { return in[0] | in[1]; })
      .Case<arith::XOrIOp>([&](auto) { return in[0] ^ in[1]; })
      .Case<arith::MinSIOp>(
          [&](auto) { return llvm::APIntOps::smin(in[0], in[1]); })
      .Case<arith::MaxSIOp>(
          [&](auto) { return llvm::APIntOps::smax(in[0], in[1]); })
      .Case<arith::MinUIOp>(
          [&](auto) { return llvm::APIntOps::umin(in[0], in[1]); })
      .Case<arith::MaxUIOp>(
          [&](auto) { return llvm::APIntOps::umax(in[0], in[1]); })
      .Case<arith::ShLIOp>([&](auto) { return in[0].shl(in[1]); })
      .Case<arith::ShRSIOp>([&](auto) { return in[0].ashr(in[1]); })
      .Case<arith::ShRUIOp>([&](auto) { return in[0].lshr(in[1]); })
      .Case<arith::DivSIOp>([&](auto) { return in[0].sdiv(in[1]); })
      .Case<arith::DivUIOp>([&](auto) { return in[0].udiv(in[1]); })
      .Case<arith::RemSIOp>([&](auto) { return in[0].srem(in[1]); })
      .Case<arith::RemUIOp>([&](auto) { return in[0].urem(in[1]); })
      .Case<arith::CeilDivSIOp>([&](auto) {
        return llvm::APIntOps::RoundingSDiv(in[0], in[1], APInt::Rounding::UP);
      });
}

std::optional<APInt> Thread::result(Operation *op) {
  if (auto size = dyn_cast<qn::SizeOp>(op))
    return APInt(64, extents[size.getAxis() == "N"], true);
  if (isa<qn::ThreadOp>(op))
    return APInt(64, threadNumber);
  if (isa<qn::BlockOp>(op))
    return APInt(64, blockNumber);
  if (auto number = dyn_cast<arith::ConstantOp>(op))
    return cast<IntegerAttr>(number.getValue()).getValue();
  SmallVector<APInt, 3> in;
  for (Value operand : op->getOperands())
    in.push_back(of(operand));
  return folded(op, in);
}

bool Thread::read(qn::ReadOp op) {
  auto memory = dyn_cast<MemRefType>(op.getPlace().getType());
  for (auto [dimension, index] : llvm::enumerate(op.getIndices())) {
    auto [known, isNew] = claims.proved.try_emplace({op, dimension});
    if (isNew)
      known->second = claims.ranges.isInside(index,
                                             memory      ? ""
                                             : dimension ? "N"
                                                         : "M",
                                             memory ? 9 : 0, op);
    std::int64_t extent = memory ? 9 : extents[dimension];
    if (!known->second || (number(index) >= 0 && number(index) < extent))
      continue;
    problem = llvm::formatv("index {0} of {1} is {2}, the extent is {3}",
                            dimension, *op, number(index), extent);
    return false;
  }
  return true;
}

bool Thread::loop(scf::ForOp op) {
  APInt counter = of(op.getLowerBound()), end = of(op.getUpperBound());
  APInt step = of(op.getStep());
  for (; counter.slt(end) && left > 0; counter += step)
    if (!set(op.getInductionVar(), counter) || !block(*op.getBody()))
      return false;
  return true;
}

/// False: the thread comes to its end, or shows that something does not hold.
bool Thread::operation(Operation *op) {
  if (left == 0)
    return false;
  --left;
  if (auto access = dyn_cast<qn::ReadOp>(op))
    return read(access);
  if (auto rounds = dyn_cast<scf::ForOp>(op))
    return loop(rounds);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return block(of(branch.getCondition()).isOne() ? *branch.thenBlock()
                                                   : *branch.elseBlock());
  if (auto launch = dyn_cast<qn::LaunchOp>(op)) {
    std::int64_t blocks = number(launch.getGridX());
    if (blocks <= 0)
      return false;
    blockNumber = made.random.once(2)
                      ? blocks - 1
                      : std::uint64_t(made.random.number(64)) % blocks;
    return true;
  }
  if (op->getNumResults() == 0 || isa<qn::LocalOp>(op))
    return true;
  std::optional<APInt> number = result(op);
  return number && set(op->getResult(0), *number);
}

bool Thread::block(Block &block) {
  return llvm::all_of(block, [&](Operation &op) { return operation(&op); });
}

bool Thread::run() {
  Random &random = made.random;
  for (std::int64_t &extent : extents)
    extent = random.once(3) ? random.below(70)
                            : std::abs(random.number(random.once(2) ? 16 : 32));
  // The binder multiplies extents, which expanded tensors may have.
  std::int64_t most = made.kernel.getWide() ? INT64_MAX / 4 : INT32_MAX;
  if (made.kernel.getWide())
    extents[random.below(2)] = random.number(64) & INT64_MAX;
  extents[0] = std::min(extents[0], most);
  extents[1] =
      std::min(extents[1], most / std::max<std::int64_t>(extents[0], 1));
  for (BlockArgument argument : made.kernel.block().getArguments())
    if (argument.getType().isInteger()) {
      unsigned bits = argument.getType().getIntOrFloatBitWidth();
      values[argument] = APInt(bits, random.number(bits), true);
    }
  threadNumber = random.below(64);
  return block(made.kernel.block());
}

/// Programs of this run: QUERN_RANGES_PROGRAMS, or a slice.
unsigned programs() {
  const char *text = std::getenv("QUERN_RANGES_PROGRAMS");
  return text ? std::strtoul(text, nullptr, 10) : 3000;
}

std::uint64_t firstSeed() {
  const char *text = std::getenv("QUERN_RANGES_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 1;
}

TEST(Ranges, HoldWhereNumbersWrap) {
  DialectRegistry registry;
  registerDialects(registry);
  unsigned accesses = 0, without = 0;
  std::optional<MLIRContext> context;
  for (unsigned program = 0; program < programs(); ++program) {
    if (program % 1000 == 0) { // types and attributes pile up
      context.emplace(registry);
      context->loadAllAvailableDialects();
    }
    KernelMaker made(*context, firstSeed() + program);
    made.statements(2);
    ASSERT_TRUE(succeeded(verify(*made.module)));
    Claims claims(made.kernel);
    for (unsigned thread = 0; thread < 40; ++thread) {
      Thread one(made, claims);
      one.run();
      std::string text;
      llvm::raw_string_ostream stream(text);
      if (!one.problem.empty())
        made.module->print(stream);
      ASSERT_EQ(one.problem, "") << "seed " << firstSeed() + program << "\n"
                                 << text;
    }
    accesses += claims.proved.size();
    for (auto &[place, holds] : claims.proved)
      without += holds;
  }
  RecordProperty("accesses", accesses);
  RecordProperty("proved", without);
  std::printf("%u kernels: %u of %u indices need no check\n", programs(),
              without, accesses);
  EXPECT_GT(without, accesses / 50);
}

} // namespace
