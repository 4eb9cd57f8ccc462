// A schedule that a person wrote.
#pragma once

#include "dsl/dialect/Dialect.h"

namespace quern {

/// Replaces the schedule of a kernel by that of a text, unless the text is of a
/// kernel of another name. Fails with a diagnostic where the text cannot be
/// read, differs in more than the schedule, or has none for the same target.
/// `name` is the text's in diagnostics.
mlir::LogicalResult takeGivenSchedule(qn::RowwiseOp kernel,
                                      llvm::StringRef text,
                                      llvm::StringRef name);

} // namespace quern
