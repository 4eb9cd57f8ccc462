// Writes through the system's calls: LLVM's streams end the process where they
// are destroyed after an error.
#include "jit/cache/Files.h"

#include "llvm/ADT/StringExtras.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

namespace quern::jit {

File::~File() {
  if (descriptor >= 0)
    ::close(descriptor);
}

bool writeAll(int file, llvm::StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    bytes = bytes.drop_front(written);
  }
  return true;
}

std::string uniqueDigits() {
  static std::atomic<std::uint64_t> calls{0};
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) {
    // A system that has just started: the time will do.
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    number = static_cast<std::uint64_t>(now.tv_sec) << 32 ^
             static_cast<std::uint64_t>(now.tv_nsec) << 8 ^
             static_cast<std::uint64_t>(::getpid()) << 40;
  }
  number += calls.fetch_add(1);
  return llvm::utohexstr(number, /*LowerCase=*/true, /*Width=*/16);
}

static std::error_code lastError() {
  return std::error_code(errno, std::generic_category());
}

std::error_code writeFile(const std::string &path, llvm::StringRef bytes) {
  File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                   S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH));
  if (!file || !writeAll(file.descriptor, bytes))
    return lastError();
  return {};
}

std::error_code replaceFile(const std::string &path, llvm::StringRef bytes) {
  std::string temporary = path + "." + uniqueDigits() + ".tmp";
  std::error_code problem = writeFile(temporary, bytes);
  if (!problem && std::rename(temporary.c_str(), path.c_str()) != 0)
    problem = lastError();
  if (problem)
    ::unlink(temporary.c_str());
  return problem;
}

} // namespace quern::jit
