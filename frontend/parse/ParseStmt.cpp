// Statements but for control flow, and the blocks they stand in.
#include "frontend/parse/Parser.h"

#include "llvm/Support/Casting.h"

using namespace quern;
using namespace quern::ast;

/// Whether the line has it before this place.
bool Parser::lineHas(Kind kind) const {
  for (std::size_t i = position; i > 0; --i) {
    if (tokens.kind(i - 1) == Kind::Newline)
      return false;
    if (tokens.kind(i - 1) == kind)
      return true;
  }
  return false;
}

/// What may have been meant where a block's `:` is missing.
llvm::StringRef Parser::colonHint() const {
  if (at(Kind::LeftBrace))
    return "blocks are indented, not bracketed";
  if (at(Kind::KwLaunch))
    return "the geometry is the first line of the body: "
           "`launch grid(…) block(…)`";
  if (at(Kind::KwWhere))
    return "a constraint stands with its parameter: `[T: Float]`";
  if (at(Kind::Identifier) && text() == "raises")
    return "errors cannot be raised";
  if (at(Kind::KwIn))
    return "compare with each: `x == 1 or x == 2`";
  if (at(Kind::Dot))
    return "a type has a plain name: `f32`, of a tensor `f32[N]`";
  if (at(Kind::Comma) && lineHas(Kind::Arrow))
    return "several results stand in parentheses: `-> (f32, i64)`";
  if (position && tokens.text(position - 1) == "constexpr")
    return "write `if const condition:`";
  if (position && tokens.kind(position - 1) == Kind::RightParen)
    return "write `:` behind the condition";
  return "";
}

/// `:` and an indented block, or one statement on the same line. In a
/// reduction's part an expression may stand there instead.
Block Parser::parseBlock(bool bodyMayBeExpression) {
  if (!broken && at(Kind::Assign))
    fail(here(), diag::AssignmentInExpression).hint("write `==`");
  if (!broken && !accept(Kind::Colon) && !reportForeignOperator() &&
      !reportMisplaced()) {
    if (at(Kind::Error))
      broken = true;
    fail(here(), diag::ExpectedColon, found()).hint(colonHint());
  }
  if (!broken && !at(Kind::Newline))
    return parseInlineBlock(bodyMayBeExpression);
  bool headerBroken = broken;
  Span header = previous();
  skipToLineEnd();
  Block block;
  DepthGuard guard(*this);
  if (!at(Kind::Indent))
    return reportMissingBlock(header, headerBroken);
  if (!guard) {
    skipBlock();
    broken = false;
    return block;
  }
  advance();
  Span begin = here();
  if (pendingDocumentation)
    *std::exchange(pendingDocumentation, nullptr) = parseDocumentation();
  llvm::SmallVector<const Stmt *, 16> statements;
  ++blocks;
  parseStatements(statements);
  --blocks;
  block.span = since(begin);
  accept(Kind::Dedent);
  block.statements = arena.list<const Stmt *>(statements);
  return block;
}

/// A body that was not indented is still read, so as not to report its lines.
Block Parser::reportMissingBlock(Span header, bool headerBroken) {
  if (!headerBroken)
    diagnostics.report(here(), diag::ExpectedBlock)
        .label(header, "the body belongs to this line");
  llvm::SmallVector<const Stmt *, 16> statements;
  statements.push_back(arena.make<ErrorStmt>(Span{here().begin, here().begin}));
  while (blocks == 0 && !startsDeclaration() && !at(Kind::EndOfFile)) {
    std::size_t before = position;
    statements.push_back(parseStatement());
    if (position == before)
      advance();
  }
  return {arena.list<const Stmt *>(statements), header, false};
}

bool Parser::startsDeclaration() const {
  Kind kind = peek();
  return kind == Kind::At || kind == Kind::KwFn || kind == Kind::KwOp ||
         kind == Kind::KwElementwise || kind == Kind::KwReduction ||
         kind == Kind::KwRowwise || kind == Kind::KwKernel ||
         kind == Kind::KwConst || kind == Kind::KwFrom;
}

