// Types as written in signatures, states and annotations.
#pragma once

#include "frontend/ast/Expr.h"

namespace quern::ast {

struct Type {
  enum class Kind : std::uint8_t {
#define QN_TYPE(name) name,
#include "frontend/ast/Nodes.def"
  };
  Kind kind;
  Span span;

  Kind getKind() const { return kind; }

protected:
  Type(Kind kind, Span span) : kind(kind), span(span) {}
};

template <Type::Kind Tag> using TypeOf = NodeOf<Type, Tag>;

/// `f32`, `T`, `int`, `bool`, `index`, and the constraints `Any` … `Float`.
struct NamedType : TypeOf<Type::Kind::Named> {
  Identifier name;
  NamedType(Identifier name) : NodeOf(name.span), name(name) {}
};

/// `acc(T)`.
struct AppliedType : TypeOf<Type::Kind::Applied> {
  Identifier function;
  List<const Type *> arguments;
  AppliedType(Span span, Identifier function, List<const Type *> arguments)
      : NodeOf(span), function(function), arguments(arguments) {}
};

/// One place between the brackets of a tensor type.
struct Dimension {
  enum class Kind : std::uint8_t {
    Axis,  ///< `C`: `name`
    Pack,  ///< `*S`: `name`
    Group, ///< `(G C)`: `parts`, one axis in memory, several in the text
    Extent ///< `3`, `TILE + 1`: `extent`, no name
  };
  Kind kind = Kind::Axis;
  Span span;
  Identifier name;
  /// `P = expr` and `*P = expr` for Axis and Pack, else null; never null for
  /// Extent.
  const Expr *extent = nullptr;
  List<Dimension> parts;
};

/// `T[*R, C]`, `int[*S]`, `acc(T)[*R]`, `bool[3]`.
struct TensorType : TypeOf<Type::Kind::Tensor> {
  const Type *element;
  List<Dimension> dimensions;
  TensorType(Span span, const Type *element, List<Dimension> dimensions)
      : NodeOf(span), element(element), dimensions(dimensions) {}
};

/// `list[T[*S]]`.
struct ListType : TypeOf<Type::Kind::List> {
  const Type *element;
  ListType(Span span, const Type *element) : NodeOf(span), element(element) {}
};

/// `T[C]?`.
struct OptionalType : TypeOf<Type::Kind::Optional> {
  const Type *inner;
  OptionalType(Span span, const Type *inner) : NodeOf(span), inner(inner) {}
};

/// `mut T[N, M]`.
struct MutType : TypeOf<Type::Kind::Mut> {
  const Type *inner;
  MutType(Span span, const Type *inner) : NodeOf(span), inner(inner) {}
};

/// One element of a TupleType; a state's fields have names and first values.
struct TypeField {
  Identifier name; ///< may be empty
  const Type *type = nullptr;
  const Expr *initial = nullptr; ///< `mean: acc(T) = 0`
};

/// `(T[*R, C], acc(T)[*R])`, `(values: T[N], indices: i64[N])`.
struct TupleType : TypeOf<Type::Kind::Tuple> {
  List<TypeField> fields;
  TupleType(Span span, List<TypeField> fields) : NodeOf(span), fields(fields) {}
};

/// `fn(T, T) -> bool`: a compile-time parameter that is a function.
struct FunctionType : TypeOf<Type::Kind::Function> {
  List<const Type *> parameters;
  const Type *result;
  FunctionType(Span span, List<const Type *> parameters, const Type *result)
      : NodeOf(span), parameters(parameters), result(result) {}
};

/// Stands where a type could not be read; already reported.
struct ErrorType : TypeOf<Type::Kind::Error> {
  ErrorType(Span span) : NodeOf(span) {}
};

} // namespace quern::ast
