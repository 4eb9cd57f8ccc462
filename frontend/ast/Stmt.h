// Statements as written.
#pragma once

#include "frontend/ast/Type.h"

namespace quern::ast {

struct Stmt {
  enum class Kind : std::uint8_t {
#define QN_STMT(name) name,
#include "frontend/ast/Nodes.def"
  };
  Kind kind;
  Span span;

  Kind getKind() const { return kind; }

protected:
  Stmt(Kind kind, Span span) : kind(kind), span(span) {}
};

template <Stmt::Kind Tag> using StmtOf = NodeOf<Stmt, Tag>;

struct Block {
  List<const Stmt *> statements;
  Span span;
  /// The body stood behind the colon: `step(s, x: T): s + x` (there the one
  /// statement is a ReturnStmt made from the expression) or `if c: return x`.
  bool isInline = false;
};

/// `let (q, r) = f(x)`, `let y: T[N] = …`.
struct LetStmt : StmtOf<Stmt::Kind::Let> {
  Pattern pattern;
  const Type *type; ///< null without annotation
  const Expr *value;
  LetStmt(Span span, Pattern pattern, const Type *type, const Expr *value)
      : NodeOf(span), pattern(pattern), type(type), value(value) {}
};

/// `var i = 0`: a name that may be assigned again.
struct VarStmt : StmtOf<Stmt::Kind::Var> {
  Identifier name;
  const Type *type; ///< null without annotation
  const Expr *value;
  VarStmt(Span span, Identifier name, const Type *type, const Expr *value)
      : NodeOf(span), name(name), type(type), value(value) {}
};

/// `i = i + 1`, `tile[y, x] = v`, `(a, b) = f(x)`, `s += x`. Targets are names,
/// index or member expressions.
struct AssignStmt : StmtOf<Stmt::Kind::Assign> {
  List<const Expr *> targets; ///< several: a tuple is taken apart
  bool isCompound;            ///< `op` holds the operator of `+=`
  BinaryOp op;
  const Expr *value;
  AssignStmt(Span span, List<const Expr *> targets, bool isCompound,
             BinaryOp op, const Expr *value)
      : NodeOf(span), targets(targets), isCompound(isCompound), op(op),
        value(value) {}
};

struct IfBranch {
  const Expr *condition = nullptr;
  Block body;
};

/// The whole chain of `if`, `elif` and `else`; `if const` decides all of it
/// while compiling.
struct IfStmt : StmtOf<Stmt::Kind::If> {
  bool isConst;
  List<IfBranch> branches; ///< the `if`, then every `elif`
  const Block *otherwise;  ///< null without `else`
  IfStmt(Span span, bool isConst, List<IfBranch> branches,
         const Block *otherwise)
      : NodeOf(span), isConst(isConst), branches(branches),
        otherwise(otherwise) {}
};

/// `for j in range(0, TILE, 8):`, `for (x, y) in zip(xs, ys):`.
struct ForStmt : StmtOf<Stmt::Kind::For> {
  Pattern pattern;
  const Expr *iterable;
  Block body;
  ForStmt(Span span, Pattern pattern, const Expr *iterable, Block body)
      : NodeOf(span), pattern(pattern), iterable(iterable), body(body) {}
};

/// `while cond:`, `while cond bound 64:`.
struct WhileStmt : StmtOf<Stmt::Kind::While> {
  const Expr *condition;
  const Expr *bound; ///< at most so many rounds; null without
  Block body;
  WhileStmt(Span span, const Expr *condition, const Expr *bound, Block body)
      : NodeOf(span), condition(condition), bound(bound), body(body) {}
};

struct ReturnStmt : StmtOf<Stmt::Kind::Return> {
  const Expr *value; ///< null for a bare `return`; a TupleExpr for several
  ReturnStmt(Span span, const Expr *value) : NodeOf(span), value(value) {}
};

/// `each (p, g) in zip(ps, gs): k(p, g)`: one launch over lists.
struct EachStmt : StmtOf<Stmt::Kind::Each> {
  Pattern pattern;
  const Expr *iterable;
  Block body;
  EachStmt(Span span, Pattern pattern, const Expr *iterable, Block body)
      : NodeOf(span), pattern(pattern), iterable(iterable), body(body) {}
};

/// `launch grid(…) block(…)`: one to three extents each.
struct LaunchStmt : StmtOf<Stmt::Kind::Launch> {
  List<const Expr *> grid, block;
  LaunchStmt(Span span, List<const Expr *> grid, List<const Expr *> block)
      : NodeOf(span), grid(grid), block(block) {}
};

/// `shared tile: T[TILE, TILE + 1]`, `local a: T[16]`.
struct StorageStmt : StmtOf<Stmt::Kind::Storage> {
  bool isShared;
  Identifier name;
  const Type *type;
  StorageStmt(Span span, bool isShared, Identifier name, const Type *type)
      : NodeOf(span), isShared(isShared), name(name), type(type) {}
};

/// A call for its effect: `barrier()`, `transpose(x, out)`.
struct ExpressionStmt : StmtOf<Stmt::Kind::Expression> {
  const Expr *expr;
  ExpressionStmt(Span span, const Expr *expr) : NodeOf(span), expr(expr) {}
};

/// Ends the innermost loop around it.
struct BreakStmt : StmtOf<Stmt::Kind::Break> {
  BreakStmt(Span span) : NodeOf(span) {}
};

/// Goes on with the next iteration of the innermost loop.
struct ContinueStmt : StmtOf<Stmt::Kind::Continue> {
  ContinueStmt(Span span) : NodeOf(span) {}
};

struct PassStmt : StmtOf<Stmt::Kind::Pass> {
  PassStmt(Span span) : NodeOf(span) {}
};

/// Stands where a statement could not be read; already reported. A body that
/// holds one must not be blamed for a missing `return`.
struct ErrorStmt : StmtOf<Stmt::Kind::Error> {
  ErrorStmt(Span span) : NodeOf(span) {}
};

} // namespace quern::ast
