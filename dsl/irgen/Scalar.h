// One scalar of the language as SSA values, and the builder of its arithmetic.
#pragma once

#include "frontend/ElementType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace quern::irgen {

/// A scalar of the language's type `type`. Small floats are held in f32
/// (PyTorch's opmath rule), bool in i1, a complex number in two values.
struct Scalar {
  ElementType type = ElementType::F32;
  mlir::Value value;
  mlir::Value imaginary; ///< null unless complex

  explicit operator bool() const { return static_cast<bool>(value); }
  bool isComplex() const { return kindOf(type) == ElementKind::Complex; }
  bool isFloat() const { return kindOf(type) == ElementKind::Float; }
  bool isSigned() const { return kindOf(type) == ElementKind::Signed; }
  bool isBool() const { return kindOf(type) == ElementKind::Bool; }
};

/// The type of elements in memory.
mlir::Type storageType(mlir::MLIRContext *context, ElementType type);
/// The type of an SSA value that holds a scalar, or one part of a complex one.
mlir::Type valueType(mlir::MLIRContext *context, ElementType type);
/// The real type of a complex type's parts; other types stay.
ElementType componentOf(ElementType type);

/// Makes scalar operations with the language's semantics at a location. Both
/// operands of a binary operation have one type.
class ScalarBuilder {
public:
  explicit ScalarBuilder(mlir::OpBuilder &builder)
      : builder(builder), location(builder.getUnknownLoc()) {}

  mlir::OpBuilder &builder;
  mlir::Location location;
  mlir::arith::FastMathFlags fastMath = mlir::arith::FastMathFlags::none;
  bool estimatesRoots = false; ///< what divides by one, in called functions too
  bool isCoarse = false;       ///< near a threshold both answers will do
  unsigned created = 0;        ///< operations so far

  /// `create<arith::AddFOp>(a, b)` at the current location.
  template <typename Op, typename... Arguments>
  Op create(Arguments &&...arguments) {
    ++created;
    return Op::create(builder, location, std::forward<Arguments>(arguments)...);
  }

  Scalar integer(ElementType type, std::int64_t value);
  /// A number for any type but bool; rounded to the type it is computed in.
  Scalar number(ElementType type, double value);
  Scalar boolean(bool value) { return integer(ElementType::Bool, value); }

  Scalar add(Scalar left, Scalar right);
  Scalar subtract(Scalar left, Scalar right);
  Scalar multiply(Scalar left, Scalar right);
  /// `/` on floats and complex numbers.
  Scalar divide(Scalar left, Scalar right);
  /// `//` and `%` on integers: towards minus infinity; by zero give 0.
  Scalar floorDivide(Scalar left, Scalar right);
  Scalar floorModulo(Scalar left, Scalar right);
  Scalar negate(Scalar operand);

  /// `&`, `|`, `^`, `~` on integers and bool.
  Scalar bitAnd(Scalar left, Scalar right);
  Scalar bitOr(Scalar left, Scalar right);
  Scalar bitXor(Scalar left, Scalar right);
  Scalar bitNot(Scalar operand);
  /// An amount outside 0 .. bits-1 shifts everything out.
  Scalar shiftLeft(Scalar left, Scalar amount);
  Scalar shiftRight(Scalar left, Scalar amount);

  Scalar equal(Scalar left, Scalar right);
  Scalar notEqual(Scalar left, Scalar right);
  Scalar less(Scalar left, Scalar right);
  Scalar lessEqual(Scalar left, Scalar right);
  Scalar greater(Scalar left, Scalar right);
  Scalar greaterEqual(Scalar left, Scalar right);

  Scalar minimum(Scalar left, Scalar right);
  Scalar maximum(Scalar left, Scalar right);
  Scalar select(Scalar condition, Scalar whenTrue, Scalar whenFalse);

  /// A written cast: rounds to `type`, also where the value stays in f32.
  Scalar cast(Scalar operand, ElementType type);
  /// The same bits as another type of the same width.
  Scalar bitcast(Scalar operand, ElementType type);
  /// Between a value in memory and the value computed with.
  Scalar fromStorage(mlir::Value stored, ElementType type);
  mlir::Value toStorage(Scalar operand);

  /// All of `value` along `axes` where `where`, if given, holds: the sum of
  /// integers, whether any of truth values does.
  mlir::Value total(mlir::Value value, mlir::Value where,
                    llvm::ArrayRef<mlir::Attribute> axes);

private:
  template <typename Integer, typename Float>
  mlir::Value arithmetic(Scalar left, Scalar right);
  Scalar compare(Scalar left, Scalar right, mlir::arith::CmpFPredicate ordered,
                 mlir::arith::CmpIPredicate isSigned,
                 mlir::arith::CmpIPredicate isUnsigned);
  Scalar shift(Scalar left, Scalar amount, bool toLeft);
  Scalar multiplyComplex(Scalar left, Scalar right);
  Scalar divideComplex(Scalar left, Scalar right);
  Scalar bitsOfHalves(Scalar operand);
  Scalar halvesOfBits(Scalar bits, ElementType type);
  mlir::Value floatToInteger(Scalar operand, ElementType type);
  mlir::Value narrow(mlir::Type type, mlir::Value value);
  mlir::Value unrounded(mlir::Type type, mlir::Value value);
  mlir::Value floatToFloat(mlir::Value value, ElementType from, ElementType to);
  mlir::Value integerToInteger(Scalar operand, ElementType type);
  mlir::Value isZero(Scalar operand);
  Scalar realPart(Scalar operand);
};

} // namespace quern::irgen
