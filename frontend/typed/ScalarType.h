// The type of one scalar: concrete, or symbolic in a type parameter.
#pragma once

#include "frontend/ElementType.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cassert>

namespace quern::typed {

/// A concrete element type or a type parameter of the declaration at hand,
/// under any of `acc( )`, `real( )`, `complex( )` and `bits( )`, in that order.
class ScalarType {
public:
  constexpr ScalarType() = default;

  static constexpr ScalarType concrete(ElementType element) {
    ScalarType type;
    type.number = static_cast<std::uint8_t>(element);
    return type;
  }
  static constexpr ScalarType parameter(unsigned index) {
    ScalarType type;
    type.symbolic = true;
    type.number = static_cast<std::uint8_t>(index);
    return type;
  }
  static constexpr ScalarType boolean() { return concrete(ElementType::Bool); }
  /// `int`: host sizes, indices.
  static constexpr ScalarType integer() { return concrete(ElementType::I64); }

  /// `acc(T)`.
  ScalarType accumulator() const;
  /// `real(T)`: the component of a complex type; other types stay.
  ScalarType component() const;
  /// `complex(T)`: the complex type with parts of the compute type; complex
  /// types stay.
  ScalarType complex() const;
  /// `bits(T)`: the unsigned integer of the same width.
  ScalarType bits() const;

  bool isConcrete() const { return !symbolic; }
  bool isParameter() const { return symbolic; }
  /// Exactly `T`, without `acc` and its like.
  bool isBareParameter() const {
    return symbolic && !accumulated && !componentOf && !complexOf && !bitsOf;
  }
  ElementType element() const {
    assert(!symbolic && "symbolic type has no element");
    return static_cast<ElementType>(number);
  }
  /// Index into the declaration's type parameters.
  unsigned parameterIndex() const {
    assert(symbolic && "concrete type has no parameter");
    return number;
  }
  bool isAccumulator() const { return accumulated; }
  bool isComponent() const { return componentOf; }
  bool isComplex() const { return complexOf; }
  bool isBits() const { return bitsOf; }

  /// The element type this stands for, given the declaration's type arguments.
  ElementType substitute(llvm::ArrayRef<ElementType> typeArguments) const;
  /// The same with symbolic arguments: how a callee's type reads in its caller.
  ScalarType substitute(llvm::ArrayRef<ScalarType> typeArguments) const;

  bool operator==(const ScalarType &) const = default;
  /// A number that tells scalar types apart.
  unsigned key() const {
    return number | symbolic << 8 | accumulated << 9 | componentOf << 10 |
           bitsOf << 11 | complexOf << 12;
  }

private:
  std::uint8_t number = 0; ///< ElementType, or index of the type parameter
  bool symbolic : 1 = false;
  bool accumulated : 1 = false;
  bool componentOf : 1 = false;
  bool complexOf : 1 = false;
  bool bitsOf : 1 = false;
};

/// `substitute(type, typeArguments)` in the words of the stages behind.
inline ElementType substitute(ScalarType type,
                              llvm::ArrayRef<ElementType> typeArguments) {
  return type.substitute(typeArguments);
}

/// What a type parameter may stand for; a table row says which kinds.
enum class Constraint : std::uint8_t {
#define QN_CONSTRAINT(enumerator, spelling, booleans, integers, floats,        \
                      complexes)                                               \
  enumerator,
#include "frontend/typed/Constraints.def"
};

llvm::StringRef spelling(Constraint constraint);
bool admits(Constraint constraint, ElementType element);
/// Every type that `inner` admits is admitted by `outer`.
bool admitsAll(Constraint outer, Constraint inner);

} // namespace quern::typed
