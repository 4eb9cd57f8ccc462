// Calls: finds out what is called, and matches arguments with parameters.
#include "frontend/check/DeclarationChecker.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

/// A type in the place of an expression: `T`, `f32`, `acc(T)`.
std::optional<ScalarType> DeclarationChecker::typeNamed(const ast::Expr *expr) {
  expr = ast::withoutParens(expr);
  if (const auto *name = llvm::dyn_cast<ast::NameExpr>(expr)) {
    auto found = names.find(name->name().text());
    if (found != names.end()) {
      if (found->second.kind != Binding::Kind::TypeParameter)
        return std::nullopt;
      module.noteName(name->name().text(), found->second, declaration, axes);
      return ScalarType::parameter(found->second.index);
    }
    if (name->name().text() == "int")
      return ScalarType::integer();
    if (auto element = elementTypeNamed(name->name().text()))
      return ScalarType::concrete(*element);
    return std::nullopt;
  }
  const auto *call = llvm::dyn_cast<ast::CallExpr>(expr);
  const auto *function =
      call ? llvm::dyn_cast<ast::NameExpr>(call->callee) : nullptr;
  if (!function || call->arguments.size() != 1 || call->over)
    return std::nullopt;
  argumentNames.expect(call->arguments);
  llvm::StringRef name = function->name().text();
  if (name != "acc" && name != "real" && name != "complex" && name != "bits")
    return std::nullopt;
  std::optional<ScalarType> inner = typeNamed(call->arguments[0].value);
  if (!inner)
    return std::nullopt;
  return appliedScalar(name, function->name().span, *inner);
}

const Expression *DeclarationChecker::call(const ast::CallExpr &expr) {
  argumentNames.expect(expr.brackets);
  argumentNames.expect(expr.arguments);
  const ast::Expr *callee = ast::withoutParens(expr.callee);
  if (std::optional<ScalarType> type = typeNamed(callee))
    return cast(expr, *type);
  llvm::SaveAndRestore use(axisUse, AxisUse::Any);
  if (const auto *name = llvm::dyn_cast<ast::NameExpr>(callee))
    return namedCall(expr, name->name());
  if (const auto *member = llvm::dyn_cast<ast::MemberExpr>(callee))
    return methodCall(expr, *member);
  if (const auto *external = llvm::dyn_cast<ast::ExternExpr>(callee))
    return externCall(expr, *external);
  if (llvm::isa<ast::ErrorExpr>(callee))
    return nullptr;
  report(callee->span, diag::NotCallable, source(callee->span));
  return nullptr;
}

const Expression *DeclarationChecker::namedCall(const ast::CallExpr &expr,
                                                const ast::Identifier &name) {
  if (Binding *binding = lookup(name.text())) {
    if (binding->kind == Binding::Kind::Poison)
      return nullptr;
    bool isFunction = binding->kind == Binding::Kind::ConstantParameter &&
                      constantParameters[binding->index]->kind ==
                          ConstantParameterKind::Function;
    if (isFunction)
      return indirectCall(expr, binding->index);
    bool hasElements = binding->kind == Binding::Kind::Variable &&
                       binding->variable->type &&
                       !binding->variable->type->axes.empty();
    report(name.span, diag::NotCallable, name.text())
        .label(binding->span, "defined here")
        .hint(hasElements ? ("an element is `" + name.text() + "[…]`").str()
                          : "");
    return nullptr;
  }
  const Symbol *symbol = module.lookup(name.text());
  bool isWanted = symbol && (expr.over ? symbol->reduction != nullptr
                                       : symbol->callable != nullptr);
  if (symbol && symbol->isPoisoned)
    return nullptr;
  if (isWanted)
    return symbolCall(expr, *symbol, name);
  std::optional<Builtin> builtin =
      symbol && symbol->builtin ? symbol->builtin : builtinNamed(name.text());
  bool isSpecial = false;
  if (const Expression *value = specialForm(expr, name.text(), isSpecial))
    return value;
  if (isSpecial)
    return nullptr;
  if (symbol && !expr.over && symbol->reduction && !builtin) {
    report(name.span, diag::ReductionWithoutOver, name.text())
        .hint(overHint(expr, name.text()));
    return nullptr;
  }
  if (expr.over && (symbol || builtin)) {
    report(expr.over->span, diag::OverOnNonReduction, name.text());
    return nullptr;
  }
  if (builtin)
    return builtinCall(expr, *builtin);
  if (symbol)
    report(name.span, diag::NotCallable, name.text());
  else
    reportUnknown(name);
  return nullptr;
}

