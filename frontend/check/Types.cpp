// What symbolic types may be, and when two of them are the same.
#include "frontend/check/DeclarationChecker.h"

#include "llvm/Support/raw_ostream.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

ElementMask DeclarationChecker::maskOf(ScalarType type) const {
  if (type.isConcrete())
    return check::maskOf(type.element());
  ElementMask mask = masks[type.parameterIndex()];
  if (type.isBareParameter())
    return mask;
  ElementMask result = 0;
  llvm::SmallVector<ElementType, 4> arguments(type.parameterIndex() + 1);
  forEachElement(mask, [&](ElementType element) {
    arguments.back() = element;
    result |= check::maskOf(type.substitute(llvm::ArrayRef(arguments)));
  });
  return result;
}

ScalarType DeclarationChecker::canonical(ScalarType type) const {
  if (type.isConcrete())
    return type;
  if (std::optional<ElementType> only = onlyElement(maskOf(type)))
    return ScalarType::concrete(*only);
  return type;
}

/// Same type, or same compute type in lifted text (docs/decisions/0005).
bool DeclarationChecker::sameType(ScalarType a, ScalarType b) const {
  if (a == b)
    return true;
  a = canonical(a);
  b = canonical(b);
  if (a == b)
    return true;
  bool twoParameters = a.isParameter() && b.isParameter() &&
                       a.parameterIndex() != b.parameterIndex();
  if (twoParameters ||
      (place != Place::Lifted && a.isConcrete() && b.isConcrete()))
    return false;
  unsigned index = a.isParameter()   ? a.parameterIndex()
                   : b.isParameter() ? b.parameterIndex()
                                     : 0;
  bool same = true;
  llvm::SmallVector<ElementType, 4> arguments(index + 1);
  ElementMask possible = a.isParameter() || b.isParameter() ? masks[index] : 1;
  forEachElement(possible, [&](ElementType element) {
    arguments.back() = element;
    ElementType x = a.substitute(llvm::ArrayRef(arguments));
    ElementType y = b.substitute(llvm::ArrayRef(arguments));
    same &=
        place == Place::Lifted ? computeTypeOf(x) == computeTypeOf(y) : x == y;
  });
  return same;
}

/// Of two types that are the same, the one that says more about the value: in
/// lifted text the wider one.
ScalarType DeclarationChecker::joinTypes(ScalarType a, ScalarType b) const {
  if (a == b || a.isAccumulator())
    return a;
  if (b.isAccumulator())
    return b;
  bool bWider = b.isConcrete() &&
                (!a.isConcrete() || bitsOf(b.element()) > bitsOf(a.element()));
  return bWider ? b : a;
}

std::string DeclarationChecker::spell(ScalarType type) const {
  if (type.isConcrete())
    return std::string(quern::spelling(type.element()));
  std::string text = typeParameters[type.parameterIndex()].name.str();
  if (type.isAccumulator())
    text = "acc(" + text + ")";
  if (type.isComponent())
    text = "real(" + text + ")";
  if (type.isComplex())
    text = "complex(" + text + ")";
  return type.isBits() ? "bits(" + text + ")" : text;
}

std::string DeclarationChecker::spell(const Expression *value) const {
  if (isWeak(value))
    return isWeakFloat(value) ? "float literal" : "integer literal";
  switch (value->type->kind) {
  case TypeKind::Scalar:
    return spell(value->scalar());
  case TypeKind::Void:
    return "nothing";
  case TypeKind::Tuple:
    return std::to_string(value->type->elements.size()) + " values";
  case TypeKind::Tensor:
    return "tensor of " + spell(value->scalar());
  case TypeKind::Array:
    return "array of " + spell(value->scalar());
  case TypeKind::List:
    return "list";
  case TypeKind::Function:
    return "fn";
  case TypeKind::String:
    return "string";
  }
  llvm_unreachable("all kinds of type are spelled");
}

std::string DeclarationChecker::spell(AxisId axis) const {
  const Axis &row = axes[axis.index];
  return (row.pack ? "*" : "") + (row.name + row.text).str();
}

std::string DeclarationChecker::source(Span span) const {
  constexpr std::size_t limit = 40;
  llvm::StringRef written = module.text(span);
  if (written.size() <= limit && !written.contains('\n'))
    return written.str();
  return written.take_until([](char c) { return c == '\n'; })
             .take_front(limit)
             .str() +
         "…";
}

static constexpr Constraint allConstraints[] = {
#define QN_CONSTRAINT(enumerator, spelling, ...) Constraint::enumerator,
#include "frontend/typed/Constraints.def"
};

/// "T: Real": the widest constraint of a type parameter that admits only
/// `allowed`; empty where there is none.
std::string DeclarationChecker::constraintWithin(ScalarType type,
                                                 ElementMask allowed) const {
  if (type.isConcrete())
    return "";
  std::optional<Constraint> best;
  auto size = [](ElementMask mask) { return llvm::popcount(mask); };
  for (Constraint each : allConstraints) {
    ElementMask mask = check::maskOf(each);
    if (!(mask & ~allowed) &&
        (!best || size(mask) > size(check::maskOf(*best))))
      best = each;
  }
  llvm::StringRef name = typeParameters[type.parameterIndex()].name;
  return best ? (name + ": " + spelling(*best)).str() : "";
}

/// Every element the type may be must be among those allowed.
bool DeclarationChecker::requireMask(ScalarType type, ElementMask allowed,
                                     Span span, llvm::StringRef what) {
  ElementMask possible = maskOf(type), bad = possible & ~allowed;
  if (!bad)
    return true;
  auto report = this->report(span, diag::OperatorConstraint, what, spell(type));
  if (what == "^")
    report.hint("`^` is the exclusive or of bits; a power is `pow(x, y)`");
  else if (what == "&")
    report.hint("`&` joins bits and binds before `<`; write `and`");
  else if (what == "|")
    report.hint("`|` joins bits and binds before `<`; write `or`");
  else if (what == "mma" || what.ends_with("_tile"))
    report.hint("tiles are of floats; sum other products in a loop");
  else if (std::string narrower = constraintWithin(type, possible & allowed);
           !narrower.empty())
    report.hint("write `" + narrower + "`");
  if (type.isConcrete())
    return false;
  std::string_view example = quern::spelling(firstElement(bad));
  const TypeParameter &parameter = typeParameters[type.parameterIndex()];
  report.label(parameter.span, "`" + spell(type) + "` may be `" +
                                   llvm::StringRef(example) + "`");
  return false;
}
