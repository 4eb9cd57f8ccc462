// Opening, reading, writing and trimming the cache folder.
#include "jit/cache/DiskCache.h"

#include "jit/cache/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace quern::jit {

namespace {

constexpr llvm::StringLiteral entrySuffix = ".qno";
constexpr llvm::StringLiteral temporarySuffix = ".tmp";
// A hit renews the entry's time at most this often: it is for LRU only.
constexpr time_t renewSeconds = 600;
// A temporary file this old belongs to a process that died.
constexpr time_t abandonedSeconds = 3600;

std::optional<std::string> readAll(int file, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    ssize_t got = ::read(file, bytes.data() + filled, size - filled);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return std::nullopt;
    filled += got;
  }
  return bytes;
}

std::string entryName(const CacheKey &key) {
  return key.text() + entrySuffix.str();
}

/// Whether somebody else chooses which folder the path leads to, and so where
/// entries are written and removed.
bool isForeignLink(const std::string &path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode) &&
         info.st_uid != ::geteuid() && info.st_uid != 0;
}

/// Why code must not be loaded from this folder, or "".
std::string refusal(const std::string &path, const struct stat &info) {
  if (isForeignLink(path))
    return llvm::formatv("cache folder `{0}` is a link that another user made, "
                         "and code is loaded from it; kernels are not cached "
                         "on disk",
                         path);
  if (!S_ISDIR(info.st_mode))
    return llvm::formatv("cache folder `{0}` is not a folder; "
                         "kernels are not cached on disk",
                         path);
  if (info.st_uid != ::geteuid())
    return llvm::formatv("cache folder `{0}` belongs to user {1}, not to user "
                         "{2}, and code is loaded from it; kernels are not "
                         "cached on disk",
                         path, info.st_uid, ::geteuid());
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return llvm::formatv("cache folder `{0}` may be written by others, and "
                         "code is loaded from it; kernels are not cached on "
                         "disk; `chmod go-w` makes it usable",
                         path);
  return "";
}

} // namespace

DiskCache::Opened DiskCache::open(const std::string &path,
                                  std::uint64_t maximumBytes) {
  if (std::error_code problem = llvm::sys::fs::create_directories(
          path, /*IgnoreExisting=*/true, llvm::sys::fs::owner_all))
    return {nullptr, llvm::formatv("cannot make cache folder `{0}`: {1}; "
                                   "kernels are not cached on disk",
                                   path, problem.message())};
  int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat info;
  if (folder < 0 || ::fstat(folder, &info) != 0) {
    std::string reason = std::strerror(errno);
    if (folder >= 0)
      ::close(folder);
    return {nullptr, llvm::formatv("cannot open cache folder `{0}`: {1}; "
                                   "kernels are not cached on disk",
                                   path, reason)};
  }
  if (std::string reason = refusal(path, info); !reason.empty()) {
    ::close(folder);
    return {nullptr, reason};
  }
  return {std::unique_ptr<DiskCache>(new DiskCache(folder, path, maximumBytes)),
          ""};
}

DiskCache::~DiskCache() { ::close(folder); }

/// Whether nobody else has written the entry, or can: a folder that only its
/// owner may write to now may hold what others left when they could.
static bool isOwn(const struct stat &info) {
  return info.st_uid == ::geteuid() && !(info.st_mode & (S_IWGRP | S_IWOTH));
}

/// Of an entry from the future as well, whose clock has been set back since.
static bool isToRenew(const struct stat &info) {
  time_t now = ::time(nullptr);
  return info.st_mtime + renewSeconds < now ||
         info.st_mtime > now + renewSeconds;
}

