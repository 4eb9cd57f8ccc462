// Reading options, and errors about them.
#include "jit/tool/Tool.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace quern;

bool tool::takeOption(llvm::StringRef argument, llvm::StringRef name,
                      llvm::StringRef &value) {
  if (!argument.consume_front(name) || !argument.consume_front("="))
    return false;
  value = argument;
  return true;
}

int tool::usageError(const llvm::Twine &message) {
  std::string text = message.str();
  llvm::errs() << "quern: " << text
               << (llvm::StringRef(text).ends_with("?") ? " Try" : "; try")
               << " `quern help`\n";
  return usage;
}

bool tool::parseColorMode(llvm::StringRef text, ColorMode &mode) {
  int value = llvm::StringSwitch<int>(text)
                  .Case("auto", static_cast<int>(ColorMode::Auto))
                  .Case("always", static_cast<int>(ColorMode::Always))
                  .Case("never", static_cast<int>(ColorMode::Never))
                  .Default(-1);
  if (value < 0)
    return false;
  mode = static_cast<ColorMode>(value);
  return true;
}

bool tool::useColor(ColorMode mode, int descriptor) {
  if (mode != ColorMode::Auto)
    return mode == ColorMode::Always;
  return !std::getenv("NO_COLOR") &&
         llvm::sys::Process::FileDescriptorIsDisplayed(descriptor) &&
         llvm::sys::Process::FileDescriptorHasColors(descriptor);
}
