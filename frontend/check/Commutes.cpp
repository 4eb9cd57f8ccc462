// Reads a `merge` beside itself with its states exchanged.
#include "frontend/check/Commutes.h"

#include "llvm/ADT/DenseMap.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

namespace {

/// Operators whose result is the same for exchanged operands, to the bit.
bool isSymmetric(BinaryOperator op) {
  switch (op) {
  case BinaryOperator::Add:
  case BinaryOperator::Mul:
  case BinaryOperator::BitAnd:
  case BinaryOperator::BitOr:
  case BinaryOperator::BitXor:
  case BinaryOperator::And:
  case BinaryOperator::Or:
  case BinaryOperator::Equal:
  case BinaryOperator::NotEqual:
    return true;
  default:
    return false;
  }
}

/// `a < b` is `b > a`.
BinaryOperator mirrored(BinaryOperator op) {
  switch (op) {
  case BinaryOperator::Less:
    return BinaryOperator::Greater;
  case BinaryOperator::LessEqual:
    return BinaryOperator::GreaterEqual;
  case BinaryOperator::Greater:
    return BinaryOperator::Less;
  case BinaryOperator::GreaterEqual:
    return BinaryOperator::LessEqual;
  default:
    return op;
  }
}

/// Operands that may be exchanged: the first so many.
unsigned symmetricOperands(Builtin builtin) {
  switch (builtin) {
  case Builtin::Min:
  case Builtin::Max:
  case Builtin::MulHi:
  case Builtin::Fma:
    return 2;
  default:
    return 0;
  }
}

/// Two readings of one body: as it is written, and with its first two
/// variables exchanged.
class Readings {
public:
  explicit Readings(const ReductionPart &merge)
      : a(merge.variables[0]), b(merge.variables[1]) {}

  bool agree(Block block);

private:
  bool agree(const Statement &statement);
  const Expression *meaning(const Expression *expression) const;
  bool same(const Expression *one, const Expression *other);
  bool sameNodes(const Expression &one, const Expression &other);
  bool sameAll(Expressions some, Expressions others, unsigned from = 0);
  bool exchanged(Expressions some, Expressions others);

  template <typename Node> bool of(const Node &, const Node &) { return false; }
  bool of(const VariableExpression &one, const VariableExpression &other);
  bool of(const BinaryExpression &one, const BinaryExpression &other);
  bool of(const BuiltinExpression &one, const BuiltinExpression &other);
  bool of(const CallExpression &one, const CallExpression &other);
  bool of(const ConstantExpression &one, const ConstantExpression &other) {
    return one.value.isSame(other.value);
  }
  bool of(const ConstantParameterExpression &one,
          const ConstantParameterExpression &other) {
    return one.parameter == other.parameter && same(one.element, other.element);
  }
  bool of(const TupleExpression &one, const TupleExpression &other) {
    return sameAll(one.elements, other.elements);
  }
  bool of(const FieldExpression &one, const FieldExpression &other) {
    return one.index == other.index && same(one.base, other.base);
  }
  bool of(const UnaryExpression &one, const UnaryExpression &other) {
    return one.op == other.op && same(one.operand, other.operand);
  }
  bool of(const CastExpression &one, const CastExpression &other) {
    return same(one.operand, other.operand);
  }
  bool of(const SelectExpression &one, const SelectExpression &other) {
    return same(one.condition, other.condition) && same(one.left, other.left) &&
           same(one.right, other.right);
  }

