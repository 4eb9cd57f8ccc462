// Reads at computed positions: `x[i, c]` and `x.at(C = i, outside = 0)`.
#include "frontend/check/Edges.h"
#include "frontend/check/Lists.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

/// The axes that positions count; of an array or table one invalid axis each.
bool DeclarationChecker::positionAxes(const Expression *base,
                                      llvm::SmallVectorImpl<AxisId> &own,
                                      Span span) {
  const Type &type = *base->type;
  const auto *table = llvm::dyn_cast<ConstantTableExpression>(base);
  if (type.isArray()) {
    own.resize(table ? table->table->extents.size() : type.extents.size());
    return true;
  }
  if (type.isList() && type.elements.front()->isScalar()) {
    own.resize(1);
    return true;
  }
  if (type.isTensor() && type.ranked) {
    for (const Dimension &dimension : type.dimensions)
      own.push_back(dimension.isSplit() ? AxisId() : dimension.axis());
    return true;
  }
  if (type.isScalar() && place == Place::Lifted && !type.axes.empty()) {
    own.assign(type.axes.begin(), type.axes.end());
    return true;
  }
  if (type.isScalar() && place == Place::Lifted)
    report(span, diag::ScalarPosition);
  else
    report(span, diag::NotIndexable, source(base->span))
        .hint(type.isTuple() ? "name its parts: `let a, b = …`" : "");
  return false;
}

const Expression *DeclarationChecker::positionValue(const ast::Expr *expr,
                                                    AxisId axis) {
  llvm::SaveAndRestore use(axisUse, AxisUse::Position);
  const Expression *value = settle(checkScalarOrAligned(expr));
  if (!value)
    return nullptr;
  ElementMask bad = maskOf(value->scalar()) & ~check::maskOf(Constraint::Int);
  if (bad) {
    report(value->span, diag::PositionNotInteger, spell(value->scalar()))
        .hint(maskOf(value->scalar()) & ~check::maskOf(Constraint::Real)
                  ? ""
                  : "write a cast: `i64(" + source(value->span) + ")`");
    return nullptr;
  }
  bool isPack = axis.valid() && axes[axis.index].pack;
  AxisId pack = value->type->pack;
  if (isPack && !pack.valid()) {
    report(value->span, diag::NotPackAligned, spell(axis));
    return nullptr;
  }
  if (!isPack && pack.valid()) {
    report(value->span, diag::PackAligned, axes[pack.index].name);
    return nullptr;
  }
  if (isPack)
    alignPacks(axis, pack);
  return value;
}

/// Reports a position that no extent makes right: text counts from the front.
bool DeclarationChecker::isInFront(const Expression *position, AxisId axis) {
  const auto *known = llvm::dyn_cast<ConstantExpression>(position);
  if (!known || !axis.valid() || known->value.integer >= 0)
    return false;
  llvm::StringRef name = axes[axis.index].name;
  auto report = this->report(position->span, diag::NegativePosition,
                             known->value.integer, name);
  if (known->value.integer == -1 && !name.empty())
    report.hint(("the last one is `size(" + name + ") - 1`").str());
  return true;
}

const Expression *DeclarationChecker::makeLoad(Span span,
                                               const Expression *base,
                                               Expressions positions,
                                               const Expression *outside,
                                               const Expression *when) {
  const Type &baseType = *base->type;
  AxisList result;
  for (auto [number, position] : llvm::enumerate(positions)) {
    if (position)
      result = unite(result, position->axes());
    else if (baseType.isScalar())
      result = unite(result, baseType.axes[number]);
  }
  result = unite(result, uniteAll({outside, when}));
  ScalarType scalar =
      baseType.isList() ? baseType.elements.front()->scalar : baseType.scalar;
  auto *node =
      make<LoadExpression>(span, types.scalar(scalar, builder.list(result)));
  node->base = base;
  node->positions = builder.list(positions);
  node->outside = outside;
  node->when = when;
  return node;
}

std::string check::nameOfElement(llvm::StringRef name, const Type &type) {
  bool isSingle = type.isTensor() && type.ranked && type.dimensions.empty();
  return (name + (isSingle ? "[]" : "[i]")).str();
}

