// Which products with a row added to them are oneDNN's linear layers.
#include "backend-torch/plan/Layers.h"
#include "backend-torch/plan/Arguments.h"

#include <ATen/Context.h>
#include <ATen/cpu/Utils.h>

namespace quern {

/// A Zen 4 gives the same bits for both, and the layer's sooner; machines with
/// tile registers were not measured.
static bool isMeasuredMachine() {
  auto has = [all = at::cpu::get_cpu_capabilities()](const char *feature) {
    auto found = all.find(feature);
    return found != all.end() && found->second.isBool() &&
           found->second.toBool();
  };
  return has("avx512_bf16") && !has("amx_tile") &&
         at::globalContext().userEnabledMkldnn();
}

static bool isOne(const GraphArgument *number) {
  using Kind = GraphArgument::Kind;
  if (!number || number->kind == Kind::None)
    return true;
  return (number->kind == Kind::Int && number->integer == 1) ||
         (number->kind == Kind::Float && number->real == 1);
}

/// An argument that is a tensor of bf16 of so many axes in the host's memory.
static const TensorFacts *operandOf(const Graph &graph, const Node &node,
                                    std::string_view name, std::size_t rank) {
  const GraphArgument *value = graph.argument(node, name);
  if (!value || value->kind != GraphArgument::Kind::Value)
    return nullptr;
  const TensorFacts *facts = graph.values[value->integer].tensor();
  bool fits = facts && facts->isStrided && facts->type == DType::BF16 &&
              facts->memory == DeviceId() && facts->sizes.size() == rank;
  return fits ? facts : nullptr;
}

static bool hasStride(const Graph &graph, const TensorFacts &facts, int axis,
                      std::int64_t stride) {
  return graph.sizes.constantOf(facts.strides[axis]) == stride;
}

/// Whether torch gives the product itself to oneDNN, which it does for more
/// than 16 x 16 x 16, nothing would be copied first, and the result is not so
/// large that malloc takes it from the system anew in each call.
static bool isLayer(const Graph &graph, const Node &node) {
  constexpr std::int64_t small = std::int64_t(16) * 16 * 16;
  constexpr std::int64_t mostElements = std::int64_t(16) << 20;
  const TensorFacts *bias = operandOf(graph, node, "self", 1);
  const TensorFacts *left = operandOf(graph, node, "mat1", 2);
  const TensorFacts *right = operandOf(graph, node, "mat2", 2);
  if (!bias || !left || !right || !isOne(graph.argument(node, "beta")) ||
      !isOne(graph.argument(node, "alpha")))
    return false;
  auto rows = graph.sizes.constantOf(left->sizes[0]);
  auto depth = graph.sizes.constantOf(left->sizes[1]);
  auto columns = graph.sizes.constantOf(right->sizes[1]);
  if (!rows || !depth || !columns || *rows * *depth * *columns <= small ||
      *rows * *columns > mostElements)
    return false;
  bool isTurned =
      hasStride(graph, *right, 0, 1) && hasStride(graph, *right, 1, *depth);
  bool isPlain =
      hasStride(graph, *right, 0, *columns) && hasStride(graph, *right, 1, 1);
  return (isTurned || isPlain) && hasStride(graph, *left, 0, *depth) &&
         hasStride(graph, *left, 1, 1) && hasStride(graph, *bias, 0, 1) &&
         graph.sizes.constantOf(bias->sizes[0]) == *columns;
}

/// oneDNN's operator for a product with a row added to it; null: none.
static const char *layerOf(std::string_view overload) {
#define QN_LAYER(name, layer)                                                  \
  if (overload == name)                                                        \
    return layer;
#include "backend-torch/ops/Preferred.def"
  return nullptr;
}

bool chooseLayer(const Graph &graph, const Node &node, CallStep &call) {
  const char *name = layerOf(node.overload);
  if (!name || !isLayer(graph, node) || !isMeasuredMachine())
    return false;
  auto layer = c10::Dispatcher::singleton().findSchema({name, ""});
  if (!layer || !layer->hasKernelForDispatchKey(c10::DispatchKey::CPU))
    return false;
  auto slot = [&](std::string_view name) {
    return makeTemplate(*graph.argument(node, name), nullptr);
  };
  call.op = *layer;
  call.arguments = {slot("mat1"), slot("mat2"), slot("self"), {}, {}, {}};
  // A layer has its weights' columns first.
  call.arguments[1].kind = ArgumentTemplate::Kind::Turned;
  call.arguments[3].fixed = "none";
  call.arguments[4].fixed = c10::List<std::optional<c10::Scalar>>();
  call.arguments[5].fixed = "";
  return true;
}

} // namespace quern
