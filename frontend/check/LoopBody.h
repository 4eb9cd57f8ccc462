// The body of a loop while it is checked: `break` and `continue` become
// variables, and conditions around what they leave out.
#pragma once

#include "frontend/check/DeclarationChecker.h"

namespace quern::check {

using StatementList = llvm::SmallVectorImpl<const typed::Statement *>;

/// What follows a statement that may have left its block.
struct GuardedRest {
  typed::IfStatement *branch = nullptr;
  bool isThen = false; ///< which arm the rest is
  llvm::SmallVector<const typed::Statement *, 8> statements;
};

class LoopBody {
public:
  /// `loop` begins with its keyword.
  LoopBody(DeclarationChecker &checker, Span loop);
  ~LoopBody();
  LoopBody(const LoopBody &) = delete;
  LoopBody &operator=(const LoopBody &) = delete;

  typed::Block check(const ast::Block &body);
  /// The body of a `for` over a range, and how the loop ends before its time.
  void fill(typed::ForStatement &loop, const ast::Block &body,
            StatementList &into);
  /// `break` or `continue`.
  void leave(const ast::Stmt &stmt, StatementList &into);
  /// Nothing where the last statement does not leave the block, or always does.
  std::optional<GuardedRest> restAfter(StatementList &statements);

  /// Whether another iteration may begin; null: it always may.
  const Expression *goesOn(StatementList &into);
  /// The body of a loop that has no condition of its own.
  typed::Block guarded(typed::Block body, StatementList &into);

private:
  /// What `break` sets, defined in front of the loop by `into`; null: nothing.
  const typed::Variable *broken(StatementList &into);
  const typed::Variable *variable(llvm::StringRef name, unsigned offset);
  const typed::Statement *defined(const typed::Variable &variable);
  const Expression *isUnset(const typed::Variable &variable);
  typed::IfStatement *branchOn(const Expression *condition);

  DeclarationChecker &checker;
  LoopBody *outer;
  Span span;
  const typed::Variable *breaks, *continues;
  bool hasBreak = false, hasContinue = false;
};

} // namespace quern::check
