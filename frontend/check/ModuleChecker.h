// Checks one module: its names first, then signatures, then bodies.
#pragma once

#include "frontend/ast/Decl.h"
#include "frontend/check/Check.h"
#include "frontend/check/NameIndex.h"
#include "frontend/check/Symbols.h"
#include "frontend/diagnostics/Engine.h"
#include "frontend/typed/ModuleBuilder.h"

namespace quern::check {

/// A call of one declaration of the module by another, for finding recursion.
struct CallEdge {
  const typed::Declaration *caller, *callee;
  Span span;
};

struct Binding;
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

  std::shared_ptr<const typed::TypedModule> run();

  /// What a name means at module level, the prelude included; null: nothing.
  /// The value of a `const` is worked out at the first look.
  const Symbol *lookup(llvm::StringRef name);
  /// Checks the signature of a declaration of this module before its turn.
  void sign(const typed::Declaration &declaration);
  /// Checks a declaration whole, and what it calls, before its turn: a constant
  /// is made with it. False after an error, or where it calls itself.
  bool complete(const typed::Declaration &declaration);
  /// Offers every name at module level.
  void suggest(Suggestion &suggestion) const;
  void noteCall(const CallEdge &edge) { calls.push_back(edge); }
  llvm::StringRef text(Span span) const { return sources.text(span); }
  unsigned lineOf(Span span) const { return sources.locate(span.begin).line; }

  /// Tell `names` what a piece of the text stands for; NameIndex.cpp.
  void noteName(llvm::StringRef name, const Binding &binding,
                const typed::Declaration &declaration,
                llvm::ArrayRef<typed::Axis> axes);
  void noteArgument(llvm::StringRef name, const typed::Declaration &callee,
                    const typed::Variable &parameter);
  void noteGeneric(llvm::StringRef name, const typed::Declaration &callee,
                   typed::GenericOrder order);
  void noteBuiltin(llvm::StringRef name, typed::Builtin builtin);
  void noteDeclaration(llvm::StringRef name,
                       const typed::Declaration &declaration);
  void noteSymbol(llvm::StringRef name, const Symbol &symbol);
  void noteModule(llvm::StringRef name, const typed::TypedModule &module);

  typed::ModuleBuilder builder;
  DiagnosticEngine &diagnostics;
  NameIndex *names = nullptr; ///< null: nobody asks for them
  /// Types of literals until a use decides; they never reach the result.
  const typed::Type *weakInteger, *weakFloat;

private:
  const Symbol *find(llvm::StringRef name);
  void declare(const ast::Decl &decl);
  void import(const ast::UseDecl &decl);
  bool isPrelude(const typed::TypedModule &module) const;
  void importShared(Symbol &symbol, llvm::StringRef name,
                    Suggestion &suggestion);
  void addPrelude(Symbol &symbol, llvm::StringRef name);
  void importName(const typed::TypedModule &from, const ast::UseDecl &decl,
                  const ast::ImportedName &name);
  void constant(const ast::ConstDecl &decl);
  void makeConstant(Symbol &symbol);
  void makeConstants();
  void refuseTypeName(const ast::Identifier &name);
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
  llvm::DenseMap<llvm::StringRef, std::unique_ptr<Symbol>> merged;
  /// A declaration on its way; early steps are taken for constants.
  struct Work {
    enum class Step : std::uint8_t { Named, Signed, Open, Checked };
    const ast::Decl *text;
    typed::Declaration *declaration;
    Step step = Step::Named;
  };
  Work *workOn(const typed::Declaration &declaration);
  void sign(Work &entry);
  void learn(Work &entry);
  std::vector<Work> work;
  llvm::DenseMap<const typed::Declaration *, unsigned> order;
  bool areSigned = false;     ///< all signatures are known
  unsigned constantDepth = 0; ///< constants that are being made
  std::vector<CallEdge> calls;
};

} // namespace quern::check
