// Which variables a block of statements assigns, and whether it may return.
#pragma once

#include "frontend/typed/Declaration.h"

#include "llvm/ADT/SmallVector.h"

namespace quern::irgen {

/// Appends the variables that are assigned, each once, in the order of the
/// text; true if there is a `return`.
bool collectAssigned(typed::Block statements,
                     llvm::SmallVectorImpl<const typed::Variable *> &assigned);

/// The same without what the block itself defines: that ends with the block,
/// and holds before it only what an iteration that was written out left.
bool collectCarried(typed::Block statements,
                    llvm::SmallVectorImpl<const typed::Variable *> &carried);

} // namespace quern::irgen
