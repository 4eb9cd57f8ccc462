// Lists of tensors in an `op`, loops over them, and values read on the host.
#include "jit/op/Trace.h"

#include "jit/bind/Numbers.h"

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

/// `for x in xs`, `each (x, y) in zip(xs, ys): …`
bool OpTracer::executeForEach(const ForEachStatement &statement) {
  std::vector<std::vector<OpValue>> lists;
  for (const Expression *expression : statement.lists) {
    MaybeValue list = evaluate(*expression);
    if (!list)
      return false;
    lists.push_back(std::move(list->elements));
    if (lists.back().size() != lists.front().size()) {
      report.report(expression->span, fault::ListLengths,
                    frame->declaration.name, lists.front().size(),
                    lists.back().size());
      return false;
    }
  }
  std::size_t first = plan->steps.size();
  for (std::size_t i = 0; i < lists.front().size() && !frame->hasReturned;
       ++i) {
    if (!countRound(statement.span))
      return false;
    for (auto [variable, list] : llvm::zip_equal(statement.variables, lists))
      if (variable)
        frame->values[variable] = list[i];
    if (!execute(statement.body))
      return false;
  }
  if (statement.isEach)
    gather(first);
  return true;
}

/// The launches from `first` on become one step. What an `op` does for each
/// element stays in order.
void OpTracer::gather(std::size_t first) {
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
  if (auto done = plan->advance(pointers, pool); !done) {
    failed = done.error();
    return std::nullopt;
  }
  PlanSlot::Kind kind = plan->slots[tensor.slot].kind;
  const char *place = kind == PlanSlot::Kind::Temporary
                          ? nullptr
                          : plan->address(tensor, pointers);
  if (!place)
    return unsupported(expression.span, "`host` of a tensor without values");
  auto number = decodeElement(place, tensor.type);
  if (!number)
    return unsupported(expression.span, "`host` of a complex number");
  return OpValue(*number);
}
