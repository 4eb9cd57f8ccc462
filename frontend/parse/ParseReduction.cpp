// Reductions: state, step, merge and finish.
#include "frontend/parse/Parser.h"

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
    fail(here(), diag::UnknownReductionPart, found());
    return skipHeaderAndBlock();
  }
  Span before = slot && *slot ? (*slot)->keyword.span : Span();
  if (word == "state")
    before = state;
  if (before.valid())
    diagnostics
        .report(here(), diag::DuplicateReductionPart, word, decl.name.text())
        .label(before, "first here");
  Identifier keyword = parseName();
  if (slot) {
    *slot = parsePart(keyword);
    return;
  }
  state = keyword.span;
  parseState(decl);
}

void Parser::parseState(ReductionDecl &decl) {
  expect(Kind::Colon);
  llvm::SmallVector<TypeField, 4> fields;
  decl.stateIsTuple = at(Kind::LeftParen);
  if (!broken && accept(Kind::LeftParen))
    parseList(Kind::RightParen, [&] { fields.push_back(parseTypeField()); });
  else if (!broken)
    fields.push_back(parseTypeField());
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
