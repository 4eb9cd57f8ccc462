// Atomic operations as instructions, or as loops that exchange and compare.
#include "dsl/threads/AtomicUpdate.h"

#include "dsl/lower/SmallFloat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;
using qn::AtomicKind;

/// Arithmetic on small floats, which are bits in memory, in f32.
static Value smallUpdate(OpBuilder &b, Location loc, qn::AtomicOp op, Value old,
                         Value value) {
  auto type = cast<FloatType>(op.getValue().getType());
  auto widened = [&](Value bits) {
    Value small = arith::BitcastOp::create(b, loc, type, bits);
    return widenSmallFloat(b, loc, small);
  };
  Value sum = plainUpdate(b, loc, op, widened(old), widened(value), {});
  Value small = roundSmallFloat(b, loc, sum, type);
  return arith::BitcastOp::create(b, loc, old.getType(), small);
}

static bool isFloatArithmetic(AtomicKind kind) {
  return kind == AtomicKind::addf || kind == AtomicKind::minf ||
         kind == AtomicKind::maxf;
}

Value quern::plainUpdate(OpBuilder &b, Location loc, qn::AtomicOp op, Value old,
                         Value value, Value expected) {
  if (isFloatArithmetic(op.getKind()) && isa<IntegerType>(old.getType()))
    return smallUpdate(b, loc, op, old, value);
  switch (op.getKind()) {
  case AtomicKind::addi:
    return arith::AddIOp::create(b, loc, old, value);
  case AtomicKind::addf:
    return arith::AddFOp::create(b, loc, old, value);
  case AtomicKind::mins:
    return arith::MinSIOp::create(b, loc, old, value);
  case AtomicKind::minu:
    return arith::MinUIOp::create(b, loc, old, value);
  case AtomicKind::minf:
    return arith::MinimumFOp::create(b, loc, old, value);
  case AtomicKind::maxs:
    return arith::MaxSIOp::create(b, loc, old, value);
  case AtomicKind::maxu:
    return arith::MaxUIOp::create(b, loc, old, value);
  case AtomicKind::maxf:
    return arith::MaximumFOp::create(b, loc, old, value);
  case AtomicKind::andi:
    return arith::AndIOp::create(b, loc, old, value);
  case AtomicKind::ori:
    return arith::OrIOp::create(b, loc, old, value);
  case AtomicKind::xori:
    return arith::XOrIOp::create(b, loc, old, value);
  case AtomicKind::exchange:
    return value;
  case AtomicKind::cas: {
    Value same;
    if (isa<FloatType>(old.getType())) {
      Type bits = b.getIntegerType(old.getType().getIntOrFloatBitWidth());
      same = arith::CmpIOp::create(
          b, loc, arith::CmpIPredicate::eq,
          arith::BitcastOp::create(b, loc, bits, old),
          arith::BitcastOp::create(b, loc, bits, expected));
    } else {
      same = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, old,
                                   expected);
    }
    return arith::SelectOp::create(b, loc, same, value, old);
  }
  }
  llvm_unreachable("every atomic operation has its update");
}

static LLVM::AtomicOrdering orderingOf(qn::Order order) {
  switch (order) {
  case qn::Order::relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case qn::Order::acquire:
    return LLVM::AtomicOrdering::acquire;
  case qn::Order::release:
    return LLVM::AtomicOrdering::release;
  case qn::Order::acq_rel:
    return LLVM::AtomicOrdering::acq_rel;
  case qn::Order::seq_cst:
    return LLVM::AtomicOrdering::seq_cst;
  }
  llvm_unreachable("every order has its counterpart");
}

static LLVM::AtomicOrdering onFailure(LLVM::AtomicOrdering order) {
  return order == LLVM::AtomicOrdering::seq_cst
             ? order
             : LLVM::AtomicOrdering::monotonic;
}

/// Operations that the target has as one instruction, or LLVM makes of some.
static std::optional<LLVM::AtomicBinOp> instruction(AtomicKind kind) {
  switch (kind) {
  case AtomicKind::addi:
    return LLVM::AtomicBinOp::add;
  case AtomicKind::mins:
    return LLVM::AtomicBinOp::min;
  case AtomicKind::minu:
    return LLVM::AtomicBinOp::umin;
  case AtomicKind::maxs:
    return LLVM::AtomicBinOp::max;
  case AtomicKind::maxu:
    return LLVM::AtomicBinOp::umax;
  case AtomicKind::andi:
    return LLVM::AtomicBinOp::_and;
  case AtomicKind::ori:
    return LLVM::AtomicBinOp::_or;
  case AtomicKind::xori:
    return LLVM::AtomicBinOp::_xor;
  default:
    return std::nullopt;
  }
}

