// The threads of a GPU that work on one unit of a launch together.
#pragma once

#include "dsl/dialect/ScheduleEnums.h"

#include "mlir/IR/Value.h"

namespace quern {

class Device;

/// What a team keeps of its rows; nothing where there are no cells.
struct KeptRows {
  unsigned cells = 0; ///< vectors that a thread has in registers
  /// Elements that a block has in shared memory behind them, and where.
  std::int64_t sharedLanes = 0;
  mlir::Value memory = {};
  /// Rows of all operands begin at the same place of a vector's, this one's;
  /// null: at its first.
  mlir::Value phaseOf = {};
};

struct Team {
  Device *device = nullptr;
  TeamKind kind = TeamKind::Thread;
  unsigned size = 1;    ///< threads, at most
  unsigned blocks = 1;  ///< of a cluster
  unsigned vectors = 1; ///< elements of one access along a shared axis
  unsigned copies = 1;  ///< vectors under way at once, at most
  bool isFull = false;  ///< a turn leaves registers for no second one
  KeptRows kept = {};
  /// What it stores leaves the second cache to others.
  bool passesBy = false;
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
