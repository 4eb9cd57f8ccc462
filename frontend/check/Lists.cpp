// Lists of an `op`: `[a, b]`, `[f(x) for x in xs]`, `xs + ys`, `xs[i]`, loops.
#include "frontend/check/Lists.h"
#include "frontend/check/LoopBody.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

static const ast::CallExpr *callOf(const ast::Expr *iterable,
                                   llvm::StringRef wanted) {
  const auto *call =
      llvm::dyn_cast<ast::CallExpr>(ast::withoutParens(iterable));
  const auto *name =
      call ? llvm::dyn_cast<ast::NameExpr>(call->callee) : nullptr;
  return name && name->name().text() == wanted ? call : nullptr;
}

/// `[]` before anything says what it is a list of.
static bool isUntyped(const Type &type) {
  return type.isList() && type.elements.front()->isVoid();
}

const Type *ListChecker::listOf(ScalarType element) {
  return checker.types.list(checker.types.tensor(element));
}

const Expression *ListChecker::value(const ast::ListExpr &expr) {
  if (checker.place != Place::Host) {
    checker.report(expr.span, diag::TableMisplaced)
        .hint(checker.place == Place::Kernel
                  ? "an array of a thread is `local a: f32[4]`"
                  : "");
    return nullptr;
  }
  return expr.iterable ? made(expr) : literal(expr);
}

const Expression *ListChecker::literal(const ast::ListExpr &expr) {
  llvm::SmallVector<const Expression *, 8> elements;
  for (const ast::Expr *text : expr.elements) {
    const Expression *element = checker.check(text);
    if (!element || !checker.usable(element))
      return nullptr;
    const Expression *first = elements.empty() ? element : elements.front();
    if (!element->type->isTensor() ||
        !checker.sameType(element->scalar(), first->scalar())) {
      checker.report(element->span, diag::TypeMismatch,
                     checker.source(element->span), checker.spell(element),
                     first->type->isTensor() ? checker.spell(first) : "tensor");
      return nullptr;
    }
    elements.push_back(element);
  }
  const Type *type = elements.empty()
                         ? checker.types.list(checker.types.voidType())
                         : listOf(elements.front()->scalar());
  auto *node = checker.make<ListExpression>(expr.span, type);
  node->elements = checker.builder.list(elements);
  return node;
}

const Expression *ListChecker::made(const ast::ListExpr &expr) {
  std::size_t mark = checker.openScope();
  Loop loop = loopOver(expr.pattern, expr.iterable, true);
  const Expression *element = checker.check(expr.elements.front());
  bool isGood = loop.isValid && element && checker.usable(element);
  checker.closeScope(mark);
  if (!isGood)
    return nullptr;
  llvm::SmallVector<const Type *, 4> types;
  bool isTuple = element->type->isTuple();
  for (const Type *type :
       isTuple ? element->type->elements : llvm::ArrayRef(element->type)) {
    if (!type->isTensor()) {
      checker.report(element->span, diag::TypeMismatch,
                     checker.source(element->span), checker.spell(element),
                     "tensor");
      return nullptr;
    }
    types.push_back(listOf(type->scalar));
  }
  const Type *type = isTuple ? checker.types.tuple(types) : types.front();
  auto *node = checker.make<ListExpression>(expr.span, type);
  node->elements = checker.builder.list(llvm::ArrayRef(element));
  node->variables = checker.builder.list(loop.variables);
  node->lists = checker.builder.list(loop.lists);
  node->range = checker.builder.list(loop.range);
  return node;
}

const Expression *ListChecker::joined(Span span, const Expression *left,
                                      const Expression *right) {
  for (const Expression *side : {left, right})
    if (!side->type->isList()) {
      checker.report(side->span, diag::NotAList, checker.source(side->span));
      return nullptr;
    }
  const Type *type = isUntyped(*left->type) ? right->type : left->type;
  ScalarType element = type->elements.front()->scalar;
  if (!isUntyped(*type)) {
    right = as(right, element, "list of " + checker.spell(element));
    type = listOf(element);
  }
  if (!right)
    return nullptr;
  auto *node = checker.make<ListExpression>(span, type);
  node->lists = checker.builder.list(llvm::ArrayRef({left, right}));
  return node;
}

const Expression *ListChecker::element(const ast::IndexExpr &expr,
                                       const Expression *base) {
  if (base->type->isTensor())
    return checker.viewIndex(expr, base);
  if (expr.indices.size() != 1) {
    checker.report(expr.span, diag::PositionCount, expr.indices.size(), 1);
    return nullptr;
  }
  const Expression *position = checker.checkInteger(expr.indices[0].value);
  if (!position)
    return nullptr;
  auto *node =
      checker.make<BuiltinExpression>(expr.span, base->type->elements.front());
  node->builtin = Builtin::SelectAt;
  node->operands =
      checker.builder.list(llvm::ArrayRef<const Expression *>{base, position});
  return node;
}

