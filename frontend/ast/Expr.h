// Expressions as written: no names resolved, no types known.
#pragma once

#include "frontend/ast/Arena.h"

#include <cstdint>

namespace quern::ast {

struct Expr {
  enum class Kind : std::uint8_t {
#define QN_EXPR(name) name,
#include "frontend/ast/Nodes.def"
  };
  Kind kind;
  Span span;

  Kind getKind() const { return kind; }

protected:
  Expr(Kind kind, Span span) : kind(kind), span(span) {}
};

/// Gives a node its tag and the `classof` that llvm::isa wants.
template <typename Base, typename Base::Kind Tag> struct NodeOf : Base {
  static bool classof(const Base *node) { return node->kind == Tag; }

protected:
  NodeOf(Span span) : Base(Tag, span) {}
};

template <Expr::Kind Tag> using ExprOf = NodeOf<Expr, Tag>;

enum class BinaryOp : std::uint8_t {
#define QN_BINARY(enumerator, spelling, precedence) enumerator,
#include "frontend/ast/Operators.def"
};
enum class UnaryOp : std::uint8_t {
#define QN_UNARY(enumerator, spelling) enumerator,
#include "frontend/ast/Operators.def"
};

llvm::StringRef spelling(BinaryOp op);
llvm::StringRef spelling(UnaryOp op);
/// From 1 (`or`) to 10 (`*`); `not` binds between 2 and 4.
unsigned precedence(BinaryOp op);
bool isComparison(BinaryOp op);

/// An integer literal; a minus sign is a UnaryExpr around it.
struct IntExpr : ExprOf<Expr::Kind::Int> {
  std::uint64_t value;
  IntExpr(Span span, std::uint64_t value) : NodeOf(span), value(value) {}
};

/// A float literal, `inf` and `nan` included. The value is rounded to f64;
/// `text` is the source, for whoever rounds to another type.
struct FloatExpr : ExprOf<Expr::Kind::Float> {
  double value;
  llvm::StringRef text;
  FloatExpr(Span span, double value, llvm::StringRef text)
      : NodeOf(span), value(value), text(text) {}
};

/// A string literal, its escapes already replaced.
struct StringExpr : ExprOf<Expr::Kind::String> {
  llvm::StringRef value;
  StringExpr(Span span, llvm::StringRef value) : NodeOf(span), value(value) {}
};

struct BoolExpr : ExprOf<Expr::Kind::Bool> {
  bool value;
  BoolExpr(Span span, bool value) : NodeOf(span), value(value) {}
};

struct NoneExpr : ExprOf<Expr::Kind::None> {
  NoneExpr(Span span) : NodeOf(span) {}
};

/// Any name: variable, function, type or axis.
struct NameExpr : ExprOf<Expr::Kind::Name> {
  const char *data;
  NameExpr(Identifier name) : NodeOf(name.span), data(name.data) {}
  /// Kept as its parts: half of all nodes are names.
  Identifier name() const { return {data, span}; }
};

/// `*C`: a pack of axes; `*index(C)` and `*size(C)`: one value for each of
/// them.
struct PackExpr : ExprOf<Expr::Kind::Pack> {
  Identifier name;
  Identifier function; ///< `index` or `size`; empty for the pack itself
  PackExpr(Span span, Identifier name, Identifier function)
      : NodeOf(span), name(name), function(function) {}
};

struct UnaryExpr : ExprOf<Expr::Kind::Unary> {
  UnaryOp op;
  const Expr *operand;
  UnaryExpr(Span span, UnaryOp op, const Expr *operand)
      : NodeOf(span), op(op), operand(operand) {}
};

/// Also a single comparison, `and` and `or`.
struct BinaryExpr : ExprOf<Expr::Kind::Binary> {
  BinaryOp op;
  Span operatorSpan;
  const Expr *left, *right;
  BinaryExpr(BinaryOp op, Span operatorSpan, const Expr *left,
             const Expr *right)
      : NodeOf(join(left->span, right->span)), op(op),
        operatorSpan(operatorSpan), left(left), right(right) {}
};

/// `lo <= i < hi`: two and more comparisons, all of which must hold; every
/// operand is evaluated once. `operands` has one entry more than `operators`.
struct ComparisonChainExpr : ExprOf<Expr::Kind::ComparisonChain> {
  List<const Expr *> operands;
  List<BinaryOp> operators;
  ComparisonChainExpr(Span span, List<const Expr *> operands,
                      List<BinaryOp> operators)
      : NodeOf(span), operands(operands), operators(operators) {}
};

/// `a if cond else b`, and `a if const cond else b` decided while compiling.
struct ConditionalExpr : ExprOf<Expr::Kind::Conditional> {
  const Expr *condition, *whenTrue, *whenFalse;
  bool isConst;
  ConditionalExpr(const Expr *condition, const Expr *whenTrue,
                  const Expr *whenFalse, bool isConst)
      : NodeOf(join(whenTrue->span, whenFalse->span)), condition(condition),
        whenTrue(whenTrue), whenFalse(whenFalse), isConst(isConst) {}
};

/// One argument of a call, an index, a bracket list or a tuple: `x`,
/// `dim = C`, `*S = *P * stride`.
struct Argument {
  Identifier name; ///< empty when given by position
  const Expr *value = nullptr;
  bool isPack = false; ///< the name is a pack, `*S = …`

