// How operations write the names of axes.
#pragma once

#include "mlir/IR/OpImplementation.h"

namespace quern::qn {

mlir::ParseResult parseAxisName(mlir::OpAsmParser &parser,
                                mlir::StringAttr &axis);
void printAxisName(mlir::OpAsmPrinter &printer, mlir::Operation *,
                   mlir::StringAttr axis);
/// `[R, C]`.
mlir::ParseResult parseAxisList(mlir::OpAsmParser &parser,
                                mlir::ArrayAttr &axes);
void printAxisList(mlir::OpAsmPrinter &printer, mlir::Operation *,
                   mlir::ArrayAttr axes);

} // namespace quern::qn
