// Compiled kernels on disk, shared by processes, bounded in size.
#pragma once

#include "jit/cache/Entry.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace quern::jit {

/// A folder of entries. Entries appear by rename, so that a reader sees all of
/// one or nothing, whoever writes or dies. Code is loaded from the folder:
/// one that others may write to is refused. Thread-safe.
class DiskCache {
public:
  struct Opened {
    std::unique_ptr<DiskCache> cache; ///< null when the folder is refused
    std::string warning;              ///< why, for the user; or ""
  };
  static Opened open(const std::string &folder, std::uint64_t maximumBytes);
  ~DiskCache();

  /// The entry of a key; a damaged or foreign one is a miss and is removed.
  std::optional<CacheEntry> load(const CacheKey &key);
  /// Adds an entry; why it could not, for the user, or "": a full disk or a
  /// lost permission is not an error.
  std::string store(const CacheKey &key, const CacheEntry &entry);
  /// Removes the least recently used entries until the folder is small enough.
  void trim();

  /// Around a fork nobody trims.
  void beforeFork() { trimming.lock(); }
  void afterFork() { trimming.unlock(); }

private:
  DiskCache(int folder, std::string path, std::uint64_t maximumBytes)
      : folder(folder), path(std::move(path)), maximumBytes(maximumBytes) {}
  /// Writes an entry's file whole; else `errno` says why not.
  bool write(const std::string &name, llvm::StringRef bytes);

  const int folder; ///< all paths are relative to the folder that was checked
  const std::string path; ///< what the user calls it
  const std::uint64_t maximumBytes;
  std::mutex trimming;
  std::uint64_t storedSinceTrim = 0;
};

} // namespace quern::jit
