// Lists of tensors in an `op`, loops over them, and values read on the host.
#include "jit/op/Trace.h"

#include "jit/bind/Numbers.h"
#include "jit/session/ListedCalls.h"

#include "llvm/ADT/STLExtras.h"

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

/// Bytes from the first element to behind the last one.
static std::int64_t reachOf(const PlanTensor &tensor) {
  if (tensor.elements() == 0)
    return 0;
  std::int64_t reach = 1;
  for (auto [size, stride] : llvm::zip_equal(tensor.sizes, tensor.strides))
    reach += std::max<std::int64_t>((size - 1) * stride, 0);
  return reach * bytesOf(tensor.type);
}

/// A tensor of the caller's: a slot, a pointer, an operand.
OpValue OpTracer::tensorArgument(const Parameter &parameter,
                                 const TensorView &given, std::string name,
                                 std::vector<Operand> &operands) {
  PlanTensor tensor;
  tensor.slot = plan->slots.size();
  PlanSlot slot;
  slot.kind = PlanSlot::Kind::Given;
  slot.pointer = pointers.size();
  tensor.type = static_cast<ElementType>(given.type);
  tensor.sizes.assign(given.sizes.begin(), given.sizes.end());
  tensor.strides.assign(given.strides.begin(), given.strides.end());
  slot.bytes = reachOf(tensor);
  plan->slots.push_back(slot);
  operands.push_back(
      operandOf(name, parameter.variable->span, tensor, given.data));
  operands.back().isWritten = parameter.isMutable;
  pointers.push_back(given.data);
  return tensor;
}

/// A parameter's tensors: one, a list of them, or none.
OpTracer::MaybeValue OpTracer::tensorArguments(const Parameter &parameter,
                                               const Argument &argument,
                                               std::vector<Operand> &operands) {
  std::string name = parameter.variable->name.str();
  std::vector<OpValue> tensors;
  for (auto [index, given] : llvm::enumerate(tensorsOf(argument))) {
    std::string place =
        parameter.isList ? "[" + std::to_string(index) + "]" : "";
    tensors.push_back(tensorArgument(parameter, given, name + place, operands));
    if (parameter.isMutable && !mayWrite(operands.back(), given))
      return std::nullopt;
  }
  if (parameter.isList)
    return OpValue::list(std::move(tensors));
  return tensors.empty() ? OpValue() : std::move(tensors.front());
}

/// Calls `round` with the variables bound to the elements, one after another.
bool OpTracer::forEach(llvm::ArrayRef<const Variable *> variables,
                       Expressions expressions, Span span, Round round) {
  std::vector<std::vector<OpValue>> lists;
  for (const Expression *expression : expressions) {
    MaybeValue list = evaluate(*expression);
    if (!list)
      return false;
    // One number stands for a list of one.
    if (list->kind == OpValue::Kind::Number)
      list = OpValue::list({std::move(*list)});
    lists.push_back(std::move(list->elements));
    if (lists.back().size() != lists.front().size()) {
      report.report(expression->span, fault::ListLengths,
                    frame->declaration.name, lists.front().size(),
                    lists.back().size());
      return false;
    }
  }
  for (std::size_t i = 0; i < lists.front().size() && !frame->hasReturned;
       ++i) {
    if (!countRound(span))
      return false;
    for (auto [variable, list] : llvm::zip_equal(variables, lists))
      if (variable)
        frame->values[variable] = list[i];
    if (!round())
      return false;
  }
  return true;
}

bool OpTracer::forRange(const Variable *variable, Expressions range, Span span,
                        Round round) {
  auto bounds = numbers(range);
  if (!bounds)
    return false;
  std::int64_t end = (*bounds)[1], step = (*bounds)[2];
  auto inside = [&](std::int64_t i) { return step > 0 ? i < end : i > end; };
  for (std::int64_t i = bounds->front(); step != 0 && inside(i); i += step) {
    if (!countRound(span))
      return false;
    if (variable)
      frame->values[variable] = HostValue::of(i);
    if (!round())
      return false;
  }
  return true;
}

/// `for x in xs`, `each (x, y) in zip(xs, ys): …`
bool OpTracer::executeForEach(const ForEachStatement &statement) {
  std::size_t first = plan->steps.size();
  bool done = forEach(statement.variables, statement.lists, statement.span,
                      [&] { return execute(statement.body); });
  if (done && statement.isEach)
    gather(first);
  return done;
}

OpTracer::MaybeValue OpTracer::list(const ListExpression &expression) {
  if (expression.isLoop())
    return madeList(expression);
  auto elements = evaluateAll(expression.elements);
  auto lists = evaluateAll(expression.lists);
  if (!elements || !lists)
    return std::nullopt;
  for (const OpValue &list : *lists)
    llvm::append_range(*elements, list.elements);
  return OpValue::list(std::move(*elements));
}

