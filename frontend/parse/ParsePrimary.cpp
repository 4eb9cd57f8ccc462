// The smallest expressions: literals, names, brackets.
#include "frontend/parse/Parser.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Error.h"

#include <charconv>
#include <cmath>
#include <limits>

using namespace quern;
using namespace quern::ast;

const Expr *Parser::parsePrimary() {
  height = 1;
  if (broken)
    return errorExpr();
  switch (peek()) {
  case Kind::Identifier:
    if (!peekForeignLiteral())
      return arena.make<NameExpr>(parseName());
    return errorExpr();
  case Kind::Integer:
    return parseInteger();
  case Kind::Float:
    return parseFloat();
  case Kind::String:
    return parseString();
  case Kind::KwTrue:
  case Kind::KwFalse: {
    bool value = at(Kind::KwTrue);
    return arena.make<BoolExpr>(advance(), value);
  }
  case Kind::KwNone:
    return arena.make<NoneExpr>(advance());
  case Kind::KwInf:
  case Kind::KwNan: {
    double value = at(Kind::KwInf) ? std::numeric_limits<double>::infinity()
                                   : std::numeric_limits<double>::quiet_NaN();
    llvm::StringRef spelling = text();
    return arena.make<FloatExpr>(advance(), value, spelling);
  }
  case Kind::LeftParen:
    return parseParenthesised();
  case Kind::LeftBracket:
    return parseListLiteral();
  case Kind::KwExtern:
    return parseExtern();
  default:
    return reportNoExpression();
  }
}

/// `True`, `None`, `lambda` and their like stand where a value is wanted.
bool Parser::peekForeignLiteral() {
  // A name in lower case may well be the user's own.
  llvm::StringRef name = text();
  bool mayBe = name.size() >= 4 && name.size() <= 6;
  return mayBe &&
         (name == "lambda" || name == "True" || name == "False" ||
          name == "None") &&
         reportForeignWord();
}

const Expr *Parser::reportNoExpression() {
  // What the lexer has reported, and a keyword that is meant for a name, stand
  // for a value.
  if (at(Kind::Error) || llvm::is_contained(keywordNames, peek())) {
    Span span = advance();
    return arena.make<ErrorExpr>(span);
  }
  if (at(Kind::KwNot))
    fail(here(), diag::NotNeedsParentheses).hint("write `(not …)`");
  else if (at(Kind::KwWhere))
    fail(here(), diag::ExpectedExpression, found())
        .hint("a choice is `a if condition else b`");
  else if (at(Kind::KwOver) && position &&
           tokens.kind(position - 1) == Kind::Comma)
    fail(here(), diag::ExpectedExpression, found())
        .hint("a reduction has no comma before it: `sum(x over C)`");
  else if (!reportForeignOperator())
    fail(here(), diag::ExpectedExpression, found()).hint(operandHint());
  return errorExpr();
}

/// What may have been meant by the operator before a missing operand.
llvm::StringRef Parser::operandHint() const {
  if (at(Kind::Ampersand))
    return "there are no addresses: a place is written `x[i]`";
  if (beginsCComment())
    return "a comment begins with `#`";
  if (at(Kind::Newline) && peek(1) == Kind::Indent)
    return "in parentheses a line goes on in the next";
  if (position < 2)
    return "";
  Kind last = tokens.kind(position - 1), before = tokens.kind(position - 2);
  if (at(Kind::Newline) && last == before && last == Kind::Plus)
    return "write `i += 1`";
  if (at(Kind::Newline) && last == before && last == Kind::Minus)
    return "write `i -= 1`";
  if (at(Kind::Greater) && last == Kind::Less)
    return "write `!=`";
  if (at(Kind::Colon) && last == Kind::LeftBracket)
    return "axes have names: `f32[R, C]`";
  return "";
}

const Expr *Parser::errorExpr() {
  height = 1;
  return arena.make<ErrorExpr>(Span{here().begin, here().begin});
}

static llvm::StringRef withoutUnderscores(llvm::StringRef text,
                                          llvm::SmallVectorImpl<char> &memory) {
  if (!text.contains('_'))
    return text;
  for (char c : text)
    if (c != '_')
      memory.push_back(c);
  return {memory.data(), memory.size()};
}

const Expr *Parser::parseInteger() {
  llvm::StringRef spelling = text();
  Span span = advance();
  llvm::SmallString<32> memory;
  llvm::StringRef digits = withoutUnderscores(spelling, memory);
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && !llvm::isDigit(digits[1])) {
    char prefix = digits[1] | 0x20;
    base = prefix == 'x' ? 16 : prefix == 'b' ? 2 : 8;
    digits = digits.drop_front(2);
  }
  std::uint64_t value = 0;
  auto result = std::from_chars(digits.begin(), digits.end(), value, base);
  if (result.ec == std::errc::result_out_of_range)
    diagnostics.report(span, diag::IntegerTooLarge, spelling.take_front(40));
  return arena.make<IntExpr>(span, value);
}

