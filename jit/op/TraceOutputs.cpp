// Parameters and results of an `op` as memory that the caller gives.
#include "jit/op/Trace.h"

#include "jit/bind/Environment.h"
#include "jit/bind/Numbers.h"
#include "jit/bind/Overlap.h"

#include "frontend/typed/Walk.h"

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

/// A host scalar, or a list of them.
OpValue OpTracer::scalarsOf(const Parameter &parameter,
                            const Argument &argument,
                            const CallRequest &request,
                            const Solution &solution) {
  std::vector<OpValue> list;
  if (const auto *integers = std::get_if<std::vector<std::int64_t>>(&argument))
    for (std::int64_t value : *integers)
      list.emplace_back(HostValue::of(value));
  if (const auto *floats = std::get_if<std::vector<double>>(&argument))
    for (double value : *floats)
      list.emplace_back(HostValue::of(value));
  if (!list.empty())
    return OpValue::list(std::move(list));
  auto value = hostValueOf(argument);
  std::string problem;
  if (!value && parameter.defaultValue)
    value = SolutionEnvironment(request, solution)
                .evaluate(*parameter.defaultValue, 0, problem);
  return value ? OpValue(*value) : OpValue();
}

bool OpTracer::fits(const Parameter &parameter, const OpValue &given,
                    const Solution &solution) {
  ElementType type = parameter.element.substitute(solution.types);
  auto fit = [&](const OpValue &each) {
    std::uint64_t bits[2];
    if (each.kind != OpValue::Kind::Number ||
        encodeElement(each.number, type, bits))
      return true;
    report.report(parameter.variable->span, fault::ScalarExpected,
                  parameter.variable->name, spelling(type),
                  misfit(each.number));
    return false;
  };
  return fit(given) && llvm::all_of(given.elements, fit);
}

Operand OpTracer::operandOf(llvm::StringRef name, Span span,
                            const PlanTensor &tensor, void *data) {
  Operand operand;
  operand.name = name.str();
  operand.span = span;
  operand.type = tensor.type;
  operand.sizes = tensor.sizes;
  operand.strides = tensor.strides;
  operand.data = data;
  return operand;
}

/// Whether both step through memory in the same way.
static bool haveSameStrides(const PlanTensor &one, const PlanTensor &other) {
  for (auto [size, mine, theirs] :
       llvm::zip_equal(one.sizes, one.strides, other.strides))
    if (size > 1 && mine != theirs)
      return false;
  return true;
}

/// The memory of a result is the caller's: a temporary that is returned whole
/// becomes it, everything else is copied at the end.
bool OpTracer::giveOutput(const PlanTensor &result, const PlanTensor &target) {
  PlanSlot &slot = plan->slots[result.slot];
  bool isWhole = slot.kind == PlanSlot::Kind::Temporary && result.offset == 0 &&
                 isDense(result.sizes, result.strides) &&
                 haveSameStrides(result, target) &&
                 result.elements() * bytesOf(result.type) == slot.bytes;
  if (isWhole) {
    slot = plan->slots[target.slot];
    return true;
  }
  return copy(target, result);
}

/// Whether some view in a body, or in an `op` that it calls, depends on how a
/// tensor lies in memory.
static bool asksForStrides(Block body) {
  bool asks = false;
  walk(body, [&](const Expression &expression) {
    if (const auto *called = llvm::dyn_cast<CallExpression>(&expression))
      asks |= called->callee->kind == typed::DeclarationKind::Op;
    if (const auto *view = llvm::dyn_cast<BuiltinExpression>(&expression))
      asks |= llvm::is_contained({Builtin::Reshape, Builtin::AsStrided,
                                  Builtin::ViewAs, Builtin::ViewAsReal,
                                  Builtin::ViewAsComplex},
                                 view->builtin);
  });
  return asks;
}

/// New memory that an `op` returns in the end lies like the result, of which no
/// copy is made then.
void OpTracer::layLikeResult(const Variable *variable, PlanTensor &made) {
  Block body = frame->declaration.body;
  const auto *last = llvm::dyn_cast<ReturnStatement>(body.back());
  if (!last || last->values.size() != frame->likes.size())
    return;
  for (auto [value, like] : llvm::zip_equal(last->values, frame->likes)) {
    const auto *returned = llvm::dyn_cast_if_present<VariableExpression>(value);
    if (returned && returned->variable == variable &&
        llvm::equal(like.sizes, made.sizes) &&
        isDense(like.sizes, like.strides) && !asksForStrides(body))
      made.strides.assign(like.strides.begin(), like.strides.end());
  }
}

