// Extents by the names of axes, and who lacks them. A traced call is one that
// ATen takes: an axis that a tensor has only once is one it is spread along.
#include "backend-torch/ops/Spreading.h"

#include <algorithm>

namespace quern {

AxisExtents::AxisExtents(const Graph &graph, const RowBinding &binding)
    : graph(graph) {
  std::vector<std::pair<TypePattern, const TensorFacts *>> tensors;
  for (const RowArgument &given : binding.parameters()) {
    if (!given.parameter->isTensor || !given.value ||
        given.value->kind != GraphArgument::Kind::Value)
      continue;
    TypePattern pattern = parsePattern(given.parameter->type);
    const TensorFacts *facts = graph.values[given.value->integer].tensor();
    if (facts && pattern.hasAxes && !pattern.isComputed && !pattern.isList)
      tensors.emplace_back(std::move(pattern), facts);
  }
  for (const auto &[pattern, facts] : tensors)
    notePacks(pattern, facts->sizes.size());
  for (const auto &[pattern, facts] : tensors)
    noteExtents(pattern, *facts);
}

/// The tensor with the most axes says how long a pack is.
void AxisExtents::notePacks(const TypePattern &pattern, std::size_t rank) {
  const AxisPattern *pack = nullptr;
  for (const AxisPattern &axis : pattern.axes) {
    if (axis.isPack && pack)
      return;
    if (axis.isPack)
      pack = &axis;
  }
  int rest = static_cast<int>(rank) - static_cast<int>(pattern.axes.size()) + 1;
  if (pack && rest >= 0) {
    auto [it, isNew] = packs.try_emplace(pack->name, rest);
    it->second = std::max(it->second, rest);
  }
}

std::vector<AxisExtents::Key>
AxisExtents::keysOf(const TypePattern &pattern) const {
  std::vector<Key> keys;
  for (const AxisPattern &axis : pattern.axes) {
    auto known = packs.find(axis.name);
    int count = !axis.isPack ? 1 : known == packs.end() ? 0 : known->second;
    for (int i = 0; i != count; ++i)
      keys.emplace_back(axis.name, i);
  }
  return keys;
}

void AxisExtents::noteExtents(const TypePattern &pattern,
                              const TensorFacts &facts) {
  std::vector<Key> keys = keysOf(pattern);
  if (keys.size() != facts.sizes.size())
    return;
  for (std::size_t d = 0; d != keys.size(); ++d) {
    auto [it, isNew] = extents.try_emplace(keys[d], facts.sizes[d]);
    if (isOne(it->second))
      it->second = facts.sizes[d];
  }
}

std::optional<WholeTensor> AxisExtents::spread(const TypePattern &pattern,
                                               ValueId value,
                                               const TensorFacts &facts) const {
  std::vector<Key> keys = keysOf(pattern);
  if (pattern.isComputed || keys.size() < facts.sizes.size())
    return std::nullopt;
  std::size_t missing = keys.size() - facts.sizes.size();
  WholeTensor tensor{value, {}, {}};
  bool isSpread = false;
  for (std::size_t i = 0; i != keys.size(); ++i) {
    bool lacks = i < missing;
    auto known = extents.find(keys[i]);
    if (lacks && known == extents.end())
      return std::nullopt;
    bool along = lacks || (known != extents.end() && !isOne(known->second) &&
                           isOne(facts.sizes[i - missing]));
    tensor.dims.push_back(along ? -1 : static_cast<int>(i - missing));
    tensor.along.push_back(along ? std::optional(known->second) : std::nullopt);
    isSpread |= along;
  }
  if (!isSpread)
    return std::nullopt;
  return tensor;
}

} // namespace quern