  const Variable *a, *b;
  llvm::DenseMap<const Variable *, const Expression *> values;
  llvm::DenseMap<std::pair<const Expression *, const Expression *>, bool> known;
};

/// What stands behind names that a `let` gave.
const Expression *Readings::meaning(const Expression *expression) const {
  while (const auto *name =
             llvm::dyn_cast_or_null<VariableExpression>(expression)) {
    auto found = values.find(name->variable);
    if (found == values.end())
      break;
    expression = found->second;
  }
  return expression;
}

bool Readings::agree(Block block) {
  return llvm::all_of(block, [&](const Statement *s) { return agree(*s); });
}

bool Readings::agree(const Statement &statement) {
  if (const auto *let = llvm::dyn_cast<LetStatement>(&statement)) {
    const auto *tuple = llvm::dyn_cast<TupleExpression>(let->value);
    if (let->isTuple && !tuple)
      return false;
    for (auto [number, variable] : llvm::enumerate(let->variables))
      if (variable && variable->kind != VariableKind::Let)
        return false;
      else if (variable)
        values[variable] = tuple ? tuple->elements[number] : let->value;
    return true;
  }
  if (const auto *branch = llvm::dyn_cast<IfStatement>(&statement))
    return same(branch->condition, branch->condition) && agree(branch->then) &&
           agree(branch->otherwise);
  const auto *last = llvm::dyn_cast<ReturnStatement>(&statement);
  return last && sameAll(last->values, last->values);
}

bool Readings::sameAll(Expressions some, Expressions others, unsigned from) {
  if (some.size() != others.size())
    return false;
  for (auto [one, other] :
       llvm::zip(some.drop_front(from), others.drop_front(from)))
    if (!same(one, other))
      return false;
  return true;
}

/// The first operand is the other's second one, and the other way round.
bool Readings::exchanged(Expressions some, Expressions others) {
  return same(some[0], others[1]) && same(some[1], others[0]);
}

/// `one` as written and `other` with the states exchanged.
bool Readings::same(const Expression *one, const Expression *other) {
  one = meaning(one);
  other = meaning(other);
  if (!one || !other)
    return one == other;
  if (one->kind != other->kind || one->type != other->type)
    return false;
  if (auto found = known.find({one, other}); found != known.end())
    return found->second;
  bool result = sameNodes(*one, *other);
  known[{one, other}] = result;
  return result;
}

bool Readings::of(const VariableExpression &one,
                  const VariableExpression &other) {
  if (one.variable == a || one.variable == b)
    return other.variable == (one.variable == a ? b : a);
  return one.variable == other.variable;
}

bool Readings::of(const BinaryExpression &one, const BinaryExpression &other) {
  const Expression *some[] = {one.left, one.right};
  const Expression *others[] = {other.left, other.right};
  if (one.op == other.op && sameAll(some, others))
    return true;
  BinaryOperator turned = isSymmetric(one.op) ? one.op : mirrored(one.op);
  bool turns = isSymmetric(one.op) || turned != one.op;
  return turns && other.op == turned && exchanged(some, others);
}

bool Readings::of(const BuiltinExpression &one,
                  const BuiltinExpression &other) {
  if (one.builtin != other.builtin || one.typeArgument != other.typeArgument ||
      one.text != other.text || one.operands.size() != other.operands.size())
    return false;
  unsigned turning = symmetricOperands(one.builtin);
  return sameAll(one.operands, other.operands) ||
         (turning && exchanged(one.operands, other.operands) &&
          sameAll(one.operands, other.operands, turning));
}

bool Readings::of(const CallExpression &one, const CallExpression &other) {
  return one.callee == other.callee &&
         one.typeArguments == other.typeArguments &&
         sameAll(one.constantArguments, other.constantArguments) &&
         sameAll(one.arguments, other.arguments);
}

bool Readings::sameNodes(const Expression &one, const Expression &other) {
  switch (one.kind) {
#define QN_EXPRESSION(enumerator)                                              \
  case ExpressionKind::enumerator:                                             \
    return of(llvm::cast<enumerator##Expression>(one),                         \
              llvm::cast<enumerator##Expression>(other));
#include "frontend/typed/Expressions.def"
  }
  return false;
}

} // namespace

bool check::commutes(const ReductionPart &merge) {
  return merge.variables.size() == 2 && Readings(merge).agree(merge.body);
}
