// The module and its declarations.
#include "frontend/ElementType.h"
#include "frontend/parse/Parser.h"

using namespace quern;
using namespace quern::ast;

void Parser::parseModule() {
  module.documentation = parseDocumentation();
  while (!at(Kind::EndOfFile) && !diagnostics.limitReached()) {
    std::size_t before = position;
    parseTopLevel();
    if (position == before)
      advance();
  }
}

/// The text between the quotes, when a docstring stands here.
llvm::StringRef Parser::parseDocumentation() {
  if (!at(Kind::Docstring))
    return {};
  llvm::StringRef inner = text();
  inner.consume_front("\"\"\"");
  inner.consume_back("\"\"\"");
  advance();
  endStatement();
  return inner.trim();
}

void Parser::parseTopLevel() {
  broken = false;
  if (accept(Kind::Newline) || accept(Kind::Dedent))
    return;
  unsigned errors = diagnostics.errorCount();
  std::size_t first = position;
  Span begin = here();
  List<Attribute> attributes = parseAttributes();
  broken = false;
  Decl *decl = parseDeclaration();
  if (!decl)
    return reportTopLevel(attributes);
  decl->attributes = attributes;
  decl->span = since(begin);
  decl->hasError =
      errors != diagnostics.errorCount() || tokens.hasError(first, position);
  if (decl->kind == Decl::Kind::Use && !attributes.empty())
    diagnostics.report(attributes[0].span, diag::AttributeOnUse);
  module.declarations.push_back(decl);
}

/// What stands here begins no declaration; it is skipped with its block.
void Parser::reportTopLevel(llvm::ArrayRef<Attribute> attributes) {
  if (at(Kind::Indent)) {
    diagnostics.report(here(), diag::UnexpectedIndent);
    advance();
    return;
  }
  Kind kind = peek();
  bool isStatement =
      kind == Kind::KwLet || kind == Kind::KwVar || kind == Kind::KwReturn ||
      kind == Kind::KwIf || kind == Kind::KwFor || kind == Kind::KwWhile ||
      kind == Kind::KwEach || kind == Kind::KwLaunch ||
      kind == Kind::KwShared || kind == Kind::KwLocal || kind == Kind::KwPass ||
      kind == Kind::KwElse || kind == Kind::KwElif;
  if (kind == Kind::Error)
    broken = true;
  else if (!attributes.empty() && !reportForeignWord())
    fail(attributes.back().span, diag::AttributeWithoutDeclaration,
         attributes.back().name.text());
  else if (isStatement)
    fail(here(), diag::StatementAtTopLevel, text());
  else if (kind == Kind::Docstring)
    fail(here(), diag::MisplacedDocstring).hint("begin a comment with `#`");
  else if (!reportForeignWord()) {
    std::string near = keywordHint();
    fail(here(), diag::ExpectedDeclaration, found())
        .hint(at(Kind::KwUse)    ? "write `from module use name`"
              : beginsCComment() ? "a comment begins with `#`"
              : near.empty()
                  ? "a declaration begins with `fn`, `elementwise`, "
                    "`reduction`, `rowwise`, `kernel`, `op`, `const` or `from`"
                  : near);
  }
  skipHeaderAndBlock();
}

Decl *Parser::parseDeclaration() {
  switch (peek()) {
  case Kind::KwFrom:
    return parseUse();
  case Kind::KwConst:
    return parseConst();
  case Kind::KwReduction:
    return parseReduction();
  case Kind::KwFn:
    return parseCallable(Decl::Kind::Function);
  case Kind::KwElementwise:
    return parseCallable(Decl::Kind::Elementwise);
  case Kind::KwRowwise:
    return parseCallable(Decl::Kind::Rowwise);
  case Kind::KwKernel:
    return parseCallable(Decl::Kind::Kernel);
  case Kind::KwOp:
    return parseCallable(Decl::Kind::Op);
  case Kind::Identifier:
    if (text() == "import" && peek(1) == Kind::Identifier)
      return parseForeignImport();
    return parseForeignCallable();
  default:
    return nullptr;
  }
}

/// `def g(x):` is reported and skipped, but `g` is a name: calls of it are not
/// blamed.
Decl *Parser::parseForeignCallable() {
  bool hasName = peek(1) == Kind::Identifier && peek(2) == Kind::LeftParen;
  if (!hasName || !reportForeignWord())
    return nullptr;
  auto *decl = arena.make<CallableDecl>(Decl::Kind::Function);
  advance();
  decl->name = nameHere();
  skipHeaderAndBlock();
  return decl;
}

/// `folder.module`; blanks around a point do not belong to the name.
Identifier Parser::parseModulePath() {
  Identifier path = parseName();
  Span whole = path.span;
  std::string text = path.text().str();
  while (!broken && accept(Kind::Dot)) {
    Identifier part = parseName();
    whole = join(whole, part.span);
    text += "." + part.text().str();
  }
  if (broken)
    return path;
  path.span =
      Span{whole.begin, whole.begin + static_cast<std::uint32_t>(text.size())};
  if (text.size() != whole.size())
    path.data = arena.string(text).data();
  return path;
}

