// Owns a typed module's memory and finds its declarations by name.
#include "frontend/typed/TypedModule.h"

#include "frontend/diagnostics/Suggestion.h"
#include "frontend/typed/TypeContext.h"

using namespace quern;
using namespace quern::typed;

TypedModule::TypedModule(llvm::StringRef name, const SourceManager &sources)
    : moduleName(name), sourceManager(sources),
      types(std::make_unique<TypeContext>(allocator)) {}

TypedModule::~TypedModule() = default;

const Declaration *TypedModule::find(llvm::StringRef name) const {
  for (const Declaration *declaration : declared)
    if (declaration->name == name &&
        declaration->kind != DeclarationKind::Reduction)
      return declaration;
  return findReduction(name);
}

const Declaration *TypedModule::findReduction(llvm::StringRef name) const {
  for (const Declaration *declaration : declared)
    if (declaration->name == name &&
        declaration->kind == DeclarationKind::Reduction)
      return declaration;
  return nullptr;
}

std::string TypedModule::hintFor(llvm::StringRef missing) const {
  Suggestion suggestion(missing);
  for (const Declaration *declaration : declared)
    suggestion.consider(declaration->name);
  return suggestion.hint();
}
