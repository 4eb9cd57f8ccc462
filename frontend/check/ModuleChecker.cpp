// Declares a module's names, then checks what they stand for.
#include "frontend/check/ModuleChecker.h"

#include "frontend/check/DeclarationChecker.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

ModuleChecker::ModuleChecker(
    ModuleLibrary &library, const ast::Module &text, llvm::StringRef name,
    const SourceManager &sources,
    llvm::ArrayRef<std::shared_ptr<const TypedModule>> prelude,
    DiagnosticEngine &diagnostics)
    : builder(name, sources), diagnostics(diagnostics), library(library),
      tree(text), sources(sources), prelude(prelude) {
  Type *integer = builder.make<Type>(), *floating = builder.make<Type>();
  integer->kind = floating->kind = TypeKind::Scalar;
  integer->scalar = ScalarType::integer();
  floating->scalar = ScalarType::concrete(ElementType::F64);
  weakInteger = integer;
  weakFloat = floating;
}

std::shared_ptr<const TypedModule> ModuleChecker::run() {
  builder.document(tree.documentation);
  for (const ast::Decl *decl : tree.declarations)
    declare(*decl);
  for (const std::shared_ptr<const TypedModule> &module : prelude)
    builder.use(module);
  makeConstants();
  for (Work &entry : work)
    sign(entry);
  areSigned = true;
  for (Work &entry : work)
    learn(entry);
  for (Work &entry : work)
    if (entry.step != Work::Step::Checked)
      DeclarationChecker(*this, *entry.text, *entry.declaration).checkBody();
  findRecursion();
  for (Work &entry : work) {
    DeclarationChecker whole(*this, *entry.text, *entry.declaration);
    whole.checkWhole();
    whole.checkPacks();
  }
  // What was not read to its end may have used them.
  bool isWhole = llvm::none_of(
      builder.get().declarations(),
      [](const Declaration *declaration) { return declaration->hasError; });
  if (isWhole)
    warnUnusedImports();
  return builder.take();
}

static DeclarationKind typedKind(const ast::Decl &decl) {
  switch (decl.kind) {
  case ast::Decl::Kind::Elementwise:
    return DeclarationKind::Elementwise;
  case ast::Decl::Kind::Reduction:
    return DeclarationKind::Reduction;
  case ast::Decl::Kind::Rowwise:
    return DeclarationKind::Rowwise;
  case ast::Decl::Kind::Kernel:
    return DeclarationKind::Kernel;
  case ast::Decl::Kind::Op:
    return DeclarationKind::Op;
  default:
    return DeclarationKind::Function;
  }
}

/// What is called like a type could not be called: `f16(x)` converts.
void ModuleChecker::refuseTypeName(const ast::Identifier &name) {
  if (isTypeName(name.text()))
    diagnostics.report(name.span, diag::ReservedName, name.text());
}

void ModuleChecker::declare(const ast::Decl &decl) {
  if (const auto *use = llvm::dyn_cast<ast::UseDecl>(&decl))
    return import(*use);
  if (const auto *value = llvm::dyn_cast<ast::ConstDecl>(&decl))
    return constant(*value);
  if (!decl.name)
    return;
  refuseTypeName(decl.name);
  auto *declaration = builder.make<Declaration>();
  declaration->kind = typedKind(decl);
  declaration->name = decl.name.text();
  declaration->module = builder.get().name();
  declaration->documentation = decl.documentation;
  declaration->span = decl.span;
  declaration->nameSpan = decl.name.span;
  // Until its signature is known nothing may rely on it.
  bool isReduction = declaration->kind == DeclarationKind::Reduction;
  addSymbol(decl.name, isReduction ? nullptr : declaration,
            isReduction ? declaration : nullptr);
  builder.add(declaration);
  noteDeclaration(decl.name.text(), *declaration);
  order[declaration] = static_cast<unsigned>(work.size());
  work.push_back({&decl, declaration});
}

void ModuleChecker::addSymbol(const ast::Identifier &name,
                              const Declaration *callable,
                              const Declaration *reduction) {
  Symbol &symbol = symbols[name.text()];
  bool isTaken = symbol.constant || (callable && symbol.callable) ||
                 (reduction && symbol.reduction);
  if (isTaken && !symbol.isPoisoned) {
    diagnostics.report(name.span, diag::Redefinition, name.text())
        .label(symbol.span, "first defined here");
    return;
  }
  if (callable)
    symbol.callable = callable;
  if (reduction)
    symbol.reduction = reduction;
  if (!symbol.span.valid())
    symbol.span = name.span;
}

void ModuleChecker::import(const ast::UseDecl &decl) {
  std::shared_ptr<const TypedModule> from;
  if (!decl.hasError)
    from = library.load(decl.name.text(), diagnostics, decl.name.span);
  if (from)
    builder.use(from);
  if (from)
    noteModule(decl.name.text(), *from);
  for (const ast::ImportedName &name : decl.names) {
    if (from) {
      importName(*from, decl, name);
      continue;
    }
    Symbol poison;
    poison.isPoisoned = true;
    const ast::Identifier &local = name.alias ? name.alias : name.name;
    poison.span = local.span;
    symbols.try_emplace(local.text(), poison);
  }
}

