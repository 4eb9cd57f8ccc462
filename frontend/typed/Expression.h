// Typed expressions: a closed set of nodes, immutable, in the module's arena.
#pragma once

#include "frontend/typed/Builtin.h"
#include "frontend/typed/Constant.h"
#include "frontend/typed/Type.h"

#include "llvm/Support/Casting.h"

namespace quern::typed {

struct ConstantParameter;
struct ConstantTable;
struct Declaration;
struct Variable;

enum class ExpressionKind : std::uint8_t {
#define QN_EXPRESSION(enumerator) enumerator,
#include "frontend/typed/Expressions.def"
};

class Expression {
public:
  const ExpressionKind kind;
  Span span;
  const Type *type;

  ScalarType scalar() const { return type->scalar; }
  llvm::ArrayRef<AxisId> axes() const { return type->axes; }

protected:
  Expression(ExpressionKind kind, Span span, const Type *type)
      : kind(kind), span(span), type(type) {}
};

/// Gives a node its kind and LLVM's casts.
template <ExpressionKind nodeKind> class ExpressionNode : public Expression {
public:
  ExpressionNode(Span span, const Type *type)
      : Expression(nodeKind, span, type) {}
  static bool classof(const Expression *e) { return e->kind == nodeKind; }
};

using Expressions = llvm::ArrayRef<const Expression *>;

/// A literal, or what was folded. With a symbolic type the value is converted
/// when the type is known; the checker saw to it that this is possible.
struct ConstantExpression : ExpressionNode<ExpressionKind::Constant> {
  using ExpressionNode::ExpressionNode;
  Constant value;
};

/// A compile-time parameter used as a value.
struct ConstantParameterExpression
    : ExpressionNode<ExpressionKind::ConstantParameter> {
  using ExpressionNode::ExpressionNode;
  const ConstantParameter *parameter = nullptr;
  /// `mask[i]` of a `bool[n]`; null: the whole.
  const Expression *element = nullptr;
};

/// A module constant that is a table; read by a Load with one position.
struct ConstantTableExpression : ExpressionNode<ExpressionKind::ConstantTable> {
  using ExpressionNode::ExpressionNode;
  const ConstantTable *table = nullptr;
};

/// Compile time: `T == f32` (`other` set) or `is_float(T)` (`constraint`).
struct TypeTestExpression : ExpressionNode<ExpressionKind::TypeTest> {
  using ExpressionNode::ExpressionNode;
  ScalarType tested;
  bool againstConstraint = false;
  ScalarType other;
  Constraint constraint = Constraint::Any;
};

enum class TargetQuery : std::uint8_t {
  IsGpu,
  WarpSize,
  RowLanes,
  VectorWidth,
  HasMma
};

/// Compile time: `target.is_gpu`, `target.vector_width(T)`.
struct TargetExpression : ExpressionNode<ExpressionKind::Target> {
  using ExpressionNode::ExpressionNode;
  TargetQuery query = TargetQuery::IsGpu;
  ScalarType argument;
};

/// Compile time: `present(w)`.
struct PresentExpression : ExpressionNode<ExpressionKind::Present> {
  using ExpressionNode::ExpressionNode;
  const Variable *variable = nullptr;
};

/// A parameter, `let`, `var`, loop variable or array. A tensor parameter in
/// lifted text reads as its scalar at the tensor's own axes; if it may be
/// absent, `maybeAbsent` holds here and on the `*` or `+` around it.
struct VariableExpression : ExpressionNode<ExpressionKind::Variable> {
  using ExpressionNode::ExpressionNode;
  const Variable *variable = nullptr;
};

/// `*S`: one i64 per axis of the pack, its index in lifted text and its extent
/// in host expressions; stands only where pack-aligned values do.
struct PackElementExpression : ExpressionNode<ExpressionKind::PackElement> {
  using ExpressionNode::ExpressionNode;
  AxisId pack;
  bool isIndex = false;
};

struct TupleExpression : ExpressionNode<ExpressionKind::Tuple> {
  using ExpressionNode::ExpressionNode;
  Expressions elements;
};

/// Element `index` of a tuple.
struct FieldExpression : ExpressionNode<ExpressionKind::Field> {
  using ExpressionNode::ExpressionNode;
  const Expression *base = nullptr;
  unsigned index = 0;
};

enum class UnaryOperator : std::uint8_t { Negate, Not, BitNot };

struct UnaryExpression : ExpressionNode<ExpressionKind::Unary> {
  using ExpressionNode::ExpressionNode;
  UnaryOperator op = UnaryOperator::Negate;
  const Expression *operand = nullptr;
};

enum class BinaryOperator : std::uint8_t {
#define QN_BINARY(enumerator, spelling, constraint, comparison) enumerator,
#include "frontend/typed/BinaryOperators.def"
};

llvm::StringRef spelling(BinaryOperator op);
llvm::StringRef spelling(UnaryOperator op);
bool isComparison(BinaryOperator op);
Constraint constraintOf(BinaryOperator op);

/// Both operands have one scalar type. `And`, `Or` of bools evaluate both sides
/// in lifted text (no side effects) and the left one first elsewhere.
struct BinaryExpression : ExpressionNode<ExpressionKind::Binary> {
  using ExpressionNode::ExpressionNode;
  BinaryOperator op = BinaryOperator::Add;
  const Expression *left = nullptr, *right = nullptr;
  /// Mul and Add: an absent optional operand on that side is skipped, and the
  /// result is the other operand.
  bool leftOptional = false, rightOptional = false;
};

/// `a if c else b`. `isConst`: the condition is compile-time and depends on
/// parameters; only the chosen side exists after specialization.
struct SelectExpression : ExpressionNode<ExpressionKind::Select> {
  using ExpressionNode::ExpressionNode;
  const Expression *condition = nullptr, *left = nullptr, *right = nullptr;
  bool isConst = false;
};

/// A written conversion to `type->scalar`; it rounds, fused or not.
struct CastExpression : ExpressionNode<ExpressionKind::Cast> {
  using ExpressionNode::ExpressionNode;
  const Expression *operand = nullptr;
};

/// A row of Builtins.def.
struct BuiltinExpression : ExpressionNode<ExpressionKind::Builtin> {
  using ExpressionNode::ExpressionNode;
  Builtin builtin = Builtin::Fma;
  /// Values; of Atomic the place (a Load) first; of Memory places (Loads),
  /// arrays (Variables) and counts; of View the tensor first; of Host `empty`
  /// and the like extents. Views: missing slice bounds are null.
  Expressions operands;
  /// TypeValue, `bitcast`, `empty`, `view_as`: the type named.
  ScalarType typeArgument;
  /// Position: the axis, invalid for `index()`, the linear position of the
  /// element in an `elementwise`. Of a pack: row-major over its axes.
  AxisId axis;
  /// Thread: `.x` is 0, `.y` 1, `.z` 2.
  unsigned dimension = 0;
  AtomicWords atomic;
  llvm::StringRef text = {}; ///< `require`: what is said where it fails

