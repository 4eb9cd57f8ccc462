// Memory of one syntax tree: freed as a whole, no destructors run.
#pragma once

#include "frontend/source/Span.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"

#include <memory>
#include <type_traits>
#include <utility>

namespace quern::ast {

/// A name as written; the text lies in the source.
struct Identifier {
  const char *data = nullptr;
  Span span;

  llvm::StringRef text() const { return {data, data ? span.size() : 0}; }
  explicit operator bool() const { return data != nullptr; }
};

template <typename T> using List = llvm::ArrayRef<T>;

class Arena {
public:
  template <typename Node, typename... Arguments>
  Node *make(Arguments &&...arguments) {
    static_assert(std::is_trivially_destructible_v<Node>,
                  "the arena runs no destructors");
    return new (allocator.Allocate<Node>())
        Node{std::forward<Arguments>(arguments)...};
  }

  template <typename T> List<T> list(llvm::ArrayRef<T> elements) {
    static_assert(std::is_trivially_destructible_v<T>,
                  "the arena runs no destructors");
    if (elements.empty())
      return {};
    T *memory = allocator.Allocate<T>(elements.size());
    std::uninitialized_copy(elements.begin(), elements.end(), memory);
    return {memory, elements.size()};
  }

  llvm::StringRef string(llvm::StringRef text) { return text.copy(allocator); }
  std::size_t bytes() const { return allocator.getTotalMemory(); }

private:
  llvm::BumpPtrAllocator allocator;
};

} // namespace quern::ast
