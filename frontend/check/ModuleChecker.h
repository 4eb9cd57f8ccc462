// Checks one module: its names first, then signatures, then bodies.
#pragma once

#include "frontend/ast/Decl.h"
#include "frontend/check/Check.h"
#include "frontend/check/Symbols.h"
#include "frontend/diagnostics/Engine.h"
#include "frontend/typed/ModuleBuilder.h"

namespace quern::check {

class DeclarationChecker;

/// A call of one declaration of the module by another, for finding recursion.
struct CallEdge {
  const typed::Declaration *caller, *callee;
  Span span;
};

class ModuleChecker;
/// Null after an error.
const typed::ConstantTable *checkConstant(const ast::ConstDecl &text,
                                          ModuleChecker &module);

class ModuleChecker {
public:
  ModuleChecker(
      ModuleLibrary &library, const ast::Module &text, llvm::StringRef name,
      const SourceManager &sources,
      llvm::ArrayRef<std::shared_ptr<const typed::TypedModule>> prelude,
      DiagnosticEngine &diagnostics);
  ~ModuleChecker();

  std::shared_ptr<const typed::TypedModule> run();

  /// What a name means at module level, the prelude included; null: nothing.
  const Symbol *lookup(llvm::StringRef name) const;
  /// Offers every name at module level.
  void suggest(Suggestion &suggestion) const;
  void noteCall(const CallEdge &edge) { calls.push_back(edge); }
  llvm::StringRef text(Span span) const { return sources.text(span); }

  typed::ModuleBuilder builder;
  DiagnosticEngine &diagnostics;
  /// Types of literals until a use decides; they never reach the result.
  const typed::Type *weakInteger, *weakFloat;

private:
  void declare(const ast::Decl &decl);
  void import(const ast::UseDecl &decl);
  void importName(const typed::TypedModule &from, const ast::UseDecl &decl,
                  const ast::ImportedName &name);
  void constant(const ast::ConstDecl &decl);
  void addSymbol(const ast::Identifier &name,
                 const typed::Declaration *callable,
                 const typed::Declaration *reduction);
  void findRecursion();
  void reportCycle(llvm::ArrayRef<const CallEdge *> path);
  void warnUnusedImports();

  ModuleLibrary &library;
  const ast::Module &tree;
  const SourceManager &sources;
  llvm::ArrayRef<std::shared_ptr<const typed::TypedModule>> prelude;
  SymbolTable symbols;
  /// Names that the prelude adds to, made at the first use.
  mutable llvm::DenseMap<llvm::StringRef, std::unique_ptr<Symbol>> merged;
  std::vector<std::unique_ptr<DeclarationChecker>> checkers;
  std::vector<CallEdge> calls;
};

} // namespace quern::check
