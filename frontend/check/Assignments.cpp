// Assignments to variables, elements of arrays, and `mut` parameters.
#include "frontend/check/Lists.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

void DeclarationChecker::assign(const ast::AssignStmt &stmt,
                                StatementList &into) {
  if (stmt.targets.size() != 1)
    return assignTuple(stmt, into);
  const ast::Expr *target = ast::withoutParens(stmt.targets.front());
  if (llvm::isa<ast::IndexExpr>(target))
    return store(stmt, into);
  assignVariable(target, stmt, into);
}

/// Says what to write instead of an assignment to what cannot be assigned.
void DeclarationChecker::refuseTarget(const ast::Expr *target,
                                      const Variable &variable) {
  const auto *parameter = llvm::find_if(parameters, [&](const Parameter &row) {
    return row.variable == &variable;
  });
  bool isWhole = parameter != parameters.end() && parameter->isTensor &&
                 place == Place::Lifted;
  // One mistake, one error: later assignments of the name are not blamed.
  if (!isSilent && !refusedTargets.insert(&variable).second) {
    hasFailed = true;
    return;
  }
  auto report = this->report(target->span, diag::AssignToLet, variable.name);
  report.label(variable.span, "defined here");
  bool isParameter = variable.kind == VariableKind::Parameter;
  if (variable.kind == VariableKind::Let)
    report.hint("define it with `var`");
  else if (isWhole && results.empty())
    report.hint(("a parameter that is written is `mut`: `" + variable.name +
                 ": mut " + parameter->text + "`")
                    .str());
  else if (place == Place::Kernel && !variable.type->isScalar())
    report.hint("a thread writes elements: `" +
                nameOfElement(variable.name, *variable.type) + " = …`");
  else if (isParameter && loops != 0)
    report.hint(("`" + variable.name +
                 "` is a parameter; before the loop begin a variable with it: "
                 "`var y = " +
                 variable.name + "`")
                    .str());
  else if (isParameter)
    report.hint(("`" + variable.name +
                 "` is a parameter; name the new value: `let y = …`")
                    .str());
}

/// The variable that may be assigned by this name; reports why not.
const Variable *DeclarationChecker::assignable(const ast::Expr *target) {
  const auto *name = llvm::dyn_cast<ast::NameExpr>(ast::withoutParens(target));
  if (!name) {
    hasFailed = true;
    if (!llvm::isa<ast::ErrorExpr>(target))
      report(target->span, diag::NotAssignable)
          .hint(llvm::isa<ast::MemberExpr>(target)
                    ? "a part of a reduction returns the whole state: "
                      "`return (x, s.at)`"
                    : "");
    return nullptr;
  }
  Binding *binding = lookup(name->name().text());
  if (!binding) {
    reportUnknown(name->name(), "a new name is declared: `let " +
                                    name->name().text().str() + " = …`");
    return nullptr;
  }
  if (binding->kind == Binding::Kind::Poison) {
    hasFailed = true;
    return nullptr;
  }
  const Variable *variable = binding->variable;
  if (!variable) {
    auto report =
        this->report(target->span, diag::AssignToLet, name->name().text());
    if (binding->span.valid())
      report.label(binding->span, "defined here");
    if (binding->kind == Binding::Kind::Alias)
      report.hint("define it with `var`");
    return nullptr;
  }
  if (variable->kind == VariableKind::Var)
    return variable;
  const auto *parameter = llvm::find_if(parameters, [&](const Parameter &row) {
    return row.variable == variable;
  });
  bool isWhole = parameter != parameters.end() && parameter->isTensor &&
                 place == Place::Lifted;
  if (isWhole && parameter->isMutable)
    return variable;
  refuseTarget(target, *variable);
  return nullptr;
}

/// The `mut` parameter that a variable of lifted text is, or is written for;
/// null for others.
const Parameter *
DeclarationChecker::mutableParameter(const Variable &variable) const {
  const auto *found = llvm::find_if(parameters, [&](const Parameter &row) {
    return row.variable == parameterOf(&variable);
  });
  return found == parameters.end() ? nullptr : found;
}

/// In lifted text a variable depends on all that its values and the conditions
/// around its assignments depend on; what comes later is learned for the next
/// pass over the body.
void DeclarationChecker::noteAxes(const Variable &variable, AxisList axes) {
  axes = unite(axes, controlAxes);
  auto &known = widened[variable.span.begin];
  for (AxisId axis : axes) {
    if (contains(variable.type->axes, axis) || llvm::is_contained(known, axis))
      continue;
    known.push_back(axis);
    hasWidened = true;
  }
}

