// Notes what names stand for, on behalf of the checkers.
#include "frontend/check/NameIndex.h"

#include "frontend/check/DeclarationChecker.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

std::vector<NameUse> NameIndex::take() {
  std::vector<NameUse> uses;
  uses.reserve(known.size());
  for (const auto &[begin, use] : known)
    uses.push_back(use);
  known.clear();
  llvm::sort(uses, [](const NameUse &a, const NameUse &b) {
    return a.span.begin < b.span.begin;
  });
  return uses;
}

static NameTarget::Kind targetKind(Binding::Kind kind) {
  switch (kind) {
  case Binding::Kind::Poison:
    return NameTarget::Kind::Unknown;
  case Binding::Kind::Variable:
    return NameTarget::Kind::Variable;
  case Binding::Kind::Alias:
    return NameTarget::Kind::Alias;
  case Binding::Kind::TypeParameter:
    return NameTarget::Kind::TypeParameter;
  case Binding::Kind::ConstantParameter:
    return NameTarget::Kind::ConstantParameter;
  case Binding::Kind::Axis:
    return NameTarget::Kind::Axis;
  }
  llvm_unreachable("all kinds of binding have a kind of target");
}

void ModuleChecker::noteName(llvm::StringRef name, const Binding &binding,
                             const Declaration &declaration,
                             llvm::ArrayRef<Axis> axes) {
  if (!names)
    return;
  NameTarget target;
  target.kind = targetKind(binding.kind);
  target.definition = binding.span;
  // The span of an axis holds its star and its extent.
  if (binding.kind == Binding::Kind::Axis && binding.index < axes.size())
    target.definition = names->placeOf(axes[binding.index].name);
  if (!target.definition.valid())
    return;
  target.declaration = &declaration;
  target.variable = binding.variable;
  target.alias = binding.alias;
  target.index = binding.index;
  names->add(name, target);
}

void ModuleChecker::noteArgument(llvm::StringRef name,
                                 const Declaration &callee,
                                 const Variable &parameter) {
  if (!names)
    return;
  NameTarget target;
  target.kind = NameTarget::Kind::Variable;
  target.definition = parameter.span;
  target.declaration = &callee;
  target.variable = &parameter;
  names->add(name, target);
}

void ModuleChecker::noteGeneric(llvm::StringRef name, const Declaration &callee,
                                GenericOrder order) {
  if (!names)
    return;
  NameTarget target;
  target.kind = order.isType ? NameTarget::Kind::TypeParameter
                             : NameTarget::Kind::ConstantParameter;
  target.definition = order.isType
                          ? callee.typeParameters[order.index].span
                          : callee.constantParameters[order.index]->span;
  target.declaration = &callee;
  target.index = order.index;
  names->add(name, target);
}

void ModuleChecker::noteBuiltin(llvm::StringRef name, Builtin builtin) {
  if (!names)
    return;
  NameTarget target;
  target.kind = NameTarget::Kind::Builtin;
  target.builtin = builtin;
  names->add(name, target);
}

void ModuleChecker::noteDeclaration(llvm::StringRef name,
                                    const Declaration &declaration) {
  if (!names)
    return;
  NameTarget target;
  target.kind = NameTarget::Kind::Declaration;
  target.definition = declaration.nameSpan;
  target.declaration = &declaration;
  names->add(name, target);
}

void ModuleChecker::noteSymbol(llvm::StringRef name, const Symbol &symbol) {
  if (!names)
    return;
  if (const Declaration *declaration =
          symbol.callable ? symbol.callable : symbol.reduction)
    return noteDeclaration(name, *declaration);
  if (symbol.builtin)
    return noteBuiltin(name, *symbol.builtin);
  NameTarget target;
  target.kind =
      symbol.constant ? NameTarget::Kind::Constant : NameTarget::Kind::Unknown;
  target.definition = symbol.constant ? symbol.constant->span : symbol.span;
  target.constant = symbol.constant;
  if (target.definition.valid())
    names->add(name, target);
}

void ModuleChecker::noteModule(llvm::StringRef name,
                               const TypedModule &module) {
  if (!names)
    return;
  NameTarget target;
  target.kind = NameTarget::Kind::Module;
  Span first;
  for (const Declaration *declaration : module.declarations())
    first = first.valid() ? first : declaration->nameSpan;
  for (const ConstantTable *table : module.constants())
    first = first.valid() ? first : table->span;
  const SourceFile *text =
      first.valid() ? sources.fileOf(first.begin) : nullptr;
  if (text)
    target.definition = text->span(0, text->text().size());
  names->add(name, target);
}
