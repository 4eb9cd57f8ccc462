// Types and the dimensions of tensors.
#include "frontend/parse/Parser.h"

using namespace quern;
using namespace quern::ast;

const Type *Parser::errorType() {
  return arena.make<ErrorType>(Span{here().begin, here().begin});
}

const Type *Parser::parseType() {
  DepthGuard guard(*this);
  if (!guard || broken)
    return errorType();
  Span begin = here();
  if (accept(Kind::KwMut)) {
    const Type *inner = parseType();
    return arena.make<MutType>(since(begin), inner);
  }
  const Type *type = parseBaseType();
  if (at(Kind::LeftBracket) && !broken) {
    List<Dimension> dimensions = parseDimensions();
    type = arena.make<TensorType>(since(begin), type, dimensions);
  }
  if (!broken && accept(Kind::Question))
    type = arena.make<OptionalType>(since(begin), type);
  return type;
}

const Type *Parser::parseBaseType() {
  if (at(Kind::LeftParen))
    return parseTupleType();
  if (at(Kind::KwFn))
    return parseFunctionType();
  if (!at(Kind::Identifier)) {
    if (at(Kind::Error))
      broken = true;
    fail(here(), diag::ExpectedType, found())
        .hint(at(Kind::LeftBracket)
                  ? "extents stand behind the element: `f32[32]`"
                  : "");
    return errorType();
  }
  Identifier name = parseName();
  if (at(Kind::Dot))
    return reportDottedType(name.span);
  if (name.text() == "list" && at(Kind::LeftBracket)) {
    advance();
    const Type *element = parseType();
    closeBracket(Kind::RightBracket);
    return arena.make<ListType>(since(name.span), element);
  }
  if (!at(Kind::LeftParen))
    return arena.make<NamedType>(name);
  advance();
  llvm::SmallVector<const Type *, 2> arguments;
  parseList(Kind::RightParen, [&] { arguments.push_back(parseType()); });
  return arena.make<AppliedType>(since(name.span), name,
                                 arena.list<const Type *>(arguments));
}

/// `torch.Tensor`: one mistake, behind which the text goes on.
const Type *Parser::reportDottedType(Span begin) {
  while (accept(Kind::Dot))
    if (atAnyName())
      advance();
  Span whole = since(begin);
  diagnostics
      .report(whole, diag::ExpectedType,
              ("`" + tokens.file().text(whole) + "`").str())
      .hint("a type has a plain name: `f32`, of a tensor `f32[N]`");
  return arena.make<ErrorType>(whole);
}

TypeField Parser::parseTypeField() {
  TypeField field;
  if (at(Kind::Identifier) && peek(1) == Kind::Colon) {
    field.name = parseName();
    advance();
  }
  field.type = parseType();
  if (!broken && accept(Kind::Assign))
    field.initial = parseExpr();
  return field;
}

const Type *Parser::parseTupleType() {
  Span begin = advance();
  llvm::SmallVector<TypeField, 4> fields;
  if (at(Kind::RightParen))
    fail(here(), diag::EmptyTuple);
  parseList(Kind::RightParen, [&] { fields.push_back(parseTypeField()); });
  return arena.make<TupleType>(since(begin), arena.list<TypeField>(fields));
}

const Type *Parser::parseFunctionType() {
  Span begin = advance();
  llvm::SmallVector<const Type *, 4> parameters;
  if (expect(Kind::LeftParen))
    parseList(Kind::RightParen, [&] { parameters.push_back(parseType()); });
  expect(Kind::Arrow);
  const Type *result = parseType();
  return arena.make<FunctionType>(since(begin),
                                  arena.list<const Type *>(parameters), result);
}

List<Dimension> Parser::parseDimensions() {
  advance();
  llvm::SmallVector<Dimension, 8> dimensions;
  parseList(Kind::RightBracket,
            [&] { dimensions.push_back(parseDimension()); });
  return arena.list<Dimension>(dimensions);
}

Dimension Parser::parseDimension() {
  Dimension dimension;
  Span begin = here();
  auto isPart = [&](std::size_t ahead) {
    return peek(ahead) == Kind::Identifier || peek(ahead) == Kind::Integer;
  };
  bool isGroup = at(Kind::LeftParen) && isPart(1) && isPart(2);
  if (isGroup)
    return parseGroup();
  if (at(Kind::Question) || at(Kind::DotDot)) {
    fail(here(), diag::ExpectedName, found())
        .hint("an axis has a name, `f32[N, C]`; any number of axes is `*R`");
    return dimension;
  }
  Kind second = peek(1);
  bool isPack = at(Kind::Star) && second == Kind::Identifier;
  Kind after = isPack ? peek(2) : second;
  bool isName = (isPack || at(Kind::Identifier)) &&
                (after == Kind::Comma || after == Kind::RightBracket ||
                 after == Kind::Assign);
  if (!isName) {
    dimension.kind = Dimension::Kind::Extent;
    dimension.extent = parseExpr();
  } else {
    dimension.kind = isPack ? Dimension::Kind::Pack : Dimension::Kind::Axis;
    accept(Kind::Star);
    dimension.name = parseName();
    if (accept(Kind::Assign))
      dimension.extent = parseExpr();
  }
  dimension.span = since(begin);
  return dimension;
}

/// `(G C)`: names side by side are no expression, so two of them decide.
Dimension Parser::parseGroup() {
  Dimension group;
  group.kind = Dimension::Kind::Group;
  Span begin = advance();
  llvm::SmallVector<Dimension, 4> parts;
  while (!broken && !at(Kind::RightParen)) {
    Dimension part;
    part.span = here();
    if (at(Kind::Integer)) {
      part.kind = Dimension::Kind::Extent;
      part.extent = parseInteger();
    } else {
      part.name = parseName();
    }
    parts.push_back(part);
  }
  closeBracket(Kind::RightParen);
  group.parts = arena.list<Dimension>(parts);
  group.span = since(begin);
  return group;
}