/// Tries until nobody came in between.
static Value exchangeLoop(OpBuilder &b, Location loc, qn::AtomicOp op,
                          Value pointer, Value value, StringRef scope) {
  Type type = value.getType();
  Type bits = b.getIntegerType(type.getIntOrFloatBitWidth());
  unsigned bytes = bits.getIntOrFloatBitWidth() / 8;
  auto asBits = [&](Value number) -> Value {
    return number.getType() == bits
               ? number
               : Value(arith::BitcastOp::create(b, loc, bits, number));
  };
  auto asNumber = [&](Value raw) -> Value {
    return type == bits ? raw
                        : Value(arith::BitcastOp::create(b, loc, type, raw));
  };
  Value first = LLVM::LoadOp::create(b, loc, bits, pointer, bytes);
  auto loop = scf::WhileOp::create(b, loc, TypeRange(bits), ValueRange(first));
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, bits, loc);
  Value seen = before->getArgument(0);
  Value next = asBits(plainUpdate(b, loc, op, asNumber(seen), value, {}));
  LLVM::AtomicOrdering order = orderingOf(op.getOrder());
  auto tried = LLVM::AtomicCmpXchgOp::create(b, loc, pointer, seen, next, order,
                                             onFailure(order), scope);
  Value now = LLVM::ExtractValueOp::create(b, loc, tried, ArrayRef<int64_t>{0});
  Value done =
      LLVM::ExtractValueOp::create(b, loc, tried, ArrayRef<int64_t>{1});
  Value again = arith::XOrIOp::create(
      b, loc, done, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
  scf::ConditionOp::create(b, loc, again, now);
  Block *after = b.createBlock(&loop.getAfter(), {}, bits, loc);
  scf::YieldOp::create(b, loc, after->getArgument(0));
  b.setInsertionPointAfter(loop);
  return asNumber(loop.getResult(0));
}

/// One instruction, or a loop where there is none.
static Value updateOnce(OpBuilder &b, Location loc, qn::AtomicOp op,
                        Value pointer, Value value, StringRef scope,
                        LLVM::AtomicOrdering order, bool hasFloatAdd) {
  auto inOne = [&](LLVM::AtomicBinOp kind, Value given) -> Value {
    return LLVM::AtomicRMWOp::create(b, loc, kind, pointer, given, order,
                                     scope);
  };
  if (auto instruction = ::instruction(op.getKind()))
    return inOne(*instruction, value);
  Type type = value.getType();
  bool isFloat = isa<FloatType>(type);
  if (hasFloatAdd && op.getKind() == AtomicKind::addf && isFloat)
    return inOne(LLVM::AtomicBinOp::fadd, value);
  if (op.getKind() != AtomicKind::exchange)
    return exchangeLoop(b, loc, op, pointer, value, scope);
  if (!isFloat)
    return inOne(LLVM::AtomicBinOp::xchg, value);
  Type bits = b.getIntegerType(type.getIntOrFloatBitWidth());
  Value old = inOne(LLVM::AtomicBinOp::xchg,
                    arith::BitcastOp::create(b, loc, bits, value));
  return arith::BitcastOp::create(b, loc, type, old);
}

/// Writes `value` where the element is `expected`.
static Value compareAndSwap(OpBuilder &b, Location loc, qn::AtomicOp op,
                            Value pointer, Value value, Value expected,
                            StringRef scope) {
  Type type = value.getType();
  bool isFloat = isa<FloatType>(type);
  Type bits = b.getIntegerType(type.getIntOrFloatBitWidth());
  auto asBits = [&](Value number) -> Value {
    return isFloat ? Value(arith::BitcastOp::create(b, loc, bits, number))
                   : number;
  };
  LLVM::AtomicOrdering order = orderingOf(op.getOrder());
  auto tried = LLVM::AtomicCmpXchgOp::create(b, loc, pointer, asBits(expected),
                                             asBits(value), order,
                                             onFailure(order), scope);
  Value old = LLVM::ExtractValueOp::create(b, loc, tried, ArrayRef<int64_t>{0});
  return isFloat ? Value(arith::BitcastOp::create(b, loc, type, old)) : old;
}

Value quern::atomicUpdate(OpBuilder &b, Location loc, qn::AtomicOp op,
                          Value pointer, Value value, Value expected,
                          StringRef scope, AtomicTraits traits) {
  using Order = LLVM::AtomicOrdering;
  Order order = orderingOf(op.getOrder());
  if (op.getKind() == AtomicKind::cas)
    return compareAndSwap(b, loc, op, pointer, value, expected, scope);
  if (!traits.isPlain)
    return updateOnce(b, loc, op, pointer, value, scope, order,
                      traits.hasFloatAdd);
  if (scope.empty())
    return exchangeLoop(b, loc, op, pointer, value, scope);
  bool isSequential = order == Order::seq_cst;
  if (order == Order::release || order == Order::acq_rel || isSequential)
    LLVM::FenceOp::create(b, loc, isSequential ? order : Order::release, scope);
  Value old = updateOnce(b, loc, op, pointer, value, scope, Order::monotonic,
                         traits.hasFloatAdd);
  if (order == Order::acquire || order == Order::acq_rel || isSequential)
    LLVM::FenceOp::create(b, loc, isSequential ? order : Order::acquire, scope);
  return old;
}