void DeclarationChecker::reportPositionCount(const ast::IndexExpr &expr,
                                             AxisList own) {
  auto report = this->report(expr.span, diag::PositionCount,
                             expr.indices.size(), own.size());
  bool isSingle = own.empty() && place == Place::Kernel;
  if (isSingle)
    report.hint("its one element is `" + source(expr.base->span) + "[]`");
  if (expr.indices.size() > own.size())
    return;
  // The axes of an array in a kernel have no names.
  bool isNamed = !own.empty() && own.front().valid();
  llvm::StringRef first = isNamed ? axes[own.front().index].name : "";
  if (place == Place::Kernel)
    report.hint("a thread reads and writes single elements, `x[i, j]`");
  else if (!first.empty())
    report.hint("`.at(" + first +
                " = …)` reads along one axis and keeps "
                "the others");
}

/// Reports a known position behind the end of a table or an array.
bool DeclarationChecker::isOutOfArray(const Expression *base,
                                      Expressions positions) {
  const auto *table = llvm::dyn_cast<ConstantTableExpression>(base);
  for (auto [number, position] : llvm::enumerate(positions)) {
    const auto *known = llvm::dyn_cast<ConstantExpression>(position);
    std::optional<std::size_t> length;
    if (table)
      length = table->table->extents[number];
    else if (base->type->isArray())
      if (const auto *extent =
              llvm::dyn_cast<ConstantExpression>(base->type->extents[number]))
        length = extent->value.integer;
    if (!known || !length ||
        static_cast<std::uint64_t>(known->value.integer) < *length)
      continue;
    report(known->span, diag::ConstantPosition, known->value.integer, *length);
    return true;
  }
  return false;
}

const Expression *DeclarationChecker::index(const ast::IndexExpr &expr) {
  const Expression *base = check(expr.base);
  if (!base || !usable(base))
    return nullptr;
  if (place == Place::Host && ListChecker::isObject(*base->type))
    return ListChecker(*this).element(expr, base);
  if (const auto *parameter = llvm::dyn_cast<ConstantParameterExpression>(base);
      parameter && parameter->type->isList() && expr.indices.size() == 1) {
    const Expression *element = fold(checkInteger(expr.indices[0].value));
    if (!element)
      return nullptr;
    auto *node = make<ConstantParameterExpression>(expr.span, types.boolean());
    node->parameter = parameter->parameter;
    node->element = element;
    return node;
  }
  llvm::SmallVector<AxisId, 4> own;
  if (!positionAxes(base, own, expr.span))
    return nullptr;
  if (own.size() != expr.indices.size()) {
    reportPositionCount(expr, own);
    return nullptr;
  }
  llvm::SmallVector<const Expression *, 4> positions(own.size());
  llvm::SmallVector<AxisId, 4> ordered(own);
  bool hasAxes = base->type->isScalar();
  if (hasAxes &&
      !putInOrder(base, ordered, "`[…]`",
                  "name them: `x.at(" + spell(own.front()) + " = …)`"))
    return nullptr;
  for (auto [number, argument] : llvm::enumerate(expr.indices)) {
    AxisId axis = ordered[number];
    const Expression *position = positionValue(argument.value, axis);
    if (!position || isInFront(position, axis))
      return nullptr;
    positions[hasAxes ? llvm::find(own, axis) - own.begin() : number] =
        position;
  }
  if (isOutOfArray(base, positions))
    return nullptr;
  return makeLoad(expr.span, base, positions, nullptr, nullptr);
}

/// What is meant by a word that is nearly an option of `at`; empty for others.
static std::string optionNear(llvm::StringRef name) {
  Suggestion suggestion(name);
  suggestion.consider("outside");
  suggestion.consider("when");
  suggestion.consider("edge");
  return suggestion.hint();
}

