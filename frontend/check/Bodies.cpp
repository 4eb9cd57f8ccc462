// Runs over a declaration's body, in as many passes as it takes.
#include "frontend/check/AttributeChecker.h"
#include "frontend/check/Divided.h"
#include "frontend/check/MutReads.h"
#include "frontend/check/Presence.h"
#include "frontend/typed/AlongLocal.h"
#include "frontend/typed/Rounds.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

static Place placeOf(DeclarationKind kind) {
  switch (kind) {
  case DeclarationKind::Function:
  case DeclarationKind::Reduction:
    return Place::Scalar;
  case DeclarationKind::Elementwise:
  case DeclarationKind::Rowwise:
    return Place::Lifted;
  case DeclarationKind::Kernel:
    return Place::Kernel;
  case DeclarationKind::Op:
    return Place::Host;
  }
  llvm_unreachable("all kinds of declaration have a body");
}

static bool hasVariables(const ast::Block &block) {
  return llvm::any_of(block.statements, [](const ast::Stmt *stmt) {
    return llvm::isa<ast::VarStmt>(stmt) || llvm::isa<ast::IfStmt>(stmt) ||
           llvm::isa<ast::ForStmt>(stmt) || llvm::isa<ast::WhileStmt>(stmt);
  });
}

/// The names of a signature that was checked without an error.
void DeclarationChecker::adoptSignature() {
  typeParameters.assign(declaration.typeParameters.begin(),
                        declaration.typeParameters.end());
  constantParameters.assign(declaration.constantParameters.begin(),
                            declaration.constantParameters.end());
  axes.assign(declaration.axes.begin(), declaration.axes.end());
  parameters.assign(declaration.parameters.begin(),
                    declaration.parameters.end());
  results.assign(declaration.results.begin(), declaration.results.end());
  auto bind = [&](llvm::StringRef name, Span span, Binding::Kind kind,
                  std::size_t index) {
    if (name.empty() || name == "_")
      return;
    Binding &binding = names[name];
    binding.kind = kind;
    binding.span = span;
    binding.index = static_cast<unsigned>(index);
  };
  for (auto [number, row] : llvm::enumerate(typeParameters)) {
    bind(row.name, row.span, Binding::Kind::TypeParameter, number);
    masks.push_back(check::maskOf(row.constraint));
  }
  for (auto [number, row] : llvm::enumerate(constantParameters))
    bind(row->name, row->span, Binding::Kind::ConstantParameter, number);
  for (auto [number, axis] : llvm::enumerate(axes))
    bind(axis.name, axis.span, Binding::Kind::Axis, number);
  for (const Parameter &parameter : parameters) {
    const Variable &variable = *parameter.variable;
    // `G: int` gives axis `G` its extent; the name stays the axis.
    if (names.count(variable.name))
      continue;
    bind(variable.name, variable.span, Binding::Kind::Variable, 0);
    names[variable.name].variable = &variable;
  }
}

void DeclarationChecker::checkBody() {
  // After a wrong signature every use of it in the body would be blamed. Who
  // wants the names has it read all the same, in silence.
  bool wasWrong = declaration.hasError;
  if (wasWrong && !module.names)
    return;
  isSilent |= wasWrong;
  adoptSignature();
  place = placeOf(declaration.kind);
  if (const auto *reduction = llvm::dyn_cast<ast::ReductionDecl>(&text))
    checkReductionBody(*reduction);
  else
    runBody(llvm::cast<ast::CallableDecl>(text).body);
  warnUnusedNames();
  checkArgumentNames();
  AttributeChecker(*this).check();
  // Which results a call has is known before its target is.
  for (auto [number, result] : llvm::enumerate(results)) {
    bool isLate = !hasFailed && declaration.isLifted() && result.isOptional;
    const Expression *condition =
        isLate ? decidedByTarget(declaration, number) : nullptr;
    if (condition)
      report(condition->span, diag::PresenceByTarget, source(condition->span))
          .label(result.span, "the result");
  }
  declaration.axes = builder.list(axes);
  declaration.extentChecks = builder.list(extentChecks);
  declaration.hasError = hasFailed || wasWrong;
}

/// A `mut` parameter is stored once, at the end: what is assigned before and
/// read by nothing is lost.
void DeclarationChecker::warnWhole() {
  for (const LostValue &value : lostValues(declaration))
    report(value.lost->span, diag::LostValue, value.variable->name)
        .label(value.next->span, "assigned again here");
}

/// A barrier that some threads of a block do not reach for certain.
void DeclarationChecker::checkBarriers() {
  DividedBarrier found = dividedBarrier(declaration);
  if (!found.barrier)
    return;
  report(found.decides->span, diag::BarrierForSome, source(found.decides->span))
      .label(found.barrier->span, "all threads of the block meet here")
      .hint("put the barrier outside, and the condition around the rest");
  declaration.hasError = hasFailed;
}

/// What is stored before it is read must be the same in all rounds of a loop,
/// and at all positions along a local axis. Asked of whole bodies: what is
/// called may stand behind its caller.
void DeclarationChecker::checkWhole() {
  if (declaration.isLifted() && !declaration.hasError)
    warnWhole();
  if (declaration.kind == DeclarationKind::Kernel && !declaration.hasError)
    checkBarriers();
  if (declaration.kind != DeclarationKind::Rowwise || declaration.hasError)
    return;
  if (WaitingRound found = waitingRound(declaration); found.expression)
    report(found.expression->span, diag::RoundsUnknown,
           source(found.expression->span), kindOfRounds(found))
        .label(found.loop->span, "the loop");
  else if (WholeAlongLocal whole = wholeAlongLocal(declaration);
           whole.expression)
    report(whole.expression->span, diag::WholeAlongLocal,
           source(whole.expression->span), declaration.axis(whole.axis).name)
        .label(declaration.axis(whole.axis).span, "the axis");
  declaration.hasError = hasFailed;
}

/// The axes of a `var` in a rowwise follow from assignments that stand behind
/// its uses: silent passes find them before the one that counts.
void DeclarationChecker::widenVariables(const ast::Block &body) {
  constexpr unsigned passes = 16;
  std::size_t axisCount = axes.size();
  if (declaration.kind != DeclarationKind::Rowwise || !hasVariables(body))
    return;
  bool wasSilent = isSilent;
  isSilent = true;
  for (unsigned pass = 0; pass != passes; ++pass) {
    hasWidened = false;
    auto known = names;
    (void)wholeBody(body);
    names = std::move(known);
    axes.truncate(axisCount);
    extentChecks.clear();
    controlAxes = {};
    if (!hasWidened)
      break;
  }
  isSilent = wasSilent;
  hasFailed = false;
}

void DeclarationChecker::runBody(const ast::Block &body) {
  widenVariables(body);
  findMutVariables(body);
  if (!mutVariables.empty())
    widenVariables(body);
  declaration.body = wholeBody(body);
  bool isKernel = declaration.kind == DeclarationKind::Kernel;
  if (isKernel && !firstLaunch && !hasFailed)
    report(text.name.span, diag::MissingLaunch, text.name.text())
        .hint("begin with `launch grid(ceildiv(N, 256)) block(256)`");
  if (!results.empty() && !hasFailed && fallsThrough(declaration.body))
    report(text.name.span, diag::MissingReturn, text.name.text())
        .label(results.front().span, "its result is declared here")
        .hint(returnHint(declaration.body));
}
