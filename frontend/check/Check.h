// The checker's facade: syntax tree in, typed module out.
#pragma once

#include "frontend/typed/TypedModule.h"

#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace quern {

class DiagnosticEngine;
class NameIndex;
class SourceFile;
class SourceManager;

namespace ast {
struct Module;
}
namespace check {
struct Symbol;
using SymbolTable = llvm::DenseMap<llvm::StringRef, Symbol>;
} // namespace check

/// Finds the text of a module; null when there is none. `name` is as in
/// `from name use …`, dots included.
struct ModuleText {
  std::string name; ///< for messages: "prelude/math.qn"
  std::string_view text;
};
using ModuleLoader =
    std::function<std::optional<ModuleText>(llvm::StringRef name)>;

/// Checks modules and keeps those that others use, so that a library is checked
/// once. Not thread-safe; what it returns is.
class ModuleLibrary {
public:
  /// `preludeModules` are visible everywhere without an import, in the order of
  /// use: a module of the prelude sees those before it.
  ModuleLibrary(SourceManager &sources, ModuleLoader loader,
                std::vector<std::string> preludeModules);
  /// A library on top of `base`, which outlives it: what `base` finds, the
  /// prelude included, is checked and kept there, for all who share it; the
  /// rest comes through `loader` and goes with this library.
  ModuleLibrary(ModuleLibrary &base, ModuleLoader loader);
  ~ModuleLibrary();

  /// Checks `module`. Reports to `diagnostics`; the result is never null, but
  /// declarations with an error are marked `hasError`. With `names` it collects
  /// what the names of the text stand for, also in declarations with a syntax
  /// error, whose bodies are otherwise not looked at.
  std::shared_ptr<const typed::TypedModule> check(const ast::Module &module,
                                                  llvm::StringRef name,
                                                  DiagnosticEngine &diagnostics,
                                                  NameIndex *names = nullptr);
  /// The checked module of that name through the loader; null when the loader
  /// has none. Its diagnostics go to `diagnostics` the first time.
  std::shared_ptr<const typed::TypedModule>
  load(llvm::StringRef name, DiagnosticEngine &diagnostics, Span use = {});
  /// The texts that came through the loader.
  llvm::ArrayRef<const SourceFile *> files() const;
  /// For the checker itself: the names that a module of the prelude brings.
  const check::SymbolTable &preludeNames(const typed::TypedModule &module);

  struct State;

private:
  /// The prelude is loaded at the first need; a module of it sees only those
  /// that come before it.
  llvm::ArrayRef<std::shared_ptr<const typed::TypedModule>>
  visiblePrelude(DiagnosticEngine &diagnostics);

  std::unique_ptr<State> state;
};

} // namespace quern
