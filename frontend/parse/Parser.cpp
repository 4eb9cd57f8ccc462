// Looking at tokens, consuming them, and going on after a mistake.
#include "frontend/parse/Parser.h"

#include "frontend/Frontend.h"
#include "frontend/diagnostics/Suggestion.h"
#include "frontend/lex/Lexer.h"

#include "llvm/ADT/StringSwitch.h"

using namespace quern;

std::unique_ptr<ast::Module> quern::parse(const TokenBuffer &tokens,
                                          DiagnosticEngine &diagnostics) {
  auto module = std::make_unique<ast::Module>();
  module->file = &tokens.file();
  DiagnosticEngine unheard;
  Parser(tokens, tokens.truncated() ? unheard : diagnostics, *module)
      .parseModule();
  return module;
}

std::unique_ptr<ast::Module> quern::parse(const SourceFile &file,
                                          DiagnosticEngine &diagnostics) {
  return parse(lex(file, diagnostics), diagnostics);
}

Parser::DepthGuard::DepthGuard(Parser &parser) : parser(parser) {
  // A bracket takes two steps of recursion; the rest is for blocks around.
  good = ++parser.depth <= 2 * maximumNesting + 64;
  if (!good)
    parser.fail(parser.here(), diag::NestedTooDeep, maximumNesting);
}

bool Parser::expect(Kind kind, llvm::StringRef hint) {
  if (broken)
    return false;
  if (accept(kind))
    return true;
  // The lexer has reported an Error token already.
  if (at(Kind::Error))
    broken = true;
  bool punctuation = kind >= Kind::KwAnd;
  std::string keyword = keywordHint();
  std::string wanted = describe(kind).str();
  fail(here(), diag::ExpectedToken, punctuation ? "`" + wanted + "`" : wanted,
       found())
      .hint(keyword.empty() ? hint : keyword);
  return false;
}

/// What stands here, for a message.
std::string Parser::found() const {
  Kind kind = peek();
  if (kind <= Kind::Dedent || kind == Kind::Docstring)
    return describe(kind).str();
  llvm::StringRef shown = text().take_front(40);
  if (kind == Kind::String)
    return "a string";
  return ("`" + shown + "`").str();
}

void Parser::skipToLineEnd() {
  while (!at(Kind::Newline) && !at(Kind::EndOfFile) && !at(Kind::Dedent) &&
         !at(Kind::Indent))
    advance();
  accept(Kind::Newline);
  broken = false;
}

/// Skips an Indent with all that belongs to it.
void Parser::skipBlock() {
  unsigned open = 0;
  do {
    open += at(Kind::Indent);
    open -= at(Kind::Dedent);
    advance();
  } while (open && !at(Kind::EndOfFile));
}

void Parser::closeBracket(Kind closer) {
  if (!broken && accept(closer))
    return;
  std::size_t end = endOfBracket();
  bool closes =
      tokens.kind(end) != Kind::Newline && tokens.kind(end) != Kind::EndOfFile;
  // The lexer closes what was forgotten with nothing, and has reported that.
  bool wasForgotten = !closes || tokens.span(end).size() == 0;
  if (!broken && !wasForgotten && !reportForeignOperator() &&
      !reportMisplaced())
    expect(closer);
  while (position < end + closes)
    advance();
  broken = wasForgotten;
}

/// The bracket that closes the one we are in, or the line's end before it.
std::size_t Parser::endOfBracket() const {
  unsigned open = 1;
  for (std::size_t i = position;; ++i) {
    switch (tokens.kind(i)) {
    case Kind::LeftParen:
    case Kind::LeftBracket:
    case Kind::LeftBrace:
      ++open;
      break;
    case Kind::RightParen:
    case Kind::RightBracket:
    case Kind::RightBrace:
      if (--open == 0)
        return i;
      break;
    case Kind::Newline:
    case Kind::EndOfFile:
      return i;
    default:
      break;
    }
  }
}

void Parser::parseList(Kind closer, llvm::function_ref<void()> item) {
  unsigned count = 0;
  while (!at(closer) && !broken) {
    if (++count > maximumElements)
      fail(here(), diag::TooManyElements, maximumElements);
    else
      item();
    if (broken || !accept(Kind::Comma))
      break;
  }
  closeBracket(closer);
}

