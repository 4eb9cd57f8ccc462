// What the parts of the declaration checker hand to each other.
#pragma once

#include "frontend/ast/Decl.h"
#include "frontend/check/ElementMask.h"
#include "frontend/typed/Declaration.h"

#include "llvm/ADT/SmallVector.h"

namespace quern::check {

using typed::AxisId;
using typed::Builtin;
using typed::Declaration;
using typed::Expression;
using typed::Expressions;
using typed::Parameter;
using typed::ScalarType;
using typed::Type;
using AxisList = llvm::ArrayRef<AxisId>;
using TypeList = llvm::SmallVectorImpl<ScalarType>;
using ValueList = llvm::SmallVectorImpl<const Expression *>;
using Constants = llvm::SmallVectorImpl<typed::Constant>;
using TableExtents = llvm::SmallVector<std::int64_t, 2>;

/// The name of a concrete type; nothing else is called so where it matters.
inline bool isTypeName(llvm::StringRef name) {
  return name == "int" || elementTypeNamed(name);
}

/// What a name in a declaration stands for.
struct Binding {
  enum class Kind : std::uint8_t {
    Poison, ///< its definition had an error: uses are not blamed
    Variable,
    Alias, ///< a `let` of literals: stays weak
    TypeParameter,
    ConstantParameter,
    Axis
  };
  Kind kind = Kind::Poison;
  Span span;
  const typed::Variable *variable = nullptr;
  /// Of an alias; of a `var` the literal that it begins with, if that is one.
  const Expression *alias = nullptr;
  unsigned index = 0; ///< type or constant parameter, or axis
  bool isUsed = false;
};

/// The kind of text at hand decides what may stand there.
enum class Place : std::uint8_t {
  Lifted, ///< bodies of elementwise and rowwise
  Scalar, ///< bodies of fn and parts of reductions
  Kernel,
  Host,  ///< bodies of op
  Extent ///< extents of axes, launch, defaults: host scalars
};

/// Where a value is used, as far as it decides what an axis may mean there.
enum class AxisUse : std::uint8_t { Any, Position, Extent };

/// A type as a signature writes it.
struct WrittenType {
  ScalarType element;
  llvm::SmallVector<typed::Dimension, 4> dimensions;
  bool hasBrackets = false, isOptional = false, isMutable = false,
       isList = false;
  bool isHostInteger = false; ///< the element was spelled `int`
};

/// A result that is absent where a compile-time condition holds, or fails.
struct Absence {
  std::size_t result = 0;
  const Expression *condition = nullptr;
  bool whenTrue = false;
};

/// What a `return` gives; null: absent.
struct ReturnedValues {
  llvm::SmallVector<const Expression *, 4> values;
  llvm::SmallVector<Absence, 2> absences;
};

/// One argument of a call after names were matched with parameters.
struct CallArguments {
  llvm::SmallVector<const Expression *, 8> values; ///< null: not given
  llvm::SmallVector<Span, 8> spans;
};

/// Compile-time arguments while they are being solved.
struct GenericArguments {
  llvm::SmallVector<std::optional<ScalarType>, 4> types;
  llvm::SmallVector<const Expression *, 4> constants;
  /// Axes given by name: callee's axis, caller's axes.
  llvm::SmallVector<std::pair<AxisId, llvm::SmallVector<AxisId, 4>>, 2> axes;
};

/// What an operator of the text is called once it has types.
typed::BinaryOperator typedOperator(ast::BinaryOp op);

/// Known when compiling, once the parameters are.
bool isCompileTimeValue(const Expression *value);

/// How text names an element: `x[i]`; a tensor without axes has one.
std::string nameOfElement(llvm::StringRef name, const typed::Type &type);

/// Per axis of a callee, the caller's axes it stands for.
using BoundAxes = llvm::ArrayRef<llvm::SmallVector<AxisId, 4>>;
using AxisBindings = llvm::SmallVectorImpl<llvm::SmallVector<AxisId, 4>>;

} // namespace quern::check
