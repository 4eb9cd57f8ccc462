// Files written whole: what a full disk or a lost permission prevents is an
// error, never the end of the process.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <system_error>

namespace quern::jit {

/// A descriptor that is closed with its owner; below 0 there is none.
class File {
public:
  explicit File(int descriptor) : descriptor(descriptor) {}
  ~File();
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  explicit operator bool() const { return descriptor >= 0; }
  const int descriptor;
};

/// Else `errno` says why not.
bool writeAll(int file, llvm::StringRef bytes);

/// 16 hexadecimal digits that no other process has, nor another call: numbers
/// of processes repeat, in containers most of all.
std::string uniqueDigits();

/// Makes a new file with these bytes, or overwrites one.
std::error_code writeFile(const std::string &path, llvm::StringRef bytes);

/// The same at once: readers see all of the old bytes or all of the new.
std::error_code replaceFile(const std::string &path, llvm::StringRef bytes);

} // namespace quern::jit
