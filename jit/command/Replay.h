// A compiled graph's program run alone, on the tensors of a recorded call.
#pragma once

#include "jit/command/Command.h"

namespace quern::command {

/// The recording that lies beside a program, "" when there is none.
std::string recordingOf(llvm::StringRef program);

/// Runs the recorded launches in order and compares each with the recording.
int replay(const std::string &program, const std::string &recording,
           int threads);

} // namespace quern::command
