// The bytes of one cache entry: header, checksum, kernel description, object.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace quern::jit {

/// Names what an entry was made from: 160 bits of BLAKE3.
struct CacheKey {
  std::array<std::uint8_t, 20> bytes{};
  bool operator==(const CacheKey &) const = default;
  /// 40 hexadecimal digits, the entry's file name.
  std::string text() const;
};

/// What a cached compilation holds.
struct CacheEntry {
  std::string description; ///< the KernelAbi, see AbiText.h
  std::string object;      ///< a relocatable object file
};

/// Header and both parts. The key is in the header, so that an entry that was
/// renamed is not taken for another.
std::string writeEntry(const CacheKey &key, const CacheEntry &entry);

/// None when the bytes are not an undamaged entry of this key.
std::optional<CacheEntry> readEntry(const CacheKey &key, llvm::StringRef bytes);

/// Collects what a key is made from; parts are told apart by their lengths.
class KeyBuilder {
public:
  KeyBuilder();
  ~KeyBuilder();
  KeyBuilder &add(llvm::StringRef part);
  CacheKey finish();

private:
  std::string collected;
};

} // namespace quern::jit
