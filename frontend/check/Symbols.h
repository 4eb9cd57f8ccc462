// Names at module level.
#pragma once

#include "frontend/diagnostics/Suggestion.h"
#include "frontend/typed/Builtin.h"
#include "frontend/typed/Declaration.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <string>

namespace quern::ast {
struct ConstDecl;
}

namespace quern::check {

/// What one name stands for in a module. A name may be both a reduction and
/// something that is called without `over` (docs/decisions/0004).
struct Symbol {
  const typed::Declaration *callable = nullptr;
  const typed::Declaration *reduction = nullptr;
  const typed::ConstantTable *constant = nullptr;
  /// What the compiler knows by itself under that name, when it was imported.
  std::optional<typed::Builtin> builtin;
  /// A `const` of the module whose value nobody has asked for yet.
  const ast::ConstDecl *pending = nullptr;
  bool isBeingMade = false; ///< its value is being worked out
  Span span; ///< where the name was brought in, invalid for the prelude
  bool isImport = false;
  /// Its text had an error: uses are not blamed.
  bool isPoisoned = false;
  mutable bool isUsed = false;

  /// Does it mean nothing?
  bool isEmpty() const {
    return !callable && !reduction && !constant && !builtin;
  }
};

using SymbolTable = llvm::DenseMap<llvm::StringRef, Symbol>;

/// What another kernel language's name is here; empty when it is none.
llvm::StringRef foreignName(llvm::StringRef name);
/// `float4`, `f32x8`, `make_int2`.
bool isVectorType(llvm::StringRef name);
inline constexpr llvm::StringLiteral noVectors =
    "there are no vector types: `copy(a[0], x[i], 4)` moves neighbours at once";

} // namespace quern::check
