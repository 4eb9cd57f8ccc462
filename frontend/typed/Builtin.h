// The table of builtins as code sees it.
#pragma once

#include "frontend/typed/ScalarType.h"

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace quern::typed {

enum class Builtin : std::uint8_t {
#define QN_BUILTIN(enumerator, spelling, group, operands, constraint, result)  \
  enumerator,
#include "frontend/typed/Builtins.def"
};

enum class BuiltinGroup : std::uint8_t {
  Scalar,
  TypeValue,
  Position,
  Thread,
  Atomic,
  Host,
  View
};

enum class BuiltinResult : std::uint8_t {
  Same,
  Bool,
  Int,
  Real,
  Void,
  Special
};

struct BuiltinInfo {
  llvm::StringLiteral spelling;
  BuiltinGroup group;
  int operands; ///< -1: any number
  Constraint constraint;
  BuiltinResult result;
};

const BuiltinInfo &builtinInfo(Builtin builtin);
/// A builtin that is not a method; methods are found by `viewNamed`.
std::optional<Builtin> builtinNamed(llvm::StringRef spelling);
std::optional<Builtin> viewNamed(llvm::StringRef spelling);

} // namespace quern::typed
