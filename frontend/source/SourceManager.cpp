// Loading texts and looking up places.
#include "frontend/source/SourceManager.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <cstring>

using namespace quern;

const SourceFile *
SourceManager::adopt(llvm::StringRef name,
                     std::unique_ptr<llvm::MemoryBuffer> buffer) {
  std::lock_guard guard(lock);
  std::uint64_t size = buffer->getBufferSize();
  std::uint32_t base = 0;
  auto place = placeFor(size, base);
  if (size > maximumSize || base == 0)
    return nullptr;
  auto file = std::make_unique<SourceFile>(name.str(), std::move(buffer), base);
  return entries.insert(place, {std::move(file), {}})->file.get();
}

/// Behind all others, or, once that is beyond the offsets there are, where
/// texts that are gone have left room. `base` stays 0 where there is none.
SourceManager::Entries::iterator SourceManager::placeFor(std::uint64_t size,
                                                         std::uint32_t &base) {
  std::uint64_t begin =
      entries.empty() ? 1 : entries.back().file->endOffset() + 1ull;
  if (begin + size < UINT32_MAX) {
    base = static_cast<std::uint32_t>(begin);
    return entries.end();
  }
  begin = 1;
  for (auto next = entries.begin(); next != entries.end(); ++next) {
    if (begin + size < next->file->beginOffset()) {
      base = static_cast<std::uint32_t>(begin);
      return next;
    }
    begin = next->file->endOffset() + 1ull;
  }
  return entries.end();
}

void SourceManager::remove(const SourceFile &file) {
  std::lock_guard guard(lock);
  auto place = find(file.beginOffset());
  assert(place != entries.end() && place->file.get() == &file);
  entries.erase(place);
}

const SourceFile *SourceManager::add(llvm::StringRef name,
                                     llvm::StringRef text) {
  if (text.size() > maximumSize)
    return nullptr;
  return adopt(name, llvm::MemoryBuffer::getMemBufferCopy(text, name));
}

/// Reads what has no size beforehand: a pipe or a device may never end.
static std::unique_ptr<llvm::MemoryBuffer>
readStream(llvm::sys::fs::file_t from, LoadFailure &failure) {
  llvm::SmallVector<char, 0> text;
  constexpr std::size_t step = 1u << 16;
  for (;;) {
    std::size_t filled = text.size();
    text.resize_for_overwrite(filled + step);
    auto read = llvm::sys::fs::readNativeFile(
        from, llvm::MutableArrayRef(text.data() + filled, step));
    if (!read) {
      llvm::consumeError(read.takeError());
      failure = LoadFailure::Unreadable;
      return nullptr;
    }
    text.truncate(filled + *read);
    if (*read == 0)
      break;
    if (text.size() > SourceManager::maximumSize) {
      failure = LoadFailure::TooLarge;
      return nullptr;
    }
  }
  return llvm::MemoryBuffer::getMemBufferCopy({text.data(), text.size()});
}

static std::unique_ptr<llvm::MemoryBuffer> readDevice(llvm::StringRef path,
                                                      LoadFailure &failure) {
  auto file = llvm::sys::fs::openNativeFileForRead(path);
  if (!file) {
    llvm::consumeError(file.takeError());
    failure = LoadFailure::Unreadable;
    return nullptr;
  }
  auto buffer = readStream(*file, failure);
  // It was only read: nothing is lost where closing fails.
  [[maybe_unused]] std::error_code closed = llvm::sys::fs::closeFile(*file);
  return buffer;
}