const Expr *Parser::parseFloat() {
  llvm::StringRef spelling = text();
  Span span = advance();
  llvm::SmallString<32> memory;
  llvm::StringRef digits = withoutUnderscores(spelling, memory);
  double value = 0;
  bool hex = digits.size() > 2 && (digits[1] | 0x20) == 'x';
  auto fast = std::from_chars(digits.begin(), digits.end(), value);
  // Rare: also tells overflow from underflow.
  if (hex || fast.ec != std::errc()) {
    llvm::APFloat exact(llvm::APFloat::IEEEdouble());
    auto status =
        exact.convertFromString(digits, llvm::APFloat::rmNearestTiesToEven);
    value = status ? exact.convertToDouble() : 0.0;
    llvm::consumeError(status.takeError());
  }
  if (std::isinf(value))
    diagnostics.report(span, diag::FloatOverflow, spelling.take_front(40));
  return arena.make<FloatExpr>(span, value, spelling);
}

/// Replaces escapes; without any the text itself serves.
llvm::StringRef Parser::unescape(Span span, llvm::StringRef text) {
  if (!text.contains('\\'))
    return text;
  llvm::SmallString<64> result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result.push_back(text[i]);
      continue;
    }
    char escape = text[++i];
    int replaced = llvm::StringSwitch<int>(text.substr(i, 1))
                       .Case("n", '\n')
                       .Case("t", '\t')
                       .Case("\\", '\\')
                       .Case("\"", '"')
                       .Case("'", '\'')
                       .Default(-1);
    if (replaced >= 0) {
      result.push_back(static_cast<char>(replaced));
      continue;
    }
    auto offset = static_cast<std::uint32_t>(i);
    diagnostics
        .report({span.begin + offset, span.begin + offset + 2},
                diag::UnknownEscape, llvm::StringRef(&escape, 1))
        .hint("known are `\\n`, `\\t`, `\\\\`, `\\\"` and `\\'`");
  }
  return arena.string(result);
}

const Expr *Parser::parseString() {
  llvm::StringRef inner = text().drop_front().drop_back();
  Span span = advance();
  return arena.make<StringExpr>(span, unescape(span, inner));
}

const Expr *Parser::parseParenthesised() {
  DepthGuard guard(*this);
  if (!guard)
    return errorExpr();
  Span begin = advance();
  if (at(Kind::RightParen))
    fail(here(), diag::EmptyTuple);
  llvm::SmallVector<Argument, 8> elements;
  bool isTuple = false;
  unsigned highest = 1;
  parseList(Kind::RightParen, [&] {
    elements.push_back(parseArgument());
    highest = std::max(highest, height);
    isTuple |= elements.size() > 1 || elements.back().name || at(Kind::Comma);
  });
  height = highest + 1;
  if (isTuple)
    return arena.make<TupleExpr>(since(begin), arena.list<Argument>(elements));
  const Expr *inner = elements.empty() ? errorExpr() : elements[0].value;
  return arena.make<ParenExpr>(since(begin), inner);
}

const Expr *Parser::parseListLiteral() {
  DepthGuard guard(*this);
  if (!guard)
    return errorExpr();
  Span begin = advance();
  llvm::SmallVector<const Expr *, 16> elements;
  Pattern pattern;
  const Expr *iterable = nullptr;
  unsigned highest = 1;
  parseList(Kind::RightBracket, [&] {
    if (iterable) { // `[f(x) for x in xs, …`
      expect(Kind::RightBracket);
      return;
    }
    elements.push_back(parseExpr());
    highest = std::max(highest, height);
    if (broken || elements.size() > 1 || !accept(Kind::KwFor))
      return;
    pattern = parsePattern();
    expect(Kind::KwIn);
    iterable = broken ? errorExpr() : parseExpr();
    highest = std::max(highest, height);
  });
  height = highest + 1;
  return arena.make<ListExpr>(since(begin), arena.list<const Expr *>(elements),
                              pattern, iterable);
}

const Expr *Parser::parseExtern() {
  Span begin = advance();
  llvm::StringRef spelling = text();
  Span span = here();
  if (!expect(Kind::String, at(Kind::KwShared)
                                ? "write `shared s: f32[256]`, its extent is "
                                  "known when compiling"
                                : ""))
    return errorExpr();
  llvm::StringRef overload = unescape(span, spelling.drop_front().drop_back());
  // Brackets name the types of results: `extern "aten::nonzero"[i64](x)`.
  if (!at(Kind::LeftParen) && !at(Kind::LeftBracket))
    fail(since(begin), diag::ExternWithoutCall);
  return arena.make<ExternExpr>(since(begin), overload, span);
}