void Parser::endStatement() {
  if (!broken && (accept(Kind::Newline) || lineEnded()))
    return;
  if (!broken && at(Kind::Semicolon)) {
    fail(here(), diag::SeparatedStatements).hint("begin a new line");
  } else if (!broken && !reportForeignOperator() && !reportMisplaced()) {
    if (at(Kind::Error))
      broken = true;
    fail(here(), diag::ExpectedEndOfLine, found()).hint(lineHint());
  }
  // What is deeper than a line that is wrong belongs to it.
  skipHeaderAndBlock();
}

/// `// text` and `/* text */`.
bool Parser::beginsCComment() const {
  return at(Kind::SlashSlash) || (at(Kind::Slash) && peek(1) == Kind::Star);
}

/// What may have been meant by the rest of a line.
std::string Parser::lineHint() const {
  bool isBehindSlashes =
      position > 1 && tokens.kind(position - 2) == Kind::SlashSlash;
  if (at(Kind::Identifier) && isBehindSlashes)
    return "a comment begins with `#`";
  if (at(Kind::Identifier) && peek(1) == Kind::Assign)
    return ("a new name is declared: `let " + text() + " = …`").str();
  if (at(Kind::KwIn))
    return "compare with each: `x == 1 or x == 2`";
  return keywordHint();
}

/// Was the line's end consumed already, with a block that was skipped?
bool Parser::lineEnded() const {
  Kind last = position ? tokens.kind(position - 1) : Kind::Newline;
  return last == Kind::Newline || last == Kind::Dedent;
}

/// Words that mean something only in the arguments of a call.
bool Parser::reportMisplaced() {
  if (at(Kind::KwOver))
    fail(here(), diag::OverOutsideCall)
        .hint("write it in a call: `sum(x over C)`");
  else if (at(Kind::DotDot))
    fail(here(), diag::RangeOutsideOver)
        .hint("a loop is `for i in range(lo, hi):`");
  else
    return false;
  return true;
}

/// Words of two letters have too many neighbours, and values are names.
static bool isLikelyMeant(llvm::StringRef keyword) {
  return keyword.size() > 2 && keyword != "inf" && keyword != "nan" &&
         keyword != "none" && keyword != "true" && keyword != "false";
}

std::string Parser::keywordHint() const {
  if (at(Kind::Star) && position &&
      tokens.kind(position - 1) == Kind::Identifier)
    return "there are no pointers: a tensor is `f32[N]`";
  if (at(Kind::LeftBracket) && position &&
      tokens.kind(position - 1) == Kind::RightBracket)
    return "extents stand in one bracket: `f32[M, N]`";
  if (at(Kind::String) && position && previous().end == here().begin)
    return "a text has no letter before it, and no values within";
  for (std::size_t back : {0, 1}) {
    if (back > position || tokens.kind(position - back) != Kind::Identifier)
      continue;
    Suggestion suggestion(tokens.text(position - back));
#define QN_KEYWORD(name, spelling)                                             \
  if (isLikelyMeant(spelling))                                                 \
    suggestion.consider(spelling);
#define QN_TOKEN(name, description)
#include "frontend/lex/Tokens.def"
    if (std::string hint = suggestion.hint(); !hint.empty())
      return hint;
  }
  return {};
}

/// A word of another language is a better message than "expected …".
bool Parser::reportForeignWord() {
  if (!at(Kind::Identifier))
    return false;
  llvm::StringRef hint = llvm::StringSwitch<llvm::StringRef>(text())
#define QN_FOREIGN(word, hint) .Case(word, hint)
#include "frontend/parse/ForeignWords.def"
                             .Default("");
  if (hint.empty())
    return false;
  fail(here(), diag::ForeignWord, text()).hint(hint);
  return true;
}

ast::Identifier Parser::parseName() {
  if (broken)
    return {};
  if (at(Kind::Identifier)) {
    return nameHere();
  }
  if (isKeyword(peek())) {
    if (!llvm::is_contained(keywordNames, peek()))
      keywordNames.push_back(peek());
    fail(here(), diag::KeywordAsName, text())
        .hint(at(Kind::KwMut) ? "what `var` declares can be assigned again"
                              : "");
  }
  if (at(Kind::Error))
    broken = true;
  fail(here(), diag::ExpectedName, found());
  return {};
}

ast::Identifier Parser::parseAnyName() {
  if (!isKeyword(peek()))
    return parseName();
  return nameHere();
}
