// Which declaration is checked when: constants may need some before their turn.
#include "frontend/check/DeclarationChecker.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

/// Null for declarations of other modules, which are checked already.
ModuleChecker::Work *ModuleChecker::workOn(const Declaration &declaration) {
  auto found = order.find(&declaration);
  return found == order.end() ? nullptr : &work[found->second];
}

// A checker is large; between its steps the declaration holds what it knows.
void ModuleChecker::sign(Work &entry) {
  if (entry.step != Work::Step::Named)
    return;
  entry.step = Work::Step::Signed;
  // A signature that asks for itself finds one that cannot be relied on.
  entry.declaration->hasError = true;
  DeclarationChecker(*this, *entry.text, *entry.declaration).checkSignature();
}

void ModuleChecker::sign(const Declaration &declaration) {
  if (areSigned)
    return;
  if (Work *entry = workOn(declaration))
    sign(*entry);
}

void ModuleChecker::learn(Work &entry) {
  bool isReduction = entry.declaration->kind == DeclarationKind::Reduction;
  if (isReduction && entry.step == Work::Step::Signed)
    DeclarationChecker(*this, *entry.text, *entry.declaration).learnResult();
}

/// Checks a declaration and all that it calls, without recursion: chains of
/// calls may be as long as a text.
bool ModuleChecker::complete(const Declaration &declaration) {
  struct Open {
    Work *entry;
    std::size_t next, last; ///< its calls that are not followed yet
    bool isGood;
  };
  llvm::SmallVector<Open, 8> open;
  // Whether it is good, where that is known; else it is opened.
  auto known = [&](const Declaration &callee) -> std::optional<bool> {
    Work *entry = workOn(callee);
    if (!entry || entry->step == Work::Step::Checked)
      return !callee.hasError;
    if (entry->step == Work::Step::Open)
      return false;
    sign(*entry);
    entry->step = Work::Step::Open;
    std::size_t first = calls.size();
    DeclarationChecker(*this, *entry->text, *entry->declaration).checkBody();
    open.push_back({entry, first, calls.size(), !callee.hasError});
    return std::nullopt;
  };
  if (std::optional<bool> isGood = known(declaration))
    return *isGood;
  while (true) {
    if (open.back().next != open.back().last) {
      const Declaration &callee = *calls[open.back().next++].callee;
      if (std::optional<bool> isGood = known(callee))
        open.back().isGood &= *isGood;
      continue;
    }
    bool isGood = open.back().isGood;
    open.back().entry->step = Work::Step::Checked;
    open.pop_back();
    if (open.empty())
      return isGood;
    open.back().isGood &= isGood;
  }
}

void ModuleChecker::constant(const ast::ConstDecl &decl) {
  refuseTypeName(decl.name);
  Symbol symbol;
  symbol.span = decl.name.span;
  symbol.pending = &decl;
  auto [place, isNew] = symbols.try_emplace(decl.name.text(), symbol);
  if (!isNew)
    diagnostics.report(decl.name.span, diag::Redefinition, decl.name.text())
        .label(place->second.span, "first defined here");
}

void ModuleChecker::makeConstant(Symbol &symbol) {
  const ast::ConstDecl *text = std::exchange(symbol.pending, nullptr);
  if (!text)
    return;
  // One that is asked for before its turn is made within another.
  constexpr unsigned deepest = 64;
  if (constantDepth == deepest) {
    symbol.isPoisoned = true;
    diagnostics.report(symbol.span, diag::NotConstant)
        .note("too many constants stand above what they are made of");
    return;
  }
  ++constantDepth;
  symbol.isBeingMade = true;
  symbol.constant = checkConstant(*text, *this);
  symbol.isBeingMade = false;
  symbol.isPoisoned = !symbol.constant;
  --constantDepth;
}

void ModuleChecker::makeConstants() {
  for (const ast::Decl *decl : tree.declarations) {
    if (!llvm::isa<ast::ConstDecl>(decl))
      continue;
    Symbol &symbol = symbols[decl->name.text()];
    makeConstant(symbol);
    bool isFirst = symbol.span == decl->name.span;
    if (isFirst)
      noteSymbol(decl->name.text(), symbol);
    if (symbol.constant && isFirst)
      builder.add(symbol.constant);
  }
}
