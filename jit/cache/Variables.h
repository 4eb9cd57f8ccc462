// What the environment asks of the compiler and its caches.
#pragma once

#include "jit/orc/Listeners.h"
#include "jit/session/Limits.h"

namespace quern::jit {

/// Where entries go when nobody says: QUERN_CACHE_DIR, else quern in
/// XDG_CACHE_HOME, else ~/.cache/quern; "" when there is no home.
std::string defaultCacheFolder();

/// Whether QUERN_CACHE_KEEP=all asks to keep every stage of what is compiled.
bool keepsEveryStage();

/// Whether QUERN_BOUNDS asks for every bounds check.
bool keepsEveryCheck();

/// Where QUERN_REPRODUCE asks to leave compilations that end badly, or "".
std::string reproducerFolder();

/// A kernel's text with the schedule that the kernel is to run by, from the
/// file that QUERN_SCHEDULE names.
struct GivenSchedule {
  std::string name, text; ///< both "" where none is given
  std::string problem;    ///< why it cannot be read, or ""
};
GivenSchedule givenSchedule();

/// Whom QUERN_PERF and QUERN_GDB ask to tell of code.
Listeners wishedListeners();

} // namespace quern::jit
