// The memory that a task keeps for itself while it runs.
#pragma once

#include "dsl/lower/Frame.h"

#include "mlir/IR/Builders.h"

#include <functional>

namespace quern {

/// Hands out memory to the code of one task function. The task may run on a
/// thread of the caller, whose stack can be small: little of it is taken, and
/// all else comes from the workspace of the worker that runs the task.
class TaskMemory {
public:
  /// Makes the address of the worker's own workspace in the function's body.
  using Start = std::function<mlir::Value(Frame &root)>;

  TaskMemory() = default;
  TaskMemory(mlir::Block *task, Start start)
      : task(task), start(std::move(start)) {}

  /// Room for `count` elements, made in front of all loops. Functions that
  /// tasks share have no worker: there it is of the stack.
  mlir::Value reserve(mlir::OpBuilder &b, Frame &root, mlir::Type element,
                      std::int64_t count);

  /// Bytes of the worker's own workspace, with what is lost where it does not
  /// begin at a cache line.
  std::int64_t ownBytes() const { return own ? own + alignment : 0; }

  static constexpr std::int64_t alignment = 64;

private:
  mlir::Block *task = nullptr;
  Start start;
  mlir::Value base;
  std::int64_t stack = 0, own = 0;
};

/// Bytes of the stack that a function takes for its arrays at most. As much is
/// left for the registers that it saves there: a frame of 64 KiB fits threads
/// of the smallest stacks in use, 128 KiB.
constexpr std::int64_t mostOnStack = 32 << 10;

} // namespace quern
