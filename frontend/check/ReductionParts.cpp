// Declarations of reductions: states, step, merge and finish.
#include "frontend/check/Commutes.h"
#include "frontend/check/DeclarationChecker.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

void DeclarationChecker::checkReductionSignature(
    const ast::ReductionDecl &text) {
  auto *reduction = builder.make<Reduction>();
  declaration.reduction = reduction;
  reduction->stateType = reduction->resultType = types.integer();
  place = Place::Scalar;
  reductionStates(text, *reduction);
  // The parser has reported what is missing.
  if (text.step)
    stepOperands(*text.step, *reduction);
  reduction->hasFinish = text.finish != nullptr;
  reduction->resultType = reduction->stateType;
}

void DeclarationChecker::learnResult() {
  const auto *reduction = llvm::dyn_cast<ast::ReductionDecl>(&text);
  if (!reduction || !reduction->finish || declaration.hasError)
    return;
  adoptSignature();
  place = Place::Scalar;
  // Made by this object; handed out as const.
  reductionResult(*reduction->finish,
                  const_cast<Reduction &>(*declaration.reduction));
  declaration.hasError = hasFailed;
}

void DeclarationChecker::reductionStates(const ast::ReductionDecl &text,
                                         Reduction &reduction) {
  llvm::SmallVector<ReductionState, 4> states;
  llvm::SmallVector<const Type *, 4> elements;
  llvm::SmallVector<llvm::StringRef, 4> fieldNames;
  for (const ast::TypeField &field : text.state) {
    ReductionState state;
    state.name = field.name.text();
    std::optional<ScalarType> type = scalarType(field.type);
    if (type)
      state.type = *type;
    if (type && field.initial)
      state.initial = fold(checkAs(field.initial, *type));
    else if (type)
      report(field.type->span, diag::StateInitial, field.name.text());
    states.push_back(state);
    elements.push_back(types.scalar(state.type));
    fieldNames.push_back(state.name);
  }
  reduction.states = builder.list(states);
  if (text.stateIsTuple)
    reduction.stateType = types.tuple(elements, fieldNames);
  else if (!elements.empty())
    reduction.stateType = elements.front();
}

static bool isPosition(const ast::Param &param) {
  const auto *named = llvm::dyn_cast_if_present<ast::NamedType>(param.type);
  return named && named->name.text() == "index";
}

void DeclarationChecker::stepOperands(const ast::ReductionPart &step,
                                      Reduction &reduction) {
  if (step.params.empty()) {
    report(step.span, diag::StepState, "step", 2, 0);
    return;
  }
  llvm::SmallVector<const Type *, 4> operands;
  const ast::Param *position = nullptr;
  for (const ast::Param &param : llvm::drop_begin(step.params)) {
    if (isPosition(param)) {
      if (position)
        report(param.span, diag::PositionRepeated)
            .label(position->span, "the first is here");
      position = &param;
      continue;
    }
    if (!param.type) {
      report(param.span, diag::OperandType, param.name.text())
          .hint(("write `" + param.name.text() + ": T`").str());
      continue;
    }
    if (std::optional<ScalarType> type = scalarType(param.type))
      operands.push_back(types.scalar(*type));
  }
  reduction.operands = builder.list(operands);
}

/// What `finish` yields: its written type, or the type of what it returns,
/// which only its body tells.
void DeclarationChecker::reductionResult(const ast::ReductionPart &finish,
                                         Reduction &reduction) {
  if (!finish.result) {
    // Its body is checked later like all others; here it is read silently.
    bool wasSilent = isSilent;
    isSilent = learnsReturn = true;
    reductionPart(finish, reduction, "finish");
    learnsReturn = hasFailed = false;
    isSilent = wasSilent;
    if (returnType)
      reduction.resultType = returnType;
    return;
  }
  checkResults(finish.result);
  llvm::SmallVector<const Type *, 4> elements;
  llvm::SmallVector<llvm::StringRef, 4> fieldNames;
  for (const Result &result : results) {
    elements.push_back(types.scalar(result.element));
    if (!result.name.empty())
      fieldNames.push_back(result.name);
  }
  results.clear();
  if (fieldNames.size() != elements.size())
    fieldNames.clear();
  if (elements.size() == 1)
    reduction.resultType = elements.front();
  else if (!elements.empty())
    reduction.resultType = types.tuple(elements, fieldNames);
}

/// One part: its variables get their types from the states and operands.
typed::ReductionPart
DeclarationChecker::reductionPart(const ast::ReductionPart &text,
                                  const Reduction &reduction,
                                  llvm::StringRef name) {
  typed::ReductionPart part;
  part.span = text.span;
  std::size_t mark = openScope();
  unsigned states = name == "step" ? 1 : name == "merge" ? 2 : 1;
  llvm::SmallVector<const Variable *, 4> variables;
  const Type *const *operand = reduction.operands.begin();
  for (auto [number, param] : llvm::enumerate(text.params)) {
    bool isState = number < states;
    VariableKind kind = isState             ? VariableKind::State
                        : isPosition(param) ? VariableKind::Position
                                            : VariableKind::Operand;
    const Type *type = isState ? reduction.stateType : types.integer();
    if (kind == VariableKind::Operand && operand != reduction.operands.end())
      type = *operand++;
    variables.push_back(
        newVariable(param.name.text(), param.name.span, kind, type));
  }
  if (name != "step" && text.params.size() != states)
    report(text.keyword.span, diag::StepState, name, states,
           text.params.size());
  part.variables = builder.list(variables);
  returnType = name == "finish" ? reduction.resultType : reduction.stateType;
  if (learnsReturn)
    returnType = nullptr;
  part.body = block(text.body);
  if (!hasFailed && fallsThrough(part.body))
    report(text.keyword.span, diag::MissingReturn, name)
        .hint(returnHint(part.body));
  closeScope(mark);
  return part;
}

void DeclarationChecker::checkReductionBody(const ast::ReductionDecl &text) {
  place = Place::Scalar;
  // Made by this object; handed out as const.
  auto &reduction = const_cast<Reduction &>(*declaration.reduction);
  if (text.step)
    reduction.step = reductionPart(*text.step, reduction, "step");
  if (text.merge)
    reduction.merge = reductionPart(*text.merge, reduction, "merge");
  reduction.commutes = !hasFailed && commutes(reduction.merge);
  if (text.finish)
    reduction.finish = reductionPart(*text.finish, reduction, "finish");
}
