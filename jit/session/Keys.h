// Specialization and target as bytes that go into cache keys.
#pragma once

#include "dsl/Specialization.h"
#include "dsl/target/TargetInfo.h"

namespace quern::jit {

std::string keyText(const Specialization &specialization);
std::string keyText(const TargetInfo &target);

} // namespace quern::jit
