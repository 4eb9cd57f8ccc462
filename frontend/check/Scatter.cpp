// `scatter(into, at = (N = i), x, with = sum, include_self = true)`.
#include "frontend/check/DeclarationChecker.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

struct DeclarationChecker::ScatterParts {
  const Expression *into = nullptr, *value = nullptr;
  llvm::SmallVector<const Expression *, 4> positions;
  const Declaration *monoid = nullptr;
  const Expression *includeSelf = nullptr, *where = nullptr;
  const ast::Argument *at = nullptr, *with = nullptr;
  bool freeOrder = false;
};

bool DeclarationChecker::scatterArgument(const ast::Argument &argument,
                                         ScatterParts &parts) {
  llvm::StringRef name = argument.name.text();
  argumentNames.readName(argument);
  if (name == "at")
    parts.at = &argument;
  else if (name == "with")
    parts.with = &argument;
  else if (name == "include_self")
    return compileTimeFlag(argument, parts.includeSelf);
  else if (name == "when")
    return (parts.where = checkCondition(argument.value)) != nullptr;
  else if (name == "order")
    return scatterOrder(argument, parts.freeOrder);
  else if (!name.empty())
    return flagUnknown(argument, "scatter",
                       {"at", "with", "include_self", "when", "order"});
  else if (!parts.into)
    return (parts.into = checkScalar(argument.value)) != nullptr;
  else if (!parts.value)
    return (parts.value = checkScalar(argument.value)) != nullptr;
  else {
    report(argument.span(), diag::TooManyArguments, "scatter", 2, 3)
        .hint("the places have a name: `scatter(into, at = (C = i), x)`");
    return false;
  }
  return true;
}

/// `order = free`: the caller does not care in which order values meet.
bool DeclarationChecker::scatterOrder(const ast::Argument &argument,
                                      bool &isFree) {
  const auto *name = llvm::dyn_cast<ast::NameExpr>(argument.value);
  llvm::StringRef text = name ? name->name().text() : llvm::StringRef();
  isFree = text == "free";
  if (isFree || text == "source")
    return true;
  report(argument.value->span, diag::NotAChoice, source(argument.value->span),
         "order")
      .hint("`source` or `free`");
  return false;
}

bool DeclarationChecker::scatterPositions(const ast::Expr *at,
                                          ScatterParts &parts) {
  AxisList own = parts.into->axes();
  parts.positions.assign(own.size(), nullptr);
  const auto *tuple = llvm::dyn_cast<ast::TupleExpr>(ast::withoutParens(at));
  if (!tuple) {
    // One axis, one position: the parentheses hold no tuple.
    if (own.size() == 1) {
      parts.positions[0] = positionValue(at, own[0]);
      return parts.positions[0] != nullptr;
    }
    report(at->span, diag::PositionCount, 1, own.size());
    return false;
  }
  llvm::SmallVector<AxisId, 4> ordered(own);
  if (!areAllNamed(tuple->elements) &&
      !putInOrder(parts.into, ordered, "`at`",
                  "name them: `at = (" + spell(own.front()) + " = …)`"))
    return false;
  for (auto [number, element] : llvm::enumerate(tuple->elements)) {
    if (element.name) {
      if (!placeAt(element, own, parts.positions, parts.into))
        return false;
      continue;
    }
    if (tuple->elements.size() != own.size()) {
      report(at->span, diag::PositionCount, tuple->elements.size(), own.size());
      return false;
    }
    AxisId axis = ordered[number];
    const Expression *position = positionValue(element.value, axis);
    if (!position)
      return false;
    parts.positions[llvm::find(own, axis) - own.begin()] = position;
  }
  return true;
}

bool DeclarationChecker::scatterMonoid(const ast::Expr *with,
                                       ScatterParts &parts) {
  const auto *name = llvm::dyn_cast<ast::NameExpr>(ast::withoutParens(with));
  if (name && name->name().text() == "last")
    return true;
  parts.monoid = monoidNamed(with);
  if (!parts.monoid)
    return false;
  const Reduction &reduction = *parts.monoid->reduction;
  std::size_t operands = reduction.operands.size();
  if (operands != 1 || !parts.monoid->parameters.empty()) {
    report(with->span, diag::MonoidResult, parts.monoid->name, operands);
    return false;
  }
  if (reduction.states.size() == 1 && !reduction.hasFinish)
    return true;
  report(with->span, diag::MonoidState, parts.monoid->name);
  return false;
}

const Expression *DeclarationChecker::scatter(const ast::CallExpr &expr) {
  if (place != Place::Lifted) {
    report(expr.span, diag::NotCalledHere, "scatter",
           keyword(declaration.kind));
    return nullptr;
  }
  ScatterParts parts;
  for (const ast::Argument &argument : expr.arguments)
    if (!scatterArgument(argument, parts))
      return nullptr;
  if (!parts.into || !parts.value || !parts.at || !parts.with) {
    bool lacksWith = parts.into && parts.value && parts.at;
    report(expr.span, diag::MissingArgument, "scatter",
           !parts.into    ? "into"
           : !parts.value ? "the value"
           : !parts.at    ? "at"
                          : "with")
        .hint(lacksWith ? "`with = sum` adds values that meet in one place, "
                          "`with = last` keeps the last one"
                        : "");
    return nullptr;
  }
  if (parts.into->axes().empty()) {
    report(parts.into->span, diag::ScatterInto);
    return nullptr;
  }
  if (!scatterPositions(parts.at->value, parts) ||
      !scatterMonoid(parts.with->value, parts))
    return nullptr;
  return makeScatter(expr, parts);
}

const Expression *DeclarationChecker::makeScatter(const ast::CallExpr &expr,
                                                  ScatterParts &parts) {
  const Expression *value = coerce(parts.value, parts.into->scalar());
  if (!value)
    return nullptr;
  // What the value and its positions run over, and the target does not have,
  // is walked in source order. An axis of the target that has a computed
  // position is another axis than one of that name in the value.
  AxisList kept;
  for (auto [axis, position] : llvm::zip(parts.into->axes(), parts.positions))
    if (!position)
      kept = unite(kept, builder.list(llvm::ArrayRef(axis)));
  AxisList all = unite(
      value->axes(), unite(uniteAll(parts.positions), uniteAll({parts.where})));
  GenericArguments generics;
  llvm::SmallVector<ScalarType, 4> typeArguments;
  if (parts.monoid) {
    generics.types.resize(parts.monoid->typeParameters.size());
    generics.constants.resize(parts.monoid->constantParameters.size());
    inferFrom(parts.monoid->reduction->operands.front()->scalar, value,
              generics);
    if (!finishTypes(*parts.monoid, expr.span, generics, typeArguments))
      return nullptr;
  }
  auto *node = make<ScatterExpression>(expr.span, parts.into->type);
  node->into = parts.into;
  node->positions = builder.list(parts.positions);
  node->value = value;
  node->over = without(all, kept);
  node->monoid = parts.monoid;
  node->typeArguments = builder.list(typeArguments);
  node->includeSelf =
      parts.includeSelf ? parts.includeSelf : booleanConstant(expr.span, true);
  node->where = parts.where;
  node->freeOrder = parts.freeOrder;
  return node;
}
