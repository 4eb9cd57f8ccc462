// Calls of builtins in scalar and lifted text.
#include "frontend/check/Extents.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

const Expression *DeclarationChecker::builtinCall(const ast::CallExpr &expr,
                                                  Builtin builtin) {
  if (module.names)
    module.noteBuiltin(module.text(expr.callee->span), builtin);
  switch (builtinInfo(builtin).group) {
  case BuiltinGroup::Scalar:
    if (builtin == Builtin::Require)
      return requirement(expr);
    return builtin == Builtin::Bitcast ? bitcast(expr)
                                       : scalarBuiltin(expr, builtin);
  case BuiltinGroup::TypeValue:
    return typeValue(expr, builtin);
  case BuiltinGroup::Position:
    return position(expr, builtin);
  case BuiltinGroup::Thread:
    return threadBuiltin(expr, builtin);
  case BuiltinGroup::Atomic:
    return atomic(expr, builtin);
  case BuiltinGroup::Memory:
    return memoryBuiltin(expr, builtin);
  case BuiltinGroup::Host:
    return hostBuiltin(expr, builtin);
  case BuiltinGroup::View:
    break;
  }
  llvm_unreachable("views are methods");
}

/// What `re`, `abs` and their like of complex values yield.
static ScalarType resultOf(const BuiltinInfo &info, ScalarType operand) {
  switch (info.result) {
  case BuiltinResult::Same:
  case BuiltinResult::Special:
  case BuiltinResult::Void:
    return operand;
  case BuiltinResult::Bool:
    return ScalarType::boolean();
  case BuiltinResult::Int:
    return ScalarType::integer();
  case BuiltinResult::Real:
    return operand.component();
  }
  llvm_unreachable("all kinds of result are known");
}

const Expression *DeclarationChecker::scalarBuiltin(const ast::CallExpr &expr,
                                                    Builtin builtin) {
  const BuiltinInfo &info = builtinInfo(builtin);
  llvm::StringRef name = info.spelling;
  if (!operandCount(expr, name, info.operands))
    return nullptr;
  llvm::SmallVector<const Expression *, 4> values;
  for (const ast::Argument &argument : expr.arguments) {
    const Expression *value = checkScalarOrAligned(argument.value);
    if (!value)
      return nullptr;
    values.push_back(value);
  }
  for (const Expression *&value : llvm::drop_begin(values))
    if (!unify(values.front(), value, expr.span, name))
      return nullptr;
  // Later operands may have given the first its type.
  for (const Expression *&value : values) {
    bool wantsFloat = info.constraint == Constraint::Float;
    if (isWeak(value) && wantsFloat)
      value = coerce(value, ScalarType::concrete(ElementType::F32));
    else if (isWeak(value))
      value = settle(value);
    else if (value != values.front() &&
             !unify(values.front(), value, expr.span, name))
      return nullptr;
    if (!value)
      return nullptr; // a literal that no type holds
  }
  ScalarType type = values.front()->scalar();
  for (const Expression *value : values)
    type = joinTypes(type, value->scalar());
  ElementMask allowed = check::maskOf(info.constraint);
  if (builtin == Builtin::Min || builtin == Builtin::Max)
    allowed &= ~check::maskOf(Constraint::Complex);
  if (Extents(*this).refuseOperand(values.front(), allowed, name))
    return nullptr;
  if (!requireMask(type, allowed, expr.span, name))
    return nullptr;
  ScalarType result = resultOf(info, type);
  if (builtin == Builtin::MakeComplex)
    result = type.complex();
  const Type *resultType = pointwise(result, values);
  if (!resultType)
    return nullptr;
  auto *node = make<BuiltinExpression>(expr.span, resultType);
  node->builtin = builtin;
  node->operands = builder.list(values);
  return node;
}

/// `bitcast[T](x)`: the same bits as another type of the same width.
const Expression *DeclarationChecker::bitcast(const ast::CallExpr &expr) {
  if (expr.brackets.size() != 1 || !typeNamed(expr.brackets[0].value)) {
    report(expr.callee->span, diag::ConstantArgument, "bitcast",
           "one type in brackets");
    return nullptr;
  }
  ScalarType type = *typeNamed(expr.brackets[0].value);
  if (!operandCount(expr, "bitcast", 1))
    return nullptr;
  const Expression *value = settle(checkScalar(expr.arguments[0].value));
  if (!value)
    return nullptr;
  std::optional<ElementType> from = onlyElement(maskOf(value->scalar()));
  std::optional<ElementType> to = onlyElement(maskOf(type));
  if (from && to && bitsOf(*from) != bitsOf(*to)) {
    report(expr.span, diag::BitcastWidth, bitsOf(*from), bitsOf(*to))
        .label(value->span, "`" + spell(value->scalar()) + "`");
    return nullptr;
  }
  auto *node =
      make<BuiltinExpression>(expr.span, types.scalar(type, value->axes()));
  node->builtin = Builtin::Bitcast;
  node->operands = builder.list(llvm::ArrayRef(value));
  node->typeArgument = type;
  return node;
}

