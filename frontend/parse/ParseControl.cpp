// if, for, each and while.
#include "frontend/parse/Parser.h"

using namespace quern;
using namespace quern::ast;

const Expr *Parser::parseCondition(llvm::StringRef keyword) {
  if (at(Kind::Colon) || at(Kind::Newline)) {
    fail(here(), diag::MissingCondition, keyword);
    return errorExpr();
  }
  const Expr *condition = parseExpr();
  if (!broken && at(Kind::Assign))
    fail(here(), diag::AssignmentInExpression).hint("write `==`");
  return broken ? errorExpr() : condition;
}

const Stmt *Parser::parseIf() {
  Span begin = here();
  llvm::SmallVector<IfBranch, 4> branches;
  bool isConst = peek(1) == Kind::KwConst;
  do {
    llvm::StringRef keyword = text();
    advance();
    // `elif const` only repeats what the first line has said.
    accept(Kind::KwConst);
    IfBranch branch;
    branch.condition = parseCondition(keyword);
    branch.body = parseBlock();
    branches.push_back(branch);
  } while (at(Kind::KwElif));
  const Block *otherwise = nullptr;
  if (accept(Kind::KwElse)) {
    if (at(Kind::KwIf))
      fail(here(), diag::ExpectedColon, found()).hint("write `elif`");
    otherwise = arena.make<Block>(parseBlock());
    if (at(Kind::KwElse) || at(Kind::KwElif)) {
      fail(here(), diag::DuplicateElse, text());
      skipHeaderAndBlock();
    }
  }
  return arena.make<IfStmt>(since(begin), isConst,
                            arena.list<IfBranch>(branches), otherwise);
}

const Stmt *Parser::parseFor() {
  Span begin = advance();
  bool isCounting = at(Kind::LeftParen) && peek(1) == Kind::Identifier &&
                    (peek(2) == Kind::Identifier || peek(2) == Kind::Assign);
  if (isCounting)
    fail(here(), diag::ExpectedName, found())
        .hint("write `for i in range(n):`");
  Pattern pattern = parsePattern();
  expect(Kind::KwIn);
  const Expr *iterable = broken ? errorExpr() : parseCondition("for");
  Block body = parseBlock();
  return arena.make<ForStmt>(since(begin), pattern, iterable, body);
}

const Stmt *Parser::parseEach() {
  Span begin = advance();
  Pattern pattern = parsePattern();
  expect(Kind::KwIn);
  const Expr *iterable = broken ? errorExpr() : parseCondition("each");
  Block body = parseBlock();
  return arena.make<EachStmt>(since(begin), pattern, iterable, body);
}

const Stmt *Parser::parseWhile() {
  Span begin = advance();
  const Expr *condition = parseCondition("while");
  const Expr *bound = nullptr;
  // `bound` is a word only here: a name cannot follow an expression.
  if (!broken && at(Kind::Identifier) && text() == "bound") {
    advance();
    bound = parseCondition("bound");
  }
  Block body = parseBlock();
  return arena.make<WhileStmt>(since(begin), condition, bound, body);
}
