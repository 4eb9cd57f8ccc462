// What a name gives: its value, made again where an axis stands elsewhere.
#include "dsl/irgen/Generator.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

void Generator::bind(const Variable &variable, irgen::Value value) {
  Binding &binding = frame->binding(variable);
  binding.kind = Binding::Kind::Value;
  binding.made.clear();
  binding.made.push_back(madeHere(std::move(value)));
}

/// A value serves where the axes it depends on stand as they stood when it was
/// made, and where it was not made inside an arm or a loop that is closed.
bool Generator::isStillGood(const Binding::Made &made, ArrayRef<Place> places) {
  if (made.under != substitution)
    for (const Place &place : places)
      if (substitutionOf(place.name, made.under) !=
          substitutionOf(place.name, substitution))
        return false;
  for (const Condition &condition : made.conditions)
    if (!llvm::is_contained(conditions, condition))
      return false;
  bool visible = true;
  Region *here = builder.getInsertionBlock()->getParent();
  forEachScalar(made.value, [&](const Scalar &scalar) {
    mlir::Value value = scalar.value;
    visible &= value.getParentRegion()->isAncestor(here);
  });
  return visible;
}

/// A value with what its reads depend on.
Binding::Made Generator::madeHere(Value value) const {
  Binding::Made made{std::move(value), substitution, {}};
  if (substitution)
    made.conditions.assign(conditions.begin(), conditions.end());
  return made;
}

irgen::Value Generator::remake(Binding &binding) {
  Frame *outer = std::exchange(frame, binding.definitionFrame);
  irgen::Value value = evaluate(*binding.definition);
  frame = outer;
  if (binding.field >= 0 && value.kind == irgen::Value::Kind::List)
    value = irgen::Value(value.elements[binding.field]);
  binding.made.push_back(madeHere(value));
  return value;
}

irgen::Value Generator::lookup(const Variable &variable) {
  Binding &binding = frame->binding(variable);
  if (binding.kind == Binding::Kind::Tensor) {
    for (const Binding::Made &made : llvm::reverse(binding.made))
      if (isStillGood(made, binding.places))
        return made.value;
    binding.made.push_back(madeHere(loadOwn(binding)));
    return binding.made.back().value;
  }
  assert(binding.kind != Binding::Kind::Unset && "variable without a value");
  if (!binding.definition)
    return binding.made.back().value;
  SmallVector<Place, 4> places = placesOf(variable.type->axes);
  for (const Binding::Made &made : llvm::reverse(binding.made))
    if (isStillGood(made, places))
      return made.value;
  return remake(binding);
}
