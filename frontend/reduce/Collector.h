// Walks a syntax tree and notes what can be left out of it.
#pragma once

#include "frontend/reduce/Candidates.h"

#include "llvm/ADT/SmallVector.h"

namespace quern::reduce {

class Collector {
public:
  Collector(const SourceFile &file, llvm::ArrayRef<std::string> kept)
      : file(file), kept(kept) {}

  void module(const ast::Module &module);
  void comments(const TokenBuffer &tokens);

  std::vector<Edit> edits;

private:
  // Collector.cpp
  void declaration(const ast::Decl &decl);
  void signature(const ast::CallableDecl &decl);
  void reduction(const ast::ReductionDecl &decl);
  void generics(llvm::ArrayRef<ast::GenericParam> generics);
  void params(llvm::ArrayRef<ast::Param> params);
  void fields(llvm::ArrayRef<ast::TypeField> fields);
  void type(const ast::Type *type);
  void dimension(const ast::Dimension &dimension);

  // CollectStatements.cpp
  void block(const ast::Block &block);
  void statement(const ast::Stmt &stmt);
  void branches(const ast::IfStmt &stmt);
  void hoist(const ast::Stmt &stmt, const ast::Block &body);
  /// Between a name and its value.
  void annotation(std::uint32_t behind, const ast::Type *type);

  // CollectExpressions.cpp
  void expression(const ast::Expr *expr);
  void children(const ast::Expr &expr);
  void call(const ast::CallExpr &expr);
  void arguments(llvm::ArrayRef<ast::Argument> arguments);
  void literals(const ast::Expr &expr);
  void replace(const ast::Expr &expr, const ast::Expr *by);

  /// Without one element and its comma; with its brackets where it is the
  /// only one and the brackets are square.
  void element(llvm::ArrayRef<Span> spans, std::size_t number);
  void eachElement(llvm::ArrayRef<Span> spans);
  /// Runs of whole lines, halves first, then single ones.
  void runs(llvm::ArrayRef<Span> spans, llvm::StringRef whenEmpty);
  Edit lines(Span first, Span last) const;
  void add(Span span, llvm::StringRef text) {
    edits.push_back({local(span.begin), local(span.end), text.str()});
  }
  std::size_t local(std::uint32_t offset) const {
    return offset - file.beginOffset();
  }
  llvm::StringRef text(Span span) const { return file.text(span); }

  const SourceFile &file;
  llvm::ArrayRef<std::string> kept;
};

} // namespace quern::reduce
