// Writing one logical line, over several lines where it is too long.
#include "frontend/format/Formatter.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Unicode.h"

#include <algorithm>

using namespace quern;

unsigned Formatter::widthOf(llvm::StringRef text) {
  int width = llvm::sys::unicode::columnWidthUTF8(text);
  return width < 0 ? text.size() : width;
}

unsigned Formatter::column() const {
  return widthOf(llvm::StringRef(out).substr(out.rfind('\n') + 1));
}

unsigned Formatter::flatWidth(std::size_t begin, std::size_t end) const {
  unsigned width = 0;
  for (std::size_t i = begin; i < end; ++i)
    width += widthOf(tokens.text(i)) + spaceBefore(i, begin);
  return width;
}

void Formatter::writeFlat(std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    if (spaceBefore(i, begin))
      out += ' ';
    out += tokens.text(i);
  }
}

void Formatter::breakLine(unsigned column) {
  while (!out.empty() && out.back() == ' ')
    out.pop_back();
  out += '\n';
  out.append(column, ' ');
}

/// Call behind the writing of `token`.
void Formatter::trackBracket(std::size_t token) {
  switch (tokens.kind(token)) {
  case Kind::LeftParen:
  case Kind::LeftBracket:
  case Kind::LeftBrace: {
    unsigned here = column();
    // Far to the right little room is left: fall back to an indentation.
    bool tooFar = here > lineWidth * 6 / 10;
    alignment.push_back(tooFar ? 4 * level + 8 : here);
    return;
  }
  case Kind::RightParen:
  case Kind::RightBracket:
  case Kind::RightBrace:
    if (!alignment.empty())
      alignment.pop_back();
    return;
  default:
    return;
  }
}

/// Behind commas, before the operators that bind loosely, before `->`.
bool Formatter::mayBreakBefore(std::size_t token, std::size_t lineBegin) const {
  if (token == lineBegin)
    return false;
  Kind kind = tokens.kind(token);
  if (alignment.empty())
    return kind == Kind::Arrow;
  switch (kind) {
  case Kind::KwAnd:
  case Kind::KwOver:
  case Kind::KwOr:
  case Kind::KwIf:
  case Kind::KwElse:
  case Kind::KwWhere:
    return true;
  case Kind::Plus:
  case Kind::Minus:
    return !isUnary(token);
  default:
    return tokens.kind(token - 1) == Kind::Comma;
  }
}

/// Columns from `begin` to the next place where the line may break at the same
/// depth of brackets or outside.
unsigned Formatter::segmentWidth(std::size_t begin, std::size_t end,
                                 std::size_t lineBegin) const {
  unsigned width = 0;
  int depth = 0;
  for (std::size_t i = begin; i < end; ++i) {
    Kind kind = tokens.kind(i);
    if (i != begin && depth <= 0 && mayBreakBefore(i, lineBegin))
      break;
    width +=
        widthOf(tokens.text(i)) + (i != begin && spaceBefore(i, lineBegin));
    depth += kind == Kind::LeftParen || kind == Kind::LeftBracket ||
             kind == Kind::LeftBrace;
    depth -= kind == Kind::RightParen || kind == Kind::RightBracket ||
             kind == Kind::RightBrace;
  }
  return width;
}

/// Fills lines: breaks where the next segment would not fit.
void Formatter::writeFilled(std::size_t begin, std::size_t end) {
  alignment.clear();
  for (std::size_t i = begin; i < end; ++i) {
    bool space = spaceBefore(i, begin);
    if (mayBreakBefore(i, begin)) {
      unsigned target = alignment.empty() ? 4 * level + 8 : alignment.back();
      unsigned width = column() + space + segmentWidth(i, end, begin);
      if (width > lineWidth && column() > target) {
        breakLine(target);
        space = false;
      }
    }
    if (space)
      out += ' ';
    out += tokens.text(i);
    trackBracket(i);
  }
}

/// A line with comments inside keeps its own breaks, indented by brackets.
void Formatter::writeKeepingBreaks(std::size_t begin, std::size_t end) {
  std::size_t depth = 0;
  for (std::size_t i = begin; i < end; ++i) {
    Kind kind = tokens.kind(i);
    bool closes = kind == Kind::RightParen || kind == Kind::RightBracket ||
                  kind == Kind::RightBrace;
    depth -= closes && depth;
    unsigned indent = 4 * (level + depth);
    std::uint32_t last =
        i == begin ? tokens.span(i).begin : tokens.span(i - 1).end;
    bool broke = false;
    auto comments = tokens.comments();
    while (nextComment < comments.size() &&
           comments[nextComment].begin < tokens.span(i).begin) {
      Span comment = comments[nextComment++];
      if (standsAlone(comment))
        breakLine(4 * (level + depth + closes));
      else
        out += "  ";
      out += tokens.file().text(comment).rtrim();
      broke = true;
    }
    bool newline =
        tokens.file().text({last, tokens.span(i).begin}).contains('\n');
    if (i != begin && (broke || newline))
      breakLine(indent);
    else if (spaceBefore(i, begin))
      out += ' ';
    out += tokens.text(i);
    depth += kind == Kind::LeftParen || kind == Kind::LeftBracket ||
             kind == Kind::LeftBrace;
  }
}