/// `require(i, C)`: `i`, or an error of the call that it is no position of `C`.
const Expression *
DeclarationChecker::positionRequirement(const ast::CallExpr &expr) {
  const ast::Expr *written = ast::withoutParens(expr.arguments[1].value);
  const auto *name = llvm::dyn_cast<ast::NameExpr>(written);
  const Binding *binding = name ? lookup(name->name().text()) : nullptr;
  AxisId axis;
  if (binding && binding->kind == Binding::Kind::Axis)
    axis = AxisId{static_cast<std::uint16_t>(binding->index)};
  if (!axis.valid() || axes[axis.index].pack ||
      axes[axis.index].kind == AxisKind::Local) {
    report(written->span, diag::ConstantArgument,
           builtinInfo(Builtin::Require).spelling,
           "an axis behind a position, or a condition and a text");
    return nullptr;
  }
  const Expression *value =
      checkAs(expr.arguments[0].value, ScalarType::integer());
  if (!value)
    return nullptr;
  auto *extent = make<BuiltinExpression>(written->span,
                                         types.scalar(ScalarType::integer()));
  extent->builtin = Builtin::Size;
  extent->axis = axis;
  auto *node = make<BuiltinExpression>(expr.span, value->type);
  node->builtin = Builtin::Require;
  node->operands =
      builder.list(llvm::ArrayRef<const Expression *>{value, extent});
  node->text = name->name().text();
  return node;
}

/// `require(x, x >= 0, "x is negative")`: `x`, or an error of the call.
const Expression *DeclarationChecker::requirement(const ast::CallExpr &expr) {
  llvm::StringRef name = builtinInfo(Builtin::Require).spelling;
  if (expr.arguments.size() == 2)
    return positionRequirement(expr);
  if (!operandCount(expr, name, 3))
    return nullptr;
  const auto *text = llvm::dyn_cast<ast::StringExpr>(
      ast::withoutParens(expr.arguments[2].value));
  if (!text) {
    report(expr.arguments[2].value->span, diag::ConstantArgument, name,
           "a text in quotes behind the condition");
    return nullptr;
  }
  const Expression *value =
      settle(checkScalarOrAligned(expr.arguments[0].value));
  const Expression *holds =
      checkAs(expr.arguments[1].value, ScalarType::boolean());
  if (!value || !holds)
    return nullptr;
  const Type *type = pointwise(value->scalar(), {value, holds});
  if (!type)
    return nullptr;
  auto *node = make<BuiltinExpression>(expr.span, type);
  node->builtin = Builtin::Require;
  node->operands = builder.list(llvm::ArrayRef{value, holds});
  node->text = text->value;
  return node;
}

/// `lowest(T)`, `bitwidth(T)`.
const Expression *DeclarationChecker::typeValue(const ast::CallExpr &expr,
                                                Builtin builtin) {
  const BuiltinInfo &info = builtinInfo(builtin);
  std::optional<ScalarType> type;
  if (expr.arguments.size() == 1)
    type = typeNamed(expr.arguments[0].value);
  if (!type) {
    report(expr.span, diag::ConstantArgument, info.spelling,
           "one type in parentheses");
    return nullptr;
  }
  ElementMask allowed = check::maskOf(info.constraint);
  if (builtin == Builtin::Lowest || builtin == Builtin::Highest)
    allowed &= ~check::maskOf(Constraint::Complex);
  if (!requireMask(*type, allowed, expr.span, info.spelling))
    return nullptr;
  bool isCount = info.result == BuiltinResult::Int;
  auto *node = make<BuiltinExpression>(
      expr.span, isCount ? types.integer() : types.scalar(*type));
  node->builtin = builtin;
  node->typeArgument = *type;
  return isCount ? fold(node) : node;
}

