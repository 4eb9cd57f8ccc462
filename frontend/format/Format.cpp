// Lines, comments and blank lines.
#include "frontend/format/Format.h"

#include "frontend/format/Formatter.h"

#include <algorithm>

using namespace quern;

std::string quern::format(const TokenBuffer &tokens) {
  return Formatter(tokens).run();
}

std::string Formatter::run() {
  std::size_t at = 0;
  while (true) {
    std::size_t next = at;
    while (tokens.kind(next) == Kind::Indent ||
           tokens.kind(next) == Kind::Dedent ||
           tokens.kind(next) == Kind::Newline)
      ++next;
    // Comments above a line that closes blocks may still belong inside.
    ownLineComments(tokens.span(next).begin, levelAfterLayout(next));
    for (; at < next; ++at) {
      if (tokens.kind(at) == Kind::Indent)
        sourceColumns.push_back(tokens.span(at).size());
      else if (tokens.kind(at) == Kind::Dedent)
        sourceColumns.pop_back();
    }
    level = sourceColumns.size() - 1;
    if (tokens.kind(at) == Kind::EndOfFile)
      break;
    std::size_t end = endOfLine(at);
    logicalLine(at, end);
    at = end;
  }
  return std::move(out);
}

std::size_t Formatter::endOfLine(std::size_t begin) const {
  while (tokens.kind(begin) != Kind::Newline &&
         tokens.kind(begin) != Kind::EndOfFile)
    ++begin;
  return begin;
}

/// The level of the line that begins at `token`, seen from the line above.
std::size_t Formatter::levelAfterLayout(std::size_t token) const {
  std::size_t result = sourceColumns.size() - 1;
  while (token > 0) {
    Kind kind = tokens.kind(--token);
    if (kind == Kind::Indent)
      ++result;
    else if (kind == Kind::Dedent)
      --result;
    else if (kind != Kind::Newline)
      break;
  }
  return result;
}

bool Formatter::startsDeclaration(std::size_t token) const {
  switch (tokens.kind(token)) {
  case Kind::At:
  case Kind::KwFn:
  case Kind::KwElementwise:
  case Kind::KwReduction:
  case Kind::KwRowwise:
  case Kind::KwKernel:
  case Kind::KwOp:
    return true;
  default:
    return false;
  }
}

bool Formatter::standsAlone(Span comment) const {
  llvm::StringRef text = tokens.file().text();
  std::size_t local = comment.begin - tokens.file().beginOffset();
  llvm::StringRef before = text.take_front(local).rtrim(" \t\r");
  return before.empty() || before.back() == '\n' || before == "\xEF\xBB\xBF";
}

unsigned Formatter::blankLinesBefore(std::uint32_t offset) const {
  llvm::StringRef text =
      tokens.file().text().take_front(offset - tokens.file().beginOffset());
  llvm::StringRef blank = text.drop_front(text.rtrim(" \t\r\n").size());
  return std::max<std::size_t>(blank.count('\n'), 1) - 1;
}

/// One blank line where the writer left some, and before declarations.
void Formatter::separate(std::uint32_t offset, bool isDeclaration) {
  bool hadBlank = blankLinesBefore(offset) > 0;
  bool attached = last.isAttribute || (last.isComment && !hadBlank);
  bool wanted = hadBlank && !last.isHeader;
  wanted |= level == 0 && (isDeclaration || last.level > 0);
  if (wanted && !attached && !out.empty())
    out += '\n';
}

void Formatter::startLine(std::size_t atLevel) { out.append(4 * atLevel, ' '); }

/// The deepest open block that the comment's column reaches, but never outside
/// of the block that goes on below.
std::size_t Formatter::levelOf(Span comment, std::size_t nextLevel) const {
  llvm::StringRef text = tokens.file().text();
  std::size_t local = comment.begin - tokens.file().beginOffset();
  std::size_t column = local - (text.take_front(local).rfind('\n') + 1);
  std::size_t current = sourceColumns.size() - 1;
  if (nextLevel >= current)
    return nextLevel;
  std::size_t result = nextLevel;
  for (std::size_t i = nextLevel + 1; i < sourceColumns.size(); ++i)
    if (column >= sourceColumns[i])
      result = i;
  return result;
}

void Formatter::ownLineComments(std::uint32_t before, std::size_t nextLevel) {
  auto comments = tokens.comments();
  for (; nextComment < comments.size() && comments[nextComment].begin < before;
       ++nextComment) {
    Span comment = comments[nextComment];
    level = levelOf(comment, nextLevel);
    separate(comment.begin, /*isDeclaration=*/false);
    startLine(level);
    out += tokens.file().text(comment).rtrim();
    out += '\n';
    last = {.level = level, .isComment = true};
  }
}

void Formatter::logicalLine(std::size_t begin, std::size_t end) {
  bool declares = level == 0 && startsDeclaration(begin);
  separate(tokens.span(begin).begin, declares);
  startLine(level);
  auto comments = tokens.comments();
  bool inside = nextComment < comments.size() &&
                comments[nextComment].begin < tokens.span(end - 1).end;
  if (inside)
    writeKeepingBreaks(begin, end);
  else if (4 * level + flatWidth(begin, end) <= lineWidth)
    writeFlat(begin, end);
  else
    writeFilled(begin, end);
  bool trailing = nextComment < comments.size() &&
                  comments[nextComment].begin < tokens.span(end).end;
  if (trailing) {
    out += "  ";
    out += tokens.file().text(comments[nextComment++]).rtrim();
  }
  out += '\n';
  last = {.level = level,
          .isAttribute = tokens.kind(begin) == Kind::At,
          .isHeader = tokens.kind(end - 1) == Kind::Colon};
}
