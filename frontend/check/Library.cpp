// Keeps checked modules, and loads those that others use.
#include "frontend/check/LibraryState.h"

#include "frontend/Frontend.h"

#include "llvm/ADT/ScopeExit.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

ModuleLibrary::ModuleLibrary(SourceManager &sources, ModuleLoader loader,
                             std::vector<std::string> preludeModules)
    : state(std::make_unique<State>(sources, std::move(loader),
                                    std::move(preludeModules))) {}

ModuleLibrary::ModuleLibrary(ModuleLibrary &base, ModuleLoader loader)
    : state(std::make_unique<State>(base.state->sources, std::move(loader),
                                    std::vector<std::string>())) {
  state->base = &base;
}

ModuleLibrary::~ModuleLibrary() = default;

llvm::ArrayRef<std::shared_ptr<const TypedModule>>
ModuleLibrary::visiblePrelude(DiagnosticEngine &diagnostics) {
  if (state->base)
    return state->base->visiblePrelude(diagnostics);
  if (!state->isPreludeStarted) {
    state->isPreludeStarted = true;
    // Where memory ends on the way, the next text begins again.
    llvm::scope_exit undo([&] {
      state->prelude.clear();
      state->isPreludeStarted = false;
    });
    for (const std::string &name : state->preludeNames)
      if (auto module = load(name, diagnostics))
        state->prelude.push_back(std::move(module));
    undo.release();
  }
  return state->prelude;
}

std::shared_ptr<const TypedModule>
ModuleLibrary::check(const ast::Module &module, llvm::StringRef name,
                     DiagnosticEngine &diagnostics, NameIndex *names) {
  // Copied: loading goes on while modules of the prelude are checked.
  std::vector<std::shared_ptr<const TypedModule>> prelude =
      visiblePrelude(diagnostics).vec();
  ModuleChecker checker(*this, module, name, state->sources, prelude,
                        diagnostics);
  checker.names = names;
  return checker.run();
}

std::shared_ptr<const TypedModule>
ModuleLibrary::load(llvm::StringRef name, DiagnosticEngine &diagnostics,
                    Span use) {
  (void)visiblePrelude(diagnostics);
  if (state->base)
    if (auto shared = state->base->load(name, diagnostics))
      return shared;
  auto known = state->modules.find(name);
  if (known != state->modules.end())
    return known->second;
  if (llvm::is_contained(state->loading, name)) {
    std::string path;
    for (const std::string &step : state->loading)
      path += "`" + step + "` → ";
    diagnostics.report(use, diag::ImportCycle, name,
                       path + "`" + name.str() + "`");
    return nullptr;
  }
  std::optional<ModuleText> found =
      state->loader ? state->loader(name) : std::nullopt;
  const SourceFile *file =
      found ? state->sources.add(found->name, llvm::StringRef(found->text))
            : nullptr;
  if (!file) {
    if (use.valid())
      diagnostics.report(use, diag::UnknownModule, name);
    return nullptr;
  }
  state->files.push_back(file);
  state->loading.push_back(name.str());
  // It is kept for others, who wait for the whole of it.
  std::stop_token stop = diagnostics.holdOn();
  llvm::scope_exit restore([&] {
    diagnostics.resume(std::move(stop));
    state->loading.pop_back();
  });
  std::unique_ptr<ast::Module> tree = parse(*file, diagnostics);
  std::shared_ptr<const TypedModule> checked = check(*tree, name, diagnostics);
  state->modules[name] = checked;
  return checked;
}

llvm::ArrayRef<const SourceFile *> ModuleLibrary::files() const {
  return state->files;
}

const SymbolTable &ModuleLibrary::preludeNames(const TypedModule &module) {
  if (state->base)
    return state->base->preludeNames(module);
  auto [place, isNew] = state->names.try_emplace(&module);
  if (!isNew)
    return place->second;
  for (const Declaration *declaration : module.declarations()) {
    Symbol &symbol = place->second[declaration->name];
    (declaration->kind == DeclarationKind::Reduction ? symbol.reduction
                                                     : symbol.callable) =
        declaration;
  }
  for (const ConstantTable *table : module.constants())
    place->second[table->name].constant = table;
  return place->second;
}
