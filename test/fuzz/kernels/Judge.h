// Says what is wrong with one program.
#pragma once

#include "test/fuzz/kernels/Sides.h"

#include <functional>

namespace quern::fuzz {

/// How a program did. `kind` is empty when both sides agree, and else names
/// the sort of finding, so that a smaller program shows the same one.
struct Verdict {
  std::string kind, details;
  bool isRefused = false; ///< by both sides, or for a reason that is known
};

/// Both sides, kept from program to program.
class Judge {
public:
  Verdict judge(const Program &program);

private:
  Oracle oracle;
  Compiled compiled;
};

/// What a process that did not end well, as `wait` says it, shows: a signal,
/// or the exit of a sanitizer.
Verdict endOf(int status);

/// The same in a process of its own, where a crash or a loop without end is a
/// verdict too.
Verdict judgeApart(const Program &program);

/// What `work` writes, in a process of its own, up to its end or its crash.
std::string apart(const std::function<void(int end)> &work, int &status);
/// Ends the process by SIGPROF when it has computed for so long: on a loaded
/// machine the clock on the wall says nothing. 0: no more.
void limitSeconds(unsigned seconds);
void writeAll(int end, std::string_view text);

/// The program with its operands, as a person reads it.
std::string described(const Program &program);

} // namespace quern::fuzz