static std::unique_ptr<llvm::MemoryBuffer> readPath(llvm::StringRef path,
                                                    LoadFailure &failure) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status)) {
    failure = status.type() == llvm::sys::fs::file_type::file_not_found
                  ? LoadFailure::NotFound
                  : LoadFailure::Unreadable;
    return nullptr;
  }
  if (status.type() == llvm::sys::fs::file_type::directory_file) {
    failure = LoadFailure::Directory;
    return nullptr;
  }
  // Files of the kernel say that they are empty, and are not.
  bool hasSize = status.type() == llvm::sys::fs::file_type::regular_file &&
                 status.getSize() != 0;
  if (!hasSize)
    return readDevice(path, failure);
  if (status.getSize() > SourceManager::maximumSize) {
    failure = LoadFailure::TooLarge;
    return nullptr;
  }
  // A copy: what is mapped changes, or is gone, when an editor saves the file.
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/true,
                                            /*IsVolatile=*/true);
  if (!buffer) {
    failure = LoadFailure::Unreadable;
    return nullptr;
  }
  return std::move(*buffer);
}

const SourceFile *SourceManager::load(llvm::StringRef path,
                                      LoadFailure &failure) {
  failure = LoadFailure::None;
  bool isInput = path == "-";
  std::unique_ptr<llvm::MemoryBuffer> buffer =
      isInput ? readStream(llvm::sys::fs::getStdinHandle(), failure)
              : readPath(path, failure);
  if (!buffer)
    return nullptr;
  const SourceFile *file = adopt(isInput ? "<stdin>" : path, std::move(buffer));
  if (!file)
    failure = LoadFailure::TooLarge;
  return file;
}

const SourceFile *SourceManager::fileOf(std::uint32_t offset) const {
  std::lock_guard guard(lock);
  auto place = find(offset);
  return place == entries.end() ? nullptr : place->file.get();
}

SourceManager::Entries::iterator
SourceManager::find(std::uint32_t offset) const {
  auto next = llvm::upper_bound(entries, offset,
                                [](std::uint32_t value, const Entry &entry) {
                                  return value < entry.file->beginOffset();
                                });
  if (next == entries.begin() || !std::prev(next)->file->contains(offset))
    return entries.end();
  return std::prev(next);
}

const std::vector<std::uint32_t> &
SourceManager::lineStarts(const SourceFile &file) const {
  std::vector<std::uint32_t> &starts = find(file.beginOffset())->lines;
  if (!starts.empty())
    return starts;
  llvm::StringRef text = file.text();
  starts.push_back(0);
  const char *cursor = text.begin();
  while (const void *found = std::memchr(cursor, '\n', text.end() - cursor)) {
    cursor = static_cast<const char *>(found) + 1;
    starts.push_back(static_cast<std::uint32_t>(cursor - text.begin()));
  }
  return starts;
}

SourceLocation SourceManager::locate(std::uint32_t offset) const {
  std::lock_guard guard(lock);
  auto place = find(offset);
  if (place == entries.end())
    return {};
  const SourceFile *file = place->file.get();
  std::uint32_t local = offset - file->beginOffset();
  const std::vector<std::uint32_t> &starts = lineStarts(*file);
  auto next = std::upper_bound(starts.begin(), starts.end(), local);
  auto line = static_cast<unsigned>(next - starts.begin());
  return {file, line, local - starts[line - 1] + 1};
}

llvm::StringRef SourceManager::lineText(const SourceFile &file,
                                        unsigned line) const {
  std::lock_guard guard(lock);
  const std::vector<std::uint32_t> &starts = lineStarts(file);
  if (line == 0 || line > starts.size())
    return {};
  llvm::StringRef rest = file.text().substr(starts[line - 1]);
  return rest.take_until([](char c) { return c == '\n'; }).rtrim('\r');
}

Span SourceManager::spanAt(const SourceFile &file, unsigned line,
                           unsigned column) const {
  std::size_t length = lineText(file, line).size();
  if (column == 0 || column > length)
    return {};
  std::lock_guard guard(lock);
  std::size_t begin = lineStarts(file)[line - 1] + column - 1;
  return file.span(begin, begin + 1);
}

llvm::StringRef SourceManager::text(Span span) const {
  const SourceFile *file = fileOf(span.begin);
  return file ? file->text(span) : llvm::StringRef();
}
