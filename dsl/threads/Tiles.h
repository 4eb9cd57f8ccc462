// Tiles of a warp as what each of its threads does.
#pragma once

#include "dsl/dialect/Dialect.h"
#include "dsl/target/TargetInfo.h"

namespace quern {

/// Whether matrix instructions make a product.
bool isMatrixProduct(qn::MultiplyTileOp op, const TargetInfo &target);

/// Replaces tiles that are moved, and products that no matrix instruction
/// makes, by reads and writes of each thread; on a CPU copies as well.
void expandTiles(qn::KernelOp kernel, const TargetInfo &target);

} // namespace quern