bool ModuleChecker::isPrelude(const TypedModule &module) const {
  return llvm::any_of(prelude,
                      [&](const auto &each) { return each.get() == &module; });
}

/// The prelude is cut into modules for those who write it: each gives what all
/// of them have, and the builtins that take and yield scalars.
void ModuleChecker::importShared(Symbol &symbol, llvm::StringRef name,
                                 Suggestion &suggestion) {
  addPrelude(symbol, name);
  for (const std::shared_ptr<const TypedModule> &module : prelude)
    for (const Declaration *declaration : module->declarations())
      suggestion.consider(declaration->name);
#define QN_BUILTIN(enumerator, spelling, group, operands, constraint, result)  \
  if (BuiltinGroup::group == BuiltinGroup::Scalar)                             \
    suggestion.consider(spelling);
#include "frontend/typed/Builtins.def"
  std::optional<Builtin> builtin = builtinNamed(name);
  if (builtin && builtinInfo(*builtin).group == BuiltinGroup::Scalar)
    symbol.builtin = builtin;
}

void ModuleChecker::importName(const TypedModule &from,
                               const ast::UseDecl &decl,
                               const ast::ImportedName &name) {
  Symbol symbol;
  Suggestion suggestion(name.name.text());
  for (const Declaration *declaration : from.declarations()) {
    suggestion.consider(declaration->name);
    if (declaration->name != name.name.text())
      continue;
    (declaration->kind == DeclarationKind::Reduction ? symbol.reduction
                                                     : symbol.callable) =
        declaration;
  }
  for (const ConstantTable *table : from.constants()) {
    suggestion.consider(table->name);
    if (table->name == name.name.text())
      symbol.constant = table;
  }
  const ast::Identifier &local = name.alias ? name.alias : name.name;
  refuseTypeName(local);
  symbol.span = local.span;
  symbol.isImport = true;
  if (isPrelude(from))
    importShared(symbol, name.name.text(), suggestion);
  if (symbol.isEmpty()) {
    symbol.isPoisoned = true;
    std::string hint = suggestion.hint();
    if (hint.empty() && lookup(name.name.text()))
      hint = "`" + name.name.text().str() + "` is known without an import";
    diagnostics
        .report(name.name.span, diag::UnknownImport, decl.name.text(),
                name.name.text())
        .hint(hint);
  }
  noteSymbol(name.name.text(), symbol);
  noteSymbol(local.text(), symbol);
  auto [place, isNew] = symbols.try_emplace(local.text(), symbol);
  if (!isNew)
    diagnostics.report(local.span, diag::Redefinition, local.text())
        .label(place->second.span, "first defined here");
}

/// Adds what the prelude means by `name` and the symbol does not.
void ModuleChecker::addPrelude(Symbol &symbol, llvm::StringRef name) {
  for (const std::shared_ptr<const TypedModule> &module : prelude) {
    const SymbolTable &inner = library.preludeNames(*module);
    auto entry = inner.find(name);
    if (entry == inner.end())
      continue;
    if (!symbol.callable && !symbol.constant)
      symbol.callable = entry->second.callable;
    if (!symbol.reduction)
      symbol.reduction = entry->second.reduction;
    if (!symbol.callable && !symbol.constant)
      symbol.constant = entry->second.constant;
  }
}

const Symbol *ModuleChecker::lookup(llvm::StringRef name) {
  const Symbol *symbol = find(name);
  if (symbol)
    noteSymbol(name, *symbol);
  return symbol;
}

/// The module's own names first, the prelude's last.
const Symbol *ModuleChecker::find(llvm::StringRef name) {
  auto found = symbols.find(name);
  if (found != symbols.end()) {
    found->second.isUsed = true;
    makeConstant(found->second);
    // A module's `fn max` does not hide the prelude's reduction.
    const Symbol &own = found->second;
    if (own.isPoisoned || own.isBeingMade || own.constant ||
        (own.callable && own.reduction))
      return &own;
  }
  auto known = merged.find(name);
  if (known != merged.end())
    return known->second.get();
  auto symbol = std::make_unique<Symbol>(found != symbols.end() ? found->second
                                                                : Symbol());
  addPrelude(*symbol, name);
  if (symbol->isEmpty())
    return nullptr;
  return (merged[name] = std::move(symbol)).get();
}

void ModuleChecker::suggest(Suggestion &suggestion) const {
  for (const auto &[name, symbol] : symbols)
    suggestion.consider(name);
  for (const std::shared_ptr<const TypedModule> &module : prelude)
    for (const Declaration *declaration : module->declarations())
      suggestion.consider(declaration->name);
#define QN_BUILTIN(enumerator, spelling, group, operands, constraint, result)  \
  suggestion.consider(spelling);
#include "frontend/typed/Builtins.def"
}

void ModuleChecker::warnUnusedImports() {
  llvm::SmallVector<const Symbol *, 8> unused;
  for (const auto &[name, symbol] : symbols)
    if (symbol.isImport && !symbol.isUsed && !symbol.isPoisoned)
      unused.push_back(&symbol);
  llvm::sort(unused, [](const Symbol *a, const Symbol *b) {
    return a->span.begin < b->span.begin;
  });
  for (const Symbol *symbol : unused)
    diagnostics.report(symbol->span, diag::UnusedImport,
                       sources.text(symbol->span));
}
