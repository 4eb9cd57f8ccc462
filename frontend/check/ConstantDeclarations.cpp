// `const NAME: type = …`: scalars and tables.
#include "frontend/check/DeclarationChecker.h"

#include "frontend/eval/Constants.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

/// A declaration checker without a declaration: it reads types and values.
const ConstantTable *check::checkConstant(const ast::ConstDecl &text,
                                          ModuleChecker &module) {
  auto *declaration = module.builder.make<Declaration>();
  declaration->name = text.name.text();
  return DeclarationChecker(module, text, *declaration).constantTable(text);
}

bool DeclarationChecker::constantEntry(
    const ast::Expr *expr, ScalarType type,
    llvm::SmallVectorImpl<Constant> &values) {
  const Expression *value = fold(checkAs(expr, type));
  if (!value)
    return false;
  if (const auto *known = llvm::dyn_cast<ConstantExpression>(value)) {
    values.push_back(known->value);
    return true;
  }
  std::string problem;
  std::optional<Constant> made =
      eval::constantValue(*value, declaration, problem);
  if (!made)
    report(expr->span, diag::NotConstant).note(problem);
  else
    values.push_back(*made);
  return made.has_value();
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
  llvm::SmallVector<Constant, 16> values;
  const auto *list = llvm::dyn_cast<ast::ListExpr>(decl.value);
  if (!tensor) {
    if (!constantEntry(decl.value, *type, values))
      return nullptr;
  } else if (!list || tensor->dimensions.size() != 1) {
    report(list ? decl.type->span : decl.value->span, diag::ConstType);
    return nullptr;
  } else {
    for (const ast::Expr *element : list->elements)
      if (!constantEntry(element, *type, values))
        return nullptr;
    if (!checkTableLength(*tensor, values.size(), decl.value->span))
      return nullptr;
  }
  auto *table = builder.make<ConstantTable>();
  table->name = decl.name.text();
  table->span = decl.name.span;
  table->element = type->element();
  table->isTable = tensor != nullptr;
  table->values = builder.list(values);
  return table;
}

bool DeclarationChecker::checkTableLength(const ast::TensorType &type,
                                          std::size_t given, Span value) {
  WrittenType written;
  if (!tensorType(type, written, false))
    return false;
  AxisId only = written.dimensions.front().axis();
  const auto *count =
      llvm::dyn_cast_if_present<ConstantExpression>(axes[only.index].extent);
  if (!count)
    report(type.dimensions[0].span, diag::ConstantNotInteger);
  else if (count->value.integer != static_cast<std::int64_t>(given))
    report(value, diag::TableLength, given, count->value.integer)
        .label(type.dimensions[0].span, "declared here");
  return !hasFailed;
}
