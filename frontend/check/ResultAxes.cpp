// The axes of what is returned or assigned as a whole, and `expand(y over C)`.
#include "frontend/check/Over.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

/// What to do with an axis that the result does not have.
static std::string remainingHint(const std::string &axis, bool hasName) {
  if (!hasName)
    return "what has an extent and no name is read at single places, `x[0]`; "
           "with a name it is an axis: `x: T[C]`";
  return "remove it by a reduction `over " + axis +
         "`, or add it to the result";
}

/// "C + D" of the axis that `concat` made of those two; else empty.
static std::string joinedExtent(llvm::ArrayRef<Axis> axes, AxisId axis) {
  if (!axes[axis.index].name.ends_with("'"))
    return "";
  auto nameOf = [&](const Expression *size) {
    return axes[llvm::cast<BuiltinExpression>(size)->axis.index].name.str();
  };
  std::string names;
  const Expression *sum = axes[axis.index].upper;
  while (const auto *both = llvm::dyn_cast<BinaryExpression>(sum)) {
    names = " + " + nameOf(both->right) + names;
    sum = both->left;
  }
  return nameOf(sum) + names;
}

/// Reports an axis of a value that its place does not have.
bool DeclarationChecker::lacksAxis(const Expression *value, AxisId axis,
                                   Span declared) {
  // An axis that was named as a number may have brought this one in.
  hasFailed = true;
  if (!bareAxes.empty())
    return false;
  std::string joined = joinedExtent(axes, axis);
  std::string hint = remainingHint(spell(axis), !axes[axis.index].name.empty());
  if (!joined.empty())
    hint = "what `concat` joins is an axis of its own; name it in the result, "
           "with its extent: `D = " +
           joined + "`";
  report(value->span, diag::AxisRemains, joined.empty() ? spell(axis) : joined)
      .label(declared, "declared here")
      .hint(hint);
  return false;
}

/// A value that is stored as a whole has the axes of its place: no other ones,
/// and all of them unless it is one number for every element.
bool DeclarationChecker::fitsAxes(const Expression *value,
                                  llvm::ArrayRef<Dimension> dimensions,
                                  Span declared) {
  AxisList own = underControl(value->type)->axes, wanted;
  for (const Dimension &dimension : dimensions)
    wanted = unite(wanted, dimension.parts);
  for (AxisId axis : own)
    if (!contains(wanted, axis))
      return lacksAxis(value, axis, declared);
  if (value->axes().empty())
    return true;
  for (AxisId axis : wanted) {
    bool isNamed = axes[axis.index].kind != AxisKind::Fixed;
    if (!isNamed || contains(own, axis))
      continue;
    hasFailed = true;
    if (!bareAxes.empty())
      return false;
    bool isScatter = llvm::isa<ScatterExpression>(value);
    report(value->span, diag::AxisMissing, spell(axis))
        .label(declared, "declared here")
        .hint(isScatter
                  ? "all rows are combined into one; what `scatter` changes "
                    "needs the axis: a parameter or a `var` whose type has it"
                  : "where all places along it are the same: `expand(" +
                        source(value->span) + " over " + spell(axis) + ")`");
    return false;
  }
  return true;
}

/// `expand(y over C)`: the value also along axes on which it does not depend.
const Expression *DeclarationChecker::expand(const ast::CallExpr &expr) {
  if (place != Place::Lifted || !expr.over) {
    if (!expr.over)
      report(expr.span, diag::MissingOver, "expand");
    else
      report(expr.span, diag::NotCalledHere, "expand",
             keyword(declaration.kind));
    return nullptr;
  }
  if (!operandCount(expr, "expand", 1))
    return nullptr;
  Over over;
  const Expression *value = nullptr;
  bool isOpen = openOver(*expr.over, over);
  if (isOpen && over.where)
    report(expr.over->where->span, diag::UnknownArgument, "expand", "where");
  else if (isOpen)
    value = settle(checkScalar(expr.arguments[0].value));
  closeOver(over);
  if (!value)
    return nullptr;
  for (auto [axis, span] : llvm::zip(over.axes, over.spans)) {
    if (!variableAxes.count(axis.index))
      continue;
    report(span, diag::ExpandedAxis, spell(axis));
    return nullptr;
  }
  AxisList all = unite(value->axes(), builder.list(over.axes));
  auto *zero =
      make<ConstantExpression>(expr.span, types.scalar(value->scalar()));
  zero->value = Constant::ofInteger(0);
  auto *node =
      make<SelectExpression>(expr.span, types.scalar(value->scalar(), all));
  node->condition = booleanConstant(expr.span, true);
  node->left = value;
  node->right = zero;
  node->isConst = true;
  return node;
}
