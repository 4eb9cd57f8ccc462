// What the verbs of `quern` share.
#pragma once

#include "jit/tool/ExitCode.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace quern::tool {

using Arguments = llvm::ArrayRef<llvm::StringRef>;

#define QN_VERB(word, handler, help) int handler(Arguments arguments);
#include "jit/tool/Verbs.def"

/// `--name=value`: the value, when `argument` is that option.
bool takeOption(llvm::StringRef argument, llvm::StringRef name,
                llvm::StringRef &value);
/// Complains about the command line itself.
int usageError(const llvm::Twine &message);

/// Whether output to this file descriptor may hold colours.
enum class ColorMode : std::uint8_t { Auto, Always, Never };
bool parseColorMode(llvm::StringRef text, ColorMode &mode);
bool useColor(ColorMode mode, int descriptor);

/// Opens the compiler's library and hands it the verb: `check` and `fmt` start
/// fast because they do without.
int forward(llvm::StringRef verb, Arguments arguments);

} // namespace quern::tool
