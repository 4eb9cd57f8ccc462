// Reductions in lifted text: `m(a, b over (C, i: lo .. hi) where c)`.
#include "frontend/check/Extents.h"
#include "frontend/check/Over.h"
#include "frontend/typed/ThreadAxes.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

/// `over block`, `over warp`, `over row` in `kernel` text.
static AxisId threadAxis(const ast::OverAxis &row) {
  if (row.isLocal() || row.isPack)
    return {};
  return row.name.text() == "block"  ? blockThreads
         : row.name.text() == "warp" ? warpThreads
         : row.name.text() == "row"  ? rowThreads
                                     : AxisId();
}

bool DeclarationChecker::openOver(const ast::OverClause &clause, Over &over) {
  over.mark = openScope();
  over.isOpen = true;
  for (const ast::OverAxis &row : clause.axes) {
    if (place == Place::Kernel) {
      AxisId threads = threadAxis(row);
      if (!threads.valid() || clause.axes.size() != 1) {
        report(row.name.span, diag::NotCalledHere, "reduction",
               keyword(declaration.kind))
            .hint("values of threads are reduced over `block` or `warp`; along "
                  "an axis a thread has a loop");
        return false;
      }
      over.axes.push_back(threads);
      over.spans.push_back(row.name.span);
      continue;
    }
    if (row.isLocal()) {
      if (!localAxis(row, over))
        return false;
      continue;
    }
    AxisId axis = axisNamed(row.name);
    if (!axis.valid())
      return false;
    if (axes[axis.index].pack != row.isPack) {
      report(row.name.span, diag::PackMismatch, row.name.text(),
             row.isPack ? "a pack" : "one axis",
             row.isPack ? "one axis" : "a pack")
          .label(axes[axis.index].span, "first used here");
      return false;
    }
    if (contains(over.axes, axis)) {
      report(row.name.span, diag::RepeatedAxis, row.name.text());
      return false;
    }
    over.axes.push_back(axis);
    over.spans.push_back(row.name.span);
  }
  if (clause.where)
    over.where = checkCondition(clause.where);
  return !clause.where || over.where;
}

/// `i: lo .. hi`: an axis of its own, known up to the end of the call.
bool DeclarationChecker::localAxis(const ast::OverAxis &text, Over &over) {
  llvm::SaveAndRestore use(axisUse, AxisUse::Extent);
  const Expression *lower =
      coerce(checkScalarOrAligned(text.lower), ScalarType::integer());
  const Expression *upper =
      coerce(checkScalarOrAligned(text.upper), ScalarType::integer());
  if (!lower || !upper)
    return false;
  auto known = names.find(text.name.text());
  if (known != names.end() && known->second.kind != Binding::Kind::Poison) {
    report(text.name.span, diag::LocalAxisName, text.name.text())
        .label(known->second.span, "defined here");
    return false;
  }
  AxisId pack = jointPack({lower, upper});
  if (pack.valid() != text.isPack) {
    if (text.isPack)
      report(text.name.span, diag::NotPackAligned,
             ("*" + text.name.text()).str());
    else
      report(upper->span, diag::PackAligned, axes[pack.index].name);
    return false;
  }
  Axis axis;
  axis.name = text.name.text();
  axis.span = text.name.span;
  axis.kind = AxisKind::Local;
  axis.pack = text.isPack;
  axis.rankOf = pack;
  axis.lower = lower;
  axis.upper = upper;
  AxisId id = newAxis(axis, true);
  variableAxes.insert(id.index);
  over.axes.push_back(id);
  over.spans.push_back(text.name.span);
  // A ragged axis makes the result depend on what its bounds depend on.
  over.boundAxes = unite(over.boundAxes, uniteAll({lower, upper}));
  return id.valid();
}

void DeclarationChecker::closeOver(Over &over) {
  if (over.isOpen)
    closeScope(over.mark);
  over.isOpen = false;
}

/// An axis that no operand depends on is mostly a slip. A local axis need not
/// be used: `sum(1 over i: 0 .. n)` counts.
bool DeclarationChecker::checkOver(const Over &over, AxisList available) {
  for (auto [axis, span] : llvm::zip(over.axes, over.spans)) {
    if (isThreads(axis) || contains(available, axis) ||
        axes[axis.index].kind == AxisKind::Local)
      continue;
    auto report =
        this->report(span, diag::AxisNotInOperand, axes[axis.index].name);
    std::string known;
    for (AxisId own : available)
      known += (known.empty() ? "`" : ", `") + spell(own) + "`";
    if (!known.empty())
      report.note("its axes are " + known);
    return false;
  }
  return true;
}

const typed::Type *
DeclarationChecker::monoidResult(const Declaration &monoid,
                                 llvm::ArrayRef<ScalarType> typeArguments,
                                 AxisList axes) {
  const Type *result = monoid.reduction->resultType;
  if (!result->isTuple())
    return types.scalar(result->scalar.substitute(typeArguments), axes);
  llvm::SmallVector<const Type *, 4> elements;
  for (const Type *element : result->elements)
    elements.push_back(
        types.scalar(element->scalar.substitute(typeArguments), axes));
  return types.tuple(elements, result->names);
}

