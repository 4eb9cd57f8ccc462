// Calls of a framework's operators in an `op`: `extern "aten::mm"(a, b)`.
#include "jit/op/Trace.h"

#include "llvm/ADT/STLExtras.h"

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

/// On the host a boolean is an integer; the type tells them apart.
static Argument externArgument(Argument argument, const Type &type) {
  bool isBool = type.isScalar() && type.scalar == ScalarType::boolean();
  if (auto *integer = std::get_if<std::int64_t>(&argument); integer && isBool)
    return *integer != 0;
  return argument;
}

/// Results are fresh temporaries of the shapes that the runner says.
OpTracer::MaybeValue OpTracer::callExtern(const ExternExpression &expression) {
  if (!helpers.externs)
    return unsupported(expression.span, "`extern` without a framework");
  if (place.device) {
    report.report(expression.span, fault::ExternOnDevice, expression.symbol,
                  frame->declaration.name, deviceText(place.id));
    return std::nullopt;
  }
  PlanStep step;
  step.kind = PlanStep::Kind::Extern;
  step.runner = helpers.externs;
  step.call.symbol = expression.symbol.str();
  // The call's views refer to shapes that lie here.
  std::deque<OpValue> values;
  for (auto [argument, name] :
       llvm::zip_equal(expression.arguments, expression.names)) {
    MaybeValue value = argument ? evaluate(*argument) : OpValue();
    if (!value)
      return std::nullopt;
    const OpValue &kept = values.emplace_back(std::move(*value));
    std::optional<Argument> given = toArgument(kept);
    if (!given)
      return unsupported(expression.span, "a list of such values");
    if (argument)
      given = externArgument(std::move(*given), *argument->type);
    step.call.arguments.emplace_back(name.str(), std::move(*given));
    if (kept.kind == OpValue::Kind::Tensor)
      step.tensors.push_back(kept.tensor);
    for (const OpValue &element : kept.elements)
      if (element.kind == OpValue::Kind::Tensor)
        step.tensors.push_back(element.tensor);
  }
  step.written.assign(step.tensors.size(), false);
  auto specs = helpers.externs->infer(step.call);
  if (!specs) {
    failed = specs.error();
    return std::nullopt;
  }
  return externResults(expression, *specs, std::move(step));
}

OpTracer::MaybeValue OpTracer::externResults(const ExternExpression &expression,
                                             llvm::ArrayRef<TensorSpec> specs,
                                             PlanStep step) {
  llvm::SmallVector<const Type *, 4> declared;
  if (expression.type->isTuple())
    llvm::append_range(declared, expression.type->elements);
  else if (!expression.type->isVoid())
    declared.push_back(expression.type);
  if (declared.size() != specs.size()) {
    report.report(expression.span, fault::ExternResults, step.call.symbol,
                  specs.size(), declared.size());
    return std::nullopt;
  }
  std::vector<OpValue> results;
  for (auto [type, spec] : llvm::zip_equal(declared, specs)) {
    ElementType wanted = type->scalar.substitute(frame->solution.types);
    auto given = static_cast<ElementType>(spec.type);
    if (wanted != given) {
      report.report(expression.span, fault::ExternType, step.call.symbol,
                    spelling(given), spelling(wanted));
      return std::nullopt;
    }
    if (!canLie(expression.span, given, spec.sizes))
      return std::nullopt;
    PlanTensor tensor =
        allocate(given, Extents(spec.sizes.begin(), spec.sizes.end()));
    step.tensors.push_back(tensor);
    step.written.push_back(true);
    results.emplace_back(std::move(tensor));
  }
  plan->steps.push_back(std::move(step));
  return oneOrList(std::move(results));
}
