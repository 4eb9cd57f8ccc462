// What a name gives: its value, made again where an axis stands elsewhere.
#include "dsl/dialect/Behind.h"
#include "dsl/irgen/Generator.h"

#include "frontend/typed/Walk.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

void Generator::bind(const Variable &variable, irgen::Value value) {
  Binding &binding = frame->binding(variable);
  binding.kind = Binding::Kind::Value;
  binding.made.clear();
  binding.made.push_back(madeHere(std::move(value)));
}

bool Generator::standsHere(const Binding::Made &made, ArrayRef<Place> places) {
  return made.under == substitution ||
         llvm::all_of(places, [&](const Place &place) {
           return substitutionOf(place.name, made.under) ==
                  substitutionOf(place.name, substitution);
         });
}

/// A value serves where the axes it depends on stand as they stood when it was
/// made, and where it was not made inside an arm or a loop that is closed.
bool Generator::isStillGood(const Binding::Made &made, ArrayRef<Place> places) {
  if (!standsHere(made, places))
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
  Binding::Made made{std::move(value), substitution, {}, {}};
  if (substitution)
    made.conditions.assign(conditions.begin(), conditions.end());
  return made;
}

bool Generator::changes(const Expression &expression) const {
  bool found = false;
  if (isThreadText()) // whose values are never made again
    return found;
  auto look = [&](const Expression &node) {
    if (const auto *name = llvm::dyn_cast<typed::VariableExpression>(&node))
      found |= name->variable->kind == typed::VariableKind::Var ||
               name->variable->kind == typed::VariableKind::Loop;
    const auto *reduction = llvm::dyn_cast<typed::ReduceExpression>(&node);
    if (!reduction)
      return;
    for (AxisId id : reduction->over) {
      const typed::Axis &axis = frame->declaration.axis(id);
      for (const Expression *bound : {axis.lower, axis.upper})
        found |= bound && changes(*bound);
    }
  };
  typed::walk(&expression, look);
  return found;
}

/// What cannot be made again is stored once, where it stands by itself.
irgen::Value Generator::readElsewhere(const Variable &variable,
                                      Binding::Made &made) {
  SmallVector<Place, 4> places = placesOf(*variable.type);
  bool stands = llvm::none_of(places, [&](const Place &place) {
    return place.position || substitutionOf(place.name, made.under);
  });
  SmallVector<mlir::Value, 8> values = flatten({made.value});
  if (stands && made.staged.empty())
    atTop([&] {
      Region *here = builder.getInsertionBlock()->getParent();
      for (mlir::Value value : values) {
        stands &= value.getParentRegion()->isAncestor(here);
        made.staged.push_back(addStaged(value.getType(), places));
        b.create<qn::StoreOp>(value, made.staged.back(), IntegerAttr());
      }
    });
  if (!stands)
    return unsupported(variable.span, "`" + variable.name +
                                          "` is read at other places where "
                                          "its value is still being made");
  SmallVector<mlir::Value, 8> read;
  for (mlir::Value tensor : made.staged)
    read.push_back(readStaged(tensor, places));
  return unflatten({made.value}, read).front();
}

/// Whether a read on the way to a value may miss where nobody asks for it.
static bool readsMayMiss(ArrayRef<mlir::Value> values) {
  return walkBehind(values, [](Operation *op) {
    auto load = dyn_cast<qn::LoadOp>(op);
    bool misses = load && !load.getIndices().empty() && !load.getOutside();
    return misses ? WalkResult::interrupt() : WalkResult::advance();
  });
}

/// The value to be stored for reads at other places, where making it again
/// takes many operations: they would double with every link of a chain of
/// values, each of which is read at two places of the one before.
Binding::Made *Generator::storable(Binding &binding, ArrayRef<Place> places) {
  constexpr unsigned mostOperations = 256;
  if (binding.operations < mostOperations)
    return nullptr;
  for (Binding::Made &made : binding.made) {
    if (!made.staged.empty())
      return &made;
    SmallVector<mlir::Value, 8> values = flatten({made.value});
    OpBuilder::InsertionGuard guard(builder);
    setInsertionPointOutside();
    Region *here = builder.getInsertionBlock()->getParent();
    bool stands =
        made.value.isScalar() && llvm::none_of(places, [&](const Place &place) {
          return place.position || substitutionOf(place.name, made.under);
        });
    if (!stands || !values.front().getParentRegion()->isAncestor(here))
      continue;
    if (!readsMayMiss(values))
      return &made;
    if (isBold) {
      llvm::append_range(mayMiss, values);
      return &made;
    }
  }
  return nullptr;
}

/// Whether results take all of `values` where they stand: what misses on the
/// way to them misses there as well.
bool Generator::resultsTake(ValueRange values) const {
  auto kernel = llvm::cast<qn::RowwiseOp>(body->getParentOp());
  llvm::DenseSet<mlir::Value> taken;
  SmallVector<mlir::Value> open;
  for (auto store : body->getOps<qn::StoreOp>())
    if (!kernel.isStaged(store.getTensor()))
      open.push_back(store.getValue());
  while (!open.empty()) {
    mlir::Value value = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    // What stands in a region may not be asked for at every place.
    if (taken.insert(value).second && op && !op->getNumRegions())
      llvm::append_range(open, op->getOperands());
  }
  return llvm::all_of(values,
                      [&](mlir::Value value) { return taken.contains(value); });
}

irgen::Value Generator::remake(Binding &binding) {
  // Recursion: so many names fit a stack of 8 MiB.
  constexpr unsigned deepest = 3072;
  llvm::SaveAndRestore depth(remakeDepth, remakeDepth + 1);
  if (remakeDepth > deepest) {
    if (errors.empty())
      complain(
          binding.definition->span,
          "a value that is read elsewhere depends on a chain of more than " +
              Twine(deepest) + " names; write a loop, or several kernels",
          "QN2060");
    return zeroOf(*binding.definition->type);
  }
  Frame *outer = std::exchange(frame, binding.definitionFrame);
  unsigned before = b.created;
  irgen::Value value = evaluate(*binding.definition);
  binding.operations = std::max(binding.operations, b.created - before);
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
  if (isThreadText())
    return binding.made.back().value;
  SmallVector<Place, 4> places = placesOf(*variable.type);
  if (!binding.definition)
    return standsHere(binding.made.back(), places)
               ? binding.made.back().value
               : readElsewhere(variable, binding.made.back());
  for (const Binding::Made &made : llvm::reverse(binding.made))
    if (isStillGood(made, places))
      return made.value;
  if (Binding::Made *made = storable(binding, places)) {
    readsBack = true;
    return readElsewhere(variable, *made);
  }
  return remake(binding);
}
