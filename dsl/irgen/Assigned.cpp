// Walks statements for assignments and returns.
#include "dsl/irgen/Assigned.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

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

using Variables = llvm::SmallPtrSet<const typed::Variable *, 8>;

static void collectDefined(typed::Block statements, Variables &defined) {
  for (const typed::Statement *statement : statements) {
    if (const auto *let = dyn_cast<typed::LetStatement>(statement)) {
      defined.insert_range(let->variables);
    } else if (const auto *branch = dyn_cast<typed::IfStatement>(statement)) {
      collectDefined(branch->then, defined);
      collectDefined(branch->otherwise, defined);
    } else if (const auto *loop = dyn_cast<typed::ForStatement>(statement)) {
      collectDefined(loop->body, defined);
    } else if (const auto *loop = dyn_cast<typed::WhileStatement>(statement)) {
      collectDefined(loop->body, defined);
    }
  }
}

bool irgen::collectCarried(
    typed::Block statements,
    llvm::SmallVectorImpl<const typed::Variable *> &carried) {
  bool returns = collectAssigned(statements, carried);
  Variables defined;
  collectDefined(statements, defined);
  llvm::erase_if(carried, [&](const typed::Variable *variable) {
    return defined.contains(variable);
  });
  return returns;
}
