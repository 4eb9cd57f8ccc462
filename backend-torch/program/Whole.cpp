// Operands and arguments of a declaration that is launched by itself.
#include "backend-torch/program/Whole.h"

namespace quern {

Size offsetInBase(const FusionPlan &plan, ValueId value) {
  const Graph &graph = *plan.graph;
  const TensorFacts *facts = graph.values[value].tensor();
  const TensorFacts *base = graph.values[plan.analysis->baseOf(value)].tensor();
  Size start = base->offset;
  if (base->bytes != facts->bytes) // counted in elements of another width
    start = plan.sizes->apply(
        SizeOp::FloorDiv,
        {plan.sizes->multiply(start, plan.sizes->constant(base->bytes)),
         plan.sizes->constant(facts->bytes)});
  if (start == facts->offset)
    return plan.sizes->constant(0);
  Size minus = plan.sizes->multiply(plan.sizes->constant(-1), start);
  return plan.sizes->apply(SizeOp::Add, {facts->offset, minus});
}

static KernelOperand operandOf(const FusionPlan &plan,
                               const WholeTensor &tensor) {
  const TensorFacts *facts = plan.graph->values[tensor.value].tensor();
  KernelOperand operand{.value = tensor.value,
                        .base = plan.analysis->baseOf(tensor.value),
                        .type = *facts->type,
                        .extents = {},
                        .strides = {},
                        .offset = offsetInBase(plan, tensor.value)};
  for (std::size_t i = 0; i != tensor.dims.size(); ++i) {
    int d = tensor.dims[i];
    bool isSpread = !tensor.along.empty() && tensor.along[i];
    operand.extents.push_back(isSpread ? *tensor.along[i]
                              : d < 0  ? plan.sizes->constant(1)
                                       : facts->sizes[d]);
    operand.strides.push_back(isSpread ? plan.sizes->constant(0)
                              : d < 0  ? plan.sizes->constant(1)
                                       : facts->strides[d]);
  }
  return operand;
}

static KernelArgument argumentOf(const FusionPlan &plan,
                                 const WholeArgument &given) {
  KernelArgument argument;
  argument.kind = static_cast<KernelArgument::Kind>(given.kind);
  argument.isList = given.isList;
  for (const GraphArgument &real : given.reals)
    argument.reals.push_back(real.kind == GraphArgument::Kind::Size
                                 ? static_cast<Size>(real.integer)
                             : real.kind == GraphArgument::Kind::Float
                                 ? plan.sizes->real(real.real)
                                 : plan.sizes->constant(real.integer));
  argument.truth = given.truth;
  argument.text = given.text;
  for (const GraphArgument &integer : given.integers)
    argument.integers.push_back(integer.kind == GraphArgument::Kind::Size
                                    ? static_cast<Size>(integer.integer)
                                    : plan.sizes->constant(integer.integer));
  return argument;
}

GroupKernel wholeKernel(const FusionPlan &plan, const Group &group) {
  int node = group.draft.nodes().front();
  const auto &call = std::get<LibraryCall>(plan.analysis->operations[node]);
  GroupKernel kernel;
  kernel.declaration = call.row->declaration;
  kernel.module = call.row->module;
  for (const WholeArgument &given : call.whole->arguments) {
    KernelArgument argument = argumentOf(plan, given);
    if (given.kind == WholeArgument::Kind::Tensor) {
      argument.input = kernel.inputs.size();
      argument.count = given.tensors.size();
      for (const WholeTensor &tensor : given.tensors)
        kernel.inputs.push_back(operandOf(plan, tensor));
    }
    kernel.arguments.push_back(std::move(argument));
  }
  for (const auto &[name, given] : call.whole->constants)
    kernel.constants.emplace_back(name, argumentOf(plan, given));
  for (const WholeTensor &result : call.whole->results)
    kernel.outputs.push_back(operandOf(plan, result));
  return kernel;
}

Size offsetOfPart(const FusionPlan &plan, const Placement &placement,
                  int part) {
  const Graph &graph = *plan.graph;
  const TensorFacts *target = graph.values[placement.target].tensor();
  Size offset = plan.sizes->constant(0);
  for (int i = 0; i != part; ++i) {
    const TensorFacts *before = graph.values[placement.parts[i]].tensor();
    offset = plan.sizes->apply(
        SizeOp::Add,
        {offset, plan.sizes->multiply(before->sizes[placement.dim],
                                      target->strides[placement.dim])});
  }
  return offset;
}

GroupKernel placeKernel(const FusionPlan &plan, const Group &group) {
  int node = group.draft.nodes().front();
  const auto &placement = std::get<Placement>(plan.analysis->operations[node]);
  const Graph &graph = *plan.graph;
  auto whole = [&](ValueId id) {
    WholeTensor tensor{id, {}};
    for (std::size_t d = 0; d != graph.values[id].tensor()->sizes.size(); ++d)
      tensor.dims.push_back(static_cast<int>(d));
    return operandOf(plan, tensor);
  };
  KernelOperand source = whole(placement.parts[group.part]);
  KernelOperand target = whole(placement.target);
  target.isPlaced = true;
  target.extents = source.extents;
  if (group.part > 0)
    target.offset = plan.sizes->apply(
        SizeOp::Add,
        {target.offset, offsetOfPart(plan, placement, group.part)});
  GroupKernel kernel;
  kernel.inputs = {std::move(source)};
  kernel.outputs = {std::move(target)};
  kernel.arguments = {{.kind = KernelArgument::Kind::Tensor}};
  return kernel;
}

} // namespace quern