/// Forms whose arguments are not plain values.
const Expression *DeclarationChecker::specialForm(const ast::CallExpr &expr,
                                                  llvm::StringRef name,
                                                  bool &isSpecial) {
  isSpecial = true;
#define QN_SPECIAL_FORM(spelling, value)                                       \
  if (name == spelling)                                                        \
    return value;
#include "frontend/check/SpecialForms.def"
  isSpecial = false;
  return nullptr;
}

const Expression *DeclarationChecker::symbolCall(const ast::CallExpr &expr,
                                                 const Symbol &symbol,
                                                 const ast::Identifier &name) {
  symbol.isUsed = true;
  const Declaration &callee = expr.over ? *symbol.reduction : *symbol.callable;
  if (!declaration.hasError)
    module.noteCall({&declaration, &callee, name.span});
  module.noteDeclaration(name.text(), callee);
  module.sign(callee);
  // An error in a signature was reported where it stands.
  if (callee.hasError) {
    hasFailed = true;
    return nullptr;
  }
  return expr.over ? reduce(expr, callee) : declarationCall(expr, callee);
}

bool DeclarationChecker::mayCall(const Declaration &callee, Span span) {
  bool isLifted = callee.isLifted();
  bool may = callee.kind == DeclarationKind::Function || place == Place::Host ||
             (isLifted && place == Place::Lifted);
  if (!may)
    report(span, diag::NotCalledHere, keyword(callee.kind),
           keyword(declaration.kind))
        .hint(place == Place::Kernel
                  ? "an `op` calls both, one behind the other"
                  : "");
  return may;
}

const Expression *
DeclarationChecker::declarationCall(const ast::CallExpr &expr,
                                    const Declaration &callee) {
  if (!mayCall(callee, expr.callee->span))
    return nullptr;
  if (llvm::isa<ast::ConstDecl>(text) && !module.complete(callee)) {
    hasFailed = true;
    return nullptr;
  }
  GenericArguments generics;
  CallArguments arguments;
  bool areRead = genericArguments(expr.brackets, callee, generics);
  if (!matchArguments(expr, callee, arguments) || !areRead)
    return nullptr;
  if (callee.kind != DeclarationKind::Function && place == Place::Host)
    return hostCall(callee, expr.span, arguments, generics);
  return liftedCall(callee, expr.span, arguments, generics);
}

/// The place of an argument; reports names that are not known or given twice.
static std::optional<std::size_t> parameterNamed(const Declaration &callee,
                                                 llvm::StringRef name) {
  for (auto [number, parameter] : llvm::enumerate(callee.parameters))
    if (parameter.variable->name == name)
      return number;
  return std::nullopt;
}

bool DeclarationChecker::matchArguments(const ast::CallExpr &expr,
                                        const Declaration &callee,
                                        CallArguments &arguments) {
  std::size_t count = callee.parameters.size();
  arguments.values.resize(count);
  arguments.spans.resize(count);
  bool succeeded = true;
  for (auto [place, argument] : llvm::enumerate(expr.arguments)) {
    if (!argument.name && place >= count) {
      report(argument.span(), diag::TooManyArguments, callee.name, count,
             expr.arguments.size())
          .label(callee.nameSpan, "declared here");
      return false;
    }
    succeeded &= matchArgument(argument, place, callee, arguments);
  }
  return succeeded && fillArguments(expr, callee, arguments);
}