/// Splits what stands in the parentheses into operands of `step` and run-time
/// parameters, which have names.
bool DeclarationChecker::monoidArguments(llvm::ArrayRef<ast::Argument> given,
                                         const Declaration &monoid, Span span,
                                         MonoidArguments &arguments) {
  arguments.parameters.resize(monoid.parameters.size());
  for (const ast::Argument &argument : given) {
    const Expression *value = checkScalar(argument.value);
    if (!value)
      return false;
    if (!argument.name) {
      arguments.operands.push_back(value);
      continue;
    }
    argumentNames.readName(argument);
    const auto *found =
        llvm::find_if(monoid.parameters, [&](const Parameter &row) {
          return row.variable->name == argument.name.text();
        });
    if (found == monoid.parameters.end()) {
      Suggestion suggestion(argument.name.text());
      for (const Parameter &row : monoid.parameters)
        suggestion.consider(row.variable->name);
      std::string hint = suggestion.hint();
      if (hint.empty() && argument.name.text().starts_with("keepdim"))
        hint = "leave it out: values align by the names of their axes";
      report(argument.name.span, diag::UnknownArgument, monoid.name,
             argument.name.text())
          .hint(hint);
      return false;
    }
    module.noteArgument(argument.name.text(), monoid, *found->variable);
    arguments.parameters[found - monoid.parameters.begin()] = value;
  }
  for (auto [value, row] : llvm::zip(arguments.parameters, monoid.parameters)) {
    if (value || row.defaultValue) // the monoid's frame has the default
      continue;
    report(span, diag::MissingArgument, monoid.name, row.variable->name)
        .label(row.variable->span, "declared here");
    return false;
  }
  std::size_t wanted = monoid.reduction->operands.size();
  if (arguments.operands.size() == wanted)
    return true;
  auto report = this->report(span, diag::OperandCount, monoid.name, wanted,
                             arguments.operands.size());
  report.label(monoid.nameSpan, "declared here");
  Span first{span.begin, given.back().value->span.begin};
  if (llvm::StringRef(source(first)).contains(" over "))
    report.hint("several axes stand in brackets: `over (H, W)`");
  return false;
}

/// Solves the reduction's type parameters from its operands.
bool DeclarationChecker::solveMonoid(
    const Declaration &monoid, Span span, MonoidArguments &arguments,
    GenericArguments &generics,
    llvm::SmallVectorImpl<ScalarType> &typeArguments) {
  llvm::ArrayRef<const Type *> wanted = monoid.reduction->operands;
  auto isExtent = [&](const Expression *value) {
    return Extents(*this).contain(value);
  };
  for (auto [value, type] : llvm::zip(arguments.operands, wanted))
    if (!isExtent(value))
      inferFrom(type->scalar, value, generics);
  for (auto [value, row] : llvm::zip(arguments.parameters, monoid.parameters))
    if (value)
      inferFrom(row.element, value, generics);
  for (auto [value, type] : llvm::zip(arguments.operands, wanted)) {
    bool decides = (isWeak(value) || isExtent(value)) &&
                   type->scalar.isBareParameter() &&
                   !generics.types[type->scalar.parameterIndex()];
    if (!decides)
      continue;
    value = settle(value);
    if (!value)
      return false;
    inferFrom(type->scalar, value, generics);
  }
  if (!finishTypes(monoid, span, generics, typeArguments) ||
      !finishConstants(monoid, span, generics, typeArguments))
    return false;
  llvm::ArrayRef<ScalarType> solved(typeArguments);
  for (auto [value, type] : llvm::zip(arguments.operands, wanted))
    if (!fitArgument(value, type->scalar.substitute(solved), monoid.name))
      return false;
  for (auto [value, row] : llvm::zip(arguments.parameters, monoid.parameters))
    if (value &&
        !fitArgument(value, row.element.substitute(solved), row.variable->name))
      return false;
  return true;
}

const Expression *DeclarationChecker::reduce(const ast::CallExpr &expr,
                                             const Declaration &monoid) {
  if (place != Place::Lifted && place != Place::Kernel) {
    report(expr.span, diag::NotCalledHere, "reduction",
           keyword(declaration.kind))
        .hint(place == Place::Host
                  ? "an `op` computes nothing itself: call a `rowwise`"
                  : "");
    return nullptr;
  }
  Over over;
  const Expression *value = nullptr;
  if (openOver(*expr.over, over))
    value = reduceOver(expr, monoid, over);
  closeOver(over);
  return value;
}

const Expression *DeclarationChecker::reduceOver(const ast::CallExpr &expr,
                                                 const Declaration &monoid,
                                                 const Over &over) {
  GenericArguments generics;
  MonoidArguments arguments;
  llvm::SmallVector<ScalarType, 4> typeArguments;
  if (!genericArguments(expr.brackets, monoid, generics) ||
      !monoidArguments(expr.arguments, monoid, expr.span, arguments) ||
      !solveMonoid(monoid, expr.span, arguments, generics, typeArguments))
    return nullptr;
  AxisList all = unite(uniteAll(arguments.operands), uniteAll({over.where}));
  if (!checkOver(over, all))
    return nullptr;
  AxisList left = without(unite(all, over.boundAxes), over.axes);
  auto *node = make<ReduceExpression>(
      expr.span, monoidResult(monoid, typeArguments, left));
  node->monoid = &monoid;
  node->typeArguments = builder.list(typeArguments);
  node->constantArguments = builder.list(generics.constants);
  node->operands = builder.list(arguments.operands);
  node->parameters = builder.list(arguments.parameters);
  node->over = builder.list(over.axes);
  node->where = over.where;
  return node;
}
