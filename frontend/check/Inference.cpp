// Compile-time arguments: written in brackets, or solved from the operands.
#include "frontend/check/Extents.h"

#include "frontend/typed/ConstantValue.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

bool DeclarationChecker::genericArguments(
    llvm::ArrayRef<ast::Argument> brackets, const Declaration &callee,
    GenericArguments &generics) {
  generics.types.resize(callee.typeParameters.size());
  generics.constants.resize(callee.constantParameters.size());
  bool succeeded = true;
  for (auto [position, argument] : llvm::enumerate(brackets))
    succeeded &= argument.name
                     ? namedGeneric(argument, callee, generics)
                     : genericArgument(argument, callee, position, generics);
  return succeeded;
}

bool DeclarationChecker::genericArgument(const ast::Argument &argument,
                                         const Declaration &callee,
                                         unsigned position,
                                         GenericArguments &generics) {
  if (position >= callee.generics.size()) {
    report(argument.span(), diag::TooManyGenerics, callee.name,
           callee.generics.size(), position + 1)
        .label(callee.nameSpan, "declared here");
    return false;
  }
  GenericOrder order = callee.generics[position];
  bool isGiven = order.isType ? generics.types[order.index].has_value()
                              : generics.constants[order.index] != nullptr;
  if (isGiven) {
    report(argument.span(), diag::RepeatedArgument,
           order.isType ? callee.typeParameters[order.index].name
                        : callee.constantParameters[order.index]->name);
    return false;
  }
  if (!order.isType)
    return constantGeneric(argument, *callee.constantParameters[order.index],
                           generics.constants[order.index]);
  std::optional<ScalarType> type = typeNamed(argument.value);
  if (!type) {
    report(argument.span(), diag::ConstantArgument,
           callee.typeParameters[order.index].name, "a type");
    return false;
  }
  generics.types[order.index] = *type;
  return true;
}

bool DeclarationChecker::namedGeneric(const ast::Argument &argument,
                                      const Declaration &callee,
                                      GenericArguments &generics) {
  llvm::StringRef name = argument.name.text();
  argumentNames.readName(argument);
  for (auto [number, order] : llvm::enumerate(callee.generics)) {
    llvm::StringRef candidate =
        order.isType ? callee.typeParameters[order.index].name
                     : callee.constantParameters[order.index]->name;
    if (candidate == name)
      module.noteGeneric(name, callee, order);
    if (candidate == name)
      return genericArgument(argument, callee, number, generics);
  }
  for (auto [number, axis] : llvm::enumerate(callee.axes))
    if (axis.name == name && axis.kind != AxisKind::Local)
      return axisGeneric(argument, callee,
                         AxisId{static_cast<std::uint16_t>(number)}, generics);
  Suggestion suggestion(name);
  for (const TypeParameter &parameter : callee.typeParameters)
    suggestion.consider(parameter.name);
  for (const ConstantParameter *parameter : callee.constantParameters)
    suggestion.consider(parameter->name);
  for (const Axis &axis : callee.axes)
    suggestion.consider(axis.name);
  std::string near = suggestion.hint();
  if (near.empty() && callee.kind == DeclarationKind::Kernel)
    near = "blocks and threads are what the kernel's `launch` says";
  report(argument.name.span, diag::UnknownGeneric, callee.name, name)
      .hint(near);
  return false;
}

/// `C = N`, `*R = (B, H)`: which axes of the caller an axis stands for.
bool DeclarationChecker::axisGeneric(const ast::Argument &argument,
                                     const Declaration &callee, AxisId axis,
                                     GenericArguments &generics) {
  llvm::SmallVector<AxisId, 4> bound;
  auto add = [&](const ast::Expr *expr) {
    expr = ast::withoutParens(expr);
    ast::Identifier name;
    if (const auto *plain = llvm::dyn_cast<ast::NameExpr>(expr))
      name = plain->name();
    else if (const auto *pack = llvm::dyn_cast<ast::PackExpr>(expr);
             pack && !pack->function)
      name = pack->name;
    if (!name) {
      report(expr->span, diag::UnknownAxis, source(expr->span));
      return false;
    }
    AxisId found = axisNamed(name);
    bound.push_back(found);
    return found.valid();
  };
  const ast::Expr *value = ast::withoutParens(argument.value);
  if (const auto *tuple = llvm::dyn_cast<ast::TupleExpr>(value)) {
    for (const ast::Argument &element : tuple->elements)
      if (!add(element.value))
        return false;
  } else if (!add(value)) {
    return false;
  }
  bool isPlain = !callee.axis(axis).pack;
  if (!isPlain)
    argumentNames.readStar(argument);
  if (isPlain && (bound.size() != 1 || axes[bound.front().index].pack)) {
    report(argument.span(), diag::PackMismatch, callee.axis(axis).name,
           "several axes", "one axis");
    return false;
  }
  generics.axes.emplace_back(axis, bound);
  return true;
}

