// What names mean while the body of one declaration is being inlined.
#pragma once

#include "dsl/irgen/Scalar.h"
#include "frontend/typed/Declaration.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallSet.h"

#include <vector>

namespace quern::irgen {

/// Gives every type a home for the ids and constants of the frontend.
using typed::AxisId;
using typed::Declaration;
using typed::Expression;
using typed::Variable;

struct Frame;

/// What an expression becomes: a scalar, a list of values (a tuple, or one
/// value for each axis of a pack), a scatter, which can only be stored, or
/// nothing, for an absent operand.
struct Value {
  enum class Kind : std::uint8_t { Absent, Scalar, List, Scatter };
  Kind kind = Kind::Absent;
  Scalar scalar;
  std::vector<Value> elements;
  const typed::ScatterExpression *scatter = nullptr;
  Frame *scatterFrame = nullptr;

  Value() = default;
  Value(Scalar scalar) : kind(Kind::Scalar), scalar(scalar) {}
  static Value list(std::vector<Value> elements) {
    Value value;
    value.kind = Kind::List;
    value.elements = std::move(elements);
    return value;
  }
  bool isAbsent() const { return kind == Kind::Absent; }
  bool isScalar() const { return kind == Kind::Scalar; }
};

/// Calls `visit` with every scalar of `value`, in order.
template <typename ValueType, typename Visitor>
void forEachScalar(ValueType &value, Visitor &&visit) {
  if (value.isScalar())
    visit(value.scalar);
  for (auto &element : value.elements)
    forEachScalar(element, visit);
}

/// Values that an arm, a loop or a part of a monoid hands on.
using Values = std::vector<Value>;

/// The SSA values of all scalars, in order; a complex number has two.
llvm::SmallVector<mlir::Value, 8> flatten(const Values &values);
/// `like` with its SSA values taken from `flat`, in the same order.
Values unflatten(Values like, mlir::ValueRange flat);

/// One concrete axis of the kernel, or a local one.
struct Place {
  mlir::StringAttr name;
  mlir::Value position;    ///< local: given by `qn.axis`; else null
  mlir::Value lower, size; ///< local; else null
};

/// `x.at(C = p)` of a computed value evaluates it again with the axis at
/// another position. The innermost row with a name counts.
struct Substitution {
  mlir::StringAttr axis;
  mlir::Value position; ///< null: where the axis stands by itself
  const Substitution *outer = nullptr;
  bool isInRange = false;   ///< needs no check
  mlir::LocationAttr place; ///< where the text has the position
};

/// What holds where the text at hand runs.
struct Condition {
  mlir::Value value;
  bool isNegated = false;
  bool isOfPlace = false; ///< that a read is in range, and no way of the text

  bool operator==(const Condition &) const = default;
};

/// A loop in an arm, whose rounds end where `both` is false: where another
/// round is not due, or where one of the conditions does not hold.
struct SkippedLoop {
  mlir::arith::AndIOp both;
  llvm::SmallVector<Condition, 4> conditions;
};

/// What a variable stands for.
struct Binding {
  enum class Kind : std::uint8_t { Unset, Value, Tensor };
  Kind kind = Kind::Unset;
  /// Values with the substitutions they were made under; the last fits most
  /// often. A variable that was assigned has one.
  struct Made {
    Value value;
    const Substitution *under = nullptr;
    /// Reads at moved places are guarded by them.
    llvm::SmallVector<Condition, 2> conditions;
    /// Operands that hold it for reads at other places.
    llvm::SmallVector<mlir::Value, 2> staged;
  };
  std::vector<Made> made;
  /// `let` and parameters of an inlined call: how to make the value again.
  const Expression *definition = nullptr;
  Frame *definitionFrame = nullptr;
  int field = -1;          ///< element of the definition's tuple, or -1
  unsigned operations = 0; ///< that the definition took at most
  mlir::Value tensor;
  ElementType element = ElementType::F32;
  /// Of a list, instead of `tensor`.
  llvm::SmallVector<mlir::Value, 2> tensors;
  llvm::SmallVector<Place, 4> places; ///< of the tensor
  bool isAssigned = false; ///< a `mut` tensor, whose new value is `stored`
  Value stored;
};

/// A compile-time argument.
struct ConstantBinding {
  std::optional<typed::Constant> value;
  std::string digits; ///< of a `bool[n]`
  const Declaration *function = nullptr;
};

/// The results so far of a body with several `return`s.
struct ReturnState {
  bool always = false; ///< every way through the text so far has returned
  Scalar flag;         ///< where it has returned, unless always or never
  Scalar ahead; ///< in a loop that returns: where it had, ahead of the loop
  std::vector<Value> values;

  bool never() const { return !always && !flag; }
};

struct Frame {
  const Declaration &declaration;
  llvm::SmallVector<ElementType, 4> types;
  std::vector<ConstantBinding> constants;
  std::vector<llvm::SmallVector<Place, 1>> axes; ///< by AxisId
  std::vector<Binding> variables;                ///< by Variable::id
  /// Local axes that a call or `concat` brought in; a reduction removes them,
  /// but does not bring them in again.
  llvm::SmallSet<unsigned, 4> axesOfCalls;
  llvm::SmallVector<Place, 4> lifted; ///< elementwise: what `index()` counts
  /// By AxisId: where the parts of an axis end that `concat` joins.
  llvm::SmallDenseMap<unsigned, llvm::SmallVector<mlir::Value, 4>> parts;
  unsigned packElement = 0; ///< which axis of a pack is being computed
  ReturnState returned;
  const typed::Type *partType = nullptr; ///< what a monoid's part returns

  explicit Frame(const Declaration &declaration)
      : declaration(declaration), axes(declaration.axes.size()),
        variables(declaration.variableCount) {}
  Frame(const Frame &) = delete;

  ElementType type(typed::ScalarType scalar) const {
    return scalar.substitute(types);
  }
  Binding &binding(const Variable &variable) { return variables[variable.id]; }
};

} // namespace quern::irgen
