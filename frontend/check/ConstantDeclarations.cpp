// `const NAME: type = …`: scalars and tables.
#include "frontend/check/DeclarationChecker.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

/// A declaration checker without a declaration: it reads types and values.
const ConstantTable *check::checkConstant(const ast::ConstDecl &text,
                                          ModuleChecker &module) {
  auto *declaration = module.builder.make<Declaration>();
  declaration->name = text.name.text;
  return DeclarationChecker(module, text, *declaration).constantTable(text);
}

const ConstantTable *
DeclarationChecker::constantTable(const ast::ConstDecl &decl) {
  place = Place::Extent;
  if (!decl.type || !decl.value || decl.hasError)
    return nullptr;
  const auto *tensor = llvm::dyn_cast<ast::TensorType>(decl.type);
  std::optional<ScalarType> type =
      scalarType(tensor ? tensor->element : decl.type);
  if (!type)
    return nullptr;
  auto *table = builder.make<ConstantTable>();
  table->name = decl.name.text;
  table->span = decl.name.span;
  table->element = type->element();
  table->isTable = tensor != nullptr;
  llvm::SmallVector<Constant, 16> values;
  auto add = [&](const ast::Expr *expr) {
    const Expression *value = fold(checkAs(expr, *type));
    const auto *known = llvm::dyn_cast_if_present<ConstantExpression>(value);
    if (value && !known)
      report(expr->span, diag::NotConstant);
    if (known)
      values.push_back(known->value);
    return known != nullptr;
  };
  if (!tensor) {
    if (!add(decl.value))
      return nullptr;
    table->values = builder.list(values);
    return table;
  }
  const auto *list = llvm::dyn_cast<ast::ListExpr>(decl.value);
  if (!list || tensor->dimensions.size() != 1) {
    report(list ? decl.type->span : decl.value->span, diag::ConstType);
    return nullptr;
  }
  for (const ast::Expr *element : list->elements)
    if (!add(element))
      return nullptr;
  WrittenType written;
  if (!tensorType(*tensor, written, false))
    return nullptr;
  AxisId only = written.dimensions.front().axis();
  const auto *count =
      llvm::dyn_cast_if_present<ConstantExpression>(axes[only.index].extent);
  if (!count)
    report(tensor->dimensions[0].span, diag::ConstantNotInteger);
  else if (count->value.integer != static_cast<std::int64_t>(values.size()))
    report(decl.value->span, diag::TableLength, values.size(),
           count->value.integer)
        .label(tensor->dimensions[0].span, "declared here");
  if (hasFailed)
    return nullptr;
  table->values = builder.list(values);
  return table;
}
