// Which neighbours in a line have a blank between them.
#include "frontend/format/Formatter.h"

using namespace quern;

/// Does a value end here? Then a sign behind it is a binary operator.
bool Formatter::isOperandEnd(std::size_t token) const {
  switch (tokens.kind(token)) {
  case Kind::Identifier:
  case Kind::Integer:
  case Kind::Float:
  case Kind::String:
  case Kind::KwTrue:
  case Kind::KwFalse:
  case Kind::KwNone:
  case Kind::KwInf:
  case Kind::KwNan:
  case Kind::RightParen:
  case Kind::RightBracket:
  case Kind::RightBrace:
  case Kind::Question:
    return true;
  default:
    // A keyword behind a dot or an `@` is a name.
    return token > 0 && isKeyword(tokens.kind(token)) &&
           (tokens.kind(token - 1) == Kind::Dot ||
            tokens.kind(token - 1) == Kind::At);
  }
}

bool Formatter::isUnary(std::size_t token) const {
  switch (tokens.kind(token)) {
  case Kind::Tilde:
    return true;
  case Kind::Minus:
  case Kind::Plus:
  case Kind::Star:
    return token == 0 || !isOperandEnd(token - 1);
  default:
    return false;
  }
}

bool Formatter::spaceBefore(std::size_t token, std::size_t lineBegin) const {
  if (token == lineBegin)
    return false;
  Kind kind = tokens.kind(token), last = tokens.kind(token - 1);
  switch (kind) {
  case Kind::RightParen:
  case Kind::RightBracket:
  case Kind::RightBrace:
  case Kind::Comma:
  case Kind::Colon:
  case Kind::Question:
    return false;
  case Kind::Dot: // stuck to a number it would be a part of it
    return last == Kind::Integer || last == Kind::Float;
  case Kind::LeftParen:
    if (last == Kind::KwFn || isOperandEnd(token - 1))
      return last == Kind::RightBrace;
    break;
  case Kind::LeftBracket:
    if (isOperandEnd(token - 1))
      return false;
    break;
  default:
    break;
  }
  switch (last) {
  case Kind::LeftParen:
  case Kind::LeftBracket:
  case Kind::LeftBrace:
  case Kind::Dot:
  case Kind::At:
    return false;
  default:
    return !isUnary(token - 1);
  }
}
