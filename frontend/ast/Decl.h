// Declarations, attributes and the module as written.
#pragma once

#include "frontend/ast/Stmt.h"

#include "llvm/Support/Casting.h"

#include <vector>

namespace quern {
class SourceFile;
}

namespace quern::ast {

/// `x`, `dim = C`, `(kh, kw) = kernel_size`.
struct AttributeArgument {
  List<Identifier> names; ///< empty when given by position
  bool isTuple = false;   ///< the names stood in parentheses
  const Expr *value = nullptr;
  Span span;
};

/// `@aten("mm")`, `@backward(silu_backward, saves = x)`, `@portable`.
struct Attribute {
  Identifier name;
  List<AttributeArgument> arguments;
  Span span;
};

struct Decl {
  enum class Kind : std::uint8_t {
#define QN_DECL(name) name,
#include "frontend/ast/Nodes.def"
  };
  Kind kind;
  Span span;       ///< from the first attribute to the end of the body
  Identifier name; ///< of a Use: the module
  List<Attribute> attributes;
  llvm::StringRef documentation; ///< the docstring's text, or ""
  /// Something in it could not be read; an incomplete declaration must not
  /// cause further errors.
  bool hasError = false;

  Kind getKind() const { return kind; }

protected:
  Decl(Kind kind) : kind(kind) {}
};

/// `exp as e`.
struct ImportedName {
  Identifier name;
  Identifier alias; ///< empty without `as`
};

/// `from math use exp, log as ln`; `name` is the module, dots included.
struct UseDecl : Decl {
  List<ImportedName> names;
  UseDecl() : Decl(Kind::Use) {}
  static bool classof(const Decl *decl) { return decl->kind == Kind::Use; }
};

/// `const PI: f64 = 3.14`, `const TABLE: f32[3] = [1, 2, 3]`.
struct ConstDecl : Decl {
  const Type *type = nullptr;
  const Expr *value = nullptr;
  ConstDecl() : Decl(Kind::Const) {}
  static bool classof(const Decl *decl) { return decl->kind == Kind::Const; }
};

/// `match p {0, 1, 2, inf, else}` and `{"none", "tanh"}`: the values a
/// compile-time parameter may have; with a subject, a run-time scalar selects.
struct Choice {
  Span span;
  Identifier subject; ///< empty without `match`
  List<const Expr *> values;
  bool hasElse = false;
};

/// A compile-time parameter: `T: Any`, `TILE: int = 32`, `F: fn(T) -> T`,
/// `P: match p {0, 1, else}`, `MODE: {"none", "tanh"}`.
struct GenericParam {
  Identifier name;
  const Type *type = nullptr;     ///< constraint or type; null with a choice
  const Choice *choice = nullptr; ///< null with a type
  const Expr *defaultValue = nullptr;
  Span span;
};

struct Param {
  Identifier name;
  const Type *type = nullptr; ///< null in `merge(a, b)` and for a state
  const Expr *defaultValue = nullptr;
  Span span;
};

/// What the five callable kinds with a body share.
struct CallableDecl : Decl {
  List<GenericParam> generics;
  List<Param> params;
  const Type *result = nullptr; ///< a TupleType for several; null for none
  Block body;
  explicit CallableDecl(Kind kind) : Decl(kind) {}
  static bool classof(const Decl *decl) {
    return decl->kind == Kind::Function || decl->kind == Kind::Elementwise ||
           decl->kind == Kind::Rowwise || decl->kind == Kind::Kernel ||
           decl->kind == Kind::Op;
  }
};

/// `step(s, x: T): …`, `merge(a, b): …`, `finish(s): …`.
struct ReductionPart {
  Identifier keyword;
  List<Param> params;           ///< those that stand for states have no type
  const Type *result = nullptr; ///< `finish(s) -> T:`, else null
  Block body;
  Span span;
};

struct ReductionDecl : Decl {
  List<GenericParam> generics;
  List<Param> params; ///< run-time scalars, mostly none
  /// One unnamed field for `state: acc(T) = 0`, else named fields.
  List<TypeField> state;
  bool stateIsTuple = false;
  const ReductionPart *step = nullptr, *merge = nullptr;
  const ReductionPart *finish = nullptr; ///< null: the state is the result
  ReductionDecl() : Decl(Kind::Reduction) {}
  static bool classof(const Decl *decl) {
    return decl->kind == Kind::Reduction;
  }
};

/// A whole file; owns the tree, not the text.
struct Module {
  const SourceFile *file = nullptr;
  llvm::StringRef documentation;
  std::vector<const Decl *> declarations; ///< in the order of the text
  Arena arena;
};

/// The keyword that begins a declaration: "rowwise".
llvm::StringRef keyword(Decl::Kind kind);

} // namespace quern::ast
