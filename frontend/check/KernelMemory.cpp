// Copies of neighbours and products of tiles: builtins whose operands are
// places in memory.
#include "frontend/check/DeclarationChecker.h"
#include "frontend/typed/MemoryCounts.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

/// What each operand of a builtin is: a place that is Read (or Else `outside`)
/// or Written, a Tile, a Factor (either), an Integer, or a Count.
static llvm::StringRef operandKinds(Builtin builtin) {
  switch (builtin) {
  case Builtin::Copy:
  case Builtin::CopyAsync:
    return "WEC";
  case Builtin::AwaitCopies:
    return "C";
  case Builtin::MultiplyTile:
  case Builtin::MultiplyTransposed:
    return "TFRCCC";
  case Builtin::TileRow:
  case Builtin::TileColumn:
  case Builtin::TileSlot:
    return "TIC";
  case Builtin::LoadTile:
    return "TRCC";
  case Builtin::StoreTile:
    return "WTCC";
  default:
    return "";
  }
}

/// The name of an array that may be a tile.
static bool isArrayOfOneAxis(const Expression &value) {
  const auto *name = llvm::dyn_cast<VariableExpression>(&value);
  return name && value.type->isArray() &&
         name->variable->kind == VariableKind::Storage &&
         value.type->extents.size() == 1;
}

/// `x[i, j]`: the element a builtin begins at. A factor may be a tile.
const Expression *DeclarationChecker::placeOperand(const ast::Expr *written,
                                                   llvm::StringRef user,
                                                   char kind) {
  const Expression *target = check(written);
  if (!target || (kind == 'F' && isArrayOfOneAxis(*target)))
    return target;
  const auto *load = llvm::dyn_cast<LoadExpression>(target);
  const auto *base =
      load ? llvm::dyn_cast<VariableExpression>(load->base) : nullptr;
  bool isWritten = kind == 'W';
  bool isPlain = base && !load->when && (!load->outside || kind == 'E');
  if (!isPlain) {
    bool isWhole = !target->type->isScalar();
    report(target->span, diag::PlaceNeeded, user)
        .hint(isWhole
                  ? "name the first one: `" +
                        nameOfElement(source(target->span), *target->type) + "`"
                  : "");
    return nullptr;
  }
  for (const Parameter &parameter : parameters)
    if (isWritten && parameter.variable == base->variable &&
        !parameter.isMutable) {
      report(target->span, diag::NotMutable, base->variable->name)
          .label(base->variable->span, "declared here without `mut`");
      return nullptr;
    }
  return load;
}

/// The name of a `local` array of floats.
const Expression *DeclarationChecker::tileOperand(const ast::Expr *written,
                                                  llvm::StringRef user) {
  const Expression *value = check(written);
  if (!value)
    return nullptr;
  if (!isArrayOfOneAxis(*value)) {
    report(value->span, diag::TileNeeded, user);
    return nullptr;
  }
  return value;
}

const Expression *DeclarationChecker::countGiven(const ast::Expr *written,
                                                 Builtin builtin) {
  llvm::StringRef user = builtinInfo(builtin).spelling;
  const Expression *value = fold(checkInteger(written));
  if (value && !isCompileTimeValue(value)) {
    report(value->span, diag::CountNotConstant, user);
    return nullptr;
  }
  const auto *known = llvm::dyn_cast_or_null<ConstantExpression>(value);
  if (known && !isSilent &&
      !isGoodCount(builtin, known->value.integer, value->span,
                   module.diagnostics))
    return hasFailed = true, nullptr;
  return value;
}

/// Whether a place has the axes that a copy or a tile goes along. A pack has as
/// many as the call says.
static bool hasAxes(const Expression *operand, Builtin builtin,
                    DiagnosticEngine &diagnostics) {
  const auto *load = llvm::dyn_cast<LoadExpression>(operand);
  bool isOpen = !load || llvm::any_of(load->positions, [](const auto *each) {
    return each->type->pack.valid();
  });
  return isOpen || isGoodRank(builtin, load->positions.size(), operand->span,
                              diagnostics);
}

/// `copy(tile[r, 4 * c], x[i, 4 * j], 4)`, `mma(sums, a[i, k], b[k, j], 16, 16,
/// 16)`.
const Expression *DeclarationChecker::memoryBuiltin(const ast::CallExpr &expr,
                                                    Builtin builtin) {
  const BuiltinInfo &info = builtinInfo(builtin);
  if (!standsIn(Place::Kernel, expr.span, info.spelling))
    return nullptr;
  llvm::StringRef kinds = operandKinds(builtin);
  if (!operandCount(expr, info.spelling, kinds.size()))
    return nullptr;
  llvm::SmallVector<const Expression *, 6> operands;
  const Expression *first = nullptr; // the place read, whose type others have
  for (auto [kind, argument] : llvm::zip(kinds, expr.arguments)) {
    const Expression *operand =
        kind == 'T'   ? tileOperand(argument.value, info.spelling)
        : kind == 'I' ? checkInteger(argument.value)
        : kind == 'C' ? countGiven(argument.value, builtin)
                      : placeOperand(argument.value, info.spelling, kind);
    if (!operand)
      return nullptr;
    if (!isSilent && !hasAxes(operand, builtin, module.diagnostics))
      return hasFailed = true, nullptr;
    operands.push_back(operand);
    bool isFactor =
        kind == 'R' || kind == 'F' || kind == 'E' || kinds.contains('E');
    isFactor &= kind != 'C';
    if (isFactor && first && first->scalar() != operand->scalar()) {
      report(operand->span, diag::TypeMismatch, source(operand->span),
             spell(operand->scalar()), spell(first->scalar()));
      return nullptr;
    }
    if (isFactor)
      first = operand;
    if (kind != 'C' && kind != 'I' &&
        !requireMask(operand->scalar(), check::maskOf(info.constraint),
                     operand->span, info.spelling))
      return nullptr;
  }
  auto *node = make<BuiltinExpression>(
      expr.span,
      info.result == BuiltinResult::Int ? types.integer() : types.voidType());
  node->builtin = builtin;
  node->operands = builder.list(operands);
  return node;
}