/// `x.at(H = …, *S = …, outside = v, edge = clamp, when = c)`;
/// `x.offset(H = -1)` is `x.at(H = index(H) - 1)`.
const Expression *DeclarationChecker::at(const ast::CallExpr &expr,
                                         const Expression *base,
                                         bool isOffset) {
  llvm::SmallVector<AxisId, 4> own;
  if (!positionAxes(base, own, expr.span))
    return nullptr;
  llvm::SmallVector<const Expression *, 4> positions(own.size());
  ReadOptions options(*this, base);
  for (const ast::Argument &argument : expr.arguments) {
    llvm::StringRef name = argument.name.text();
    if (options.take(argument)) {
      if (!options.isValid())
        return nullptr;
      continue;
    }
    if (name.empty()) {
      report(argument.span(), diag::UnknownAxis, source(argument.span()))
          .hint("`at` names the axes: `x.at(C = i)`");
      return nullptr;
    }
    std::string near = lookup(name) ? std::string() : optionNear(name);
    if (!near.empty()) {
      report(argument.name.span, diag::UnknownAxis, name).hint(near);
      return nullptr;
    }
    if (!placeAt(argument, own, positions, base, isOffset))
      return nullptr;
  }
  bool needsAll = !base->type->isScalar();
  if (needsAll && llvm::is_contained(positions, nullptr)) {
    report(expr.span, diag::PositionCount,
           llvm::count_if(positions, [](const Expression *e) { return e; }),
           own.size());
    return nullptr;
  }
  if (!options.placeAtEdges(own, positions))
    return nullptr;
  return makeLoad(expr.span, base, positions, options.outside, options.when);
}

/// The one of `own` whose extent is just this compile-time parameter: `D` in
/// `x: f32[N, D]`. It has no name of its own.
static AxisId extentGivenBy(const ConstantParameter *parameter, AxisList own,
                            llvm::ArrayRef<Axis> axes) {
  AxisId found;
  for (AxisId axis : own) {
    const auto *extent =
        axis.valid() ? llvm::dyn_cast_if_present<ConstantParameterExpression>(
                           axes[axis.index].extent)
                     : nullptr;
    if (!extent || extent->parameter != parameter)
      continue;
    if (found.valid())
      return {};
    found = axis;
  }
  return found;
}

/// The position along an axis, or along each axis of a pack.
const Expression *DeclarationChecker::ownPosition(AxisId axis, Span span) {
  if (!axes[axis.index].pack)
    return axisBuiltin(Builtin::Index, axis, span);
  AxisList over = builder.list(llvm::ArrayRef(axis));
  auto *node = make<PackElementExpression>(
      span, types.scalar(ScalarType::integer(), over, rankRoot(axis)));
  node->pack = axis;
  node->isIndex = true;
  return node;
}

/// `index(H) + i - 1` of `x.offset(H = i - 1)`; for a pack one value for each
/// axis, or one for all of them.
const Expression *DeclarationChecker::offsetPosition(const ast::Expr *expr,
                                                     AxisId axis) {
  const Expression *offset = settle(checkScalarOrAligned(expr));
  if (!offset)
    return nullptr;
  bool isInteger =
      !(maskOf(offset->scalar()) & ~check::maskOf(Constraint::Int));
  if (isInteger && offset->scalar() != ScalarType::integer())
    offset = makeCast(offset, ScalarType::integer(), expr->span);
  return makeBinary(BinaryOperator::Add, expr->span, expr->span,
                    ownPosition(axis, expr->span), offset);
}

/// Enters one named position of `at` or `offset`.
bool DeclarationChecker::placeAt(
    const ast::Argument &argument, AxisList own,
    llvm::SmallVectorImpl<const Expression *> &positions,
    const Expression *base, bool isOffset) {
  argumentNames.readName(argument);
  argumentNames.repeatable.insert(argument.name.span.begin);
  AxisId axis;
  Binding *binding = lookup(argument.name.text());
  if (binding && binding->kind == Binding::Kind::ConstantParameter)
    axis = extentGivenBy(constantParameters[binding->index], own, axes);
  if (!axis.valid())
    axis = axisNamed(argument.name);
  if (!axis.valid())
    return false;
  if (axes[axis.index].pack)
    argumentNames.readStar(argument);
  const auto *found = llvm::find(own, axis);
  if (found == own.end()) {
    report(argument.name.span, diag::AxisNotInOperand, argument.name.text())
        .label(base->span, "this operand");
    return false;
  }
  // A square tensor has the axis twice, and its positions in their order.
  while (positions[found - own.begin()] &&
         llvm::is_contained(
             llvm::drop_begin(llvm::make_range(found, own.end())), axis))
    found = std::find(found + 1, own.end(), axis);
  const Expression *&place = positions[found - own.begin()];
  if (place) {
    report(argument.name.span, diag::RepeatedAxis, argument.name.text());
    return false;
  }
  place = isOffset ? offsetPosition(argument.value, axis)
                   : positionValue(argument.value, axis);
  return place != nullptr;
}
