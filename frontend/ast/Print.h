// The dump of `--emit=ast`: one line for each node.
#pragma once

#include "frontend/ast/Decl.h"

#include "llvm/Support/raw_ostream.h"

namespace quern::ast {

void print(const Module &module, llvm::raw_ostream &out);

} // namespace quern::ast
