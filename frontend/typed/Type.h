// Types of expressions and variables; made once by a TypeContext, compared by
// address.
#pragma once

#include "frontend/typed/Axis.h"
#include "frontend/typed/ScalarType.h"

namespace quern::typed {

enum class TypeKind : std::uint8_t {
  Void,
  Scalar,   ///< in lifted text: one scalar for every position of `axes`
  Tuple,    ///< results of a call, states of a reduction
  Tensor,   ///< a tensor as an object: in `kernel` and `op`, and parameters
  Array,    ///< `shared`, `local`, and `const` tables
  List,     ///< `list[…]`, and a constant parameter `bool[n]`
  Function, ///< a compile-time function parameter
  String    ///< a compile-time enumeration value
};

class Type {
public:
  TypeKind kind = TypeKind::Void;
  /// Scalar, Tensor, Array: the element.
  ScalarType scalar;
  /// Scalar: the axis set, in order (docs/decisions/0004).
  llvm::ArrayRef<AxisId> axes;
  /// Scalar: the pack with whose axes the value aligns (`int[*S]`, `*P`), so
  /// that it has one value per axis of the pack; else invalid.
  AxisId pack;
  /// Tensor: its dimensions; meaningful if `ranked`.
  llvm::ArrayRef<Dimension> dimensions;
  /// Tensor: the dimensions are known by name. A view made in an `op` is not.
  bool ranked = false;
  /// Tuple: elements; Function: parameters, then the result; List: one element.
  llvm::ArrayRef<const Type *> elements;
  /// Tuple: names of fields, or empty.
  llvm::ArrayRef<llvm::StringRef> names;
  /// Array: extents, compile-time expressions.
  llvm::ArrayRef<const Expression *> extents;

  bool isVoid() const { return kind == TypeKind::Void; }
  bool isScalar() const { return kind == TypeKind::Scalar; }
  bool isTuple() const { return kind == TypeKind::Tuple; }
  bool isTensor() const { return kind == TypeKind::Tensor; }
  bool isArray() const { return kind == TypeKind::Array; }
  bool isList() const { return kind == TypeKind::List; }
  bool isFunction() const { return kind == TypeKind::Function; }
  bool isString() const { return kind == TypeKind::String; }
};

} // namespace quern::typed