/// `[f(x) for x in xs]`: the launches are one step; of several results each
/// makes a list.
OpTracer::MaybeValue OpTracer::madeList(const ListExpression &expression) {
  const typed::Type &type = *expression.type;
  std::vector<std::vector<OpValue>> lists(type.isTuple() ? type.elements.size()
                                                         : 1);
  auto round = [&] {
    MaybeValue value = evaluate(*expression.elements.front());
    if (!value)
      return false;
    if (!type.isTuple())
      lists.front().push_back(std::move(*value));
    else
      for (auto [list, element] : llvm::zip_equal(lists, value->elements))
        list.push_back(element);
    return true;
  };
  std::size_t first = plan->steps.size();
  bool done = expression.isRange()
                  ? forRange(expression.variables.front(), expression.range,
                             expression.span, round)
                  : forEach(expression.variables, expression.lists,
                            expression.span, round);
  if (!done)
    return std::nullopt;
  gather(first);
  std::vector<OpValue> results;
  for (std::vector<OpValue> &list : lists)
    results.push_back(OpValue::list(std::move(list)));
  return oneOrList(std::move(results));
}

/// `xs[i]`, from the end where `i` is negative.
OpTracer::MaybeValue OpTracer::listElement(const BuiltinExpression &expression,
                                           const OpValue &list) {
  auto position = number(*expression.operands[1]);
  if (!position)
    return std::nullopt;
  auto count = static_cast<std::int64_t>(list.elements.size());
  std::int64_t index = position->integer;
  if (index < -count || index >= count) {
    report.report(expression.span, fault::ListIndex, frame->declaration.name,
                  index, count);
    return std::nullopt;
  }
  return list.elements[index < 0 ? index + count : index];
}

/// The launches from `first` on become one step. What an `op` does for each
/// element stays in order.
void OpTracer::gather(std::size_t first) {
  // A read on the host has run and forgotten what stood in front of it.
  first = std::min(first, plan->steps.size());
  llvm::MutableArrayRef<PlanStep> steps(plan->steps);
  steps = steps.drop_front(first);
  if (steps.size() < 2 || llvm::any_of(steps, [](const PlanStep &step) {
        return step.kind != PlanStep::Kind::Launch;
      }))
    return;
  PlanStep all;
  all.kind = PlanStep::Kind::Each;
  for (PlanStep &step : steps) {
    llvm::append_range(all.kernels, step.kernels);
    llvm::append_range(all.tensors, step.tensors);
    llvm::append_range(all.written, step.written);
  }
  if (place.device)
    ListedCalls::announce(all.kernels);
  plan->steps.resize(first);
  plan->steps.push_back(std::move(all));
}

/// `host(t)`: what `t` depends on runs now.
OpTracer::MaybeValue OpTracer::readOnHost(const BuiltinExpression &expression) {
  MaybeValue value = evaluate(*expression.operands.front());
  if (!value || value->kind != OpValue::Kind::Tensor)
    return std::nullopt;
  const PlanTensor &tensor = value->tensor;
  if (tensor.elements() != 1) {
    report.report(expression.span, fault::HostRead, frame->declaration.name,
                  shapeText(tensor.sizes));
    return std::nullopt;
  }
  bool hasValues = llvm::all_of(plan->slots, [&](const PlanSlot &slot) {
    return slot.kind != PlanSlot::Kind::Given || slot.bytes == 0 ||
           pointers[slot.pointer];
  });
  if (!hasValues)
    return unsupported(expression.span, "`host` of a tensor without values");
  // Others' work on the operands may be in any stream.
  auto done = place.device ? place.device->waitForAll() : std::monostate();
  if (done && helpers.waiter)
    done = helpers.waiter->wait(plan->kernels());
  if (done)
    done = plan->advance(pointers, pool);
  if (!done) {
    failed = done.error();
    return std::nullopt;
  }
  PlanSlot::Kind kind = plan->slots[tensor.slot].kind;
  const char *element = kind == PlanSlot::Kind::Temporary
                            ? nullptr
                            : plan->address(tensor, pointers);
  if (!element)
    return unsupported(expression.span, "`host` of a tensor without values");
  char read[16];
  if (place.device) {
    done = place.device->read(read, reinterpret_cast<std::uint64_t>(element),
                              bytesOf(tensor.type));
    if (!done) {
      failed = done.error();
      return std::nullopt;
    }
    element = read;
  }
  return OpValue(decodeElement(element, tensor.type));
}
