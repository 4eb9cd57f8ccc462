// Operators, loosest first; the tree's height is bounded on the way.
#include "frontend/lex/Lexer.h"
#include "frontend/parse/Parser.h"

using namespace quern;
using namespace quern::ast;

/// Walks of the tree recurse, so chains of operators have a limit as well.
static constexpr unsigned maximumHeight = 4 * maximumNesting;

const Expr *Parser::grow(const Expr *node, unsigned before) {
  height = std::max(height, before) + 1;
  if (height <= maximumHeight)
    return node;
  fail(node->span, diag::NestedTooDeep, maximumHeight);
  return errorExpr();
}

const Expr *Parser::parseExpr() {
  DepthGuard guard(*this);
  if (!guard)
    return errorExpr();
  const Expr *value = parseBinary(1);
  bool isForeign = at(Kind::StarStar) || at(Kind::Bang) || at(Kind::Question);
  if (isForeign && !broken)
    reportForeignOperator();
  if (broken || !at(Kind::KwIf))
    return value;
  Span question = advance();
  bool isConst = accept(Kind::KwConst);
  unsigned highest = height;
  const Expr *condition = parseBinary(1);
  highest = std::max(highest, height);
  if (!broken && !at(Kind::KwElse) && !reportForeignOperator())
    fail(question, diag::ConditionalWithoutElse)
        .hint("write `a if condition else b`");
  if (broken)
    return arena.make<ErrorExpr>(since(value->span));
  advance();
  const Expr *otherwise = parseExpr();
  return grow(arena.make<ConditionalExpr>(condition, value, otherwise, isConst),
              highest);
}

const Expr *Parser::parseExprList() {
  const Expr *first = parseExpr();
  if (broken || !at(Kind::Comma))
    return first;
  llvm::SmallVector<Argument, 4> elements;
  elements.push_back({{}, first});
  unsigned highest = height;
  while (!broken && accept(Kind::Comma)) {
    if (at(Kind::Newline))
      break;
    if (elements.size() == maximumElements)
      fail(here(), diag::TooManyElements, maximumElements);
    const Expr *next = parseExpr();
    highest = std::max(highest, height);
    elements.push_back({{}, next});
  }
  height = highest + 1;
  return arena.make<TupleExpr>(since(first->span),
                               arena.list<Argument>(elements));
}

std::optional<BinaryOp> Parser::binaryOperator() const {
  switch (peek()) {
  case Kind::KwOr:
    return BinaryOp::Or;
  case Kind::KwAnd:
    return BinaryOp::And;
  case Kind::Less:
    return BinaryOp::Less;
  case Kind::LessEqual:
    return BinaryOp::LessEqual;
  case Kind::Greater:
    return BinaryOp::Greater;
  case Kind::GreaterEqual:
    return BinaryOp::GreaterEqual;
  case Kind::EqualEqual:
    return BinaryOp::Equal;
  case Kind::BangEqual:
    return BinaryOp::NotEqual;
  case Kind::Pipe:
    return BinaryOp::BitOr;
  case Kind::Caret:
    return BinaryOp::BitXor;
  case Kind::Ampersand:
    return BinaryOp::BitAnd;
  case Kind::LessLess:
    return BinaryOp::ShiftLeft;
  case Kind::GreaterGreater:
    return BinaryOp::ShiftRight;
  case Kind::Plus:
    return BinaryOp::Add;
  case Kind::Minus:
    return BinaryOp::Subtract;
  case Kind::Star:
    return BinaryOp::Multiply;
  case Kind::Slash:
    return BinaryOp::Divide;
  case Kind::SlashSlash:
    return BinaryOp::FloorDivide;
  case Kind::Percent:
    return BinaryOp::Modulo;
  default:
    return std::nullopt;
  }
}