const Expression *ListChecker::as(const Expression *value, ScalarType element,
                                  llvm::StringRef text) {
  const Type &type = *value->type;
  if (isUntyped(type)) {
    auto *node = checker.make<ListExpression>(value->span, listOf(element));
    return node;
  }
  if (type.isList() && type.elements.front()->isTensor() &&
      checker.sameType(type.elements.front()->scalar, element))
    return value;
  checker.report(value->span, diag::TypeMismatch, checker.source(value->span),
                 checker.spell(value), text);
  return nullptr;
}

const Expression *ListChecker::typed(const Expression *value) {
  if (!value || !isUntyped(*value->type))
    return value;
  checker.report(value->span, diag::EmptyList)
      .hint("write its type: `var xs: list[T[*S]] = []`");
  return nullptr;
}

/// The bounds of `range(…)`.
bool ListChecker::counts(const ast::Pattern &pattern,
                         const ast::CallExpr &range, Loop &loop) {
  std::size_t count = range.arguments.size();
  checker.argumentNames.expect(range.arguments);
  for (const ast::Argument &argument : range.arguments)
    loop.range.push_back(checker.checkInteger(argument.value));
  if (count == 0 || count > 3)
    checker.report(range.span, diag::RangeArguments, count);
  if (pattern.isTuple)
    checker.report(pattern.span, diag::NotATuple, pattern.names.size());
  if (count == 0 || count > 3 || pattern.isTuple ||
      llvm::is_contained(loop.range, nullptr))
    return false;
  if (count == 1)
    loop.range.insert(loop.range.begin(),
                      checker.integerConstant(range.span, 0));
  if (count < 3)
    loop.range.push_back(checker.integerConstant(range.span, 1));
  const auto *step = llvm::dyn_cast<ConstantExpression>(loop.range[2]);
  if (!step || !step->value.isZero())
    return true;
  checker.report(step->span, diag::ZeroStep);
  return false;
}

/// The lists, or numbers of `int[*S]`, that stand behind `in`; names are bound
/// in the scope that is open.
ListChecker::Loop ListChecker::loopOver(const ast::Pattern &pattern,
                                        const ast::Expr *iterable,
                                        bool mayCount) {
  Loop loop;
  const ast::CallExpr *range = callOf(iterable, "range");
  if (range && mayCount && !checker.names.count("range")) {
    loop.isValid = counts(pattern, *range, loop);
    bind(pattern, loop);
    return loop;
  }
  if (const ast::CallExpr *zip = callOf(iterable, "zip")) {
    checker.argumentNames.expect(zip->arguments);
    for (const ast::Argument &argument : zip->arguments)
      loop.lists.push_back(checker.check(argument.value));
  } else
    loop.lists.push_back(checker.check(iterable));
  for (const Expression *list : loop.lists) {
    bool isList =
        list && ((list->type->isList() && !isUntyped(*list->type)) ||
                 (list->type->isScalar() && list->type->pack.valid()));
    if (list && !isList)
      checker.report(list->span, diag::NotAList, checker.source(list->span));
    loop.isValid &= isList;
  }
  if (loop.isValid && loop.lists.size() != pattern.names.size()) {
    checker.report(pattern.span, diag::TupleLength, pattern.names.size(),
                   loop.lists.size());
    loop.isValid = false;
  }
  bind(pattern, loop);
  return loop;
}

void ListChecker::bind(const ast::Pattern &pattern, Loop &loop) {
  for (auto [number, name] : llvm::enumerate(pattern.names)) {
    if (!loop.isValid) {
      checker.define(name.text(), Binding{});
      continue;
    }
    const Type *type = loop.range.empty() ? loop.lists[number]->type : nullptr;
    const Type *element = !type ? checker.types.integer()
                          : type->isList()
                              ? type->elements.front()
                              : checker.types.scalar(type->scalar, type->axes);
    loop.variables.push_back(
        checker.patternVariable(name, element, VariableKind::Loop));
  }
}

void ListChecker::statement(const ast::Pattern &pattern,
                            const ast::Expr *iterable, const ast::Block &body,
                            Span span, bool isEach,
                            llvm::SmallVectorImpl<const Statement *> &into) {
  std::size_t mark = checker.openScope();
  Loop loop = loopOver(pattern, iterable, false);
  auto *node = checker.makeStatement<ForEachStatement>(span);
  node->variables = checker.builder.list(loop.variables);
  node->lists = checker.builder.list(loop.lists);
  node->isEach = isEach;
  if (isEach) {
    node->body = checker.block(body);
  } else {
    LoopBody loopBody(checker, span);
    node->body = loopBody.guarded(loopBody.check(body), into);
  }
  checker.closeScope(mark);
  if (loop.isValid)
    into.push_back(node);
}
