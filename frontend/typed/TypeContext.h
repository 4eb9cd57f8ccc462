// Makes types; equal types have one address within a module.
#pragma once

#include "frontend/typed/Type.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/FoldingSet.h"
#include "llvm/Support/Allocator.h"

namespace quern::typed {

class TypeContext {
public:
  explicit TypeContext(llvm::BumpPtrAllocator &allocator);

  const Type *voidType() const { return theVoid; }
  const Type *stringType() const { return theString; }
  const Type *scalar(ScalarType scalar, llvm::ArrayRef<AxisId> axes = {},
                     AxisId pack = {});
  const Type *boolean() { return scalar(ScalarType::boolean()); }
  const Type *integer() { return scalar(ScalarType::integer()); }
  const Type *tuple(llvm::ArrayRef<const Type *> elements,
                    llvm::ArrayRef<llvm::StringRef> names = {});
  const Type *tensor(ScalarType element);
  const Type *tensor(ScalarType element, llvm::ArrayRef<Dimension> dimensions);
  const Type *array(ScalarType element,
                    llvm::ArrayRef<const Expression *> extents);
  const Type *list(const Type *element);
  const Type *function(llvm::ArrayRef<const Type *> parameters,
                       const Type *result);

private:
  struct Node : llvm::FoldingSetNode {
    Type type;
    void Profile(llvm::FoldingSetNodeID &id) const;
  };
  const Type *unique(const Type &key);
  template <typename T> llvm::ArrayRef<T> copy(llvm::ArrayRef<T> elements) {
    if (elements.empty())
      return {};
    T *memory = allocator.Allocate<T>(elements.size());
    std::uninitialized_copy(elements.begin(), elements.end(), memory);
    return {memory, elements.size()};
  }

  llvm::BumpPtrAllocator &allocator;
  llvm::FoldingSet<Node> nodes;
  /// Scalars without axes: the commonest by far.
  llvm::DenseMap<unsigned, const Type *> plainScalars;
  const Type *theVoid, *theString;
};

} // namespace quern::typed
