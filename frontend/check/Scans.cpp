// `scan`, `sort_by` and `concat`: forms that keep or join an axis.
#include "frontend/check/Over.h"
#include "frontend/typed/ThreadAxes.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

/// The reduction that an expression names; null with a message otherwise.
const Declaration *DeclarationChecker::monoidNamed(const ast::Expr *expr) {
  const auto *name = llvm::dyn_cast<ast::NameExpr>(ast::withoutParens(expr));
  const Symbol *symbol = name ? module.lookup(name->name().text()) : nullptr;
  if (symbol && symbol->reduction) {
    symbol->isUsed = true;
    module.noteDeclaration(name->name().text(), *symbol->reduction);
    module.noteCall({&declaration, symbol->reduction, expr->span});
    if (symbol->reduction->hasError)
      hasFailed = true;
    return symbol->reduction->hasError ? nullptr : symbol->reduction;
  }
  if (name && !symbol && !names.count(name->name().text()))
    reportUnknown(name->name());
  else
    report(expr->span, diag::NotAValue, "a reduction is wanted;",
           source(expr->span))
        .hint(llvm::isa<ast::StringExpr>(expr)
                  ? "it is written by its name, without quotes"
                  : "it stands first: `scan(sum, x over C)`");
  return nullptr;
}

bool DeclarationChecker::compileTimeFlag(const ast::Argument &argument,
                                         const Expression *&flag) {
  argumentNames.readName(argument);
  flag = argument.value ? fold(checkCondition(argument.value)) : nullptr;
  if (!flag)
    return false;
  if (isCompileTimeValue(flag))
    return true;
  report(argument.span(), diag::NotConstant);
  return false;
}

/// A flag behind the operands: `reverse`, or `reverse = true`.
static llvm::StringRef flagName(const ast::Argument &argument) {
  if (argument.name)
    return argument.name.text();
  const auto *name = llvm::dyn_cast<ast::NameExpr>(argument.value);
  return name ? name->name().text() : llvm::StringRef();
}

bool DeclarationChecker::flag(const ast::Argument &argument, bool &value) {
  value = true;
  if (!argument.name)
    return true;
  const Expression *given = nullptr;
  if (!compileTimeFlag(argument, given))
    return false;
  const auto *known = llvm::dyn_cast<ConstantExpression>(given);
  if (!known) {
    report(argument.span(), diag::NotConstant);
    return false;
  }
  value = known->value.boolean;
  return true;
}

bool DeclarationChecker::flagUnknown(const ast::Argument &argument,
                                     llvm::StringRef form,
                                     llvm::ArrayRef<llvm::StringRef> flags) {
  llvm::StringRef name = flagName(argument);
  Suggestion suggestion(name);
  for (llvm::StringRef flag : flags)
    suggestion.consider(flag);
  report(argument.span(), diag::UnknownArgument, form, source(argument.span()))
      .hint(suggestion.hint());
  return false;
}

const Expression *DeclarationChecker::scan(const ast::CallExpr &expr) {
  if (place != Place::Lifted && place != Place::Kernel) {
    report(expr.span, diag::NotCalledHere, "scan", keyword(declaration.kind));
    return nullptr;
  }
  if (!expr.over) {
    report(expr.span, diag::MissingOver, "scan");
    return nullptr;
  }
  if (expr.arguments.empty()) {
    report(expr.span, diag::TooFewArguments, "scan", 2, 0);
    return nullptr;
  }
  Over over;
  const Expression *value = nullptr;
  const Declaration *monoid = monoidNamed(expr.arguments[0].value);
  if (monoid && openOver(*expr.over, over))
    value = scanOver(expr, *monoid, over);
  closeOver(over);
  return value;
}

bool DeclarationChecker::isOneAxis(Span span, AxisList over,
                                   llvm::StringRef form) {
  if (over.size() != 1)
    report(span, diag::ScanAxes, form, over.size());
  else if (over.front() == rowThreads) // its lanes are in no order
    report(span, diag::NotCalledHere, "scan over `row`",
           keyword(declaration.kind))
        .hint("values of threads are scanned over `block` or `warp`");
  else if (axes[over.front().index].pack)
    report(span, diag::OneAxis, form, spell(over.front()));
  else
    return true;
  return false;
}

