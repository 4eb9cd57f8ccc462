// The catalogue of diagnostics as typed constants, made from the tables.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace quern {

enum class Severity : std::uint8_t { Note, Warning, Error };

/// What does not depend on the types of a diagnostic's arguments.
struct DiagnosticInfo {
  std::uint16_t code; ///< 123 stands for QN0123
  Severity severity;
  llvm::StringLiteral name; ///< as in the table
  llvm::StringLiteral text; ///< with `{0}`, `{1:one|many}`, `{a2}`
};

/// A row of the catalogue; reporting it takes arguments of exactly these types.
template <typename... Arguments> struct DiagnosticKind {
  DiagnosticInfo info;
};

namespace diag {
using Text = llvm::StringRef; ///< a piece of source or a name
using Count = std::int64_t;   ///< a number
#define QN_DIAGNOSTIC(code, name, severity, text, ...)                         \
  inline constexpr DiagnosticKind<__VA_ARGS__> name{                           \
      {code, Severity::severity, #name, text}};
#include "frontend/diagnostics/Diagnostics.def"
} // namespace diag

/// Every row, ordered by code.
llvm::ArrayRef<DiagnosticInfo> diagnosticCatalogue();

} // namespace quern