Block Parser::parseInlineBlock(bool bodyMayBeExpression) {
  Block block;
  block.isInline = true;
  Span begin = here();
  const Stmt *statement;
  if (bodyMayBeExpression && !at(Kind::KwReturn) && !at(Kind::KwPass)) {
    const Expr *value = parseExprList();
    if (broken)
      value = errorExpr();
    statement = arena.make<ReturnStmt>(since(begin), value);
    endStatement();
  } else {
    statement = parseStatement();
  }
  block.span = statement->span;
  block.statements = arena.list<const Stmt *>({statement});
  return block;
}

void Parser::parseStatements(llvm::SmallVectorImpl<const Stmt *> &into) {
  while (!at(Kind::Dedent) && !at(Kind::EndOfFile)) {
    if (diagnostics.limitReached())
      return skipRestOfBlock();
    if (at(Kind::Indent)) {
      diagnostics.report(here(), diag::UnexpectedIndent);
      advance();
      parseStatements(into);
      accept(Kind::Dedent);
      continue;
    }
    std::size_t before = position;
    into.push_back(parseStatement());
    if (position == before)
      advance();
  }
}

void Parser::skipRestOfBlock() {
  while (!at(Kind::Dedent) && !at(Kind::EndOfFile)) {
    if (at(Kind::Indent))
      skipBlock();
    else
      advance();
  }
}

const Stmt *Parser::parseStatement() {
  broken = false;
  switch (peek()) {
  case Kind::KwIf:
    return parseIf();
  case Kind::KwFor:
    return parseFor();
  case Kind::KwEach:
    return parseEach();
  case Kind::KwWhile:
    return parseWhile();
  default:
    break;
  }
  Span begin = here();
  const Stmt *statement = parseSimpleStatement();
  if (!statement)
    statement = arena.make<ErrorStmt>(begin);
  endStatement();
  return statement;
}

const Stmt *Parser::parseSimpleStatement() {
  switch (peek()) {
  case Kind::KwLet:
    return parseLet();
  case Kind::KwVar:
    return parseVar();
  case Kind::KwReturn:
    return parseReturn();
  case Kind::KwLaunch:
    return parseLaunch();
  case Kind::KwShared:
  case Kind::KwLocal:
    return parseStorage();
  case Kind::KwBreak:
    return arena.make<BreakStmt>(advance());
  case Kind::KwContinue:
    return arena.make<ContinueStmt>(advance());
  case Kind::KwPass:
    return arena.make<PassStmt>(advance());
  case Kind::KwElse:
  case Kind::KwElif:
    return reportDanglingElse();
  case Kind::Docstring:
    fail(here(), diag::MisplacedDocstring).hint("begin a comment with `#`");
    return nullptr;
  case Kind::KwFn:
  case Kind::KwElementwise:
  case Kind::KwReduction:
  case Kind::KwRowwise:
  case Kind::KwKernel:
  case Kind::KwOp:
  case Kind::KwConst:
  case Kind::KwFrom:
    fail(here(), diag::NestedDeclaration, text())
        .hint(at(Kind::KwConst) ? "a value has its name by `let`" : "");
    skipHeaderAndBlock();
    return nullptr;
  case Kind::KwMatch:
    fail(here(), diag::ExpectedExpression, found())
        .hint("use `if`, `elif` and `else`");
    return nullptr;
  case Kind::At:
    fail(here(), diag::ExpectedExpression, found())
        .hint("attributes stand in front of declarations");
    return nullptr;
  default:
    return parseExpressionOrAssignment();
  }
}

/// Skips the line, and the block that belongs to it.
void Parser::skipHeaderAndBlock() {
  skipToLineEnd();
  if (at(Kind::Indent))
    skipBlock();
}

