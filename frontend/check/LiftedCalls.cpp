// Calls in scalar and lifted text: types solved, axes bound by position.
#include "frontend/check/ExtentSubstitution.h"
#include "frontend/check/Extents.h"
#include "frontend/typed/Walk.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

const Expression *DeclarationChecker::liftedCall(const Declaration &callee,
                                                 Span span,
                                                 CallArguments &arguments,
                                                 GenericArguments &generics) {
  Extents(*this).inferTypes(callee, arguments, generics);
  llvm::SmallVector<ScalarType, 4> typeArguments;
  if (!finishTypes(callee, span, generics, typeArguments) ||
      !finishConstants(callee, span, generics, typeArguments))
    return nullptr;
  for (auto [value, parameter] : llvm::zip(arguments.values, callee.parameters))
    if (value &&
        !fitArgument(
            value, parameter.element.substitute(llvm::ArrayRef(typeArguments)),
            parameter.variable->name))
      return nullptr;
  llvm::SmallVector<llvm::SmallVector<AxisId, 4>> bound(callee.axes.size());
  bool isRowwise = callee.kind == DeclarationKind::Rowwise;
  if (isRowwise && !bindAxes(callee, arguments, generics, bound))
    return nullptr;
  if (isRowwise)
    bindDerived(callee, arguments, generics, bound, span);
  AxisList lifted = isRowwise ? AxisList() : uniteAll(arguments.values);
  const Type *type = resultType(callee, typeArguments, lifted, bound);
  auto *node = make<CallExpression>(span, type);
  node->callee = &callee;
  node->typeArguments = builder.list(typeArguments);
  node->constantArguments = builder.list(generics.constants);
  node->arguments = builder.list(arguments.values);
  if (isRowwise) {
    llvm::SmallVector<AxisBinding, 8> bindings;
    for (const auto &list : bound)
      bindings.push_back({builder.list(list)});
    node->axes = builder.list(bindings);
  }
  return node;
}

const typed::Type *
DeclarationChecker::resultType(const Declaration &callee,
                               llvm::ArrayRef<ScalarType> typeArguments,
                               AxisList lifted, BoundAxes bound) {
  llvm::SmallVector<const Type *, 4> elements;
  llvm::SmallVector<llvm::StringRef, 4> names;
  for (const Result &result : callee.results) {
    llvm::SmallVector<AxisId, 8> own(lifted);
    for (const Dimension &dimension : result.dimensions)
      for (AxisId axis : dimension.parts)
        for (AxisId callerAxis : bound[axis.index])
          if (!contains(own, callerAxis))
            own.push_back(callerAxis);
    elements.push_back(
        types.scalar(result.element.substitute(typeArguments), own));
    if (!result.name.empty())
      names.push_back(result.name);
  }
  if (elements.empty())
    return types.voidType();
  if (elements.size() == 1)
    return elements.front();
  if (names.size() != elements.size())
    names.clear();
  return types.tuple(elements, names);
}

/// Axes bind by position against each operand's axes in their written order; a
/// pack takes what is left; axes given by name are taken out first.
bool DeclarationChecker::bindAxes(
    const Declaration &callee, CallArguments &arguments,
    GenericArguments &generics,
    llvm::SmallVectorImpl<llvm::SmallVector<AxisId, 4>> &bound) {
  for (const auto &[axis, given] : generics.axes)
    bound[axis.index] = given;
  for (auto [value, parameter] : llvm::zip(arguments.values, callee.parameters))
    if (value && parameter.isTensor &&
        !bindOperand(callee, parameter, value, bound))
      return false;
  return true;
}

/// The callee's axis that already stands for the caller's.
static std::optional<AxisId> ownerOf(BoundAxes bound, AxisId axis) {
  for (auto [number, list] : llvm::enumerate(bound))
    if (llvm::is_contained(list, axis))
      return AxisId{static_cast<std::uint16_t>(number)};
  return std::nullopt;
}

bool DeclarationChecker::bindOperand(
    const Declaration &callee, const Parameter &parameter,
    const Expression *value,
    llvm::SmallVectorImpl<llvm::SmallVector<AxisId, 4>> &bound) {
  llvm::SmallVector<AxisId, 8> own, open, rest;
  for (const Dimension &dimension : parameter.dimensions)
    own.append(dimension.parts.begin(), dimension.parts.end());
  for (AxisId axis : value->axes()) {
    std::optional<AxisId> owner = ownerOf(bound, axis);
    if (owner && !contains(own, *owner)) {
      report(value->span, diag::CallAxisBound, axes[axis.index].name,
             callee.axis(*owner).name, parameter.variable->name)
          .label(parameter.variable->span, "declared here");
      return false;
    }
    if (!owner)
      rest.push_back(axis);
  }
  unsigned packs = 0;
  for (AxisId axis : own) {
    if (!bound[axis.index].empty() || contains(open, axis))
      continue;
    open.push_back(axis);
    packs += callee.axis(axis).pack;
  }
  std::string name = callee.name.str();
  std::string last = own.empty() ? "" : callee.axis(own.back()).name.str();
  // A pack that takes all of them does not ask for their order.
  if (open.size() > 1 &&
      !putInOrder(value, rest, "`" + name + "`",
                  "name them: `" + name + "[" + last + " = …](…)`"))
    return false;
  std::size_t plain = open.size() - packs;
  bool fits = packs == 1 ? rest.size() >= plain : rest.size() == open.size();
  if (fits)
    return packs > 1 ? bindPacks(callee, value, open, rest, bound)
                     : bindOpen(callee, value, open, rest, bound);
  report(value->span, diag::CallAxisCount, parameter.variable->name, own.size(),
         value->axes().size())
      .label(parameter.variable->span, "declared here");
  return false;
}

