// Walks statements for assignments and returns.
#include "dsl/irgen/Assigned.h"

#include "llvm/ADT/STLExtras.h"

using namespace quern;
using llvm::dyn_cast;

bool irgen::collectAssigned(
    typed::Block statements,
    llvm::SmallVectorImpl<const typed::Variable *> &assigned) {
  bool returns = false;
  for (const typed::Statement *statement : statements) {
    if (llvm::isa<typed::ReturnStatement>(statement)) {
      returns = true;
    } else if (const auto *assign =
                   dyn_cast<typed::AssignStatement>(statement)) {
      for (const typed::Variable *target : assign->targets)
        if (target && !llvm::is_contained(assigned, target))
          assigned.push_back(target);
    } else if (const auto *branch = dyn_cast<typed::IfStatement>(statement)) {
      returns |= collectAssigned(branch->then, assigned);
      returns |= collectAssigned(branch->otherwise, assigned);
    } else if (const auto *loop = dyn_cast<typed::ForStatement>(statement)) {
      returns |= collectAssigned(loop->body, assigned);
    } else if (const auto *loop = dyn_cast<typed::WhileStatement>(statement)) {
      returns |= collectAssigned(loop->body, assigned);
    }
  }
  return returns;
}