/// Enters one argument at its parameter's place.
bool DeclarationChecker::matchArgument(const ast::Argument &argument,
                                       std::size_t place,
                                       const Declaration &callee,
                                       CallArguments &arguments) {
  std::optional<std::size_t> number = place;
  if (argument.name) {
    number = parameterNamed(callee, argument.name.text());
    argumentNames.readName(argument);
  }
  if (!number) {
    Suggestion suggestion(argument.name.text());
    for (const Parameter &parameter : callee.parameters)
      suggestion.consider(parameter.variable->name);
    report(argument.name.span, diag::UnknownArgument, callee.name,
           argument.name.text())
        .hint(suggestion.hint());
    return false;
  }
  const Parameter &parameter = callee.parameters[*number];
  if (argument.name)
    module.noteArgument(argument.name.text(), callee, *parameter.variable);
  if (arguments.spans[*number].valid()) {
    report(argument.span(), diag::RepeatedArgument, parameter.variable->name)
        .label(arguments.spans[*number], "given here already");
    return false;
  }
  arguments.spans[*number] = argument.span();
  if (llvm::isa<ast::NoneExpr>(argument.value) && parameter.isOptional)
    return true;
  arguments.values[*number] = argumentValue(argument.value, parameter);
  return arguments.values[*number] != nullptr;
}

/// What is not given stays null: the callee's frame has the default, since its
/// type is in the callee's symbols. A parameter without one is missed.
bool DeclarationChecker::fillArguments(const ast::CallExpr &expr,
                                       const Declaration &callee,
                                       CallArguments &arguments) {
  for (auto [number, parameter] : llvm::enumerate(callee.parameters)) {
    if (arguments.spans[number].valid() || parameter.isOptional)
      continue;
    if (parameter.defaultValue)
      continue;
    bool hasNames = llvm::any_of(expr.arguments, [](const ast::Argument &a) {
      return static_cast<bool>(a.name);
    });
    if (hasNames)
      report(expr.span, diag::MissingArgument, callee.name,
             parameter.variable->name)
          .label(callee.nameSpan, "declared here");
    else
      report(expr.span, diag::TooFewArguments, callee.name,
             callee.parameters.size(), expr.arguments.size())
          .label(callee.nameSpan, "declared here");
    return false;
  }
  return true;
}

const Expression *
DeclarationChecker::argumentValue(const ast::Expr *expr,
                                  const Parameter &parameter) {
  const Expression *value = check(expr);
  if (!value || (parameter.isOptional && isAbsent(value)))
    return value;
  if (!usable(value))
    return nullptr;
  bool wantsObject =
      place == Place::Host && (parameter.isTensor || parameter.isList);
  if (wantsObject) {
    bool isObject = value->type->isTensor() || value->type->isScalar();
    bool fits = parameter.isList ? value->type->isList() : isObject;
    if (!fits)
      report(value->span, diag::TypeMismatch, source(value->span), spell(value),
             parameter.text);
    return fits ? value : nullptr;
  }
  bool isTuple = parameter.pack.valid() || parameter.count != 0;
  if (isTuple && (value->type->isTuple() || value->type->isList()))
    return value;
  return asScalar(value, parameter.pack.valid());
}

const Expression *DeclarationChecker::indirectCall(const ast::CallExpr &expr,
                                                   unsigned index) {
  const ConstantParameter &parameter = *constantParameters[index];
  llvm::ArrayRef<const Type *> operands = parameter.type->elements.drop_back();
  if (!operandCount(expr, parameter.name, operands.size()))
    return nullptr;
  llvm::SmallVector<const Expression *, 4> values;
  for (auto [argument, type] : llvm::zip(expr.arguments, operands)) {
    const Expression *value = checkAs(argument.value, type->scalar);
    if (!value)
      return nullptr;
    values.push_back(value);
  }
  const Type *result =
      pointwise(parameter.type->elements.back()->scalar, values);
  auto *node = make<IndirectCallExpression>(expr.span, result);
  node->function = &parameter;
  node->arguments = builder.list(values);
  return node;
}

const Expression *DeclarationChecker::cast(const ast::CallExpr &expr,
                                           ScalarType type) {
  if (expr.arguments.size() != 1 || expr.over) {
    report(expr.span, diag::CastArguments, spell(type), expr.arguments.size());
    return nullptr;
  }
  // What is absent stays absent; who uses the cast says whether it may be.
  const Expression *value = asScalar(check(expr.arguments[0].value), true);
  return value ? makeCast(value, type, expr.span) : nullptr;
}