const Stmt *Parser::reportDanglingElse() {
  fail(here(), diag::DanglingElse, text());
  skipHeaderAndBlock();
  return nullptr;
}

Pattern Parser::parsePattern() {
  Pattern pattern;
  Span begin = here();
  llvm::SmallVector<Identifier, 4> names;
  if (accept(Kind::LeftParen)) {
    pattern.isTuple = true;
    if (at(Kind::RightParen))
      parseName(); // says that there is none
    parseList(Kind::RightParen, [&] { names.push_back(parseName()); });
  } else {
    do
      names.push_back(parseName());
    while (!broken && accept(Kind::Comma));
    pattern.isTuple = names.size() > 1;
  }
  pattern.names = arena.list<Identifier>(names);
  pattern.span = since(begin);
  return pattern;
}

/// `= value`; without one the name is still declared, to err only once.
const Expr *Parser::parseInitialValue(llvm::StringRef keyword) {
  if (!broken && at(Kind::Newline))
    fail(here(), diag::MissingInitialValue, keyword);
  if (!expect(Kind::Assign))
    return errorExpr();
  const Expr *value = parseExprList();
  return broken ? errorExpr() : value;
}

const Stmt *Parser::parseLet() {
  Span begin = advance();
  Pattern pattern = parsePattern();
  const Type *type = nullptr;
  if (!broken && accept(Kind::Colon))
    type = parseType();
  const Expr *value = parseInitialValue("let");
  return arena.make<LetStmt>(since(begin), pattern, type, value);
}

const Stmt *Parser::parseVar() {
  Span begin = advance();
  if (at(Kind::LeftParen))
    fail(here(), diag::VarDeclaresOne);
  Identifier name = parseName();
  if (!broken && at(Kind::Comma))
    fail(here(), diag::VarDeclaresOne);
  const Type *type = nullptr;
  if (!broken && accept(Kind::Colon))
    type = parseType();
  const Expr *value = parseInitialValue("var");
  return arena.make<VarStmt>(since(begin), name, type, value);
}

const Stmt *Parser::parseReturn() {
  Span begin = advance();
  const Expr *value = nullptr;
  if (!at(Kind::Newline)) {
    value = parseExprList();
    if (broken)
      value = errorExpr();
  }
  return arena.make<ReturnStmt>(since(begin), value);
}

List<const Expr *> Parser::parseExtents(llvm::StringRef word) {
  constexpr llvm::StringLiteral hint = "write `launch grid(…) block(…)`";
  llvm::SmallVector<const Expr *, 3> extents;
  bool isWord = at(Kind::Identifier) && text() == word;
  if (!isWord) {
    fail(here(), diag::ExpectedToken, ("`" + word + "`").str(), found())
        .hint(hint);
    return {};
  }
  Span begin = advance();
  if (expect(Kind::LeftParen, hint))
    parseList(Kind::RightParen, [&] { extents.push_back(parseExpr()); });
  if (!broken && (extents.empty() || extents.size() > 3))
    diagnostics.report(since(begin), diag::LaunchExtents, word, extents.size());
  return arena.list<const Expr *>(extents);
}

const Stmt *Parser::parseLaunch() {
  Span begin = advance();
  List<const Expr *> grid = parseExtents("grid");
  List<const Expr *> block = parseExtents("block");
  return arena.make<LaunchStmt>(since(begin), grid, block);
}

const Stmt *Parser::parseStorage() {
  bool isShared = at(Kind::KwShared);
  Span begin = advance();
  Identifier name = parseName();
  expect(Kind::Colon,
         isShared ? "write `shared s: f32[256]`" : "write `local a: f32[16]`");
  const Type *type = parseType();
  if (!broken && at(Kind::Assign))
    fail(here(), diag::ExpectedEndOfLine, found())
        .hint("arrays begin without values: threads write them");
  return arena.make<StorageStmt>(since(begin), isShared, name, type);
}