/// `index(C)`, `size(*S)`, `index()`.
const Expression *DeclarationChecker::position(const ast::CallExpr &expr,
                                               Builtin builtin) {
  bool isIndex = builtin == Builtin::Index;
  llvm::StringRef name = builtinInfo(builtin).spelling;
  if (isIndex && place != Place::Lifted) {
    report(expr.span, diag::IndexOutsideLifted, keyword(declaration.kind));
    return nullptr;
  }
  AxisId axis;
  bool isElementwise = declaration.kind == DeclarationKind::Elementwise;
  bool isLinear = isIndex && expr.arguments.empty() && isElementwise;
  if (!isLinear) {
    if (!operandCount(expr, name, 1))
      return nullptr;
    const ast::Expr *argument = ast::withoutParens(expr.arguments[0].value);
    if (const auto *plain = llvm::dyn_cast<ast::NameExpr>(argument))
      axis = axisNamed(plain->name());
    else if (const auto *pack = llvm::dyn_cast<ast::PackExpr>(argument);
             pack && !pack->function)
      axis = axisNamed(pack->name);
    else
      report(argument->span, diag::UnknownAxis, source(argument->span));
    if (!axis.valid())
      return nullptr;
  }
  AxisList over;
  if (isIndex && axis.valid())
    over = builder.list(llvm::ArrayRef(axis));
  // The extent of a ragged local axis depends on what its bounds depend on.
  if (!isIndex && axes[axis.index].kind == AxisKind::Local)
    over = uniteAll({axes[axis.index].lower, axes[axis.index].upper});
  auto *node = make<BuiltinExpression>(
      expr.span, types.scalar(ScalarType::integer(), over));
  node->builtin = builtin;
  node->axis = axis;
  return node;
}

const Expression *DeclarationChecker::presence(const ast::CallExpr &expr) {
  if (!operandCount(expr, "present", 1))
    return nullptr;
  const auto *name = llvm::dyn_cast<ast::NameExpr>(
      ast::withoutParens(expr.arguments[0].value));
  Binding *binding = name ? lookup(name->name().text()) : nullptr;
  if (name && !binding) {
    reportUnknown(name->name());
    return nullptr;
  }
  const Variable *variable = binding ? parameterOf(binding->variable) : nullptr;
  if (binding && binding->kind == Binding::Kind::Poison)
    return nullptr;
  if (!variable || !variable->isOptional) {
    Span span = expr.arguments[0].value->span;
    report(span, diag::PresentOfNonOptional, source(span));
    return nullptr;
  }
  if (knownPresent.contains(variable))
    return booleanConstant(expr.span, true);
  if (knownAbsent.contains(variable))
    return booleanConstant(expr.span, false);
  auto *node = make<PresentExpression>(expr.span, types.boolean());
  node->variable = variable;
  return node;
}

/// `is_float(T)`.
const Expression *DeclarationChecker::kindTest(const ast::CallExpr &expr,
                                               Constraint constraint) {
  std::optional<ScalarType> type;
  if (expr.arguments.size() == 1)
    type = typeNamed(expr.arguments[0].value);
  if (!type) {
    report(expr.span, diag::ConstantArgument, source(expr.callee->span),
           "one type in parentheses");
    return nullptr;
  }
  ElementMask possible = maskOf(*type), wanted = check::maskOf(constraint);
  if (!(possible & ~wanted))
    return booleanConstant(expr.span, true);
  if (!(possible & wanted))
    return booleanConstant(expr.span, false);
  auto *node = make<TypeTestExpression>(expr.span, types.boolean());
  node->tested = *type;
  node->againstConstraint = true;
  node->constraint = constraint;
  return node;
}

/// What another language's member is here; empty when it is none.
static llvm::StringRef foreignMember(llvm::StringRef name) {
#define QN_FOREIGN_MEMBER(foreign, text)                                       \
  if (name == foreign)                                                         \
    return text;
#include "frontend/check/ForeignMembers.def"
  return {};
}

void DeclarationChecker::reportNoMember(const Expression *value,
                                        const ast::Identifier &member) {
  std::string what = "a value of type `" + spell(value) + "`";
  auto report =
      this->report(member.span, diag::UnknownMember, what, member.text());
  const Symbol *symbol = module.lookup(member.text());
  if (symbol && symbol->reduction)
    report.hint("write `" + member.text() + "(… over C)`");
  else if (symbol && symbol->callable)
    report.hint("write `" + member.text() + "(…)`");
  else if (llvm::StringRef hint = foreignMember(member.text()); !hint.empty())
    report.hint(hint);
  else if (viewNamed(member.text()))
    report.hint("views are taken in an `op`");
}

