// What only kernels have: threads, storage, launches, atomics.
#include "frontend/check/DeclarationChecker.h"
#include "frontend/typed/MemoryCounts.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

/// What threads say instead of what ops have.
static llvm::StringRef threadForm(llvm::StringRef what) {
  if (what == "len")
    return "the extent of an axis is `size(N)`";
  if (what == "empty" || what == "zeros" || what == "full")
    return "an array of a thread is `local a: f32[4]`, of a block `shared s: "
           "f32[64]`";
  return "";
}

/// What lifted text says instead of what kernels and ops have.
static llvm::StringRef liftedForm(llvm::StringRef what) {
  if (what == "len")
    return "the extent of an axis is `size(C)`";
  if (what == "host")
    return "the name of a tensor without axes is its value";
  if (what == "empty" || what == "zeros" || what == "full")
    return "results are made by the caller: return their values";
  if (what == "thread" || what == "block")
    return "a position along an axis is `index(C)`";
  return "";
}

bool DeclarationChecker::standsIn(Place wanted, Span span,
                                  llvm::StringRef what) {
  if (place == wanted)
    return true;
  bool isExtent =
      place == Place::Extent && declaration.kind == DeclarationKind::Op;
  if (isExtent)
    report(span, diag::NotInThisKind, what, "extent")
        .hint("leave the extent out: it is that of what is returned");
  else
    report(span, diag::NotInThisKind, what, keyword(declaration.kind))
        .hint(place == Place::Lifted   ? liftedForm(what)
              : place == Place::Kernel ? threadForm(what)
                                       : "");
  return false;
}

/// `thread.x`, `block.y`.
const Expression *
DeclarationChecker::threadPosition(const ast::MemberExpr &expr,
                                   Builtin builtin) {
  llvm::StringRef name = builtinInfo(builtin).spelling;
  if (!standsIn(Place::Kernel, expr.span, name))
    return nullptr;
  llvm::StringRef member = expr.member.text();
  bool hasDimensions =
      builtin == Builtin::ThreadId || builtin == Builtin::BlockId ||
      builtin == Builtin::BlockSize || builtin == Builtin::GridSize;
  bool isDimension = member == "x" || member == "y" || member == "z";
  if (!hasDimensions || !isDimension) {
    report(expr.member.span, diag::UnknownMember, ("`" + name + "`").str(),
           member)
        .hint(hasDimensions ? "`x`, `y` or `z`" : "");
    return nullptr;
  }
  auto *node = make<BuiltinExpression>(expr.span, types.integer());
  node->builtin = builtin;
  node->dimension = member[0] - 'x';
  return node;
}

/// `barrier()`, `shuffle_xor(x, 1)`, `ballot(c)`, `lane()`.
const Expression *DeclarationChecker::threadBuiltin(const ast::CallExpr &expr,
                                                    Builtin builtin) {
  const BuiltinInfo &info = builtinInfo(builtin);
  if (!standsIn(Place::Kernel, expr.span, info.spelling))
    return nullptr;
  if (!operandCount(expr, info.spelling, info.operands))
    return nullptr;
  llvm::SmallVector<const Expression *, 2> values;
  for (auto [number, argument] : llvm::enumerate(expr.arguments)) {
    const Expression *value = number == 1 ? checkInteger(argument.value)
                              : info.constraint == Constraint::Bool
                                  ? checkCondition(argument.value)
                                  : settle(checkScalar(argument.value));
    if (!value)
      return nullptr;
    values.push_back(value);
  }
  const Type *type = types.integer();
  if (info.result == BuiltinResult::Void)
    type = types.voidType();
  else if (info.result == BuiltinResult::Bool)
    type = types.boolean();
  else if (builtin == Builtin::Ballot)
    type = types.scalar(ScalarType::concrete(ElementType::U64));
  else if (info.result == BuiltinResult::Special)
    type = values.front()->type;
  auto *node = make<BuiltinExpression>(expr.span, type);
  node->builtin = builtin;
  node->operands = builder.list(values);
  return node;
}

/// `order = "acquire"`, `scope = "system"`, which it takes off the end of a
/// call; false after a diagnostic.
bool DeclarationChecker::atomicWords(ast::CallExpr &expr, AtomicWords &words) {
  bool isGood = true;
  for (; !expr.arguments.empty(); expr.arguments = expr.arguments.drop_back()) {
    const ast::Argument &argument = expr.arguments.back();
    bool isOrder = argument.name.text() == "order";
    if (!isOrder && argument.name.text() != "scope")
      return isGood;
    argumentNames.readName(argument);
    const auto *text = llvm::dyn_cast<ast::StringExpr>(argument.value);
    if (text && isOrder)
      words.order = memoryOrderNamed(text->value);
    else if (text)
      words.scope = memoryScopeNamed(text->value);
    if (isOrder ? !words.order.has_value() : !words.scope.has_value()) {
      report(argument.value->span, diag::NotAChoice,
             source(argument.value->span), argument.name.text())
          .hint(isOrder ? memoryOrders() : memoryScopes());
      isGood = false;
    }
  }
  return isGood;
}

