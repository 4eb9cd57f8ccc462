// Which nodes become one kernel, and why a group stopped growing.
#pragma once

#include "backend-torch/groups/Draft.h"

#include <memory>

namespace quern {

/// A part of a concatenation.
struct Place {
  int node = -1; ///< the concatenation
  int part = -1; ///< of its placement
};

struct Group {
  Draft draft; ///< of a whole declaration only the node and what it reads
  std::vector<ValueId> inputs;     ///< read from memory, views as they are
  std::vector<ValueId> outputs;    ///< needed outside
  std::string stopped;             ///< why the last candidate was refused
  int part = -1;                   ///< of a placement: the one it puts in place
  std::map<ValueId, Place> placed; ///< outputs that are parts of another value
};

/// A step in execution order: a group, or a node on its own.
struct Unit {
  int group = -1;
  int node = -1;
};

struct FusionPlan {
  std::shared_ptr<const Graph> graph;
  /// The graph's sizes and those that splitting axes brought in.
  std::unique_ptr<SizeTable> sizes;
  std::unique_ptr<Analysis> analysis;
  std::vector<Group> groups;
  std::vector<Unit> order;
  /// Nodes that run through ATen, with the reason.
  std::vector<std::pair<int, Opaque>> opaque;
};

/// How far a node's freedom is taken back once the compiler has refused it.
struct Restriction {
  enum class Level : std::uint8_t {
    Alone, ///< a kernel of its own
    Whole, ///< its library declaration, launched as it is
    Aten
  };
  Level level = Level::Aten;
  std::string reason;
  int rows = 0; ///< rows that take the node but that the compiler refused
};

struct FusionOptions {
  bool fuse = true;       ///< false: every node a kernel of its own
  bool kernels = true;    ///< false: every node through ATen
  bool preferAten = true; ///< false: own kernels where ATen is faster, too
  std::size_t limit = 64; ///< nodes a group
  std::map<int, Restriction> restricted; ///< by node
};

FusionPlan planFusion(std::shared_ptr<const Graph> graph,
                      const OperatorTable &table, const FusionOptions &options);

std::string print(const FusionPlan &plan);

} // namespace quern