/// Axes of the arguments have their extents in the result as well.
bool OpTracer::isAsDeclared(const typed::Result &declared,
                            const PlanTensor &result) {
  std::size_t position = 0;
  for (const Dimension &dimension : declared.dimensions) {
    const Axis &axis = frame->declaration.axis(dimension.axis());
    if (dimension.isSplit() || axis.pack || position == result.sizes.size())
      return true; // what lies behind a pack has no fixed position
    const AxisGroup &group = frame->solution.axes[dimension.axis().index];
    std::int64_t extent = result.sizes[position++];
    if (!group.solved || group.extents.front() == extent)
      continue;
    report.report(declared.span, fault::ResultShape, frame->declaration.name,
                  axis.name, group.extents.front(), extent);
    return false;
  }
  return true;
}

bool OpTracer::mayWrite(const Operand &operand, const TensorView &given) {
  if (given.writable && !overlapsItself(operand))
    return true;
  if (given.writable)
    report.report(operand.span, fault::SelfOverlap, operand.name);
  else
    report.report(operand.span, fault::ReadOnly, operand.name);
  return false;
}

/// The next output of the call holds `result`.
bool OpTracer::giveTensor(const CallRequest &request,
                          const typed::Result &declared,
                          const PlanTensor &result,
                          std::vector<Operand> &operands,
                          std::vector<TensorSpec> &outputs) {
  PlanTensor target = result;
  target.offset = 0;
  target.strides = contiguousStrides(target.sizes);
  const TensorView *given = outputs.size() < request.outs.size()
                                ? &request.outs[outputs.size()]
                                : nullptr;
  if (given) {
    Extents sizes(given->sizes.begin(), given->sizes.end());
    if (sizes != target.sizes ||
        static_cast<ElementType>(given->type) != target.type) {
      report.report(declared.span, fault::OutputShape, frame->declaration.name,
                    shapeText(sizes), shapeText(target.sizes));
      return false;
    }
    target.strides.assign(given->strides.begin(), given->strides.end());
  }
  target.slot = plan->slots.size();
  PlanSlot slot;
  slot.kind = PlanSlot::Kind::Given;
  slot.pointer = operands.size();
  plan->slots.push_back(slot);
  outputs.push_back({static_cast<DType>(target.type),
                     {target.sizes.begin(), target.sizes.end()}});
  Operand operand =
      operandOf("result", declared.span, target, given ? given->data : nullptr);
  operand.isResult = operand.isWritten = true;
  if (given && !mayWrite(operand, *given))
    return false;
  operands.push_back(std::move(operand));
  return giveOutput(result, target);
}

bool OpTracer::giveOutputs(const CallRequest &request,
                           std::vector<Operand> &operands,
                           std::vector<TensorSpec> &outputs) {
  for (auto [number, value] : llvm::enumerate(frame->results)) {
    const typed::Result &declared = frame->declaration.results[number];
    std::size_t before = outputs.size();
    bool isList = declared.isList && value.kind == OpValue::Kind::List;
    llvm::ArrayRef<OpValue> tensors =
        isList ? llvm::ArrayRef(value.elements) : llvm::ArrayRef(value);
    for (OpValue each : tensors) {
      if (each.kind == OpValue::Kind::Absent)
        continue;
      // A number is a tensor without axes for the caller.
      if (each.kind == OpValue::Kind::Number)
        if (auto made =
                filled(declared.element.substitute(frame->solution.types), {},
                       each.number))
          each = *made;
      if (each.kind != OpValue::Kind::Tensor) {
        unsupported(declared.span,
                    "a result that is neither tensor nor number");
        return false;
      }
      bool fits = isList || isAsDeclared(declared, each.tensor);
      if (!fits ||
          !giveTensor(request, declared, each.tensor, operands, outputs))
        return false;
    }
    plan->resultCounts.push_back(outputs.size() - before);
  }
  if (request.outs.empty() || request.outs.size() == outputs.size())
    return true;
  report.report(frame->declaration.nameSpan, fault::OutputCount,
                frame->declaration.name, outputs.size(), request.outs.size());
  return false;
}
