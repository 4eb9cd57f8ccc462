// Look-ups in the tables of builtins and operators.
#include "frontend/typed/Declaration.h"

#include "llvm/Support/ErrorHandling.h"

using namespace quern;
using namespace quern::typed;

static constexpr BuiltinInfo builtins[] = {
#define QN_BUILTIN(enumerator, spelling, group, operands, constraint, result)  \
  {spelling, operands, BuiltinGroup::group, Constraint::constraint,            \
   BuiltinResult::result},
#include "frontend/typed/Builtins.def"
};

const BuiltinInfo &typed::builtinInfo(Builtin builtin) {
  return builtins[static_cast<unsigned>(builtin)];
}

llvm::StringRef typed::exactForm(Builtin builtin) {
  switch (builtin) {
#define QN_BUILTIN(enumerator, spelling, group, operands, constraint, result)
#define QN_GPU_BUILTIN(enumerator, exact)                                      \
  case Builtin::enumerator:                                                    \
    return exact;
#include "frontend/typed/Builtins.def"
  default:
    return {};
  }
}

/// A hash would be no faster: callers look here after all scopes failed.
static std::optional<Builtin> find(llvm::StringRef spelling, bool views) {
  for (unsigned i = 0; i != std::size(builtins); ++i)
    if ((builtins[i].group == BuiltinGroup::View) == views &&
        builtins[i].spelling == spelling)
      return static_cast<Builtin>(i);
  return std::nullopt;
}

std::optional<Builtin> typed::builtinNamed(llvm::StringRef spelling) {
  return find(spelling, false);
}

std::optional<Builtin> typed::viewNamed(llvm::StringRef spelling) {
  return find(spelling, true);
}

static constexpr llvm::StringLiteral orders[] = {
#define QN_MEMORY_ORDER(enumerator, spelling) spelling,
#include "frontend/typed/MemoryOrders.def"
};

static constexpr llvm::StringLiteral scopes[] = {
#define QN_MEMORY_SCOPE(enumerator, spelling) spelling,
#include "frontend/typed/MemoryOrders.def"
};

llvm::StringRef typed::spelling(MemoryOrder order) {
  return orders[static_cast<unsigned>(order)];
}

llvm::StringRef typed::spelling(MemoryScope scope) {
  return scopes[static_cast<unsigned>(scope)];
}

/// `"a"`, `"b"` or `"c"`, as a text writes them.
static std::string listed(llvm::ArrayRef<llvm::StringLiteral> words) {
  std::string text;
  for (std::size_t number = 0; number < words.size(); ++number) {
    text += number == 0 ? "" : number + 1 == words.size() ? " or " : ", ";
    text += "`\"" + words[number].str() + "\"`";
  }
  return text;
}

std::string typed::memoryOrders() { return listed(orders); }
std::string typed::memoryScopes() { return listed(scopes); }

std::optional<MemoryOrder> typed::memoryOrderNamed(llvm::StringRef spelling) {
  for (unsigned i = 0; i != std::size(orders); ++i)
    if (orders[i] == spelling)
      return static_cast<MemoryOrder>(i);
  return std::nullopt;
}

std::optional<MemoryScope> typed::memoryScopeNamed(llvm::StringRef spelling) {
  for (unsigned i = 0; i != std::size(scopes); ++i)
    if (scopes[i] == spelling)
      return static_cast<MemoryScope>(i);
  return std::nullopt;
}

namespace {
struct BinaryRow {
  llvm::StringLiteral spelling;
  Constraint constraint;
  bool comparison;
};
} // namespace

static constexpr BinaryRow binaries[] = {
#define QN_BINARY(enumerator, spelling, constraint, comparison)                \
  {spelling, Constraint::constraint, comparison},
#include "frontend/typed/BinaryOperators.def"
};

llvm::StringRef typed::spelling(BinaryOperator op) {
  return binaries[static_cast<unsigned>(op)].spelling;
}

bool typed::isComparison(BinaryOperator op) {
  return binaries[static_cast<unsigned>(op)].comparison;
}

Constraint typed::constraintOf(BinaryOperator op) {
  return binaries[static_cast<unsigned>(op)].constraint;
}

llvm::StringRef typed::spelling(UnaryOperator op) {
  switch (op) {
  case UnaryOperator::Negate:
    return "-";
  case UnaryOperator::Not:
    return "not ";
  case UnaryOperator::BitNot:
    return "~";
  }
  llvm_unreachable("all unary operators are spelled");
}

llvm::StringRef typed::keyword(DeclarationKind kind) {
  switch (kind) {
  case DeclarationKind::Function:
    return "fn";
  case DeclarationKind::Elementwise:
    return "elementwise";
  case DeclarationKind::Reduction:
    return "reduction";
  case DeclarationKind::Rowwise:
    return "rowwise";
  case DeclarationKind::Kernel:
    return "kernel";
  case DeclarationKind::Op:
    return "op";
  }
  llvm_unreachable("all declaration kinds are named");
}