static llvm::StringRef wanted(ConstantParameterKind kind) {
  switch (kind) {
  case ConstantParameterKind::Integer:
    return "an integer known when compiling";
  case ConstantParameterKind::Boolean:
    return "a `bool` known when compiling";
  case ConstantParameterKind::Booleans:
    return "a list of `bool`s known when compiling";
  case ConstantParameterKind::String:
    return "a string";
  case ConstantParameterKind::Float:
    return "a number known when compiling";
  case ConstantParameterKind::Function:
    return "a `fn`";
  }
  llvm_unreachable("all kinds of constant parameter are described");
}

static bool isCompileTime(const Expression *value) {
  switch (value->kind) {
  case ExpressionKind::Constant:
  case ExpressionKind::ConstantParameter:
  case ExpressionKind::TypeTest:
  case ExpressionKind::Target:
  case ExpressionKind::Present:
    return true;
  case ExpressionKind::Unary:
    return isCompileTime(llvm::cast<UnaryExpression>(value)->operand);
  case ExpressionKind::Cast:
    return isCompileTime(llvm::cast<CastExpression>(value)->operand);
  case ExpressionKind::Binary: {
    const auto *binary = llvm::cast<BinaryExpression>(value);
    return isCompileTime(binary->left) && isCompileTime(binary->right);
  }
  case ExpressionKind::Select: {
    const auto *select = llvm::cast<SelectExpression>(value);
    return isCompileTime(select->condition) && isCompileTime(select->left) &&
           isCompileTime(select->right);
  }
  case ExpressionKind::Builtin: {
    // `thread.x` and `size(C)` have no operands either, and are of a call.
    const auto *builtin = llvm::cast<BuiltinExpression>(value);
    BuiltinGroup group = builtinInfo(builtin->builtin).group;
    bool isPure =
        group == BuiltinGroup::Scalar || group == BuiltinGroup::TypeValue;
    return isPure && llvm::all_of(builtin->operands, isCompileTime);
  }
  default:
    return false;
  }
}

bool check::isCompileTimeValue(const Expression *value) {
  return isCompileTime(value);
}

bool DeclarationChecker::constantGeneric(const ast::Argument &argument,
                                         const ConstantParameter &parameter,
                                         const Expression *&result) {
  if (parameter.kind == ConstantParameterKind::Function)
    return functionGeneric(argument, parameter, result);
  if (parameter.kind == ConstantParameterKind::Booleans)
    return booleansGeneric(argument, parameter, result);
  const Expression *value = check(argument.value);
  if (!value)
    return false;
  bool isString = parameter.kind == ConstantParameterKind::String;
  bool fits = value->type->isString() == isString &&
              (isString || value->type->isScalar()) && isCompileTime(value);
  if (!fits) {
    report(argument.value->span, diag::ConstantArgument, parameter.name,
           wanted(parameter.kind));
    return false;
  }
  if (!isString)
    value = fold(coerce(value, parameter.type->scalar));
  if (!value)
    return false;
  const auto *constant = llvm::dyn_cast<ConstantExpression>(value);
  if (constant && !isAmong(parameter, constant->value)) {
    report(argument.value->span, diag::NotAChoice, source(argument.value->span),
           parameter.name)
        .label(parameter.span, "its values are listed here");
    return false;
  }
  result = value;
  return true;
}

