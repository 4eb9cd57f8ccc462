// Dependencies between units, kept transitive while units merge.
#include "backend-torch/groups/UnitGraph.h"

#include <algorithm>

namespace quern {

void UnitSet::insert(int unit) {
  std::size_t word = static_cast<std::size_t>(unit) / 64;
  if (word >= words.size())
    words.resize(word + 1);
  words[word] |= std::uint64_t(1) << (unit % 64);
}

void UnitSet::erase(int unit) {
  std::size_t word = static_cast<std::size_t>(unit) / 64;
  if (word < words.size())
    words[word] &= ~(std::uint64_t(1) << (unit % 64));
}

bool UnitSet::contains(int unit) const {
  std::size_t word = static_cast<std::size_t>(unit) / 64;
  return word < words.size() && (words[word] >> (unit % 64) & 1);
}

void UnitSet::merge(const UnitSet &other) {
  if (words.size() < other.words.size())
    words.resize(other.words.size());
  for (std::size_t i = 0; i != other.words.size(); ++i)
    words[i] |= other.words[i];
}

bool UnitSet::intersects(const UnitSet &other) const {
  std::size_t count = std::min(words.size(), other.words.size());
  for (std::size_t i = 0; i != count; ++i)
    if (words[i] & other.words[i])
      return true;
  return false;
}

UnitGraph::UnitGraph(const Analysis &analysis)
    : analysis(analysis), units(analysis.graph->nodes.size(), -1),
      after(analysis.graph->nodes.size()) {}

void UnitGraph::noteSymbols(const Node &node) {
  const SizeTable &sizes = analysis.graph->sizes;
  for (ValueId id : node.results) {
    const Value &value = analysis.graph->values[id];
    if (auto *scalar = value.scalar(); scalar && sizes.isSymbol(scalar->value))
      seenSymbols.insert(sizes.symbolIndex(scalar->value));
    if (auto *tensor = value.tensor())
      for (const auto *list : {&tensor->sizes, &tensor->strides})
        for (Size size : *list)
          if (sizes.isSymbol(size))
            seenSymbols.insert(sizes.symbolIndex(size));
  }
}

/// Besides effects, a size that a node brings in makes it a wall: whoever uses
/// the size follows it without reading its result.
bool UnitGraph::isWall(const Node &node) const {
  if (node.mutates || node.kind == NodeKind::Host)
    return true;
  const SizeTable &sizes = analysis.graph->sizes;
  for (ValueId id : node.results) {
    const Value &value = analysis.graph->values[id];
    if (value.scalar())
      return true;
    if (auto *tensor = value.tensor())
      for (Size size : tensor->sizes)
        if (sizes.isSymbol(size) &&
            !seenSymbols.contains(sizes.symbolIndex(size)))
          return true;
  }
  return false;
}

std::vector<int> UnitGraph::producers(int node) const {
  const Graph &graph = *analysis.graph;
  std::vector<int> result;
  for (ValueId operand : graph.operands(graph.nodes[node])) {
    int unit = units[graph.values[analysis.baseOf(operand)].node];
    if (unit >= 0 &&
        std::find(result.begin(), result.end(), unit) == result.end())
      result.push_back(unit);
  }
  std::sort(result.rbegin(), result.rend());
  return result;
}

int UnitGraph::add(int index) {
  const Node &node = analysis.graph->nodes[index];
  bool isStep = node.kind == NodeKind::Call || node.kind == NodeKind::Host;
  if (!isStep || std::holds_alternative<ViewOf>(analysis.operations[index])) {
    noteSymbols(node);
    return -1;
  }
  if (lastWall >= 0)
    after[index].push_back(lastWall);
  if (node.isRandom && lastRandom >= 0)
    after[index].push_back(lastRandom);
  if (node.isRandom)
    lastRandom = index;
  if (isWall(node)) {
    after[index].insert(after[index].end(), sinceWall.begin(), sinceWall.end());
    sinceWall.clear();
    lastWall = index;
  } else {
    sinceWall.push_back(index);
  }
  noteSymbols(node);

  UnitSet needed;
  auto need = [&](int unit) {
    needed.insert(unit);
    needed.merge(dependencies[unit]);
  };
  for (int unit : producers(index))
    need(unit);
  for (int other : after[index])
    need(units[other]);
  units[index] = static_cast<int>(nodes.size());
  nodes.push_back({index});
  dependencies.push_back(std::move(needed));
  return units[index];
}

bool UnitGraph::canMerge(const std::vector<int> &parts) const {
  UnitSet merged, needed;
  for (int part : parts) {
    merged.insert(part);
    needed.merge(dependencies[part]);
  }
  bool isAcyclic = true;
  needed.each([&](int unit) {
    if (!merged.contains(unit) && dependencies[unit].intersects(merged))
      isAcyclic = false;
  });
  return isAcyclic;
}

void UnitGraph::merge(int unit, int other) {
  for (int node : nodes[other]) {
    nodes[unit].push_back(node);
    units[node] = unit;
  }
  std::sort(nodes[unit].begin(), nodes[unit].end());
  nodes[other].clear();
  dependencies[unit].merge(dependencies[other]);
  dependencies[unit].erase(unit);
  dependencies[unit].erase(other);
  UnitSet all = dependencies[unit];
  all.insert(unit);
  for (UnitSet &set : dependencies) {
    if (!set.contains(unit) && !set.contains(other))
      continue;
    set.erase(other);
    set.merge(all);
  }
  dependencies[other] = {};
}

} // namespace quern
