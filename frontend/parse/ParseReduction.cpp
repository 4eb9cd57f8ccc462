// Reductions: state, step, merge and finish.
#include "frontend/parse/Parser.h"

#include "llvm/ADT/StringSwitch.h"

using namespace quern;
using namespace quern::ast;

ReductionDecl *Parser::parseReduction() {
  auto *decl = arena.make<ReductionDecl>();
  Span begin = advance();
  decl->name = parseName();
  decl->generics = parseGenerics();
  if (!broken && at(Kind::LeftParen))
    decl->params = parseParams(/*typesRequired=*/true);
  bool headerBroken = broken || !expect(Kind::Colon);
  if (!headerBroken && !at(Kind::Newline))
    fail(here(), diag::ExpectedBlock);
  headerBroken |= broken;
  skipToLineEnd();
  if (!at(Kind::Indent)) {
    if (!headerBroken)
      diagnostics.report(here(), diag::ExpectedBlock);
    decl->span = since(begin);
    return decl;
  }
  advance();
  decl->documentation = parseDocumentation();
  Span state;
  bool complete = !headerBroken;
  while (!at(Kind::Dedent) && !at(Kind::EndOfFile)) {
    std::size_t before = position;
    broken = false;
    unsigned errors = diagnostics.errorCount();
    parseReductionPart(*decl, state);
    complete &= errors == diagnostics.errorCount();
    if (position == before)
      advance();
  }
  decl->span = since(begin);
  accept(Kind::Dedent);
  if (complete)
    checkReductionParts(*decl, state);
  return decl;
}

/// What a part is called elsewhere.
static llvm::StringRef partHint(llvm::StringRef word) {
  return llvm::StringSwitch<llvm::StringRef>(word)
      .Cases({"init", "initial", "identity", "neutral"},
             "a state begins with its value: `state: acc(T) = 0`")
      .Cases({"update", "accumulate", "add"}, "write `step`")
      .Cases({"combine", "join", "reduce"}, "write `merge`")
      .Cases({"final", "finalize", "result"}, "write `finish`")
      .Default("");
}

void Parser::parseReductionPart(ReductionDecl &decl, Span &state) {
  llvm::StringRef word = at(Kind::Identifier) ? text() : llvm::StringRef();
  const ReductionPart **slot = word == "step"     ? &decl.step
                               : word == "merge"  ? &decl.merge
                               : word == "finish" ? &decl.finish
                                                  : nullptr;
  if (!slot && word != "state") {
    if (at(Kind::Indent)) {
      diagnostics.report(here(), diag::UnexpectedIndent);
      return skipBlock();
    }
    fail(here(), diag::UnknownReductionPart, found()).hint(partHint(word));
    return skipHeaderAndBlock();
  }
  Span before = slot && *slot ? (*slot)->keyword.span : Span();
  if (word == "state")
    before = state;
  Identifier keyword = parseName();
  bool isState = word == "state";
  if (isState && standsInLines(decl, before.valid()))
    return reportStateLines(decl, before.valid() ? before : keyword.span);
  if (before.valid())
    diagnostics
        .report(keyword.span, diag::DuplicateReductionPart, word,
                decl.name.text())
        .label(before, "first here");
  if (slot) {
    *slot = parsePart(keyword);
    return;
  }
  state = keyword.span;
  parseState(decl);
}

/// `state a: T = 1`, a line for each field, or fields in a block.
bool Parser::standsInLines(const ReductionDecl &decl, bool isSecond) const {
  if (isSecond)
    return !decl.stateIsTuple && decl.state.size() == 1 &&
           decl.state.front().name && decl.state.front().type;
  bool named = at(Kind::Identifier) && peek(1) == Kind::Colon;
  return named || (at(Kind::Colon) && peek(1) == Kind::Newline);
}

/// One error for all lines of a state, and how they are written.
void Parser::reportStateLines(const ReductionDecl &decl, Span first) {
  llvm::SmallVector<std::string, 4> fields;
  for (const TypeField &field : decl.state) {
    Span end = field.initial ? field.initial->span : field.type->span;
    fields.push_back(tokens.file().text(join(field.name.span, end)).str());
  }
  auto line = [&] {
    Span begin = here();
    while (!at(Kind::Newline) && !at(Kind::Dedent) && !at(Kind::EndOfFile))
      advance();
    fields.push_back(tokens.file().text(since(begin)).str());
    accept(Kind::Newline);
  };
  accept(Kind::Colon);
  if (at(Kind::Newline) && peek(1) == Kind::Indent) {
    advance();
    advance();
    while (!at(Kind::Dedent) && !at(Kind::EndOfFile))
      line();
    accept(Kind::Dedent);
  } else {
    line();
  }
  while (at(Kind::Identifier) && text() == "state") {
    advance();
    accept(Kind::Colon);
    line();
  }
  diagnostics.report(first, diag::StateForm)
      .hint("state: (" + llvm::join(fields, ", ") + ")");
}

void Parser::parseState(ReductionDecl &decl) {
  if (!broken && at(Kind::LeftParen))
    fail(here(), diag::ExpectedToken, "`:`", found())
        .hint("write `state: (a: T = 0, …)`");
  expect(Kind::Colon);
  llvm::SmallVector<TypeField, 4> fields;
  decl.stateIsTuple = at(Kind::LeftParen);
  if (!broken && accept(Kind::LeftParen))
    parseList(Kind::RightParen, [&] { fields.push_back(parseTypeField()); });
  else if (!broken)
    fields.push_back(parseTypeField());
  if (!broken && at(Kind::Comma))
    fail(here(), diag::ExpectedEndOfLine, found())
        .hint("several fields stand in parentheses: `state: (a: T = 0, …)`");
  decl.state = arena.list<TypeField>(fields);
  endStatement();
}

const ReductionPart *Parser::parsePart(Identifier keyword) {
  ReductionPart part;
  part.keyword = keyword;
  part.params = parseParams(/*typesRequired=*/false);
  if (!broken && accept(Kind::Arrow))
    part.result = parseType();
  part.body = parseBlock(/*bodyMayBeExpression=*/true);
  part.span = since(keyword.span);
  return arena.make<ReductionPart>(part);
}

void Parser::checkReductionParts(const ReductionDecl &decl, Span state) {
  llvm::StringRef missing = !state.valid() ? "state"
                            : !decl.step   ? "step"
                            : !decl.merge  ? "merge"
                                           : "";
  if (!missing.empty())
    diagnostics.report(decl.name.span, diag::MissingReductionPart,
                       decl.name.text(), missing);
}