/// `[true, false, true]`, or a parameter of the same kind handed on.
bool DeclarationChecker::booleansGeneric(const ast::Argument &argument,
                                         const ConstantParameter &parameter,
                                         const Expression *&result) {
  const auto *list = llvm::dyn_cast<ast::ListExpr>(argument.value);
  std::size_t wantedCount = static_cast<std::size_t>(parameter.count);
  if (!list) {
    const Expression *value = check(argument.value);
    const auto *given =
        llvm::dyn_cast_if_present<ConstantParameterExpression>(value);
    bool fits = given && given->type->isList() &&
                given->parameter->count == parameter.count;
    if (value && !fits)
      report(argument.span(), diag::ConstantArgument, parameter.name,
             wanted(parameter.kind))
          .hint(llvm::isa<ast::TupleExpr>(argument.value)
                    ? "lists stand in square brackets: `[true, false]`"
                    : "");
    result = fits ? value : nullptr;
    return fits;
  }
  if (list->elements.size() != wantedCount) {
    report(argument.span(), diag::TupleLength, wantedCount,
           list->elements.size());
    return false;
  }
  llvm::SmallVector<const Expression *, 4> elements;
  for (const ast::Expr *element : list->elements) {
    const Expression *value = fold(checkCondition(element));
    if (!value)
      return false;
    elements.push_back(value);
  }
  auto *node = make<TupleExpression>(argument.span(), parameter.type);
  node->elements = builder.list(elements);
  result = node;
  return true;
}

bool DeclarationChecker::functionGeneric(const ast::Argument &argument,
                                         const ConstantParameter &parameter,
                                         const Expression *&result) {
  const auto *name =
      llvm::dyn_cast<ast::NameExpr>(ast::withoutParens(argument.value));
  Binding *binding = name ? lookup(name->name().text()) : nullptr;
  if (binding && binding->kind == Binding::Kind::ConstantParameter &&
      constantParameters[binding->index]->kind ==
          ConstantParameterKind::Function) {
    result = constantParameterValue(binding->index, argument.span());
    return true;
  }
  const Symbol *symbol =
      name && !binding ? module.lookup(name->name().text()) : nullptr;
  const Declaration *function = symbol ? symbol->callable : nullptr;
  if (symbol && symbol->isPoisoned)
    return false;
  if (name && !binding && !symbol && !builtinNamed(name->name().text())) {
    reportUnknown(name->name());
    return false;
  }
  if (!function || function->kind != DeclarationKind::Function) {
    bool isBuiltin = name && !binding && builtinNamed(name->name().text());
    std::string given = source(argument.value->span);
    report(argument.value->span, diag::NotFunctionArgument, parameter.name,
           "`" + given + "`")
        .hint(isBuiltin ? "`" + given +
                              "` is built in: declare a `fn` that "
                              "calls it"
                        : "");
    return false;
  }
  symbol->isUsed = true;
  module.noteCall({&declaration, function, argument.span()});
  module.sign(*function);
  hasFailed |= function->hasError;
  if (function->hasError)
    return false;
  std::size_t wantedCount = parameter.type->elements.size() - 1;
  if (function->parameters.size() != wantedCount) {
    report(argument.span(), diag::FunctionShape, function->name,
           function->parameters.size(), parameter.name, wantedCount);
    return false;
  }
  auto *node =
      make<FunctionReferenceExpression>(argument.span(), parameter.type);
  node->function = function;
  result = node;
  return true;
}

/// Binds a bare type parameter of the callee to the value's type.
bool DeclarationChecker::inferFrom(ScalarType wanted, const Expression *value,
                                   GenericArguments &generics) {
  if (!wanted.isBareParameter() || isWeak(value))
    return true;
  std::optional<ScalarType> &bound = generics.types[wanted.parameterIndex()];
  ScalarType given = value->type->isList()
                         ? value->type->elements.front()->scalar
                         : value->scalar();
  if (!bound)
    bound = given;
  else if (sameType(*bound, given))
    bound = joinTypes(*bound, given);
  return true;
}

