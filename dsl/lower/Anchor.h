// Where code goes while an operation around other code is made.
#pragma once

#include "dsl/lower/Frame.h"

namespace quern {

/// While it lives, what is made in the frame, and in those around it whose code
/// goes to the same block, goes before the operation.
class Anchor {
public:
  Anchor(Frame &frame, mlir::Operation *operation) {
    for (Frame *each = &frame; each && each->block == frame.block;
         each = each->parent)
      outer.push_back({each, std::exchange(each->anchor, operation)});
  }
  Anchor(const Anchor &) = delete;
  Anchor &operator=(const Anchor &) = delete;
  ~Anchor() {
    for (auto [frame, anchor] : outer)
      frame->anchor = anchor;
  }

private:
  llvm::SmallVector<std::pair<Frame *, mlir::Operation *>, 2> outer;
};

} // namespace quern
