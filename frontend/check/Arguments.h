// Names and `*` before `=`: each must be read by what the argument is for.
#pragma once

#include "frontend/ast/Expr.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace quern::check {

/// Every list of arguments that a declaration holds, and which of their names
/// something has read. Whatever takes an argument by its name says so here, so
/// that a form which ignores names refuses them without asking.
struct ArgumentNames {
  llvm::SmallVector<llvm::ArrayRef<ast::Argument>, 8> lists;
  llvm::DenseSet<unsigned> names, stars; ///< by the name's place
  /// Names whose reader looks for repetitions itself.
  llvm::DenseSet<unsigned> repeatable;

  /// Enters a list, and tuples within it.
  void expect(llvm::ArrayRef<ast::Argument> arguments);
  void readName(const ast::Argument &argument) {
    names.insert(argument.name.span.begin);
  }
  void readStar(const ast::Argument &argument) {
    stars.insert(argument.name.span.begin);
  }
  /// Reads the names of a written tuple when all elements have one.
  void readTuple(const ast::Expr *value);
  void clear() { *this = {}; }
};

/// The tuple that an expression writes; null for others.
const ast::TupleExpr *writtenTuple(const ast::Expr *expr);
bool hasNames(llvm::ArrayRef<ast::Argument> arguments);
/// For each name that is wanted the place of the one given.
using Places = llvm::SmallVector<unsigned, 4>;
bool areAllNamed(llvm::ArrayRef<ast::Argument> arguments);

} // namespace quern::check
