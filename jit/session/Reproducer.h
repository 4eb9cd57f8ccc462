// A compilation as a file, so that one which ended badly can be done again.
#pragma once

#include "jit/session/Compiler.h"

namespace quern::jit {

/// All that a compilation depends on besides the compiler.
struct Reproducer {
  std::string kernel, target;
  std::string stage; ///< the last one that was reached, or ""
  std::string name, text;
  /// Modules that the text uses and the library does not have.
  std::vector<std::pair<std::string, std::string>> modules;
  Specialization specialization;
  bool keepsChecks = false;
};

std::string writeReproducer(const Reproducer &reproducer);
std::optional<Reproducer> readReproducer(std::string_view text);

/// Keeps a file while a compilation lasts: what crashes leaves it behind, and
/// so does what fails.
class PendingReproducer {
public:
  /// Writes nothing where `folder` is empty.
  PendingReproducer(const std::string &folder, const CompileRequest &request,
                    const CacheKey &key, const TargetInfo &target);
  ~PendingReproducer();

  bool isOpen() const { return !path.empty(); }
  void reached(std::string_view stage);
  /// The file stays; its path.
  const std::string &keep();

private:
  void write() const;

  std::string path;
  Reproducer reproducer;
  bool isKept = false;
};

} // namespace quern::jit
