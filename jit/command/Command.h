// The verbs of `quern` that need the compiler.
#pragma once

#include "jit/session/State.h"
#include "jit/tool/ExitCode.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <string>

namespace quern::command {

using tool::failure;
using tool::success;
using tool::usage;

using Words = llvm::ArrayRef<llvm::StringRef>;
using Wishes = std::map<std::string, std::string>;

#define QN_COMMAND(word, handler) int handler(Words words);
#include "jit/command/Commands.def"

/// The command line of a verb: `--name=value` options and plain words.
struct CommandLine {
  std::map<std::string, std::string> options;
  std::vector<std::string> plain;

  /// Nothing, after a complaint, when an option is not one of `known`.
  static std::optional<CommandLine>
  read(Words words, llvm::ArrayRef<llvm::StringLiteral> known);
  std::string option(llvm::StringRef name,
                     llvm::StringRef otherwise = "") const;
  /// An integer from `least` on; complains and gives nothing if it is none.
  std::optional<std::int64_t> number(llvm::StringRef name, std::int64_t least,
                                     std::int64_t otherwise) const;
  /// "T=f32,U=i64" of an option; complains and gives nothing if malformed.
  std::optional<Wishes> wishes(llvm::StringRef name) const;
};

int complain(int code, const llvm::Twine &message);
int complain(const Error &error);

/// A file read and checked in a session of its own.
struct LoadedFile {
  std::shared_ptr<SessionCore> core;
  std::shared_ptr<const typed::TypedModule> module;
  jit::CacheKey text;
};
/// "; did you mean `x`?" behind a message, or nothing.
std::string meant(const LoadedFile &file, const std::string &missing);
Result<LoadedFile> loadFile(const std::string &path,
                            const SessionOptions &options);

/// The declaration named, or the only one that can be called.
const typed::Declaration *findKernel(const LoadedFile &file,
                                     llvm::StringRef name);

} // namespace quern::command