std::optional<CacheEntry> DiskCache::load(const CacheKey &key) {
  std::string name = entryName(key);
  // A pipe in an entry's place must not be waited for.
  File file(::openat(folder, name.c_str(),
                     O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info;
  if (!file || ::fstat(file.descriptor, &info) != 0 || !S_ISREG(info.st_mode))
    return std::nullopt;
  std::optional<CacheEntry> entry;
  if (isOwn(info) && static_cast<std::uint64_t>(info.st_size) <= maximumBytes)
    if (auto bytes = readAll(file.descriptor, info.st_size))
      entry = readEntry(key, *bytes);
  if (!entry) {
    ::unlinkat(folder, name.c_str(), 0);
    return std::nullopt;
  }
  if (isToRenew(info))
    ::futimens(file.descriptor, nullptr);
  return entry;
}

bool DiskCache::write(const std::string &name, llvm::StringRef bytes) {
  std::string temporary = name + "." + uniqueDigits() + temporarySuffix.str();
  bool written = false;
  {
    File file(::openat(folder, temporary.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                       S_IRUSR | S_IWUSR));
    if (!file)
      return false;
    written = writeAll(file.descriptor, bytes);
  }
  if (written && !::renameat(folder, temporary.c_str(), folder, name.c_str()))
    return true;
  int why = errno;
  ::unlinkat(folder, temporary.c_str(), 0);
  errno = why;
  return false;
}

std::string DiskCache::store(const CacheKey &key, const CacheEntry &entry) {
  std::string bytes = writeEntry(key, entry);
  if (bytes.size() > maximumBytes)
    return "";
  if (!write(entryName(key), bytes))
    return llvm::formatv("cannot write to cache folder `{0}`: {1}; kernels are "
                         "not cached on disk",
                         path, std::strerror(errno));
  bool look;
  {
    std::lock_guard lock(trimming);
    // Other processes add entries too: look again after an eighth of the
    // bound, and at the first entry of this process.
    look = storedSinceTrim == 0 || storedSinceTrim > maximumBytes / 8;
    storedSinceTrim = (look ? 0 : storedSinceTrim) + bytes.size();
  }
  if (look)
    trim();
  return "";
}

namespace {

struct Seen {
  std::string name;
  std::uint64_t size;
  struct timespec used;
};

/// Whether only this class can have made a file of that name: a key, the suffix
/// of entries, `uniqueDigits` and the suffix of temporary files. Others may
/// keep files of their own beside the entries.
bool isOurs(llvm::StringRef name) {
  constexpr std::size_t keyDigits = 40, uniqueDigits = 16;
  auto takeDigits = [&](std::size_t count) {
    llvm::StringRef digits = name.take_front(count);
    name = name.drop_front(digits.size());
    return digits.size() == count && llvm::all_of(digits, llvm::isHexDigit);
  };
  if (!takeDigits(keyDigits) || !name.consume_front(entrySuffix))
    return false;
  if (name.empty())
    return true;
  return name.consume_front(".") && takeDigits(uniqueDigits) &&
         name == temporarySuffix;
}

/// Every entry of the folder; temporary files of the dead are removed.
std::vector<Seen> listEntries(int folder) {
  std::vector<Seen> entries;
  // A fresh open: a duplicated descriptor would share its position with
  // other threads.
  int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *listing = again < 0 ? nullptr : ::fdopendir(again);
  if (!listing) {
    if (again >= 0)
      ::close(again);
    return entries;
  }
  time_t now = ::time(nullptr);
  while (dirent *item = ::readdir(listing)) {
    llvm::StringRef name(item->d_name);
    bool temporary = name.ends_with(temporarySuffix);
    struct stat info;
    if (!isOurs(name) ||
        ::fstatat(folder, item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode))
      continue;
    if (!temporary)
      entries.push_back(
          {name.str(), static_cast<std::uint64_t>(info.st_size), info.st_mtim});
    else if (std::abs(now - info.st_mtime) > abandonedSeconds)
      ::unlinkat(folder, item->d_name, 0);
  }
  ::closedir(listing);
  return entries;
}

} // namespace

void DiskCache::trim() {
  std::lock_guard lock(trimming);
  std::vector<Seen> entries = listEntries(folder);
  std::uint64_t total = 0;
  for (const Seen &entry : entries)
    total += entry.size;
  if (total <= maximumBytes)
    return;
  llvm::sort(entries, [](const Seen &a, const Seen &b) {
    return std::tie(a.used.tv_sec, a.used.tv_nsec, a.name) <
           std::tie(b.used.tv_sec, b.used.tv_nsec, b.name);
  });
  // Below the bound, so that the next entry does not trim again.
  std::uint64_t goal = maximumBytes - maximumBytes / 4;
  for (const Seen &entry : entries) {
    if (total <= goal)
      break;
    if (::unlinkat(folder, entry.name.c_str(), 0) == 0 || errno == ENOENT)
      total -= entry.size;
  }
}

} // namespace quern::jit