bool DeclarationChecker::finishTypes(const Declaration &callee, Span span,
                                     GenericArguments &generics,
                                     llvm::SmallVectorImpl<ScalarType> &types) {
  for (auto [number, parameter] : llvm::enumerate(callee.typeParameters)) {
    std::optional<ScalarType> type = generics.types[number];
    if (!type) {
      report(span, diag::CannotInferType, callee.name, parameter.name)
          .label(parameter.span, "declared here")
          .hint(("write `" + callee.name + "[" + parameter.name + " = …](…)`")
                    .str());
      return false;
    }
    ElementMask bad = maskOf(*type) & ~check::maskOf(parameter.constraint);
    if (bad) {
      auto report = this->report(span, diag::ConstraintViolated, callee.name,
                                 spelling(parameter.constraint), parameter.name,
                                 spell(*type));
      report.label(parameter.span, "constrained here");
      bool isWhole =
          type->isConcrete() && admits(Constraint::Integral, type->element());
      if (isWhole && admits(parameter.constraint, ElementType::I64))
        report.hint("write a cast, for instance `i64(…)`");
      else if (isWhole && admits(parameter.constraint, ElementType::F32))
        report.hint("write a cast, for instance `f32(…)`");
      if (!type->isConcrete())
        report.note("`" + spell(*type) + "` may be `" +
                    llvm::StringRef(quern::spelling(firstElement(bad))) + "`");
      return false;
    }
    types.push_back(*type);
  }
  return true;
}

/// Does the function take and yield what its parameter says, `types` being the
/// type arguments of who has the parameter?
bool DeclarationChecker::fitsParameter(const FunctionReferenceExpression &given,
                                       const ConstantParameter &parameter,
                                       llvm::ArrayRef<ScalarType> types) {
  const Declaration &function = *given.function;
  GenericArguments own;
  own.types.resize(function.typeParameters.size());
  auto wanted =
      llvm::map_range(parameter.type->elements, [&](const Type *type) {
        return type->scalar.substitute(types);
      });
  for (auto [operand, passed] : llvm::zip(function.parameters, wanted))
    if (operand.element.isBareParameter())
      own.types[operand.element.parameterIndex()] = passed;
  llvm::SmallVector<ScalarType, 4> ownTypes;
  if (!finishTypes(function, given.span, own, ownTypes))
    return false;
  auto fits = [&](ScalarType is, ScalarType must, const llvm::Twine &what) {
    is = is.substitute(llvm::ArrayRef(ownTypes));
    if (!sameType(is, must))
      report(given.span, diag::TypeMismatch, what.str(), spell(is), spell(must))
          .label(parameter.span, "wanted here");
    return sameType(is, must);
  };
  for (auto [operand, passed] : llvm::zip(function.parameters, wanted))
    if (!fits(operand.element, passed, operand.variable->name))
      return false;
  if (function.results.size() != 1) {
    report(given.span, diag::TupleLength, 1, function.results.size())
        .label(parameter.span, "wanted here");
    return false;
  }
  return fits(function.results.front().element,
              parameter.type->elements.back()->scalar.substitute(types),
              function.name + "(…)");
}

bool DeclarationChecker::finishConstants(const Declaration &callee, Span span,
                                         GenericArguments &generics,
                                         llvm::ArrayRef<ScalarType> types) {
  for (const ConstantParameter *parameter : callee.constantParameters) {
    const auto *function =
        llvm::dyn_cast_if_present<FunctionReferenceExpression>(
            generics.constants[parameter->index]);
    if (function && !fitsParameter(*function, *parameter, types))
      return false;
    bool isKnown = generics.constants[parameter->index] ||
                   parameter->defaultValue || parameter->subject;
    if (isKnown)
      continue;
    report(span, diag::MissingGeneric, callee.name, parameter->name)
        .label(parameter->span, "declared here");
    return false;
  }
  return true;
}

/// Checks an argument against its parameter's type in the caller's symbols.
bool DeclarationChecker::fitArgument(const Expression *&value,
                                     ScalarType wanted,
                                     llvm::StringRef parameter) {
  const Type &type = *value->type;
  if (type.isTuple()) {
    const auto *tuple = llvm::dyn_cast<TupleExpression>(value);
    return tuple && llvm::all_of(tuple->elements, [&](const Expression *e) {
             return coerce(e, ScalarType::integer()) != nullptr;
           });
  }
  if (isWeak(value)) {
    value = coerce(value, wanted);
    return value != nullptr;
  }
  ScalarType given =
      type.isList() ? type.elements.front()->scalar : value->scalar();
  if (sameType(given, wanted))
    return true;
  if (const Expression *converted = Extents(*this).as(value, wanted)) {
    value = converted;
    return true;
  }
  report(value->span, diag::TypeMismatch, source(value->span), spell(given),
         spell(wanted))
      .note(("this is parameter `" + parameter + "`").str());
  return false;
}
