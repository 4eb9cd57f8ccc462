// Typed declarations: signature, axis table and body of each of the six kinds.
#pragma once

#include "frontend/typed/Attribute.h"
#include "frontend/typed/Statement.h"

namespace quern::typed {

enum class DeclarationKind : std::uint8_t {
  Function,
  Elementwise,
  Reduction,
  Rowwise,
  Kernel,
  Op
};

llvm::StringRef keyword(DeclarationKind kind);

enum class VariableKind : std::uint8_t {
  Parameter,
  Let,
  Var,
  Loop,    ///< of `for` and of a list
  Storage, ///< shared or local array
  State,   ///< of a reduction's step, merge and finish
  Operand, ///< of a reduction's step
  Position ///< of a reduction's step: `i: index`
};

/// A name for a value in a body. Ids count from 0 within the declaration.
struct Variable {
  llvm::StringRef name;
  Span span;
  VariableKind kind = VariableKind::Let;
  unsigned id = 0;
  /// Tensor parameters of lifted text: Scalar with the tensor's axes. Elsewhere
  /// they have the Tensor type.
  const Type *type = nullptr;
  bool isOptional = false; ///< an optional parameter
};

struct TypeParameter {
  llvm::StringRef name;
  Span span;
  Constraint constraint = Constraint::Any;
};

enum class ConstantParameterKind : std::uint8_t {
  Integer,
  Boolean,
  Booleans, ///< `bool[n]`
  String,   ///< one of `choices`
  Float,    ///< selected among `choices` by a float scalar
  Function
};

struct ConstantParameter {
  llvm::StringRef name;
  Span span;
  unsigned index = 0; ///< into Declaration::constantParameters
  ConstantParameterKind kind = ConstantParameterKind::Integer;
  const Type *type = nullptr;
  std::int64_t count = 0; ///< Booleans
  /// The values allowed, if the text lists them; no value equals `else`.
  llvm::ArrayRef<Constant> choices;
  bool hasElse = false;
  /// The scalar parameter that selects at run time (`match p {…}`), or null.
  const Variable *subject = nullptr;
  const Expression *defaultValue = nullptr; ///< or null
};

/// Place of a parameter in the declaration's `[ ]`.
struct GenericOrder {
  bool isType = false;
  unsigned index = 0;
};

/// A parameter in parentheses. Tensor parameters are those with `isTensor`.
struct Parameter {
  const Variable *variable = nullptr;
  ScalarType element;                   ///< of tensor or scalar
  llvm::ArrayRef<Dimension> dimensions; ///< tensor
  bool isTensor = false;
  bool isOptional = false, isMutable = false, isList = false;
  /// Scalar: the pack it aligns with (`int[*S]`), else invalid.
  AxisId pack;
  /// Scalar: a fixed number of values, `int[3]`; 0: one value.
  std::int64_t count = 0;
  const Expression *defaultValue = nullptr;
  llvm::StringRef text; ///< the type as written
};

struct Result {
  llvm::StringRef name; ///< of a named tuple, or empty
  ScalarType element;
  llvm::ArrayRef<Dimension> dimensions;
  bool isTensor = false; ///< rowwise, op; elementwise's results too
  bool isOptional = false, isList = false;
  /// Elements of a non-tensor result that is no scalar, else null.
  const Type *type = nullptr;
  Span span;
  llvm::StringRef text;
};

/// `step`, `merge` or `finish`: variables and a body that ends in one Return.
struct ReductionPart {
  Span span;
  /// step: the state, then the operands and the position in written order;
  /// merge: two states; finish: the state.
  llvm::ArrayRef<const Variable *> variables;
  Block body;
};

struct ReductionState {
  llvm::StringRef name; ///< empty for a single unnamed state
  ScalarType type;
  const Expression *initial = nullptr;
};

struct Reduction {
  llvm::ArrayRef<ReductionState> states;
  /// The state as a variable sees it: Scalar, or a Tuple with names.
  const Type *stateType = nullptr;
  ReductionPart step, merge;
  bool hasFinish = false;
  ReductionPart finish;
  /// What the reduction yields: Scalar or Tuple.
  const Type *resultType = nullptr;
  /// Types of step's operands, the position left out.
  llvm::ArrayRef<const Type *> operands;
  /// `merge(a, b)` and `merge(b, a)` are seen to be the same.
  bool commutes = false;
};

/// An axis that a call inside the body gave a second extent; the binder checks
/// that both agree, with both numbers in the message.
struct ExtentCheck {
  AxisId axis;
  const Expression *extent = nullptr;
  Span span;
};

/// One of the six kinds. Bodies are symbolic in the type and constant
/// parameters.
struct Declaration {
  DeclarationKind kind = DeclarationKind::Function;
  llvm::StringRef name, module, documentation;
  Span span, nameSpan;
  llvm::ArrayRef<TypeParameter> typeParameters;
  llvm::ArrayRef<const ConstantParameter *> constantParameters;
  llvm::ArrayRef<GenericOrder> generics; ///< both, as written in `[ ]`
  llvm::ArrayRef<Axis> axes;
  llvm::ArrayRef<ExtentCheck> extentChecks;
  llvm::ArrayRef<Parameter> parameters;
  llvm::ArrayRef<Result> results;
  Block body;
  unsigned variableCount = 0;
  const Reduction *reduction = nullptr; ///< of a `reduction`, else null
  Attributes attributes;
  /// Its text had an error; nothing behind the checker may use it.
  bool hasError = false;

  /// The body is scalar code lifted over axes.
  bool isLifted() const {
    return kind == DeclarationKind::Elementwise ||
           kind == DeclarationKind::Rowwise;
  }
  /// The host calls it and code is made for it: lifted text or a `kernel`.
  bool isCompiled() const {
    return isLifted() || kind == DeclarationKind::Kernel;
  }
  /// A reduction whose states are merged in the order of their elements.
  bool keepsOrder() const {
    return reduction && !reduction->commutes && !attributes.commutative;
  }
  const Axis &axis(AxisId id) const { return axes[id.index]; }
};

/// `const PI: f64 = 3.14`, `const TABLE: f32[4] = [1, 2, 3, 4]`.
struct ConstantTable {
  llvm::StringRef name;
  Span span;
  ElementType element = ElementType::F32;
  bool isTable = false;
  llvm::ArrayRef<std::int64_t> extents; ///< of a table's axes, outermost first
  llvm::ArrayRef<Constant> values;      ///< one value when it is no table
};

} // namespace quern::typed
