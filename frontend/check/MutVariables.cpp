// `mut` parameters of lifted text that are read after an assignment: variables
// that begin with the tensor's value and are stored where the text ends.
#include "frontend/check/DeclarationChecker.h"
#include "frontend/check/MutReads.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

/// The parameter that a variable is written for; else the variable itself.
const Variable *
DeclarationChecker::parameterOf(const Variable *variable) const {
  for (const MutVariable &each : mutVariables)
    if (each.variable == variable)
      return each.parameter;
  return variable;
}

/// One pass in silence tells which parameters need a variable. Texts that read
/// nothing they assigned go on without.
void DeclarationChecker::findMutVariables(const ast::Block &body) {
  bool hasMutable = llvm::any_of(
      parameters, [](const Parameter &each) { return each.isMutable; });
  if (!declaration.isLifted() || !hasMutable)
    return;
  std::size_t axisCount = axes.size();
  bool wasSilent = isSilent;
  auto known = names;
  isSilent = true;
  Block trial = block(body);
  for (const Variable *parameter : readAfterAssignment(trial, axes)) {
    Variable *variable = builder.make<Variable>(*parameter);
    variable->kind = VariableKind::Var;
    variable->id = declaration.variableCount++;
    variable->isOptional = false;
    mutVariables.push_back({parameter, variable});
    axisOrders.write(*variable, variable->type->axes);
  }
  axes.truncate(axisCount);
  extentChecks.clear();
  controlAxes = {};
  names = std::move(known);
  isSilent = wasSilent;
  hasFailed = false;
}

static const Expression *presenceOf(ModuleBuilder &builder,
                                    const Variable &parameter) {
  auto *present = builder.make<PresentExpression>(parameter.span,
                                                  builder.types().boolean());
  present->variable = &parameter;
  return present;
}

/// What the variable of a parameter begins with: 0 for an absent one.
static const Expression *beginOf(ModuleBuilder &builder,
                                 const Variable &parameter) {
  auto *value =
      builder.make<VariableExpression>(parameter.span, parameter.type);
  value->variable = &parameter;
  if (!parameter.isOptional)
    return value;
  auto *none = builder.make<ConstantExpression>(parameter.span, parameter.type);
  none->value = Constant::ofInteger(0);
  auto *chosen = builder.make<SelectExpression>(parameter.span, parameter.type);
  chosen->condition = presenceOf(builder, parameter);
  chosen->left = value;
  chosen->right = none;
  chosen->isConst = true;
  return chosen;
}

void DeclarationChecker::openMutVariables(StatementList &into) {
  for (const MutVariable &each : mutVariables) {
    names[each.parameter->name].variable = each.variable;
    auto *node = makeStatement<LetStatement>(each.parameter->span);
    node->variables = builder.list(llvm::ArrayRef(each.variable));
    node->value = beginOf(builder, *each.parameter);
    into.push_back(node);
  }
}

/// Written where the text ends: at each `return`, and behind the last
/// statement.
void DeclarationChecker::storeMutVariables(Span span, StatementList &into) {
  for (const MutVariable &each : mutVariables) {
    auto *value = make<VariableExpression>(span, each.variable->type);
    value->variable = each.variable;
    auto *node = makeStatement<AssignStatement>(span);
    node->targets = builder.list(llvm::ArrayRef(each.parameter));
    node->value = value;
    if (!each.parameter->isOptional) {
      into.push_back(node);
      continue;
    }
    auto *branch = makeStatement<IfStatement>(span);
    branch->condition = presenceOf(builder, *each.parameter);
    branch->isConst = true;
    branch->then = builder.list(llvm::ArrayRef<const Statement *>(node));
    into.push_back(branch);
  }
}

Block DeclarationChecker::wholeBody(const ast::Block &body) {
  if (mutVariables.empty())
    return block(body);
  llvm::SmallVector<const Statement *, 8> statements;
  openMutVariables(statements);
  Block inner = block(body);
  llvm::append_range(statements, inner);
  if (fallsThrough(inner))
    storeMutVariables(text.span, statements);
  return builder.list(statements);
}