/// `atomic_add(histogram[i], 1)`: yields the old value.
const Expression *DeclarationChecker::atomic(const ast::CallExpr &call,
                                             Builtin builtin) {
  ast::CallExpr expr = call;
  AtomicWords words;
  if (!atomicWords(expr, words))
    return nullptr;
  const BuiltinInfo &info = builtinInfo(builtin);
  if (!standsIn(Place::Kernel, expr.span, info.spelling))
    return nullptr;
  if (!operandCount(expr, info.spelling, info.operands + 1))
    return nullptr;
  const auto *load = llvm::cast_or_null<LoadExpression>(
      placeOperand(expr.arguments[0].value, info.spelling, 'W'));
  if (!load)
    return nullptr;
  llvm::SmallVector<const Expression *, 3> operands{load};
  for (const ast::Argument &argument : expr.arguments.drop_front()) {
    const Expression *value = checkAs(argument.value, load->scalar());
    if (!value)
      return nullptr;
    operands.push_back(value);
  }
  ElementMask allowed = check::maskOf(info.constraint);
  // A type parameter is asked once it is known.
  if (load->scalar().isConcrete() || load->scalar().isComplex())
    allowed &= check::maskOf(Constraint::Ordered);
  if (!requireMask(load->scalar(), allowed, expr.span, info.spelling))
    return nullptr;
  auto *node = make<BuiltinExpression>(expr.span, load->type);
  node->atomic = words;
  node->builtin = builtin;
  node->operands = builder.list(operands);
  return node;
}

void DeclarationChecker::launch(const ast::LaunchStmt &stmt,
                                StatementList &into) {
  if (place != Place::Kernel)
    return misplaced(stmt.span, "launch");
  if (nesting != 1)
    report(stmt.span, diag::LaunchNested);
  if (firstLaunch)
    report(stmt.span, diag::RepeatedLaunch)
        .label(*firstLaunch, "the first is here");
  firstLaunch = stmt.span;
  place = Place::Extent;
  auto *node = makeStatement<LaunchStatement>(stmt.span);
  auto extents = [&](llvm::ArrayRef<const ast::Expr *> written) {
    llvm::SmallVector<const Expression *, 3> values;
    for (const ast::Expr *extent : written)
      values.push_back(fold(checkInteger(extent)));
    return builder.list(values);
  };
  node->grid = extents(stmt.grid);
  node->block = extents(stmt.block);
  llvm::SmallVector<std::optional<std::int64_t>, 3> block;
  for (const Expression *extent : node->block) {
    const auto *known = llvm::dyn_cast_or_null<ConstantExpression>(extent);
    block.push_back(known ? std::optional(known->value.integer) : std::nullopt);
  }
  if (!isSilent && !isGoodBlock(block, stmt.span, module.diagnostics))
    hasFailed = true;
  place = Place::Kernel;
  into.push_back(node);
}

/// Whether an array is not too large, as far as that is known.
static bool isGoodSize(const ast::StorageStmt &stmt,
                       std::optional<ElementType> element,
                       llvm::ArrayRef<const Expression *> extents,
                       DiagnosticEngine &diagnostics) {
  llvm::SmallVector<std::int64_t, 4> counts;
  for (const Expression *extent : extents) {
    const auto *known = llvm::dyn_cast<ConstantExpression>(extent);
    if (!known || !element)
      return true;
    counts.push_back(known->value.integer);
  }
  unsigned bytes = element ? bitsOf(*element) / 8 : 0;
  return isGoodArray(stmt.name.text(), counts, bytes, stmt.type->span,
                     diagnostics);
}

/// `shared tile: T[TILE, TILE + 1]`, `local a: T[16]`.
void DeclarationChecker::storage(const ast::StorageStmt &stmt,
                                 StatementList &into) {
  llvm::StringRef what = stmt.isShared ? "shared" : "local";
  if (place != Place::Kernel)
    return misplaced(stmt.span, what);
  const auto *tensor = llvm::dyn_cast<ast::TensorType>(stmt.type);
  std::optional<ScalarType> element =
      scalarType(tensor ? tensor->element : stmt.type);
  llvm::SmallVector<const Expression *, 4> extents;
  bool isValid = element.has_value();
  for (const ast::Dimension &row : tensor &&isValid
                                       ? tensor->dimensions
                                       : llvm::ArrayRef<ast::Dimension>()) {
    const Expression *extent = nullptr;
    if (row.kind == ast::Dimension::Kind::Extent)
      extent = fold(checkInteger(row.extent));
    else if (row.kind == ast::Dimension::Kind::Axis && !row.extent)
      extent = fold(coerce(nameValue(row.name), ScalarType::integer()));
    if (extent && !isCompileTimeValue(extent)) {
      report(row.span, diag::StorageExtent, what)
          .hint("write a number or a compile-time parameter, `[TILE: int = "
                "32]`");
      extent = nullptr;
    }
    const auto *known = llvm::dyn_cast_or_null<ConstantExpression>(extent);
    if (known && !isSilent &&
        !isGoodExtent(stmt.name.text(), known->value.integer, row.span,
                      module.diagnostics))
      extent = nullptr;
    isValid &= extent != nullptr;
    extents.push_back(extent);
  }
  if (isValid && !isSilent)
    isValid = isGoodSize(stmt, onlyElement(maskOf(*element)), extents,
                         module.diagnostics);
  if (!isValid) {
    hasFailed = true;
    define(stmt.name.text(), Binding{});
    return;
  }
  auto *node = makeStatement<StorageStatement>(stmt.span);
  node->variable = patternVariable(stmt.name, types.array(*element, extents),
                                   VariableKind::Storage);
  node->isShared = stmt.isShared;
  if (node->variable)
    into.push_back(node);
}
