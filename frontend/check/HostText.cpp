// What only ops have: tensors as objects, allocation, views, ATen calls.
#include "frontend/check/DeclarationChecker.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

const Expression *DeclarationChecker::hostBuiltin(const ast::CallExpr &expr,
                                                  Builtin builtin) {
  const BuiltinInfo &info = builtinInfo(builtin);
  if (!standsIn(Place::Host, expr.span, info.spelling))
    return nullptr;
  if (builtin == Builtin::Zip) {
    report(expr.span, diag::NotIterable).hint("`zip` stands behind `in`");
    return nullptr;
  }
  bool isRead = builtin == Builtin::HostRead || builtin == Builtin::Length;
  if (!isRead)
    return allocation(expr, builtin);
  if (!operandCount(expr, info.spelling, 1))
    return nullptr;
  const Expression *value = check(expr.arguments[0].value);
  if (!value || !usable(value))
    return nullptr;
  bool isLength = builtin == Builtin::Length;
  bool hasLength = value->type->isList() || value->type->pack.valid();
  bool fits = isLength ? hasLength : value->type->isTensor();
  if (!fits) {
    report(value->span, isLength ? diag::NotAList : diag::NotIndexable,
           source(value->span));
    return nullptr;
  }
  auto *node = make<BuiltinExpression>(
      expr.span, isLength ? types.integer() : types.scalar(value->scalar()));
  node->builtin = builtin;
  node->operands = builder.list(llvm::ArrayRef(value));
  return node;
}

/// `empty(T, (N, M))`, `zeros(T, N)`, `full(T, (N,), 1)`.
const Expression *DeclarationChecker::allocation(const ast::CallExpr &expr,
                                                 Builtin builtin) {
  llvm::StringRef name = builtinInfo(builtin).spelling;
  bool isFull = builtin == Builtin::Full;
  std::size_t least = isFull ? 3 : 1;
  if (expr.arguments.size() < least) {
    report(expr.span, diag::TooFewArguments, name, least,
           expr.arguments.size());
    return nullptr;
  }
  std::optional<ScalarType> type = typeNamed(expr.arguments[0].value);
  if (!type) {
    report(expr.arguments[0].span(), diag::ConstantArgument, name,
           "a type first");
    return nullptr;
  }
  llvm::SmallVector<const Expression *, 4> operands;
  auto add = [&](const ast::Expr *extent) {
    const Expression *value =
        coerce(checkScalarOrAligned(extent), ScalarType::integer());
    operands.push_back(value);
    return value != nullptr;
  };
  auto extents = expr.arguments.drop_front();
  if (isFull) {
    const Expression *fill = checkAs(extents.back().value, *type);
    if (!fill)
      return nullptr;
    operands.push_back(fill);
    extents = extents.drop_back();
  }
  for (const ast::Argument &argument : extents) {
    const auto *tuple =
        llvm::dyn_cast<ast::TupleExpr>(ast::withoutParens(argument.value));
    if (!tuple && !add(argument.value))
      return nullptr;
    for (const ast::Argument &element :
         tuple ? tuple->elements : llvm::ArrayRef<ast::Argument>())
      if (!add(element.value))
        return nullptr;
  }
  auto *node = make<BuiltinExpression>(expr.span, types.tensor(*type));
  node->builtin = builtin;
  node->operands = builder.list(operands);
  node->typeArgument = *type;
  return node;
}

static const typed::Type *viewResult(typed::TypeContext &types, Builtin builtin,
                                     const Expression *base) {
  ScalarType element = base->scalar();
  switch (builtin) {
  case Builtin::Extent:
  case Builtin::Rank:
    return types.integer();
  case Builtin::ViewAsReal:
    return types.tensor(element.component());
  case Builtin::ViewAsComplex:
    return types.tensor(element.complex());
  default:
    return types.tensor(element);
  }
}

/// `x.permute(1, 0)`, `x.slice(0, lo, hi)`, `x.view_as[u32]()`.
const Expression *DeclarationChecker::viewCall(const ast::CallExpr &expr,
                                               const Expression *base,
                                               Builtin builtin) {
  const BuiltinInfo &info = builtinInfo(builtin);
  if (!standsIn(Place::Host, expr.span, info.spelling))
    return nullptr;
  if (info.operands >= 0 && !operandCount(expr, info.spelling, info.operands))
    return nullptr;
  llvm::SmallVector<const Expression *, 4> operands{base};
  for (const ast::Argument &argument : expr.arguments) {
    if (llvm::isa<ast::NoneExpr>(argument.value)) {
      operands.push_back(nullptr);
      continue;
    }
    const auto *tuple =
        llvm::dyn_cast<ast::TupleExpr>(ast::withoutParens(argument.value));
    const Expression *value =
        tuple ? check(argument.value) : checkScalarOrAligned(argument.value);
    if (value && !tuple)
      value = coerce(value, ScalarType::integer());
    if (!value)
      return nullptr;
    operands.push_back(value);
  }
  if (!requireMask(base->scalar(), check::maskOf(info.constraint), base->span,
                   info.spelling))
    return nullptr;
  const Type *type = viewResult(types, builtin, base);
  auto *node = make<BuiltinExpression>(expr.span, type);
  node->builtin = builtin;
  node->operands = builder.list(operands);
  if (builtin != Builtin::ViewAs)
    return node;
  std::optional<ScalarType> named;
  if (expr.brackets.size() == 1)
    named = typeNamed(expr.brackets[0].value);
  if (!named) {
    report(expr.span, diag::ConstantArgument, info.spelling,
           "one type in brackets");
    return nullptr;
  }
  node->typeArgument = *named;
  node->type = types.tensor(*named);
  return node;
}

