// Axis sets of expressions: unions in order of first appearance.
#include "frontend/check/DeclarationChecker.h"
#include "frontend/typed/Walk.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

bool DeclarationChecker::contains(AxisList axes, AxisId axis) const {
  return llvm::is_contained(axes, axis);
}

AxisList DeclarationChecker::unite(AxisList a, AxisList b) {
  bool adds = llvm::any_of(b, [&](AxisId axis) { return !contains(a, axis); });
  if (!adds)
    return a;
  if (a.empty())
    return b;
  llvm::SmallVector<AxisId, 8> all(a);
  for (AxisId axis : b)
    if (!contains(all, axis))
      all.push_back(axis);
  return builder.list(all);
}

/// Axes of tuples are those of all their elements.
static void collect(const Type *type, llvm::SmallVectorImpl<AxisId> &all) {
  for (AxisId axis : type->axes)
    if (!llvm::is_contained(all, axis))
      all.push_back(axis);
  if (type->isTuple())
    for (const Type *element : type->elements)
      collect(element, all);
}

AxisList DeclarationChecker::uniteAll(Expressions values) {
  AxisList all;
  for (const Expression *value : values) {
    if (!value)
      continue;
    if (!value->type->isTuple()) {
      all = unite(all, value->axes());
      continue;
    }
    llvm::SmallVector<AxisId, 8> inner;
    collect(value->type, inner);
    all = unite(all, builder.list(inner));
  }
  return all;
}

AxisList DeclarationChecker::without(AxisList axes, AxisList removed) {
  llvm::SmallVector<AxisId, 8> rest;
  for (AxisId axis : axes)
    if (!contains(removed, axis))
      rest.push_back(axis);
  return rest.size() == axes.size() ? axes : builder.list(rest);
}

AxisId DeclarationChecker::rankRoot(AxisId axis) const {
  while (axes[axis.index].rankOf.valid() && axes[axis.index].rankOf != axis)
    axis = axes[axis.index].rankOf;
  return axis;
}

/// Packs that meet in one expression have the same number of axes, like `*S`
/// and
/// `*K` in a convolution's extent; the later one follows the earlier.
void DeclarationChecker::alignPacks(AxisId a, AxisId b) {
  a = rankRoot(a);
  b = rankRoot(b);
  if (a != b)
    axes[std::max(a.index, b.index)].rankOf.index = std::min(a.index, b.index);
}

/// The pack that pack-aligned operands align with; invalid when none does.
AxisId DeclarationChecker::jointPack(Expressions operands) {
  AxisId pack;
  for (const Expression *operand : operands) {
    AxisId other = operand->type->pack;
    if (!other.valid())
      continue;
    if (pack.valid())
      alignPacks(pack, other);
    pack = rankRoot(other);
  }
  if (pack.valid() && place == Place::Lifted)
    for (const Expression *operand : operands)
      if (!operand->type->pack.valid())
        reportWholePack(operand);
  return pack;
}

/// `*index(S) < size(*S)`: the product of all extents where each axis has a
/// value of its own.
void DeclarationChecker::reportWholePack(const Expression *operand) {
  typed::walk(operand, [&](const Expression &e) {
    const auto *builtin = llvm::dyn_cast<BuiltinExpression>(&e);
    bool isWhole = builtin && builtin->axis.valid() &&
                   builtin->axis.index < axes.size() &&
                   axes[builtin->axis.index].pack &&
                   (builtin->builtin == Builtin::Size ||
                    builtin->builtin == Builtin::Index);
    if (!isWhole || isSilent)
      return;
    llvm::StringRef name = axes[builtin->axis.index].name;
    llvm::StringRef form = builtinInfo(builtin->builtin).spelling;
    std::string each = ("*" + form + "(" + name + ")").str();
    module.diagnostics
        .report(e.span, diag::WholePack, (form + "(*" + name + ")").str())
        .hint("for each axis it is `" + each + "`")
        .fix(e.span, each);
  });
}

const Type *DeclarationChecker::pointwise(ScalarType scalar,
                                          Expressions operands) {
  return types.scalar(scalar, uniteAll(operands), jointPack(operands));
}

/// Puts axes of a value in the order that positions count them in; reports two
/// that have none.
bool DeclarationChecker::putInOrder(const Expression *value,
                                    llvm::MutableArrayRef<AxisId> list,
                                    llvm::StringRef user,
                                    llvm::StringRef hint) {
  std::optional<UnorderedAxes> found = axisOrders.sort(value, list, axes);
  if (!found)
    return true;
  std::string all;
  for (AxisId axis : list)
    all += (all.empty() ? "" : ", ") + spell(axis);
  std::string type = spell(value->scalar()) + "[" + all + "]";
  report(value->span, diag::AxesUnordered, user, spell(found->first),
         spell(found->second),
         found->isContradiction ? "come in both orders" : "have no order")
      .hint(hint + ", or name the value with its type: `let y: " + type +
            " = …`");
  return false;
}