/// Several packs stand for packs, one for one: how plain axes part among them
/// nobody says.
bool DeclarationChecker::bindPacks(
    const Declaration &callee, const Expression *value, AxisList open,
    AxisList rest, llvm::SmallVectorImpl<llvm::SmallVector<AxisId, 4>> &bound) {
  for (auto [own, given] : llvm::zip_equal(open, rest)) {
    const Axis &axis = callee.axis(own);
    bool isPack = axes[given.index].pack;
    if (axis.pack != isPack) {
      report(value->span, diag::PackMismatch, spell(given),
             isPack ? "a pack" : "one axis", isPack ? "one axis" : "a pack")
          .hint(("say what `" + axis.name + "` is: `" + callee.name + "[" +
                 axis.name + " = …](…)`")
                    .str());
      return false;
    }
    bound[own.index].push_back(given);
  }
  return true;
}

/// Hands out the caller's axes in order; the only pack takes what is left.
bool DeclarationChecker::bindOpen(
    const Declaration &callee, const Expression *value, AxisList open,
    AxisList rest, llvm::SmallVectorImpl<llvm::SmallVector<AxisId, 4>> &bound) {
  std::size_t plain = llvm::count_if(
      open, [&](AxisId axis) { return !callee.axis(axis).pack; });
  std::size_t packTakes = rest.size() - plain;
  for (AxisId axis : open) {
    bool isPack = callee.axis(axis).pack;
    AxisList taken = rest.take_front(isPack ? packTakes : 1);
    if (!isPack && axes[taken[0].index].pack) {
      report(value->span, diag::PackMismatch, spell(taken[0]), "a pack",
             "one axis")
          .hint(("say which axis `" + callee.axis(axis).name + "` is: `" +
                 callee.name + "[" + callee.axis(axis).name + " = …](…)`")
                    .str());
      return false;
    }
    bound[axis.index].assign(taken.begin(), taken.end());
    rest = rest.drop_front(taken.size());
  }
  return true;
}

/// Output axes with an extent expression become axes of the caller.
void DeclarationChecker::bindDerived(
    const Declaration &callee, const CallArguments &arguments,
    const GenericArguments &generics,
    llvm::SmallVectorImpl<llvm::SmallVector<AxisId, 4>> &bound, Span span) {
  for (auto [number, axis] : llvm::enumerate(callee.axes)) {
    if (axis.kind == AxisKind::Fixed && bound[number].empty())
      continue;
    if (axis.kind != AxisKind::Derived || !axis.extent)
      continue;
    ExtentSubstitution substitution{
        builder, types, callee, bound, arguments.values, generics.constants};
    std::size_t count = 1;
    if (axis.pack)
      count = bound[axis.rankOf.index].size();
    bool isGiven = bound[number].size() == count && count != 0;
    llvm::SmallVector<AxisId, 4> made;
    for (std::size_t element = 0; element != count; ++element) {
      const Expression *extent =
          substitution.apply(*axis.extent, axis.pack ? element : 0);
      if (isGiven)
        extentChecks.push_back({bound[number][element], extent, span});
      else
        made.push_back(derivedAxis(axis, extent, span));
    }
    if (!isGiven)
      bound[number] = made;
  }
}

/// The caller's axis of that name, if it has one, must agree; else a new one.
AxisId DeclarationChecker::derivedAxis(const Axis &axis,
                                       const Expression *extent, Span span) {
  auto found = names.find(axis.name);
  bool isKnown =
      found != names.end() && found->second.kind == Binding::Kind::Axis;
  if (isKnown && axes[found->second.index].kind != AxisKind::Local) {
    AxisId known{static_cast<std::uint16_t>(found->second.index)};
    extentChecks.push_back({known, extent, span});
    return known;
  }
  Axis made;
  made.name = axis.name;
  made.span = span;
  made.kind = AxisKind::Local;
  made.lower = integerConstant(span, 0);
  made.upper = extent;
  return newAxis(made, found == names.end());
}

/// Whether two lists of a caller's axes hold the same packs, or none: then what
/// those stand for does not decide which list is longer.
static bool holdSamePacks(const Declaration &caller, AxisList a, AxisList b) {
  auto packs = [&](AxisList list) {
    llvm::SmallVector<std::uint16_t, 4> found;
    for (AxisId axis : list)
      if (caller.axis(axis).pack)
        found.push_back(axis.index);
    llvm::sort(found);
    return found;
  };
  return packs(a) == packs(b);
}

/// Packs that meet in the text of a callee are one number of axes where it is
/// called. Asked of whole bodies: what is called may stand behind its caller.
void DeclarationChecker::checkPacks() {
  if (!declaration.isLifted() || declaration.hasError)
    return;
  typed::walk(declaration.body, [&](const Expression &expression) {
    const auto *call = llvm::dyn_cast<CallExpression>(&expression);
    if (!call || call->axes.empty() || call->callee->hasError)
      return;
    const Declaration &callee = *call->callee;
    for (auto [axis, binding] : llvm::zip(callee.axes, call->axes)) {
      if (!axis.pack || axis.kind == AxisKind::Local || !axis.rankOf.valid())
        continue;
      AxisList own = binding.axes, met = call->axes[axis.rankOf.index].axes;
      if (own.size() != met.size() && holdSamePacks(declaration, own, met))
        report(call->span, diag::PacksDiffer, axis.name, callee.name,
               own.size(), callee.axis(axis.rankOf).name, met.size())
            .label(axis.span, "declared here");
    }
  });
  declaration.hasError = hasFailed;
}