/// `x[i]` of a tensor in an `op`: the view without its first axis; more
/// positions take off more axes.
const Expression *DeclarationChecker::viewIndex(const ast::IndexExpr &expr,
                                                const Expression *base) {
  const Expression *view = base;
  for (const ast::Argument &argument : expr.indices) {
    const Expression *position = checkInteger(argument.value);
    if (!position)
      return nullptr;
    auto *node =
        make<BuiltinExpression>(expr.span, types.tensor(base->scalar()));
    node->builtin = Builtin::SelectAt;
    node->operands = builder.list(llvm::ArrayRef<const Expression *>(
        {view, integerConstant(argument.span(), 0), position}));
    view = node;
  }
  return view;
}

/// `extern "aten::sort"(x, dim = 0)`: yields one tensor like its first one, or
/// what the brackets name: `extern "aten::sort"[T, i64](x)`.
const Expression *
DeclarationChecker::externCall(const ast::CallExpr &expr,
                               const ast::ExternExpr &callee) {
  if (!standsIn(Place::Host, expr.span, "extern"))
    return nullptr;
  llvm::SmallVector<const Expression *, 4> arguments;
  llvm::SmallVector<llvm::StringRef, 4> argumentTexts;
  const Type *first = nullptr;
  for (const ast::Argument &argument : expr.arguments) {
    argumentTexts.push_back(argument.name.text());
    argumentNames.readName(argument);
    if (llvm::isa<ast::NoneExpr>(argument.value)) {
      arguments.push_back(nullptr);
      continue;
    }
    const Expression *value = settle(check(argument.value));
    if (!value)
      return nullptr;
    if (!first && value->type->isTensor())
      first = types.tensor(value->scalar());
    arguments.push_back(value);
  }
  llvm::SmallVector<const Type *, 4> results;
  for (const ast::Argument &bracket : expr.brackets) {
    std::optional<ScalarType> type = typeNamed(bracket.value);
    if (!type) {
      report(bracket.span(), diag::ConstantArgument, "extern", "result types");
      return nullptr;
    }
    results.push_back(types.tensor(*type));
  }
  const Type *type = results.size() > 1    ? types.tuple(results)
                     : results.size() == 1 ? results.front()
                     : first               ? first
                                           : types.voidType();
  auto *node = make<ExternExpression>(expr.span, type);
  node->symbol = callee.overload;
  node->arguments = builder.list(arguments);
  node->names = builder.list(argumentTexts);
  return node;
}

/// A call in an `op`: types are solved, axes when it runs.
const Expression *DeclarationChecker::hostCall(const Declaration &callee,
                                               Span span,
                                               CallArguments &arguments,
                                               GenericArguments &generics) {
  for (auto [value, parameter] : llvm::zip(arguments.values, callee.parameters))
    if (value)
      inferFrom(parameter.element, value, generics);
  llvm::SmallVector<ScalarType, 4> typeArguments;
  if (!finishTypes(callee, span, generics, typeArguments) ||
      !finishConstants(callee, span, generics, typeArguments))
    return nullptr;
  llvm::ArrayRef<ScalarType> solved(typeArguments);
  for (auto [value, parameter] : llvm::zip(arguments.values, callee.parameters))
    if (value && !fitArgument(value, parameter.element.substitute(solved),
                              parameter.variable->name))
      return nullptr;
  llvm::SmallVector<const Type *, 4> elements;
  for (const Result &result : callee.results) {
    ScalarType element = result.element.substitute(solved);
    const Type *type =
        result.isTensor ? types.tensor(element) : types.scalar(element);
    elements.push_back(result.isList ? types.list(type) : type);
  }
  const Type *type = elements.empty()       ? types.voidType()
                     : elements.size() == 1 ? elements.front()
                                            : types.tuple(elements);
  auto *node = make<CallExpression>(span, type);
  node->callee = &callee;
  node->typeArguments = builder.list(typeArguments);
  node->constantArguments = builder.list(generics.constants);
  node->arguments = builder.list(arguments.values);
  return node;
}
