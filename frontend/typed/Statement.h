// Typed statements: a closed set of nodes, immutable, in the module's arena.
#pragma once

#include "frontend/typed/Expression.h"

#include <optional>

namespace quern::typed {

enum class StatementKind : std::uint8_t {
#define QN_STATEMENT(enumerator) enumerator,
#include "frontend/typed/Statements.def"
};

class Statement {
public:
  const StatementKind kind;
  Span span;

protected:
  Statement(StatementKind kind, Span span) : kind(kind), span(span) {}
};

template <StatementKind nodeKind> class StatementNode : public Statement {
public:
  explicit StatementNode(Span span) : Statement(nodeKind, span) {}
  static bool classof(const Statement *s) { return s->kind == nodeKind; }
};

using Block = llvm::ArrayRef<const Statement *>;

/// `let a = …`, `var i = …`, `let (a, b) = …`: then the value is a tuple. A
/// null variable is the name `_`.
struct LetStatement : StatementNode<StatementKind::Let> {
  using StatementNode::StatementNode;
  llvm::ArrayRef<const Variable *> variables;
  bool isTuple = false;
  const Expression *value = nullptr;
};

/// Assigns a `var`, or a `mut` scalar or lifted tensor parameter as a whole
/// (stored once at the end). Several targets take a tuple apart.
struct AssignStatement : StatementNode<StatementKind::Assign> {
  using StatementNode::StatementNode;
  llvm::ArrayRef<const Variable *> targets;
  /// The value; `s += x` has become `s + x`.
  const Expression *value = nullptr;
  /// Stands for `break` or `continue`: sets the loop's variable, and ends its
  /// block. What follows on other ways stands under a condition.
  bool leaves = false;
};

/// `tile[y, x] = v`: writes an element of a tensor or array. `place->positions`
/// has no null, `outside` and `when` are null.
struct StoreStatement : StatementNode<StatementKind::Store> {
  using StatementNode::StatementNode;
  const LoadExpression *place = nullptr;
  const Expression *value = nullptr;
  /// `+=` and its like: combine with the old value, not atomically.
  std::optional<BinaryOperator> op;
};

/// `elif` has become an `if` in `otherwise`. `isConst`: the condition is
/// compile-time and depends on parameters; the chosen block stands in place of
/// the statement. What depends on nothing was decided by the checker.
struct IfStatement : StatementNode<StatementKind::If> {
  using StatementNode::StatementNode;
  const Expression *condition = nullptr;
  Block then, otherwise;
  bool isConst = false;
};

/// `for j in range(lower, upper, step)`; the step is not 0. Of a `while`,
/// `break` has become a part of the condition.
struct ForStatement : StatementNode<StatementKind::For> {
  using StatementNode::StatementNode;
  const Variable *variable = nullptr; ///< null: `_`
  const Expression *lower = nullptr, *upper = nullptr, *step = nullptr;
  /// What `break` sets: no iteration begins after that. Null: there is none.
  const Variable *broken = nullptr;
  Block body;
};

struct WhileStatement : StatementNode<StatementKind::While> {
  using StatementNode::StatementNode;
  const Expression *condition = nullptr;
  const Expression *bound = nullptr; ///< at most so many rounds, or null
  Block body;
};

struct ReturnStatement : StatementNode<StatementKind::Return> {
  using StatementNode::StatementNode;
  /// One per result of the declaration; null: an absent optional output. A part
  /// of a reduction returns one value, a Tuple when it has several states.
  Expressions values;
};

struct LaunchStatement : StatementNode<StatementKind::Launch> {
  using StatementNode::StatementNode;
  Expressions grid, block; ///< one to three, `.x` first
};

/// `shared tile: T[…]`, `local a: T[…]`: the variable has an Array type.
struct StorageStatement : StatementNode<StatementKind::Storage> {
  using StatementNode::StatementNode;
  const Variable *variable = nullptr;
  bool isShared = false;
};

/// Loops over lists in an `op`, all of one length. `isEach`: the body is one
/// Evaluate of a call, and all rounds are one launch.
struct ForEachStatement : StatementNode<StatementKind::ForEach> {
  using StatementNode::StatementNode;
  llvm::ArrayRef<const Variable *> variables;
  Expressions lists;
  bool isEach = false;
  Block body;
};

/// A call for its effect: `barrier()`, a kernel.
struct EvaluateStatement : StatementNode<StatementKind::Evaluate> {
  using StatementNode::StatementNode;
  const Expression *expression = nullptr;
};

} // namespace quern::typed
