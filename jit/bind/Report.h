// Diagnostics of calls, and how diagnostics become an Error of the interface.
#pragma once

#include "frontend/diagnostics/Engine.h"
#include "jit/Jit.h"

namespace quern::jit {

namespace fault {
using Text = llvm::StringRef;
using Count = std::int64_t;
#define QN_DIAGNOSTIC(code, name, severity, text, ...)                         \
  inline constexpr DiagnosticKind<__VA_ARGS__> name{                           \
      {code, Severity::severity, #name, text}};
#include "jit/bind/Binding.def"
} // namespace fault

/// All diagnostics as data, and the text that a person reads.
Error toError(const DiagnosticEngine &engine, const SourceManager &sources);

/// "[2, 3]".
std::string shapeText(llvm::ArrayRef<std::int64_t> sizes);

} // namespace quern::jit
