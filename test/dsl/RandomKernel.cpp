// Random kernels: values, conditions, branches, loops and reads.
#include "test/dsl/RandomKernel.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace quern;

static constexpr std::array<unsigned, 4> widths = {8, 16, 32, 64};
/// Where the extents stand among the values: behind the scalar arguments.
static constexpr unsigned firstSize = 8;

KernelMaker::KernelMaker(MLIRContext &context, std::uint64_t seed)
    : random(seed), b(&context), loc(b.getUnknownLoc()) {
  const char *grids[] = {"%m", "%blocks", "%a3", "%c64"};
  std::string text = llvm::formatv(
      R"(qn.kernel @k axes [M, N] {0} (%x: !qn.tensor<f32, [M, N:1]>,
             %a0: i8, %b0: i8, %a1: i16, %b1: i16, %a2: i32, %b2: i32,
             %a3: i64, %b3: i64) {
           %m = qn.size M
           %c1 = arith.constant 1 : i64
           %c64 = arith.constant 64 : i64
           %blocks = arith.ceildivsi %m, %c64 : i64
           qn.launch grid({1}, %c1, %c1) block(%c64, %c1, %c1)
         })",
      random.once(4) ? "wide" : "", grids[random.below(4)]);
  module = parseSourceString<ModuleOp>(text, &context);
  kernel = *module->getOps<qn::KernelOp>().begin();
  for (BlockArgument argument : kernel.block().getArguments())
    if (argument.getType().isInteger())
      pool.push_back(argument);
  b.setInsertionPointToEnd(&kernel.block());
  for (const char *axis : {"M", "N"})
    pool.push_back(
        qn::SizeOp::create(b, loc, b.getI64Type(), b.getStringAttr(axis)));
  pool.push_back(
      qn::ThreadOp::create(b, loc, b.getI64Type(), qn::Dimension::x));
  pool.push_back(qn::BlockOp::create(b, loc, b.getI64Type(), qn::Dimension::x));
  pool.push_back(
      arith::MulIOp::create(b, loc, pool[firstSize], pool[firstSize + 1]));
  array = qn::LocalOp::create(b, loc,
                              MemRefType::get({9}, b.getF32Type(), AffineMap(),
                                              b.getI64IntegerAttr(5)));
}

/// A value that is there.
Value KernelMaker::some(unsigned bits) {
  Values fitting;
  for (Value value : pool)
    if (value.getType().isInteger(bits))
      fitting.push_back(value);
  if (fitting.empty() || random.once(6))
    return constant(random.number(bits), bits);
  // What was made last is what is looked at.
  unsigned count = fitting.size();
  unsigned from = random.once(2) && count > 4 ? count - 4 : 0;
  return fitting[from + random.below(count - from)];
}

Value KernelMaker::arithmetic(unsigned bits) {
  Value left = some(bits);
  Value right =
      random.once(2) ? constant(random.number(bits), bits) : some(bits);
  auto make = [&](auto op) -> Value {
    return decltype(op)::create(b, loc, left, right);
  };
  switch (random.below(13)) {
  case 0:
  case 1:
    return make(arith::AddIOp());
  case 2:
    return make(arith::SubIOp());
  case 3:
    return make(arith::MulIOp());
  case 4:
    return make(arith::AndIOp());
  case 5:
    return make(arith::OrIOp());
  case 6:
    return make(arith::XOrIOp());
  case 7:
    return make(arith::MinSIOp());
  case 8:
    return make(arith::MaxSIOp());
  case 9:
    return make(arith::MinUIOp());
  case 10:
    return make(arith::MaxUIOp());
  case 11:
    return arith::SelectOp::create(b, loc, condition(), left, right);
  default:
    right = constant(random.below(bits), bits);
    return random.once(3)   ? make(arith::ShLIOp())
           : random.once(2) ? make(arith::ShRSIOp())
                            : make(arith::ShRUIOp());
  }
}

Value KernelMaker::resized(unsigned bits) {
  unsigned from = widths[random.below(widths.size())];
  Value value = some(from);
  Type type = b.getIntegerType(bits);
  if (from == bits)
    return value;
  if (from > bits)
    return arith::TruncIOp::create(b, loc, type, value);
  return random.once(2) ? Value(arith::ExtSIOp::create(b, loc, type, value))
                        : Value(arith::ExtUIOp::create(b, loc, type, value));
}

