// Cuts a stream of bytes into messages.
#include "frontend/server/Frames.h"

#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <optional>

using namespace quern::server;

/// Adds more bytes to those that are there.
bool FrameReader::fill() {
  constexpr std::size_t step = 1u << 16;
  buffer.erase(0, begin);
  begin = 0;
  std::size_t filled = buffer.size();
  buffer.resize(filled + step);
  std::size_t size = reader(buffer.data() + filled, step);
  buffer.resize(filled + size);
  return size != 0;
}

/// The next line without its end. Of one that is longer than any header the
/// rest is skipped.
bool FrameReader::line(std::string &text) {
  constexpr std::size_t longest = 1u << 12;
  text.clear();
  while (true) {
    std::size_t end = buffer.find('\n', begin);
    bool isWhole = end != std::string::npos;
    std::size_t size = (isWhole ? end : buffer.size()) - begin;
    std::size_t room = longest - std::min(longest, text.size());
    text.append(buffer, begin, std::min(size, room));
    begin += size + isWhole;
    if (isWhole)
      break;
    if (!fill())
      return false;
  }
  while (!text.empty() && text.back() == '\r')
    text.pop_back();
  return true;
}

bool FrameReader::take(std::size_t size, std::string *into) {
  while (size != 0) {
    if (begin == buffer.size() && !fill())
      return false;
    std::size_t part = std::min(size, buffer.size() - begin);
    if (into)
      into->append(buffer, begin, part);
    begin += part;
    size -= part;
  }
  return true;
}

FrameStatus FrameReader::next(std::string &body) {
  body.clear();
  std::optional<std::uint64_t> length;
  std::string header;
  bool isFirst = true;
  while (true) {
    if (!line(header))
      return FrameStatus::End;
    // Empty lines in front of a message are nobody's.
    if (header.empty() && isFirst)
      continue;
    isFirst = false;
    if (header.empty())
      break;
    llvm::StringRef text = header;
    std::uint64_t value = 0;
    if (text.consume_front_insensitive("content-length:") &&
        !text.trim().getAsInteger(10, value))
      length = value;
  }
  if (!length)
    return FrameStatus::Malformed;
  bool fits = *length <= largest;
  if (!take(*length, fits ? &body : nullptr))
    return FrameStatus::End;
  return fits ? FrameStatus::Message : FrameStatus::TooLarge;
}

std::string quern::server::frame(llvm::StringRef body) {
  return ("Content-Length: " + llvm::Twine(body.size()) + "\r\n\r\n" + body)
      .str();
}