/// Operators of other languages, each with what to write here.
bool Parser::reportForeignOperator() {
  bool doubled =
      peek() == peek(1) && here().end == tokens.span(position + 1).begin;
  llvm::StringRef hint;
  Span span = here();
  if (at(Kind::StarStar))
    hint = "write `pow(x, y)`, or a product";
  else if (at(Kind::Bang))
    hint = "write `not`";
  else if (at(Kind::At))
    hint = "a product of matrices is `sum(a * b over K)`";
  else if (at(Kind::Identifier) && text() == "is")
    hint = "write `==`; whether `w` is there says `present(w)`";
  else if (at(Kind::Question))
    hint = "write `a if condition else b`";
  else if (at(Kind::Ampersand) && doubled)
    hint = "write `and`";
  else if (at(Kind::Pipe) && doubled)
    hint = "write `or`";
  if (hint.empty())
    return false;
  if (doubled && !at(Kind::StarStar))
    span.end = tokens.span(position + 1).end;
  fail(span, diag::ForeignOperator, tokens.file().text(span)).hint(hint);
  return true;
}

/// Precedence climbing; comparisons (4) do not associate but chain.
const Expr *Parser::parseBinary(unsigned minimum) {
  const Expr *left;
  if (at(Kind::KwNot) && minimum <= 3 && !broken) {
    DepthGuard guard(*this);
    if (!guard)
      return errorExpr();
    Span begin = advance();
    const Expr *operand = parseBinary(3);
    left = grow(arena.make<UnaryExpr>(since(begin), UnaryOp::Not, operand),
                height);
  } else {
    left = parseUnary();
  }
  while (!broken) {
    std::optional<BinaryOp> op = binaryOperator();
    if (!op || precedence(*op) < minimum || reportForeignOperator())
      break;
    if (isComparison(*op)) {
      left = parseComparisons(left, *op);
      continue;
    }
    Span operatorSpan = advance();
    unsigned before = height;
    const Expr *right = parseBinary(precedence(*op) + 1);
    left = grow(arena.make<BinaryExpr>(*op, operatorSpan, left, right), before);
  }
  return left;
}

const Expr *Parser::parseComparisons(const Expr *left, BinaryOp first) {
  llvm::SmallVector<const Expr *, 4> operands{left};
  llvm::SmallVector<BinaryOp, 4> operators;
  Span operatorSpan = here();
  unsigned highest = height;
  for (std::optional<BinaryOp> op = first; op && isComparison(*op) && !broken;
       op = binaryOperator()) {
    operators.push_back(*op);
    advance();
    operands.push_back(parseBinary(5));
    highest = std::max(highest, height);
  }
  if (operators.size() == 1)
    return grow(arena.make<BinaryExpr>(first, operatorSpan, left, operands[1]),
                highest);
  return grow(arena.make<ComparisonChainExpr>(
                  since(left->span), arena.list<const Expr *>(operands),
                  arena.list<BinaryOp>(operators)),
              highest);
}

const Expr *Parser::parseUnary() {
  UnaryOp op;
  switch (peek()) {
  case Kind::Minus:
    op = UnaryOp::Negate;
    break;
  case Kind::Plus:
    op = UnaryOp::Plus;
    break;
  case Kind::Tilde:
    op = UnaryOp::BitNot;
    break;
  case Kind::Star: {
    Span begin = advance();
    height = 1;
    if (!at(Kind::Identifier) && !at(Kind::Error))
      fail(here(), diag::ExpectedName, found())
          .hint("there are no pointers: an element is `x[i]`");
    Identifier name = parseName(), function;
    bool isEach = !broken && at(Kind::LeftParen) &&
                  peek(1) == Kind::Identifier && peek(2) == Kind::RightParen &&
                  (name.text() == "index" || name.text() == "size");
    if (isEach) {
      function = name;
      advance();
      name = nameHere();
      advance();
    }
    return arena.make<PackExpr>(since(begin), name, function);
  }
  default:
    return parsePostfix(parsePrimary());
  }
  DepthGuard guard(*this);
  if (!guard)
    return errorExpr();
  Span begin = advance();
  const Expr *operand = parseUnary();
  return grow(arena.make<UnaryExpr>(since(begin), op, operand), height);
}
