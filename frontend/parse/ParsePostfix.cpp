// Calls with their `over` clauses, indices and members.
#include "frontend/parse/Parser.h"

using namespace quern;
using namespace quern::ast;

const Expr *Parser::parsePostfix(const Expr *base) {
  while (!broken) {
    unsigned before = height;
    if (at(Kind::LeftParen)) {
      base = grow(parseCall(base, {}), before);
    } else if (at(Kind::LeftBracket)) {
      List<Argument> indices = parseIndices();
      if (at(Kind::LeftParen) && !broken)
        base = parseCall(base, indices);
      else
        base = makeIndex(base, indices);
      base = grow(base, before);
    } else if (accept(Kind::Dot)) {
      height = 1;
      base = grow(arena.make<MemberExpr>(base, parseAnyName()), before);
    } else {
      break;
    }
  }
  return base;
}

/// Brackets that index hold positions alone.
const Expr *Parser::makeIndex(const Expr *base, List<Argument> indices) {
  for (const Argument &argument : indices)
    if (argument.name && !broken) {
      diagnostics.report(argument.name.span, diag::NamedIndex)
          .hint("by name: `x.at(N = i, C = j)`");
      break;
    }
  return arena.make<IndexExpr>(since(base->span), base, indices);
}

/// `name = value`, `*S = value` or a value.
Argument Parser::parseArgument() {
  Argument argument;
  if (peek() == Kind::Star && peek(1) == Kind::Identifier &&
      peek(2) == Kind::Assign) {
    advance();
    argument.isPack = true;
  }
  bool named =
      argument.isPack ||
      ((at(Kind::Identifier) || isKeyword(peek())) && peek(1) == Kind::Assign);
  if (named) {
    argument.name = parseAnyName();
    advance();
  }
  argument.value = parseExpr();
  if (broken) // half an expression must not be checked
    argument.value = errorExpr();
  return argument;
}

List<Argument> Parser::parseIndices() {
  DepthGuard guard(*this);
  advance();
  llvm::SmallVector<Argument, 8> indices;
  unsigned highest = 1;
  parseList(Kind::RightBracket, [&] {
    if (at(Kind::Colon))
      fail(here(), diag::SliceIndex)
          .hint("axes align by their names, without an index");
    indices.push_back(parseArgument());
    highest = std::max(highest, height);
    if (at(Kind::Colon))
      fail(here(), diag::SliceIndex)
          .hint("an `op` takes views; other kinds read single positions");
  });
  height = highest;
  return arena.list<Argument>(indices);
}

const Expr *Parser::parseCall(const Expr *callee, List<Argument> brackets) {
  DepthGuard guard(*this);
  unsigned highest = height;
  if (!guard)
    return errorExpr();
  advance();
  llvm::SmallVector<Argument, 8> arguments;
  const OverClause *over = nullptr;
  parseList(Kind::RightParen, [&] {
    arguments.push_back(parseArgument());
    highest = std::max(highest, height);
    if (over && at(Kind::Colon) && !broken)
      fail(here(), diag::ExpectedToken, "`)`", found())
          .hint(
              "several axes stand in brackets: `over (i: 0 .. m, j: 0 .. n)`");
    if (!at(Kind::KwOver) || broken)
      return;
    if (over)
      fail(here(), diag::ExpectedToken, "`)`", found());
    over = parseOver(static_cast<unsigned>(arguments.size()));
    highest = std::max(highest, height);
  });
  height = highest;
  return arena.make<CallExpr>(since(callee->span), callee, brackets,
                              arena.list<Argument>(arguments), over);
}

const OverClause *Parser::parseOver(unsigned operandCount) {
  Span begin = advance();
  llvm::SmallVector<OverAxis, 4> axes;
  unsigned highest = 1;
  auto axis = [&] {
    axes.push_back(parseOverAxis());
    highest = std::max(highest, height);
  };
  if (accept(Kind::LeftParen))
    parseList(Kind::RightParen, axis);
  else
    axis();
  const Expr *where = nullptr;
  if (!broken && accept(Kind::KwWhere)) {
    where = parseExpr();
    highest = std::max(highest, height);
  }
  height = highest;
  return arena.make<OverClause>(since(begin), arena.list<OverAxis>(axes), where,
                                operandCount);
}

OverAxis Parser::parseOverAxis() {
  OverAxis axis;
  height = 1;
  axis.isPack = accept(Kind::Star);
  axis.name = parseName();
  bool isRange = at(Kind::Colon) || at(Kind::KwIn) || at(Kind::Assign);
  constexpr llvm::StringLiteral hint = "a local axis is `i: 0 .. n`";
  if (broken || !isRange || !expect(Kind::Colon, hint))
    return axis;
  axis.lower = parseExpr();
  unsigned highest = height;
  if (expect(Kind::DotDot, hint))
    axis.upper = parseExpr();
  else
    axis.upper = errorExpr();
  height = std::max(height, highest);
  return axis;
}
