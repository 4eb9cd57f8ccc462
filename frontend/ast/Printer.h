// The state of the syntax tree's dump; methods are spread over files.
#pragma once

#include "frontend/ast/Decl.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace quern::ast {

/// Declarations and statements stand on lines, children indented; an expression
/// stands on one line with its operators in front: `(+ a (* b c))`.
class Printer {
public:
  explicit Printer(llvm::raw_ostream &out) : out(out) {}
  void print(const Module &module);

private:
  void line(const llvm::Twine &text);

  // PrintDecl.cpp
  void decl(const Decl &decl);
  void attribute(const Attribute &attribute);
  void generic(const GenericParam &generic);
  void param(const Param &param);
  void callable(const CallableDecl &decl);
  void reduction(const ReductionDecl &decl);
  void part(const ReductionPart *part);
  void use(const UseDecl &decl);

  // PrintStmt.cpp
  void block(const Block &block);
  void stmt(const Stmt &stmt);
  void ifStmt(const IfStmt &stmt);

  llvm::raw_ostream &out;
  unsigned level = 0;
};

std::string dumpText(const Expr *expr);
std::string dumpText(const Type *type);
std::string dumpText(List<const Expr *> exprs);
std::string dumpText(const Pattern &pattern);

} // namespace quern::ast
