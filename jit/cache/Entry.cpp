// Writes and checks cache entries.
#include "jit/cache/Entry.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

namespace quern::jit {

namespace {

constexpr std::array<char, 8> magic = {'Q', 'U', 'E', 'R', 'N', 'O', '1', '\n'};

/// The fixed part of an entry; the two parts follow it.
struct Header {
  std::array<char, 8> magic;
  std::array<std::uint8_t, 20> key;
  std::uint32_t reserved;
  std::uint64_t descriptionSize, objectSize;
  std::uint64_t checksum; ///< of everything after the header, and of the sizes
};

std::uint64_t checksum(const Header &header, llvm::StringRef body) {
  std::uint64_t seed =
      header.descriptionSize * 0x9E3779B97F4A7C15ull + header.objectSize;
  return llvm::xxh3_64bits(llvm::arrayRefFromStringRef(body)) ^ seed;
}

} // namespace

std::string CacheKey::text() const {
  return llvm::toHex(bytes, /*LowerCase=*/true);
}

std::string writeEntry(const CacheKey &key, const CacheEntry &entry) {
  Header header{
      magic, key.bytes, 0, entry.description.size(), entry.object.size(), 0};
  std::string bytes(sizeof header, '\0');
  bytes.reserve(sizeof header + entry.description.size() + entry.object.size());
  bytes += entry.description;
  bytes += entry.object;
  header.checksum =
      checksum(header, llvm::StringRef(bytes).drop_front(sizeof header));
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

std::optional<CacheEntry> readEntry(const CacheKey &key,
                                    llvm::StringRef bytes) {
  Header header;
  if (bytes.size() < sizeof header)
    return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  llvm::StringRef body = bytes.drop_front(sizeof header);
  // The sizes are compared one by one: their sum could wrap around.
  if (header.magic != magic || header.key != key.bytes ||
      header.descriptionSize > body.size() ||
      header.objectSize != body.size() - header.descriptionSize ||
      header.checksum != checksum(header, body))
    return std::nullopt;
  return CacheEntry{body.take_front(header.descriptionSize).str(),
                    body.drop_front(header.descriptionSize).str()};
}

KeyBuilder::KeyBuilder() = default;
KeyBuilder::~KeyBuilder() = default;

KeyBuilder &KeyBuilder::add(llvm::StringRef part) {
  std::uint64_t size = part.size();
  collected.append(reinterpret_cast<const char *>(&size), sizeof size);
  collected += part;
  return *this;
}

CacheKey KeyBuilder::finish() {
  CacheKey key;
  auto hash = llvm::BLAKE3::hash<20>(llvm::arrayRefFromStringRef(collected));
  key.bytes = hash;
  return key;
}

} // namespace quern::jit
