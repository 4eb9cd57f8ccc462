// Hash-consing of types.
#include "frontend/typed/TypeContext.h"

using namespace quern;
using namespace quern::typed;

static void profile(const Type &type, llvm::FoldingSetNodeID &id) {
  id.AddInteger(static_cast<unsigned>(type.kind));
  id.AddInteger(type.scalar.key());
  id.AddInteger(type.pack.index);
  id.AddInteger(type.ranked);
  id.AddInteger(type.axes.size());
  for (AxisId axis : type.axes)
    id.AddInteger(axis.index);
  for (const Dimension &dimension : type.dimensions) {
    id.AddInteger(dimension.parts.size());
    for (AxisId axis : dimension.parts)
      id.AddInteger(axis.index);
  }
  for (const Type *element : type.elements)
    id.AddPointer(element);
  for (llvm::StringRef name : type.names)
    id.AddString(name);
  for (const Expression *extent : type.extents)
    id.AddPointer(extent);
}

void TypeContext::Node::Profile(llvm::FoldingSetNodeID &id) const {
  profile(type, id);
}

TypeContext::TypeContext(llvm::BumpPtrAllocator &allocator)
    : allocator(allocator) {
  Type type;
  theVoid = unique(type);
  type.kind = TypeKind::String;
  theString = unique(type);
}

const Type *TypeContext::unique(const Type &key) {
  llvm::FoldingSetNodeID id;
  profile(key, id);
  void *position = nullptr;
  if (Node *node = nodes.FindNodeOrInsertPos(id, position))
    return &node->type;
  Node *node = new (allocator.Allocate<Node>()) Node;
  node->type = key;
  node->type.axes = copy(key.axes);
  node->type.dimensions = copy(key.dimensions);
  node->type.elements = copy(key.elements);
  node->type.names = copy(key.names);
  node->type.extents = copy(key.extents);
  nodes.InsertNode(node, position);
  return &node->type;
}

const Type *TypeContext::scalar(ScalarType scalar, llvm::ArrayRef<AxisId> axes,
                                AxisId pack) {
  Type key;
  key.kind = TypeKind::Scalar;
  key.scalar = scalar;
  key.axes = axes;
  key.pack = pack;
  if (!axes.empty() || pack.valid())
    return unique(key);
  const Type *&known = plainScalars[scalar.key()];
  if (!known)
    known = unique(key);
  return known;
}

const Type *TypeContext::tuple(llvm::ArrayRef<const Type *> elements,
                               llvm::ArrayRef<llvm::StringRef> names) {
  Type key;
  key.kind = TypeKind::Tuple;
  key.elements = elements;
  key.names = names;
  return unique(key);
}

const Type *TypeContext::tensor(ScalarType element) {
  Type key;
  key.kind = TypeKind::Tensor;
  key.scalar = element;
  return unique(key);
}

const Type *TypeContext::tensor(ScalarType element,
                                llvm::ArrayRef<Dimension> dimensions) {
  Type key;
  key.kind = TypeKind::Tensor;
  key.scalar = element;
  key.dimensions = dimensions;
  key.ranked = true;
  return unique(key);
}

const Type *TypeContext::array(ScalarType element,
                               llvm::ArrayRef<const Expression *> extents) {
  Type key;
  key.kind = TypeKind::Array;
  key.scalar = element;
  key.extents = extents;
  return unique(key);
}

const Type *TypeContext::list(const Type *element) {
  Type key;
  key.kind = TypeKind::List;
  key.elements = element;
  return unique(key);
}

const Type *TypeContext::function(llvm::ArrayRef<const Type *> parameters,
                                  const Type *result) {
  llvm::SmallVector<const Type *> elements(parameters);
  elements.push_back(result);
  Type key;
  key.kind = TypeKind::Function;
  key.elements = elements;
  return unique(key);
}
