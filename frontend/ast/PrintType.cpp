// Types on one line, close to how they were written.
#include "frontend/ast/Printer.h"

using namespace quern::ast;

static std::string typeList(List<const Type *> types) {
  std::string text;
  for (const Type *type : types)
    text += (text.empty() ? "" : ", ") + dumpText(type);
  return text;
}

static std::string fieldList(List<TypeField> fields) {
  std::string text;
  for (const TypeField &field : fields) {
    text += text.empty() ? "" : ", ";
    if (field.name)
      text += (field.name.text() + ": ").str();
    text += dumpText(field.type);
    if (field.initial)
      text += " = " + dumpText(field.initial);
  }
  return text;
}

static std::string dimensionText(const Dimension &dimension) {
  std::string text;
  switch (dimension.kind) {
  case Dimension::Kind::Extent:
    return dumpText(dimension.extent);
  case Dimension::Kind::Group:
    for (const Dimension &part : dimension.parts)
      text += (text.empty() ? "" : " ") + dimensionText(part);
    return "(" + text + ")";
  case Dimension::Kind::Pack:
    text = "*";
    [[fallthrough]];
  case Dimension::Kind::Axis:
    text += dimension.name.text();
  }
  if (dimension.extent)
    text += " = " + dumpText(dimension.extent);
  return text;
}

std::string quern::ast::dumpText(const Type *type) {
  switch (type->kind) {
  case Type::Kind::Named:
    return llvm::cast<NamedType>(type)->name.text().str();
  case Type::Kind::Applied: {
    const auto *applied = llvm::cast<AppliedType>(type);
    return applied->function.text().str() + "(" + typeList(applied->arguments) +
           ")";
  }
  case Type::Kind::Tensor: {
    const auto *tensor = llvm::cast<TensorType>(type);
    std::string text;
    for (const Dimension &dimension : tensor->dimensions)
      text += (text.empty() ? "" : ", ") + dimensionText(dimension);
    return dumpText(tensor->element) + "[" + text + "]";
  }
  case Type::Kind::List:
    return "list[" + dumpText(llvm::cast<ListType>(type)->element) + "]";
  case Type::Kind::Optional:
    return dumpText(llvm::cast<OptionalType>(type)->inner) + "?";
  case Type::Kind::Mut:
    return "mut " + dumpText(llvm::cast<MutType>(type)->inner);
  case Type::Kind::Tuple:
    return "(" + fieldList(llvm::cast<TupleType>(type)->fields) + ")";
  case Type::Kind::Function: {
    const auto *function = llvm::cast<FunctionType>(type);
    return "fn(" + typeList(function->parameters) + ") -> " +
           dumpText(function->result);
  }
  case Type::Kind::Error:
    return "<error>";
  }
  llvm_unreachable("all types are printed");
}
