// Statements of an `op`: host control flow is decided while tracing.
#include "jit/op/Trace.h"

#include "jit/bind/Environment.h"

#include "frontend/typed/ConstantValue.h"
#include "frontend/typed/Rounds.h"

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

/// Rounds of host loops and calls in one trace; more is a loop that does not
/// end, or `op`s that each call the next one twice.
static constexpr std::size_t maximumRounds = 1u << 20;

unsigned OpTracer::temporary(std::int64_t bytes) {
  PlanSlot slot;
  slot.bytes = bytes;
  plan->slots.push_back(slot);
  return plan->slots.size() - 1;
}

PlanTensor OpTracer::allocate(ElementType type, Extents sizes) {
  PlanTensor tensor;
  tensor.type = type;
  tensor.strides = contiguousStrides(sizes);
  tensor.sizes = std::move(sizes);
  tensor.slot = temporary(tensor.elements() * bytesOf(type));
  return tensor;
}

/// Follows a body with its parameters bound; the results are in the frame.
bool OpTracer::enter(Frame &entered, llvm::ArrayRef<OpValue> arguments) {
  Frame *outer = std::exchange(frame, &entered);
  bool done = true;
  for (auto [parameter, argument] :
       llvm::zip_equal(entered.declaration.parameters, arguments)) {
    MaybeValue value = argument;
    if (argument.kind == OpValue::Kind::Absent && parameter.defaultValue)
      value = evaluate(*parameter.defaultValue);
    done &= value.has_value();
    entered.values[parameter.variable] = value.value_or(OpValue());
  }
  done = done && execute(entered.declaration.body);
  frame = outer;
  return done;
}

bool OpTracer::execute(Block block) {
  for (const Statement *statement : block) {
    if (frame->hasReturned)
      break;
    if (!execute(*statement))
      return false;
  }
  return true;
}

/// What a call gives that is returned at once lies like the results. A call of
/// several results stands behind each of them and is made once.
bool OpTracer::executeReturn(Expressions values) {
  const CallExpression *made = nullptr;
  MaybeValue all;
  for (auto [number, value] : llvm::enumerate(values)) {
    const auto *field = llvm::dyn_cast_if_present<FieldExpression>(value);
    const auto *called =
        llvm::dyn_cast_if_present<CallExpression>(field ? field->base : value);
    bool isKernel =
        called && called->callee->kind != typed::DeclarationKind::Function;
    MaybeValue result = OpValue();
    if (jit::isSwitchedOff(frame->declaration, frame->solution, number)) {
      // Neither it nor what only it needs is made.
    } else if (isKernel) {
      std::size_t count = called->callee->results.size();
      bool haveLikes = values.size() == frame->likes.size() &&
                       (!field || field->index == 0) &&
                       number + count <= values.size();
      if (!field || called != made)
        all = call(*called, haveLikes ? frame->likes.slice(number, count)
                                      : llvm::ArrayRef<TensorView>());
      made = called;
      result = all && field && all->kind == OpValue::Kind::List
                   ? MaybeValue(all->elements[field->index])
                   : all;
    } else if (value) {
      result = evaluate(*value);
    }
    if (!result)
      return false;
    frame->results.push_back(std::move(*result));
  }
  frame->hasReturned = true;
  return true;
}

bool OpTracer::execute(const Statement &statement) {
  switch (statement.kind) {
  case StatementKind::Let:
    return executeLet(llvm::cast<LetStatement>(statement));
  case StatementKind::Assign: {
    const auto &assignment = llvm::cast<AssignStatement>(statement);
    MaybeValue value = evaluate(*assignment.value);
    return value && assign(assignment.targets, std::move(*value));
  }
  case StatementKind::If: {
    const auto &branch = llvm::cast<IfStatement>(statement);
    auto taken = decide(*branch.condition, branch.isConst);
    return taken && execute(*taken ? branch.then : branch.otherwise);
  }
  case StatementKind::For:
    return executeFor(llvm::cast<ForStatement>(statement));
  case StatementKind::While:
    return executeWhile(llvm::cast<WhileStatement>(statement));
  case StatementKind::Return:
    return executeReturn(llvm::cast<ReturnStatement>(statement).values);
  case StatementKind::Evaluate:
    return evaluate(*llvm::cast<EvaluateStatement>(statement).expression)
        .has_value();
  case StatementKind::ForEach:
    return executeForEach(llvm::cast<ForEachStatement>(statement));
  case StatementKind::Store:
    unsupported(statement.span, "writing one element");
    return false;
  case StatementKind::Launch:
  case StatementKind::Storage:
    unsupported(statement.span, "this statement");
    return false;
  }
  llvm_unreachable("every kind of statement is followed");
}