const Expression *DeclarationChecker::makeCast(const Expression *value,
                                               ScalarType type, Span span) {
  // A literal under a cast is written for that type, unless it would change.
  const auto *literal = llvm::dyn_cast<ConstantExpression>(value);
  bool isFloatToOther =
      isWeakFloat(value) && (maskOf(type) & ~check::maskOf(Constraint::Float));
  if (isWeak(value) && literal && !isFloatToOther &&
      onlyElement(maskOf(type)) != ElementType::Bool)
    return coerce(value, type);
  value = isWeakFloat(value)
              ? coerce(value, ScalarType::concrete(ElementType::F64))
              : settle(value);
  if (!value)
    return nullptr;
  ElementMask complex = check::maskOf(Constraint::Complex);
  bool fromComplex = !(maskOf(value->scalar()) & ~complex);
  bool toComplex = maskOf(type) & complex;
  if (fromComplex && !toComplex) {
    report(span, diag::CastNotAllowed, spell(value->scalar()), spell(type))
        .hint("take `re(x)`, `im(x)` or `abs(x)`");
    return nullptr;
  }
  const Type *result = types.scalar(type, value->axes(), value->type->pack);
  auto *node = make<CastExpression>(span, result);
  node->operand = value;
  return literal ? fold(node) : node;
}

/// How `max(x, over=C)` and `sum(x, dim=1)` are written here.
std::string DeclarationChecker::overHint(const ast::CallExpr &expr,
                                         llvm::StringRef name) {
  std::string operand = "…", axis = place == Place::Kernel ? "block" : "C";
  if (!expr.arguments.empty() && !expr.arguments[0].name)
    operand = source(expr.arguments[0].value->span);
  for (const ast::Argument &argument : expr.arguments)
    if (argument.name.text() == "over")
      axis = source(argument.value->span);
  if (operand.size() > 40 || llvm::StringRef(operand).contains('\n'))
    operand = "…";
  return ("write `" + name + "(" + operand + " over " + axis + ")`").str();
}

/// What is meant by more operands than a builtin takes.
static llvm::StringRef surplusHint(llvm::StringRef name) {
  if (name.starts_with("shuffle"))
    return "a warp has the width of the target, `target.warp_size`";
  if (name == "min" || name == "max")
    return "of several values: `max(max(a, b), c)`";
  if (name.starts_with("atomic_"))
    return "the place is one operand: `atomic_add(x[i], 1)`";
  return "";
}

/// What is meant by fewer.
static std::string missingHint(llvm::StringRef name, bool isReduction) {
  if (isReduction)
    return ("the reduction is `" + name + "(… over C)`").str();
  if (name == "mma")
    return "write `mma(sums, a[i, k], b[k, j], rows, columns, depth)`";
  if (name == "load_tile")
    return "write `load_tile(tile, x[i, j], rows, columns)`";
  if (name == "store_tile")
    return "write `store_tile(x[i, j], tile, rows, columns)`";
  if (name.starts_with("copy"))
    return "write `copy(to[i], from[j], 4)`";
  return "";
}

bool DeclarationChecker::operandCount(const ast::CallExpr &expr,
                                      llvm::StringRef name, unsigned count) {
  std::size_t given = expr.arguments.size();
  const Symbol *symbol = module.lookup(name);
  if (given < count)
    report(expr.span, diag::TooFewArguments, name, count, given)
        .hint(missingHint(name, symbol && symbol->reduction));
  if (given > count)
    report(expr.arguments[count].span(), diag::TooManyArguments, name, count,
           given)
        .hint(surplusHint(name));
  for (const ast::Argument &argument : expr.arguments)
    if (argument.name && given == count) {
      report(argument.name.span, diag::UnknownArgument, name,
             argument.name.text())
          .hint(symbol && symbol->reduction ? overHint(expr, name) : "");
      return false;
    }
  return given == count;
}
