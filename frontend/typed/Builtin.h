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
  Memory,
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

/// Of atomic operations.
enum class MemoryOrder : std::uint8_t {
#define QN_MEMORY_ORDER(enumerator, spelling) enumerator,
#include "frontend/typed/MemoryOrders.def"
};

enum class MemoryScope : std::uint8_t {
#define QN_MEMORY_SCOPE(enumerator, spelling) enumerator,
#include "frontend/typed/MemoryOrders.def"
};

/// What the text says of an atomic operation.
struct AtomicWords {
  std::optional<MemoryOrder> order;
  std::optional<MemoryScope> scope;
};

llvm::StringRef spelling(MemoryOrder order);
llvm::StringRef spelling(MemoryScope scope);
/// All of them, for a hint.
std::string memoryOrders();
std::string memoryScopes();
std::optional<MemoryOrder> memoryOrderNamed(llvm::StringRef spelling);
std::optional<MemoryScope> memoryScopeNamed(llvm::StringRef spelling);

struct BuiltinInfo {
  llvm::StringLiteral spelling;
  int operands; ///< -1: any number
  BuiltinGroup group;
  Constraint constraint;
  BuiltinResult result;
};

const BuiltinInfo &builtinInfo(Builtin builtin);
/// What any target has instead of an instruction that only GPUs have: the text
/// for an operand `x`; empty for other builtins.
llvm::StringRef exactForm(Builtin builtin);
/// A builtin that is not a method; methods are found by `viewNamed`.
std::optional<Builtin> builtinNamed(llvm::StringRef spelling);
std::optional<Builtin> viewNamed(llvm::StringRef spelling);

} // namespace quern::typed