bool OpTracer::assign(llvm::ArrayRef<const Variable *> targets, OpValue value) {
  if (targets.size() == 1) {
    if (targets[0])
      frame->values[targets[0]] = std::move(value);
    return true;
  }
  for (auto [target, element] : llvm::zip(targets, value.elements))
    if (target)
      frame->values[target] = element;
  return true;
}

static bool allocates(const Expression &expression) {
  const auto *made = llvm::dyn_cast<BuiltinExpression>(&expression);
  return made &&
         llvm::is_contained({Builtin::Empty, Builtin::Zeros, Builtin::Full},
                            made->builtin);
}

bool OpTracer::executeLet(const LetStatement &statement) {
  MaybeValue value = evaluate(*statement.value);
  if (!value)
    return false;
  if (statement.isTuple && statement.variables.size() == 1)
    value = OpValue(value->elements.front());
  if (allocates(*statement.value))
    layLikeResult(statement.variables.front(), value->tensor);
  return assign(statement.variables, std::move(*value));
}

std::optional<bool> OpTracer::decide(const Expression &condition,
                                     bool isConst) {
  if (isConst) {
    auto value = known(condition);
    if (!value)
      return unsupported(condition.span, "a condition that is not known");
    return !value->isZero();
  }
  auto value = number(condition);
  if (!value)
    return std::nullopt;
  return value->asDouble() != 0;
}

bool OpTracer::countRound(Span span) {
  if (helpers.waiter && !helpers.waiter->goesOn()) {
    failed = Error{"interrupted", {}};
    return false;
  }
  if (++rounds <= maximumRounds)
    return true;
  unsupported(span, "so many rounds and calls");
  return false;
}

bool OpTracer::executeFor(const ForStatement &statement) {
  auto bound = [&](const Expression *e, std::int64_t missing) {
    return e ? number(*e) : std::optional(HostValue::of(missing));
  };
  auto lower = bound(statement.lower, 0), upper = bound(statement.upper, 0);
  auto step = bound(statement.step, 1);
  if (!lower || !upper || !step)
    return false;
  auto i = static_cast<std::uint64_t>(lower->integer);
  for (std::int64_t left =
           roundsOf(lower->integer, upper->integer, step->integer);
       left > 0 && !frame->hasReturned;
       --left, i += static_cast<std::uint64_t>(step->integer)) {
    if (!countRound(statement.span))
      return false;
    if (statement.variable)
      frame->values[statement.variable] =
          HostValue::of(static_cast<std::int64_t>(i));
    if (!execute(statement.body))
      return false;
  }
  return true;
}

bool OpTracer::executeWhile(const WhileStatement &statement) {
  std::int64_t left = std::numeric_limits<std::int64_t>::max();
  if (statement.bound) {
    auto bound = number(*statement.bound);
    if (!bound)
      return false;
    left = bound->integer;
  }
  for (; left > 0 && !frame->hasReturned; --left) {
    auto another = decide(*statement.condition, false);
    if (!another || !countRound(statement.span))
      return false;
    if (!*another)
      break;
    if (!execute(statement.body))
      return false;
  }
  return true;
}

/// Parameters first: a tensor is the memory the caller gives.
std::unique_ptr<OpPlan> OpTracer::trace(const CallRequest &request,
                                        Solution solution,
                                        std::vector<Operand> &operands,
                                        std::vector<TensorSpec> &outputs) {
  plan = std::make_unique<OpPlan>();
  plan->waiter = helpers.waiter;
  plan->device = place.device;
  std::vector<OpValue> arguments;
  for (auto [parameter, argument] :
       llvm::zip_equal(request.declaration.parameters, request.arguments)) {
    if (!parameter.isTensor) {
      arguments.push_back(scalarsOf(parameter, argument, request, solution));
      if (!fits(parameter, arguments.back(), solution))
        return nullptr;
      continue;
    }
    MaybeValue tensors = tensorArguments(parameter, argument, operands);
    if (!tensors)
      return nullptr;
    arguments.push_back(std::move(*tensors));
  }
  Frame top(request.declaration, std::move(solution));
  top.likes = request.outs;
  bool done = enter(top, arguments);
  frame = &top;
  if (!done || !giveOutputs(request, operands, outputs))
    return nullptr;
  for (const PlanStep &step : plan->steps)
    for (auto [tensor, isWritten] : llvm::zip(step.tensors, step.written))
      if (const PlanSlot &slot = plan->slots[tensor.slot];
          isWritten && slot.kind == PlanSlot::Kind::Given)
        operands[slot.pointer].isWritten = true;
  plan->dropUnread();
  plan->placeTemporaries();
  return std::move(plan);
}
