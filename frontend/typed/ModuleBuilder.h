// Write access to a typed module while it is being made.
#pragma once

#include "frontend/typed/TypeContext.h"
#include "frontend/typed/TypedModule.h"

#include <type_traits>

namespace quern::typed {

class ModuleBuilder {
public:
  ModuleBuilder(llvm::StringRef name, const SourceManager &sources)
      : module(std::make_shared<TypedModule>(name, sources)) {}

  template <typename Node, typename... Arguments>
  Node *make(Arguments &&...arguments) {
    static_assert(std::is_trivially_destructible_v<Node>,
                  "the arena runs no destructors");
    return new (module->allocator.Allocate<Node>())
        Node(std::forward<Arguments>(arguments)...);
  }
  template <typename T> llvm::ArrayRef<T> list(llvm::ArrayRef<T> elements) {
    if (elements.empty())
      return {};
    T *memory = module->allocator.Allocate<T>(elements.size());
    std::uninitialized_copy(elements.begin(), elements.end(), memory);
    return {memory, elements.size()};
  }
  template <typename T>
  llvm::ArrayRef<T> list(const llvm::SmallVectorImpl<T> &elements) {
    return list(llvm::ArrayRef<T>(elements));
  }
  llvm::StringRef string(llvm::StringRef text) {
    return text.copy(module->allocator);
  }

  TypeContext &types() { return *module->types; }
  TypedModule &get() { return *module; }
  void document(llvm::StringRef text) { module->moduleDocumentation = text; }
  void add(const Declaration *declaration) {
    module->declared.push_back(declaration);
  }
  void add(const ConstantTable *table) { module->tables.push_back(table); }
  void use(std::shared_ptr<const TypedModule> other) {
    module->used.push_back(std::move(other));
  }
  std::shared_ptr<const TypedModule> take() { return module; }

private:
  std::shared_ptr<TypedModule> module;
};

} // namespace quern::typed