const Expression *DeclarationChecker::scanOver(const ast::CallExpr &expr,
                                               const Declaration &monoid,
                                               const Over &over) {
  bool overThreads = over.axes.size() == 1 && isThreads(over.axes[0]) &&
                     over.axes[0] != rowThreads;
  if (!overThreads && !isOneAxis(expr.over->span, over.axes, "scan"))
    return nullptr;
  if (!overThreads && axes[over.axes[0].index].kind == AxisKind::Local &&
      expr.over->axes[0].isLocal()) {
    report(expr.over->span, diag::ScanLocalAxis);
    return nullptr;
  }
  std::size_t count = expr.over->operandCount;
  auto operands = expr.arguments.take_front(count).drop_front();
  bool reverse = false, exclusive = false;
  for (const ast::Argument &argument : expr.arguments.drop_front(count)) {
    llvm::StringRef name = flagName(argument);
    bool isRead = name == "reverse" ? flag(argument, reverse)
                  : name == "exclusive"
                      ? flag(argument, exclusive)
                      : flagUnknown(argument, "scan", {"reverse", "exclusive"});
    if (!isRead)
      return nullptr;
  }
  GenericArguments generics;
  MonoidArguments arguments;
  llvm::SmallVector<ScalarType, 4> typeArguments;
  if (!genericArguments(expr.brackets, monoid, generics) ||
      !monoidArguments(operands, monoid, expr.span, arguments) ||
      !solveMonoid(monoid, expr.span, arguments, generics, typeArguments))
    return nullptr;
  AxisList all = unite(uniteAll(arguments.operands), uniteAll({over.where}));
  if (!checkOver(over, all))
    return nullptr;
  auto *node =
      make<ScanExpression>(expr.span, monoidResult(monoid, typeArguments, all));
  node->monoid = &monoid;
  node->typeArguments = builder.list(typeArguments);
  node->constantArguments = builder.list(generics.constants);
  node->operands = builder.list(arguments.operands);
  node->parameters = builder.list(arguments.parameters);
  node->over = over.axes.front();
  node->where = over.where;
  node->reverse = reverse;
  node->exclusive = exclusive;
  return node;
}

/// `sort_by(keys, values over C, stable, descending)`.
const Expression *DeclarationChecker::sortBy(const ast::CallExpr &expr) {
  if (place != Place::Lifted) {
    report(expr.span, diag::NotCalledHere, "sort_by",
           keyword(declaration.kind));
    return nullptr;
  }
  if (!expr.over) {
    report(expr.span, diag::MissingOver, "sort_by");
    return nullptr;
  }
  Over over;
  const Expression *value = nullptr;
  bool isOpen = openOver(*expr.over, over);
  if (isOpen && over.where)
    report(expr.over->where->span, diag::UnknownArgument, "sort_by", "where");
  else if (isOpen)
    value = sortOver(expr, over);
  closeOver(over);
  return value;
}

const Expression *DeclarationChecker::sortOver(const ast::CallExpr &expr,
                                               const Over &over) {
  if (!isOneAxis(expr.over->span, over.axes, "sort_by"))
    return nullptr;
  std::size_t count = expr.over->operandCount;
  llvm::SmallVector<const Expression *, 4> operands;
  for (const ast::Argument &argument : expr.arguments.take_front(count)) {
    const Expression *value = settle(checkScalar(argument.value));
    if (!value)
      return nullptr;
    operands.push_back(value);
  }
  if (operands.empty()) {
    report(expr.span, diag::TooFewArguments, "sort_by", 1, 0);
    return nullptr;
  }
  const Expression *stable = booleanConstant(expr.span, false);
  const Expression *descending = stable;
  for (const ast::Argument &argument : expr.arguments.drop_front(count)) {
    llvm::StringRef name = flagName(argument);
    if (name != "stable" && name != "descending") {
      flagUnknown(argument, "sort_by", {"stable", "descending"});
      return nullptr;
    }
    const Expression *&flag = name == "stable" ? stable : descending;
    flag = booleanConstant(argument.span(), true);
    if (argument.name && !compileTimeFlag(argument, flag))
      return nullptr;
  }
  if (!requireMask(operands.front()->scalar(),
                   allElements & ~check::maskOf(Constraint::Complex),
                   operands.front()->span, "sort_by"))
    return nullptr;
  if (!checkOver(over, uniteAll(operands)))
    return nullptr;
  llvm::SmallVector<const Type *, 4> elements;
  for (const Expression *operand : operands)
    elements.push_back(
        types.scalar(operand->scalar(), uniteAll({operands.front(), operand})));
  const Type *type =
      elements.size() == 1 ? elements.front() : types.tuple(elements);
  auto *node = make<SortExpression>(expr.span, type);
  node->operands = builder.list(operands);
  node->over = over.axes.front();
  node->stable = stable;
  node->descending = descending;
  return node;
}

/// `concat(a, b over (A, B) …)`: the operands' last named axes side by side.
/// `over` names one axis for all operands, or one for each.
const Expression *DeclarationChecker::concat(const ast::CallExpr &expr) {
  if (place != Place::Lifted || !expr.over) {
    if (!expr.over)
      report(expr.span, diag::MissingOver, "concat");
    else
      report(expr.span, diag::NotCalledHere, "concat",
             keyword(declaration.kind));
    return nullptr;
  }
  Over over;
  const Expression *value = nullptr;
  if (openOver(*expr.over, over))
    value = concatOver(expr, over);
  closeOver(over);
  return value;
}
