// Attributes and compile-time parameters.
#include "frontend/parse/Parser.h"

using namespace quern;
using namespace quern::ast;

List<Attribute> Parser::parseAttributes() {
  llvm::SmallVector<Attribute, 4> attributes;
  while (at(Kind::At)) {
    broken = false;
    attributes.push_back(parseAttribute());
    endStatement();
  }
  return arena.list<Attribute>(attributes);
}

Attribute Parser::parseAttribute() {
  Attribute attribute;
  Span begin = advance();
  attribute.name = parseAnyName();
  llvm::SmallVector<AttributeArgument, 8> arguments;
  if (at(Kind::Dot))
    fail(here(), diag::ExpectedEndOfLine, found())
        .hint(
            "a declaration says by its first word what it is: `kernel f(…):`");
  if (!broken && accept(Kind::LeftParen))
    parseList(Kind::RightParen,
              [&] { arguments.push_back(parseAttributeArgument()); });
  attribute.arguments = arena.list<AttributeArgument>(arguments);
  attribute.span = since(begin);
  return attribute;
}

/// `(kh, kw) =` is told from a tuple value by the sign behind it.
bool Parser::atTupleOfNames() const {
  if (!at(Kind::LeftParen))
    return false;
  std::size_t ahead = 1;
  while (peek(ahead) == Kind::Identifier || peek(ahead) == Kind::Comma)
    ++ahead;
  return peek(ahead) == Kind::RightParen && peek(ahead + 1) == Kind::Assign;
}

AttributeArgument Parser::parseAttributeArgument() {
  AttributeArgument argument;
  Span begin = here();
  llvm::SmallVector<Identifier, 4> names;
  if (atTupleOfNames()) {
    argument.isTuple = true;
    advance();
    parseList(Kind::RightParen, [&] { names.push_back(parseName()); });
    expect(Kind::Assign);
  } else if (atAnyName() && peek(1) == Kind::Assign) {
    names.push_back(parseAnyName());
    advance();
  }
  argument.names = arena.list<Identifier>(names);
  argument.value = parseExpr();
  if (broken)
    argument.value = errorExpr();
  argument.span = since(begin);
  return argument;
}

List<GenericParam> Parser::parseGenerics() {
  llvm::SmallVector<GenericParam, 4> generics;
  if (broken || !accept(Kind::LeftBracket))
    return {};
  parseList(Kind::RightBracket, [&] { generics.push_back(parseGeneric()); });
  return arena.list<GenericParam>(generics);
}

GenericParam Parser::parseGeneric() {
  GenericParam generic;
  Span begin = here();
  generic.name = parseName();
  if (!broken && accept(Kind::Colon)) {
    if (at(Kind::KwMatch) || at(Kind::LeftBrace))
      generic.choice = parseChoice();
    else
      generic.type = parseType();
  }
  if (!broken && accept(Kind::Assign))
    generic.defaultValue = parseExpr();
  generic.span = since(begin);
  return generic;
}

const Choice *Parser::parseChoice() {
  Choice choice;
  Span begin = here();
  if (accept(Kind::KwMatch))
    choice.subject = parseName();
  llvm::SmallVector<const Expr *, 8> values;
  if (expect(Kind::LeftBrace))
    parseList(Kind::RightBrace, [&] {
      if (choice.hasElse)
        fail(here(), diag::ElseNotLast);
      if (accept(Kind::KwElse))
        choice.hasElse = true;
      else
        values.push_back(parseExpr());
    });
  choice.values = arena.list<const Expr *>(values);
  choice.span = since(begin);
  if (values.empty() && !broken && !diagnostics.hasErrors())
    diagnostics.report(choice.span, diag::EmptyChoice);
  return arena.make<Choice>(choice);
}