UseDecl *Parser::parseUse() {
  auto *decl = arena.make<UseDecl>();
  advance();
  decl->name = parseModulePath();
  if (!broken && at(Kind::Identifier) && text() == "import") {
    // What follows are the names all the same.
    diagnostics.report(here(), diag::ExpectedToken, "`use`", found())
        .hint("write `from " + decl->name.text() + " use name`");
    advance();
  } else {
    expect(Kind::KwUse);
  }
  llvm::SmallVector<ImportedName, 8> names;
  auto name = [&] {
    ImportedName imported;
    if (!broken && at(Kind::Star))
      fail(here(), diag::ExpectedName, found())
          .hint("names are imported one by one");
    imported.name = parseName();
    if (!broken && accept(Kind::KwAs))
      imported.alias = parseName();
    if (!broken)
      names.push_back(imported);
  };
  if (!broken && accept(Kind::LeftParen)) {
    parseList(Kind::RightParen, name);
  } else if (!broken) {
    do
      name();
    while (!broken && accept(Kind::Comma));
  }
  decl->names = arena.list<ImportedName>(names);
  endStatement();
  return decl;
}

/// `import math as m` of another language: an error, after which `math` is a
/// name whose uses are not blamed.
UseDecl *Parser::parseForeignImport() {
  auto *decl = arena.make<UseDecl>();
  Span word = here();
  advance();
  decl->name = parseModulePath();
  llvm::StringRef first = decl->name.text().split('.').first;
  ImportedName imported;
  imported.name = decl->name;
  imported.name.span.end =
      imported.name.span.begin + static_cast<std::uint32_t>(first.size());
  if (!broken && accept(Kind::KwAs))
    imported.alias = parseName();
  if (!broken)
    diagnostics.report(word, diag::ForeignWord, "import")
        .hint("write `from " + decl->name.text() + " use name`");
  decl->names = arena.list<ImportedName>(imported);
  skipToLineEnd();
  return decl;
}

ConstDecl *Parser::parseConst() {
  auto *decl = arena.make<ConstDecl>();
  advance();
  decl->name = parseName();
  if (!broken && at(Kind::Assign))
    fail(here(), diag::MissingConstType, decl->name.text())
        .hint("write `const " + decl->name.text() + ": f32 = …`");
  else
    expect(Kind::Colon);
  decl->type = parseType();
  decl->value = parseInitialValue("const");
  endStatement();
  return decl;
}

/// What other languages write where nothing is returned.
bool Parser::atNoResult() const {
  if (at(Kind::LeftParen))
    return peek(1) == Kind::RightParen;
  bool isWord = at(Kind::Identifier) && (text() == "None" || text() == "void");
  return isWord || at(Kind::KwNone);
}

CallableDecl *Parser::parseCallable(Decl::Kind kind) {
  auto *decl = arena.make<CallableDecl>(kind);
  advance();
  decl->name = parseName();
  decl->generics = parseGenerics();
  decl->params = parseParams(/*typesRequired=*/true);
  if (!broken && accept(Kind::Arrow)) {
    if (atNoResult())
      (at(Kind::LeftParen) ? fail(here(), diag::EmptyTuple)
                           : fail(here(), diag::ExpectedType, found()))
          .hint("what has no result has no `->`");
    else
      decl->result = parseType();
  }
  pendingDocumentation = &decl->documentation;
  decl->body = parseBlock();
  pendingDocumentation = nullptr;
  return decl;
}

List<Param> Parser::parseParams(bool typesRequired) {
  llvm::SmallVector<Param, 8> params;
  if (!expect(Kind::LeftParen,
              at(Kind::Less)
                  ? "compile-time parameters stand in brackets: `f[T: Float]`"
                  : ""))
    return {};
  parseList(Kind::RightParen, [&] {
    Param param = parseParam(typesRequired);
    bool optional = param.type && llvm::isa<OptionalType>(param.type);
    if (!broken && !params.empty() && params.back().defaultValue &&
        !param.defaultValue && !optional)
      diagnostics
          .report(param.span, diag::DefaultBeforeRequired, param.name.text())
          .label(params.back().span, "this one has a default");
    params.push_back(param);
  });
  return arena.list<Param>(params);
}

/// `mut x: …` and `const x: …`, where the type has the word, or nothing has.
void Parser::reportParameterWord() {
  std::string name = tokens.text(position + 1).str();
  fail(here(), diag::KeywordAsName, text())
      .hint(at(Kind::KwMut)
                ? "write `" + name + ": mut …`"
                : "what is not `mut` is only read: write `" + name + ": …`");
}

/// Behind the first word of a parameter no `:` stands: `float* x`, `out y`,
/// `x f32`.
void Parser::reportParameterColon(llvm::StringRef word) {
  bool isWritten = word == "out" || word == "inout" || word == "ref";
  std::string name = text().str();
  std::string hint = keywordHint();
  if (at(Kind::Identifier) && (name == "int" || elementTypeNamed(name)))
    hint = "the type stands behind a colon: `" + word.str() + ": " + name + "`";
  else if (at(Kind::Identifier))
    hint = isWritten
               ? "what is written is `mut`: `" + name + ": mut f32[N]`"
               : "the name stands first: `" + name + ": " + word.str() + "`";
  fail(here(), diag::ExpectedToken, "`:`", found()).hint(hint);
}

Param Parser::parseParam(bool typesRequired) {
  Param param;
  Span begin = here();
  if ((at(Kind::KwMut) || at(Kind::KwConst)) && peek(1) == Kind::Identifier)
    reportParameterWord();
  param.name = parseName();
  if (!broken && accept(Kind::Colon))
    param.type = parseType();
  else if (!broken && (at(Kind::Identifier) || at(Kind::Star)))
    reportParameterColon(param.name.text());
  else if (typesRequired && !broken)
    fail(param.name.span, diag::MissingParameterType, param.name.text())
        .hint("write `" + param.name.text() + ": T`, of a tensor `" +
              param.name.text() + ": T[N]`");
  if (!broken && accept(Kind::Assign))
    param.defaultValue = parseExpr();
  param.span = since(begin);
  return param;
}
