// A place of the code under construction: the axes bound there, and the values
// already made there.
#pragma once

#include "dsl/schedule/KernelModel.h"

#include <memory>

namespace quern {

/// Which copy of each unrolled axis is meant: one byte per slot.
using Copies = std::uint32_t;

/// An axis with a position.
struct Binding {
  unsigned axis = 0;
  mlir::Value position = {}; ///< of the first lane of the first copy; i64
  unsigned lanes = 1;        ///< above 1: the lanes run along this axis
  unsigned copies = 1;       ///< copies lie `lanes` apart
  unsigned slot = 0;         ///< byte of `Copies`, where copies > 1
  mlir::Value mask = {};     ///< of the lanes in range; null: all
  mlir::Value last = {};     ///< copies go no further; null: all are in range
  bool byTeam = false;       ///< copies lie the lanes of all threads apart
  bool shared = false;       ///< every thread of a team has its own position
};

struct Frame {
  Frame *parent = nullptr;
  mlir::Block *block = nullptr;
  /// Code goes before this operation, a loop under construction; null: the end.
  mlir::Operation *anchor = nullptr;
  AxisSet bound;
  AxisSet rebound; ///< bound here although an outer frame binds it
  unsigned slots = 0;
  llvm::SmallVector<Binding, 4> bindings; ///< outer ones first
  using Key = std::pair<const void *, Copies>;
  llvm::DenseMap<Key, mlir::Value> values, splats;
  llvm::DenseMap<std::tuple<const void *, Copies, AxisSet>, mlir::Value>
      addresses;

  /// The number of the operand, of those joined along an axis, that positions
  /// bound inside lie in.
  llvm::SmallDenseMap<unsigned, mlir::Value, 1> joined;

  llvm::DenseMap<std::int64_t, mlir::Value> constants; ///< in the root only
  /// Frames for the vectors of a row that a thread of a GPU keeps, once some
  /// loop along it was made here.
  std::shared_ptr<std::vector<Frame>> cells;
  mlir::Value inRange = {}; ///< of such a frame: whether its vector is there
  /// The lanes that take part in what is made here: all of a round, and the
  /// region of a branch that is being made.
  mlir::Value active = {}, arm = {};
  bool guards = false; ///< what is loaded here is loaded only where it is there

  /// A frame for the inside of `parent`, code going to the end of `block`.
  static Frame inside(Frame &parent, mlir::Block *block) {
    Frame frame;
    frame.parent = &parent;
    frame.block = block;
    frame.bound = parent.bound;
    frame.slots = parent.slots;
    frame.bindings = parent.bindings;
    return frame;
  }

  void bind(Binding binding) {
    if (hasAxis(bound, binding.axis))
      rebound |= axisBit(binding.axis);
    bound |= axisBit(binding.axis);
    if (binding.copies > 1)
      binding.slot = slots++;
    assert(slots <= sizeof(Copies) && "too many unrolled axes");
    bindings.push_back(binding);
  }

  /// The innermost binding of an axis, or null.
  const Binding *find(unsigned axis) const {
    for (const Binding &binding : llvm::reverse(bindings))
      if (binding.axis == axis)
        return &binding;
    return nullptr;
  }
};

} // namespace quern
