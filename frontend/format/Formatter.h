// The formatter's state; its methods are spread over files by concern.
#pragma once

#include "frontend/format/Format.h"

#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace quern {

class Formatter {
public:
  explicit Formatter(const TokenBuffer &tokens) : tokens(tokens) {}
  std::string run();

private:
  using Kind = TokenKind;

  // Format.cpp: lines, comments and blank lines
  void logicalLine(std::size_t begin, std::size_t end);
  void ownLineComments(std::uint32_t before, std::size_t nextLevel);
  bool standsAlone(Span comment) const;
  std::size_t levelOf(Span comment, std::size_t nextLevel) const;
  void separate(std::uint32_t offset, bool isDeclaration);
  unsigned blankLinesBefore(std::uint32_t offset) const;
  void startLine(std::size_t level);
  std::size_t endOfLine(std::size_t begin) const;
  bool startsDeclaration(std::size_t token) const;
  std::size_t levelAfterLayout(std::size_t token) const;

  // Spacing.cpp
  bool isOperandEnd(std::size_t token) const;
  bool isUnary(std::size_t token) const;
  bool spaceBefore(std::size_t token, std::size_t lineBegin) const;

  // Wrap.cpp
  void writeFlat(std::size_t begin, std::size_t end);
  void writeFilled(std::size_t begin, std::size_t end);
  void writeKeepingBreaks(std::size_t begin, std::size_t end);
  unsigned flatWidth(std::size_t begin, std::size_t end) const;
  bool mayBreakBefore(std::size_t token, std::size_t lineBegin) const;
  unsigned segmentWidth(std::size_t begin, std::size_t end,
                        std::size_t lineBegin) const;
  void breakLine(unsigned column);
  void trackBracket(std::size_t token);
  unsigned column() const;
  static unsigned widthOf(llvm::StringRef text);

  const TokenBuffer &tokens;
  std::string out;
  std::size_t level = 0;
  std::vector<unsigned> sourceColumns{0}; ///< of the open blocks
  std::size_t nextComment = 0;
  /// Columns behind the brackets open in the line that is being written.
  llvm::SmallVector<unsigned, 8> alignment;
  /// What the line above was.
  struct Line {
    std::size_t level = 0;
    bool isAttribute = false;
    bool isComment = false;
    bool isHeader = false; ///< no blank line follows it
  };
  Line last;
};

} // namespace quern