  /// `require(i, C)`: the second operand is the extent, `text` names the axis.
  bool requiresPosition() const {
    return builtin == Builtin::Require &&
           operands[1]->scalar() != ScalarType::boolean();
  }
};

/// `x[i, c]`, `x.at(C = i, …, outside = v, when = c)`. One position for each of
/// the base's axes in order (Tensor or Array base: for each dimension); null:
/// the value's own axis, as it is. The position of a pack is pack-aligned.
struct LoadExpression : ExpressionNode<ExpressionKind::Load> {
  using ExpressionNode::ExpressionNode;
  const Expression *base = nullptr;
  Expressions positions;
  /// Value where a position is out of range; null: that is a checked error.
  const Expression *outside = nullptr;
  /// Where false nothing is read and the value is `outside`, or 0 without one.
  const Expression *when = nullptr;
};

/// Which axes of the caller an axis of the callee stands for: one for a plain
/// axis, any number (packs of the caller among them) for a pack. Derived and
/// local axes that show in the result got a Local axis in the caller's table.
struct AxisBinding {
  llvm::ArrayRef<AxisId> axes;
};

/// A call of a declaration with everything solved. In lifted text `fn` and
/// `elementwise` are lifted (`axes` empty); in `op` any kind may be called,
/// operands are tensors, and axes are solved at run time (`axes` empty).
struct CallExpression : ExpressionNode<ExpressionKind::Call> {
  using ExpressionNode::ExpressionNode;
  const Declaration *callee = nullptr;
  /// One per type parameter of the callee, in the caller's symbols.
  llvm::ArrayRef<ScalarType> typeArguments;
  /// One per constant parameter of the callee; compile-time expressions,
  /// FunctionReference for a function; null: the default.
  Expressions constantArguments;
  /// One per parameter; null: an absent optional.
  Expressions arguments;
  llvm::ArrayRef<AxisBinding> axes;
};

/// A `fn` given as a compile-time argument; its type arguments follow from the
/// place that takes it, and are solved at the IndirectCall.
struct FunctionReferenceExpression
    : ExpressionNode<ExpressionKind::FunctionReference> {
  using ExpressionNode::ExpressionNode;
  const Declaration *function = nullptr;
};

/// A call of a function parameter.
struct IndirectCallExpression : ExpressionNode<ExpressionKind::IndirectCall> {
  using ExpressionNode::ExpressionNode;
  const ConstantParameter *function = nullptr;
  Expressions arguments;
};

/// `m(a, b over (C, *S) where c)`: removes `over` from the operands' axes.
struct ReduceExpression : ExpressionNode<ExpressionKind::Reduce> {
  using ExpressionNode::ExpressionNode;
  const Declaration *monoid = nullptr;
  llvm::ArrayRef<ScalarType> typeArguments;
  Expressions constantArguments;
  /// What `step` takes, without the state and the position.
  Expressions operands;
  /// The reduction's run-time scalar parameters: `norm(x, p = 3.0 over C)`.
  Expressions parameters;
  llvm::ArrayRef<AxisId> over;
  const Expression *where = nullptr; ///< false: the element is skipped
};

/// `scan(m, a over C where c, reverse, exclusive)`: keeps the axis.
struct ScanExpression : ExpressionNode<ExpressionKind::Scan> {
  using ExpressionNode::ExpressionNode;
  const Declaration *monoid = nullptr;
  llvm::ArrayRef<ScalarType> typeArguments;
  Expressions constantArguments;
  Expressions operands;
  Expressions parameters;
  AxisId over;
  const Expression *where = nullptr; ///< false: the state stays as it is
  bool reverse = false, exclusive = false;
};

/// `sort_by(keys, values over C)`: a tuple of the keys and every value in order
/// of the keys along one axis.
struct SortExpression : ExpressionNode<ExpressionKind::Sort> {
  using ExpressionNode::ExpressionNode;
  Expressions operands; ///< the keys first
  AxisId over;
  /// Compile-time bools.
  const Expression *stable = nullptr, *descending = nullptr;
};

/// `scatter(into, at = (…), x, with = m, include_self)`: the value `into` with
/// elements of `value` put or accumulated at computed places, in source order.
struct ScatterExpression : ExpressionNode<ExpressionKind::Scatter> {
  using ExpressionNode::ExpressionNode;
  const Expression *into = nullptr;
  /// One per axis of `into`; null: the value's own axis of that name.
  Expressions positions;
  const Expression *value = nullptr;
  /// Axes of the value that vanish, in source order.
  llvm::ArrayRef<AxisId> over;
  const Declaration *monoid = nullptr; ///< null: the last one wins
  llvm::ArrayRef<ScalarType> typeArguments;
  const Expression *includeSelf = nullptr; ///< compile-time bool
  const Expression *where = nullptr;
  bool freeOrder = false;
};

/// `concat(a, b over C)` or `concat(xs over C)` of a list: the type's axis
/// `axis` has the sum of the operands' extents; each operand has its own axis
/// there.
struct ConcatExpression : ExpressionNode<ExpressionKind::Concat> {
  using ExpressionNode::ExpressionNode;
  Expressions operands;
  llvm::ArrayRef<AxisId> operandAxes;
  AxisId axis;
};

/// `extern "aten::…"(…)` in an `op`.
struct ExternExpression : ExpressionNode<ExpressionKind::Extern> {
  using ExpressionNode::ExpressionNode;
  llvm::StringRef symbol;
  Expressions arguments;
  llvm::ArrayRef<llvm::StringRef> names; ///< "" for a positional argument
};

/// A list in an `op`: `[a, b]` has elements, `xs + ys` has lists, and
/// `[f(x) for x in xs]` one element with variables, which run through lists or
/// through a range. Where that element is a tuple it is a tuple of lists.
struct ListExpression : ExpressionNode<ExpressionKind::List> {
  using ExpressionNode::ExpressionNode;
  Expressions elements;
  llvm::ArrayRef<const Variable *> variables;
  Expressions lists;
  Expressions range; ///< first number, end, step

  bool isLoop() const { return !variables.empty(); }
  bool isRange() const { return !range.empty(); }
};

} // namespace quern::typed