Value KernelMaker::divided(unsigned bits) {
  Value left = some(bits), right = some(bits);
  auto make = [&](auto op) -> Value {
    return decltype(op)::create(b, loc, left, right);
  };
  switch (random.below(5)) {
  case 0:
    return make(arith::DivSIOp());
  case 1:
    return make(arith::DivUIOp());
  case 2:
    return make(arith::RemSIOp());
  case 3:
    return make(arith::RemUIOp());
  default:
    return make(arith::CeilDivSIOp());
  }
}

Value KernelMaker::made(unsigned bits) {
  Value value = random.once(4)   ? resized(bits)
                : random.once(5) ? divided(bits)
                                 : arithmetic(bits);
  pool.push_back(value);
  return value;
}

/// The value, or one some steps away.
Value KernelMaker::near(Value value) {
  unsigned bits = value.getType().getIntOrFloatBitWidth();
  if (random.once(2))
    return value;
  Value by = constant(random.once(4) ? random.number(bits)
                                     : std::int64_t(random.below(9)) - 4,
                      bits);
  return random.once(2) ? Value(arith::AddIOp::create(b, loc, value, by))
                        : Value(arith::SubIOp::create(b, loc, value, by));
}

Value KernelMaker::condition() {
  unsigned bits = widths[random.once(2) ? 3 : random.below(widths.size())];
  Value left = near(some(bits)), right = near(some(bits));
  if (random.once(3))
    right = constant(0, bits);
  auto predicate = static_cast<arith::CmpIPredicate>(random.below(10));
  if (random.once(2))
    predicate =
        random.once(2) ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sge;
  Value holds = arith::CmpIOp::create(b, loc, predicate, left, right);
  if (random.once(4)) {
    Value other = condition();
    holds = random.once(2) ? Value(arith::AndIOp::create(b, loc, holds, other))
                           : Value(arith::OrIOp::create(b, loc, holds, other));
  }
  if (random.once(8))
    holds = arith::XOrIOp::create(b, loc, holds, constant(1, 1));
  return holds;
}

/// An extent of what is read.
Value KernelMaker::limit() {
  if (random.once(3))
    return constant(9, 64);
  return pool[firstSize + random.below(2)];
}

/// What keeps an index, or its neighbour, within an extent, or nearly.
Value KernelMaker::guard(Value index) {
  using Predicate = arith::CmpIPredicate;
  Predicate below[] = {Predicate::slt, Predicate::sle, Predicate::ult};
  Value holds = arith::CmpIOp::create(b, loc, below[random.below(3)],
                                      near(index), near(limit()));
  if (random.once(3))
    return holds;
  Value least = constant(random.below(3), 64);
  Value isFrom =
      arith::CmpIOp::create(b, loc, Predicate::sge, near(index), least);
  return arith::AndIOp::create(b, loc, isFrom, holds);
}

void KernelMaker::read() {
  auto index = [&] {
    Value value = guarded && !random.once(3) ? guarded : some(64);
    return near(value);
  };
  bool isOwn = random.once(3);
  Values indices{index()};
  if (!isOwn)
    indices.push_back(index());
  qn::ReadOp::create(b, loc, b.getF32Type(),
                     isOwn ? array : Value(kernel.block().getArgument(0)),
                     indices, true, IntegerAttr());
}

void KernelMaker::branch(unsigned depth) {
  Value index = random.once(3) ? Value() : some(64);
  Value holds = index ? guard(index) : condition();
  auto made = scf::IfOp::create(b, loc, holds, /*withElseRegion=*/true);
  Value outside = std::exchange(guarded, index ? index : guarded);
  for (Block *side : {made.thenBlock(), made.elseBlock()}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(side);
    statements(depth);
  }
  guarded = outside;
}

void KernelMaker::loop(unsigned depth) {
  Value step =
      random.once(4)
          ? some(64)
          : constant(std::int64_t(1) << (random.once(2) ? random.below(3)
                                                        : random.below(63)),
                     64);
  auto made = scf::ForOp::create(b, loc, near(some(64)), near(some(64)), step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(made.getBody());
  pool.push_back(made.getInductionVar());
  statements(depth);
  pool.pop_back();
}

void KernelMaker::statements(unsigned depth) {
  unsigned seen = pool.size();
  for (unsigned count = 2 + random.below(4); count > 0; --count) {
    made(widths[random.once(2) ? 3 : random.below(widths.size())]);
    if (random.once(2))
      read();
    if (depth > 0 && random.once(2))
      random.once(4) ? loop(depth - 1) : branch(depth - 1);
  }
  read();
  pool.truncate(seen);
}
