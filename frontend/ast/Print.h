// The dump of `--emit=ast`: one line for each node.
#pragma once

#include "frontend/ast/Decl.h"

namespace llvm {
class raw_ostream;
}

namespace quern::ast {

void print(const Module &module, llvm::raw_ostream &out);

} // namespace quern::ast
