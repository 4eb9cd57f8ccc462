// Messages in a stream of bytes: headers, an empty line, and a body.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <string>

namespace quern::server {

/// Reads up to `size` bytes; 0 at the end of the stream.
using ByteReader = std::function<std::size_t(char *to, std::size_t size)>;

enum class FrameStatus : std::uint8_t {
  Message,
  Malformed, ///< headers without a length
  TooLarge,  ///< the body was skipped
  End
};

class FrameReader {
public:
  /// Larger bodies are skipped. A text of the largest size that the front end
  /// can place is more than an editor sends.
  static constexpr std::size_t largestBody = std::size_t{1} << 28;

  explicit FrameReader(ByteReader reader, std::size_t largest = largestBody)
      : reader(std::move(reader)), largest(largest) {}

  /// Waits for the next message.
  FrameStatus next(std::string &body);

private:
  bool fill();
  bool line(std::string &text);
  bool take(std::size_t size, std::string *into);

  ByteReader reader;
  std::size_t largest;
  std::string buffer;
  std::size_t begin = 0; ///< of what was not taken yet
};

/// A body with its header.
std::string frame(llvm::StringRef body);

} // namespace quern::server