/// `s.mean`, `thread.x`, `target.is_gpu`, `const` fields there are none.
const Expression *DeclarationChecker::memberValue(const ast::MemberExpr &expr) {
  const auto *base = llvm::dyn_cast<ast::NameExpr>(expr.base);
  bool isFree = base && !names.count(base->name().text());
  if (isFree && base->name().text() == "target")
    return targetQuery(expr.member, expr.span, nullptr);
  std::optional<Builtin> builtin =
      isFree ? builtinNamed(base->name().text()) : std::nullopt;
  if (builtin && builtinInfo(*builtin).group == BuiltinGroup::Thread)
    return threadPosition(expr, *builtin);
  if (isFree && isForeignModule(base->name(), expr.member.text()))
    return nullptr;
  const Expression *value = check(expr.base);
  if (!value)
    return nullptr;
  if (value->type->isTuple())
    return field(value, expr.member, expr.span);
  reportNoMember(value, expr.member);
  return nullptr;
}

const Expression *DeclarationChecker::targetQuery(const ast::Identifier &member,
                                                  Span span,
                                                  const ast::CallExpr *call) {
  struct Row {
    llvm::StringLiteral name;
    TargetQuery query;
    bool isBoolean, takesType;
  };
  static constexpr Row rows[] = {
      {"is_gpu", TargetQuery::IsGpu, true, false},
      {"warp_size", TargetQuery::WarpSize, false, false},
      {"row_lanes", TargetQuery::RowLanes, false, false},
      {"vector_width", TargetQuery::VectorWidth, false, true},
      {"has_mma", TargetQuery::HasMma, true, true},
  };
  Suggestion suggestion(member.text());
  for (const Row &row : rows) {
    suggestion.consider(row.name);
    if (row.name != member.text())
      continue;
    std::optional<ScalarType> type;
    if (call && call->arguments.size() == 1)
      type = typeNamed(call->arguments[0].value);
    if (row.takesType != type.has_value() || (call && !row.takesType)) {
      report(span, diag::ConstantArgument, row.name,
             row.takesType ? "one type in parentheses" : "no arguments");
      return nullptr;
    }
    auto *node = make<TargetExpression>(span, row.isBoolean ? types.boolean()
                                                            : types.integer());
    node->query = row.query;
    node->argument = type.value_or(ScalarType::concrete(ElementType::F32));
    return node;
  }
  report(member.span, diag::UnknownMember, "`target`", member.text())
      .hint(suggestion.hint());
  return nullptr;
}

/// `torch.exp`, `tl.load`, `math.pi`: an unknown name, with what its member is
/// here.
bool DeclarationChecker::isForeignModule(const ast::Identifier &base,
                                         llvm::StringRef member) {
  if (names.count(base.text()) || module.lookup(base.text()) ||
      builtinNamed(base.text()))
    return false;
  std::string hint = foreignName(member).str();
  if (module.lookup(member) || builtinNamed(member))
    hint = ("names stand alone: write `" + member + "(…)`").str();
  if (hint.empty())
    return false;
  report(base.span, diag::UnknownName, base.text()).hint(hint);
  if (!isSilent)
    names.try_emplace(base.text(), Binding{});
  return true;
}

/// `x.at(…)`, `x.permute(…)`, `target.vector_width(T)`.
const Expression *
DeclarationChecker::methodCall(const ast::CallExpr &expr,
                               const ast::MemberExpr &member) {
  const auto *base = llvm::dyn_cast<ast::NameExpr>(member.base);
  bool isTarget = base && base->name().text() == "target" &&
                  !names.count(base->name().text());
  if (isTarget)
    return targetQuery(member.member, expr.span, &expr);
  llvm::StringRef method = member.member.text();
  if (base && isForeignModule(base->name(), method))
    return nullptr;
  const Expression *value = check(member.base);
  if (!value || !usable(value))
    return nullptr;
  bool isOffset = method == "offset" && place == Place::Lifted;
  if (method == "at" || isOffset)
    return at(expr, value, isOffset);
  std::optional<Builtin> view = viewNamed(member.member.text());
  if (view && value->type->isTensor())
    return viewCall(expr, value, *view);
  reportNoMember(value, member.member);
  return nullptr;
}