const Expression *DeclarationChecker::valueFor(const Variable &target,
                                               const Expression *value) {
  if (!value || !usable(value))
    return nullptr;
  if (target.type->isScalar()) {
    value = coerce(asScalar(value), target.type->scalar);
    if (!value || place != Place::Lifted)
      return value;
    if (const Parameter *parameter = mutableParameter(target))
      return fitsAxes(value, parameter->dimensions, target.span) ? value
                                                                 : nullptr;
    noteAxes(target, value->axes());
    return value;
  }
  if (target.type->isList() && target.type->elements.front()->isTensor()) {
    ScalarType element = target.type->elements.front()->scalar;
    return ListChecker(*this).as(value, element, "list of " + spell(element));
  }
  if (value->type->kind == target.type->kind)
    return value;
  report(value->span, diag::TypeMismatch, source(value->span), spell(value),
         target.name);
  return nullptr;
}

void DeclarationChecker::assignVariable(const ast::Expr *target,
                                        const ast::AssignStmt &stmt,
                                        StatementList &into) {
  const Variable *variable = assignable(target);
  // A whole tensor that threads assign has a whole tensor's value.
  if (!variable && place == Place::Kernel)
    return;
  const Expression *value = check(stmt.value);
  if (!variable)
    return;
  if (value && stmt.isCompound)
    value = makeBinary(typedOperator(stmt.op), stmt.span, stmt.span,
                       variableValue(*variable, target->span), value);
  value = valueFor(*variable, value);
  if (!value) {
    hasFailed = true;
    // One mistake, one error: further uses of the variable are not blamed.
    if (Binding *binding = lookup(variable->name))
      binding->kind = Binding::Kind::Poison;
    return;
  }
  if (variable->kind == VariableKind::Var)
    axisOrders.define(*variable, value, axes);
  auto *node = makeStatement<AssignStatement>(stmt.span);
  node->targets = builder.list(llvm::ArrayRef(variable));
  node->value = value;
  into.push_back(node);
}

void DeclarationChecker::assignTuple(const ast::AssignStmt &stmt,
                                     StatementList &into) {
  llvm::SmallVector<const Variable *, 4> targets;
  for (const ast::Expr *target : stmt.targets)
    targets.push_back(assignable(target));
  const Expression *value = check(stmt.value);
  if (!value || llvm::is_contained(targets, nullptr))
    return;
  if (!value->type->isTuple()) {
    report(value->span, diag::NotATuple, targets.size());
    return;
  }
  if (value->type->elements.size() != targets.size()) {
    report(stmt.span, diag::TupleLength, targets.size(),
           value->type->elements.size());
    return;
  }
  for (auto [number, target] : llvm::enumerate(targets)) {
    const Type *given = value->type->elements[number];
    if (!sameType(given->scalar, target->type->scalar)) {
      report(value->span, diag::TypeMismatch, source(value->span),
             spell(given->scalar), spell(target->type->scalar));
      return;
    }
    if (place != Place::Lifted)
      continue;
    if (const Parameter *parameter = mutableParameter(*target)) {
      if (!fitsAxes(elementOf(value, number), parameter->dimensions,
                    target->span))
        return;
      continue;
    }
    noteAxes(*target, given->axes);
    axisOrders.define(*target, value, axes, static_cast<int>(number));
  }
  auto *node = makeStatement<AssignStatement>(stmt.span);
  node->targets = builder.list(targets);
  node->value = value;
  into.push_back(node);
}

/// `tile[y, x] = v`, `dst[i] += v`.
void DeclarationChecker::store(const ast::AssignStmt &stmt,
                               StatementList &into) {
  const auto &target =
      *llvm::cast<ast::IndexExpr>(ast::withoutParens(stmt.targets.front()));
  const Expression *place = check(&target);
  const Expression *value = check(stmt.value);
  if (!place || !value)
    return;
  const auto *load = llvm::dyn_cast<LoadExpression>(place);
  const auto *base =
      load ? llvm::dyn_cast<VariableExpression>(load->base) : nullptr;
  if (!base || this->place == Place::Lifted) {
    std::string hint;
    if (this->place == Place::Host)
      hint = "an `op` writes by calls: of a `kernel`, of a `rowwise` with "
             "`scatter`";
    else if (base)
      hint = ("the whole is assigned, `" + base->variable->name +
              " = …`; single places are `scatter`'s")
                 .str();
    report(target.span, diag::NotAssignable).hint(hint);
    return;
  }
  bool isParameter = base->variable->kind == VariableKind::Parameter;
  const auto *parameter = llvm::find_if(parameters, [&](const Parameter &row) {
    return row.variable == base->variable;
  });
  if (isParameter && !parameter->isMutable) {
    report(target.span, diag::NotMutable, base->variable->name)
        .label(base->variable->span, "declared here without `mut`");
    return;
  }
  if (!usable(value))
    return;
  value = coerce(asScalar(value), load->scalar());
  if (!value)
    return;
  auto *node = makeStatement<StoreStatement>(stmt.span);
  node->place = load;
  node->value = value;
  if (stmt.isCompound) {
    node->op = typedOperator(stmt.op);
    if (!operatorApplies(*node->op, load->scalar(), stmt.span))
      return;
  }
  into.push_back(node);
}
