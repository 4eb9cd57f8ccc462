// Substitution into scalar types, and the table of constraints.
#include "frontend/typed/ScalarType.h"

using namespace quern;
using namespace quern::typed;

static ElementType componentElement(ElementType element) {
  switch (element) {
  case ElementType::C64:
    return ElementType::F32;
  case ElementType::C128:
    return ElementType::F64;
  default:
    return element;
  }
}

static ElementType complexElement(ElementType element) {
  bool isWide = element == ElementType::F64 || element == ElementType::C128;
  return isWide ? ElementType::C128 : ElementType::C64;
}

static ElementType bitsElement(ElementType element) {
  switch (bitsOf(element)) {
  case 8:
    return ElementType::U8;
  case 16:
    return ElementType::U16;
  case 32:
    return ElementType::U32;
  default:
    return ElementType::U64;
  }
}

ScalarType ScalarType::accumulator() const {
  if (!symbolic)
    return concrete(accumulatorOf(element()));
  ScalarType type = *this;
  type.accumulated |= !complexOf;
  return type;
}

ScalarType ScalarType::component() const {
  if (!symbolic)
    return concrete(componentElement(element()));
  ScalarType type = *this;
  // The parts of `complex(T)` have the compute type.
  if (complexOf)
    type.complexOf = false, type.accumulated = true;
  else
    type.componentOf = true;
  return type;
}

ScalarType ScalarType::complex() const {
  if (!symbolic)
    return concrete(complexElement(element()));
  ScalarType type = *this;
  type.complexOf = true;
  return type;
}

ScalarType ScalarType::bits() const {
  if (!symbolic)
    return concrete(bitsElement(element()));
  ScalarType type = *this;
  type.bitsOf = true;
  return type;
}

ElementType
ScalarType::substitute(llvm::ArrayRef<ElementType> typeArguments) const {
  if (!symbolic)
    return element();
  ElementType element = typeArguments[number];
  if (accumulated)
    element = accumulatorOf(element);
  if (componentOf)
    element = componentElement(element);
  if (complexOf)
    element = complexElement(element);
  return bitsOf ? bitsElement(element) : element;
}

ScalarType
ScalarType::substitute(llvm::ArrayRef<ScalarType> typeArguments) const {
  if (!symbolic)
    return *this;
  ScalarType type = typeArguments[number];
  if (accumulated)
    type = type.accumulator();
  if (componentOf)
    type = type.component();
  if (complexOf)
    type = type.complex();
  return bitsOf ? type.bits() : type;
}

namespace {
struct ConstraintRow {
  llvm::StringLiteral spelling;
  bool booleans, integers, floats, complexes;
};
} // namespace

static constexpr ConstraintRow rows[] = {
#define QN_CONSTRAINT(enumerator, spelling, booleans, integers, floats,        \
                      complexes)                                               \
  {spelling, booleans, integers, floats, complexes},
#include "frontend/typed/Constraints.def"
};

static const ConstraintRow &rowOf(Constraint constraint) {
  return rows[static_cast<unsigned>(constraint)];
}

llvm::StringRef typed::spelling(Constraint constraint) {
  return rowOf(constraint).spelling;
}

bool typed::admits(Constraint constraint, ElementType element) {
  const ConstraintRow &row = rowOf(constraint);
  switch (kindOf(element)) {
  case ElementKind::Bool:
    return row.booleans;
  case ElementKind::Signed:
  case ElementKind::Unsigned:
    return row.integers;
  case ElementKind::Float:
    return row.floats;
  case ElementKind::Complex:
    return row.complexes;
  }
  return false;
}

bool typed::admitsAll(Constraint outer, Constraint inner) {
  const ConstraintRow &o = rowOf(outer), &i = rowOf(inner);
  return (o.booleans || !i.booleans) && (o.integers || !i.integers) &&
         (o.floats || !i.floats) && (o.complexes || !i.complexes);
}
