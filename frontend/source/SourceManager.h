// Owns the source texts and turns offsets into files, lines and columns.
#pragma once

#include "frontend/source/Span.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace quern {

/// One text with its place in the shared offset space. A NUL follows the text.
class SourceFile {
public:
  SourceFile(std::string name, std::unique_ptr<llvm::MemoryBuffer> buffer,
             std::uint32_t base)
      : fileName(std::move(name)), buffer(std::move(buffer)), base(base) {}

  llvm::StringRef name() const { return fileName; }
  llvm::StringRef text() const { return buffer->getBuffer(); }
  std::uint32_t beginOffset() const { return base; }
  std::uint32_t endOffset() const {
    return base + static_cast<std::uint32_t>(text().size());
  }
  bool contains(std::uint32_t offset) const {
    return offset >= base && offset <= endOffset();
  }
  llvm::StringRef text(Span span) const {
    return text().substr(span.begin - base, span.size());
  }
  Span span(std::size_t localBegin, std::size_t localEnd) const {
    return {base + static_cast<std::uint32_t>(localBegin),
            base + static_cast<std::uint32_t>(localEnd)};
  }

private:
  std::string fileName;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::uint32_t base;
};

/// A place for people: line and column count from 1, the column in bytes.
struct SourceLocation {
  const SourceFile *file = nullptr;
  unsigned line = 0, column = 0;
};

/// Why a file could not become a SourceFile.
enum class LoadFailure : std::uint8_t {
  None,
  NotFound,
  Directory,
  Unreadable,
  TooLarge
};

/// Thread-safe: kernels are made, and ask for places, while other texts are
/// being read.
class SourceManager {
public:
  /// Largest text accepted; all texts together must fit 32-bit offsets.
  static constexpr std::uint64_t maximumSize = 1u << 30;

  /// Takes a copy of `text`; null when it is too large.
  const SourceFile *add(llvm::StringRef name, llvm::StringRef text);
  /// Reads `path` ("-": standard input); null with the reason in `failure`.
  const SourceFile *load(llvm::StringRef path, LoadFailure &failure);
  /// Forgets a text that nobody refers to any more.
  void remove(const SourceFile &file);

  const SourceFile *fileOf(std::uint32_t offset) const;
  SourceLocation locate(std::uint32_t offset) const;
  /// The text of line number `line` (from 1) without its line end.
  llvm::StringRef lineText(const SourceFile &file, unsigned line) const;
  llvm::StringRef text(Span span) const;
  /// The character at a line and column as `locate` counts them; empty where
  /// the file has none.
  Span spanAt(const SourceFile &file, unsigned line, unsigned column) const;

  /// Around a fork nobody changes or reads what is kept.
  void beforeFork() { lock.lock(); }
  void afterFork() { lock.unlock(); }

private:
  const SourceFile *adopt(llvm::StringRef name,
                          std::unique_ptr<llvm::MemoryBuffer> buffer);
  struct Entry {
    std::unique_ptr<SourceFile> file;
    /// Begins of lines, found on first use: only messages need them.
    std::vector<std::uint32_t> lines;
  };
  using Entries = std::vector<Entry>;

  /// The entry that an offset may lie in, or the end.
  Entries::iterator find(std::uint32_t offset) const;
  Entries::iterator placeFor(std::uint64_t size, std::uint32_t &base);
  const std::vector<std::uint32_t> &lineStarts(const SourceFile &file) const;

  mutable std::mutex lock;
  mutable Entries entries; ///< in the order of their offsets
};

} // namespace quern
