// The units of a graph under fusion, and which depends on which.
#pragma once

#include "backend-torch/groups/Draft.h"

namespace quern {

/// A set of units as a bit row.
class UnitSet {
public:
  void insert(int unit);
  void erase(int unit);
  bool contains(int unit) const;
  void merge(const UnitSet &other);
  bool intersects(const UnitSet &other) const;
  template <typename Visit> void each(Visit visit) const {
    for (std::size_t word = 0; word != words.size(); ++word)
      for (std::uint64_t rest = words[word]; rest; rest &= rest - 1)
        visit(static_cast<int>(word * 64) + __builtin_ctzll(rest));
  }

private:
  std::vector<std::uint64_t> words;
};

/// Units are added in execution order and merged as groups grow. Nodes with
/// effects are walls: everything before stays before, everything after, after.
class UnitGraph {
public:
  explicit UnitGraph(const Analysis &analysis);

  /// The unit of a node with its dependencies; -1 for nodes that need none.
  int add(int node);
  int unitOf(int node) const { return units[node]; }
  /// Units whose results a node reads, the latest first.
  std::vector<int> producers(int node) const;
  /// Whether the units may become one without a cycle.
  bool canMerge(const std::vector<int> &parts) const;
  /// Makes `other` a part of `unit`.
  void merge(int unit, int other);

  const std::vector<int> &members(int unit) const { return nodes[unit]; }
  /// Nodes that a node must follow for its effects' sake.
  const std::vector<int> &walls(int node) const { return after[node]; }

private:
  bool isWall(const Node &node) const;
  void noteSymbols(const Node &node);

  const Analysis &analysis;
  std::vector<int> units;              ///< of each node
  std::vector<std::vector<int>> nodes; ///< of each unit
  std::vector<UnitSet> dependencies;   ///< of each unit, transitive
  std::vector<std::vector<int>> after;
  std::vector<int> sinceWall;
  int lastWall = -1, lastRandom = -1;
  mutable std::set<int> seenSymbols;
};

} // namespace quern