  Span span() const { return join(name.span, value->span); }
};

/// One axis behind `over`: `C`, `*S`, or a local one, `i: lo .. hi`; a local
/// pack `*i: 0 .. *k` has an axis for each of `*k`.
struct OverAxis {
  Identifier name;
  bool isPack = false;
  const Expr *lower = nullptr; ///< with `upper`, null unless local
  const Expr *upper = nullptr;

  bool isLocal() const { return lower != nullptr; }
};

/// `… over (N, *S) where cond` inside the arguments of a call.
struct OverClause {
  Span span;
  List<OverAxis> axes;
  const Expr *where = nullptr;
  /// Arguments up to and with this number were written before `over`:
  /// `scan(sum, x over C, reverse)` has 2 of 3.
  unsigned operandCount = 0;
};

/// Calls, casts, reductions, `scan`, `x.at(…)`, `scatter(…)`, all alike:
/// `callee[brackets](arguments)`.
struct CallExpr : ExprOf<Expr::Kind::Call> {
  const Expr *callee;
  List<Argument> brackets; ///< compile-time arguments
  List<Argument> arguments;
  const OverClause *over; ///< null without
  CallExpr(Span span, const Expr *callee, List<Argument> brackets,
           List<Argument> arguments, const OverClause *over)
      : NodeOf(span), callee(callee), brackets(brackets), arguments(arguments),
        over(over) {}
};

/// `x[i, c]`; brackets in front of a call's parentheses are the CallExpr's.
struct IndexExpr : ExprOf<Expr::Kind::Index> {
  const Expr *base;
  List<Argument> indices;
  IndexExpr(Span span, const Expr *base, List<Argument> indices)
      : NodeOf(span), base(base), indices(indices) {}
};

struct MemberExpr : ExprOf<Expr::Kind::Member> {
  const Expr *base;
  Identifier member;
  MemberExpr(const Expr *base, Identifier member)
      : NodeOf(join(base->span, member.span)), base(base), member(member) {}
};

/// `(a, b)`, also bare behind `return`; `(V = i, D = d)` names its elements.
struct TupleExpr : ExprOf<Expr::Kind::Tuple> {
  List<Argument> elements;
  TupleExpr(Span span, List<Argument> elements)
      : NodeOf(span), elements(elements) {}
};

/// What `let`, `for` and `each` bind: one name, or a tuple of names. The name
/// `_` binds nothing.
struct Pattern {
  List<Identifier> names;
  Span span;
  bool isTuple = false;
};

/// `[1, 2, 3]`: a table, or a list of tensors; `[f(x) for x in xs]` has one
/// element and an iterable.
struct ListExpr : ExprOf<Expr::Kind::List> {
  List<const Expr *> elements;
  Pattern pattern;
  const Expr *iterable;
  ListExpr(Span span, List<const Expr *> elements, Pattern pattern,
           const Expr *iterable)
      : NodeOf(span), elements(elements), pattern(pattern), iterable(iterable) {
  }
};

/// `(x)`: kept, so that the formatter and messages see what was written.
struct ParenExpr : ExprOf<Expr::Kind::Paren> {
  const Expr *inner;
  ParenExpr(Span span, const Expr *inner) : NodeOf(span), inner(inner) {}
};

/// `extern "aten::mm"`: the callee of a call of an ATen overload, in an `op`.
struct ExternExpr : ExprOf<Expr::Kind::Extern> {
  llvm::StringRef overload;
  Span overloadSpan;
  ExternExpr(Span span, llvm::StringRef overload, Span overloadSpan)
      : NodeOf(span), overload(overload), overloadSpan(overloadSpan) {}
};

/// Stands where an expression could not be read; already reported.
struct ErrorExpr : ExprOf<Expr::Kind::Error> {
  ErrorExpr(Span span) : NodeOf(span) {}
};

/// `expr` without the parentheses around it.
const Expr *withoutParens(const Expr *expr);

} // namespace quern::ast
