// The threads of a GPU that work on one unit of a launch together.
#pragma once

#include "mlir/IR/Value.h"

namespace quern {

class Device;

/// A cluster is blocks that read each other's shared memory.
enum class TeamKind : std::uint8_t { Thread, Warp, Block, Cluster };

struct Team {
  Device *device = nullptr;
  TeamKind kind = TeamKind::Thread;
  unsigned size = 1;        ///< threads, at most
  unsigned blocks = 1;      ///< of a cluster
  unsigned vectors = 1;     ///< elements of one access along a shared axis
  unsigned copies = 1;      ///< vectors under way at once, at most
  bool isFull = false;      ///< a turn leaves registers for no second one
  unsigned cells = 0;       ///< vectors of a row that a thread keeps; 0: none
  mlir::Value thread = {};  ///< number in the team, i32
  mlir::Value lane = {};    ///< number in the warp, i32
  mlir::Value warp = {};    ///< number of the warp in the block, i32
  mlir::Value isFirst = {}; ///< the thread with number 0
  mlir::Value leads = {};   ///< the first thread of its block
  /// Threads as the row asks for them, i64, and warps of a block, i32; null:
  /// as many as there can be.
  mlir::Value count = {}, warps = {};

  unsigned blockSize() const { return size / blocks; }
};

} // namespace quern
