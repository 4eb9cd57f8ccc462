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
  std::optional<Constant> made = eval::constantValue(
      *value, declaration, module.diagnostics.constantBudget(), problem);
  if (!made)
    report(expr->span, diag::NotConstant).note(problem);
  else
    values.push_back(*made);
  return made.has_value();
}

/// The extents that a table's type says; nothing after a message.
std::optional<llvm::SmallVector<std::int64_t, 2>>
DeclarationChecker::tableExtents(const ast::TensorType &type) {
  WrittenType written;
  if (!tensorType(type, written, false))
    return std::nullopt;
  llvm::SmallVector<std::int64_t, 2> extents;
  for (auto [text, dimension] :
       llvm::zip_equal(type.dimensions, written.dimensions)) {
    const auto *count = llvm::dyn_cast_if_present<ConstantExpression>(
        axes[dimension.axis().index].extent);
    if (!count) {
      report(text.span, diag::ConstantNotInteger);
      return std::nullopt;
    }
    extents.push_back(count->value.integer);
  }
  return extents;
}

/// Enters the values of a table, whose rows are lists: one list an axis.
bool DeclarationChecker::tableEntries(const ast::Expr *value, ScalarType type,
                                      const ast::TensorType &text,
                                      llvm::ArrayRef<std::int64_t> extents,
                                      llvm::SmallVectorImpl<Constant> &values) {
  if (extents.empty())
    return constantEntry(value, type, values);
  const auto *list = llvm::dyn_cast<ast::ListExpr>(ast::withoutParens(value));
  if (!list || list->iterable) {
    report(value->span, diag::ConstType)
        .hint("a table has a list for each axis: `[[1, 2], [3, 4]]`");
    return false;
  }
  std::size_t axis = text.dimensions.size() - extents.size();
  std::size_t given = list->elements.size();
  if (static_cast<std::int64_t>(given) != extents.front()) {
    report(value->span, diag::TableLength, given, extents.front())
        .label(text.dimensions[axis].span, "declared here");
    return false;
  }
  return llvm::all_of(list->elements, [&](const ast::Expr *element) {
    return tableEntries(element, type, text, extents.drop_front(), values);
  });
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
  if (tensor && tensor->dimensions.empty()) {
    report(decl.type->span, diag::ConstType);
    return nullptr;
  }
  llvm::SmallVector<Constant, 16> values;
  std::optional<llvm::SmallVector<std::int64_t, 2>> extents;
  if (tensor && !(extents = tableExtents(*tensor)))
    return nullptr;
  bool isGood = tensor
                    ? tableEntries(decl.value, *type, *tensor, *extents, values)
                    : constantEntry(decl.value, *type, values);
  checkArgumentNames();
  if (!isGood || hasFailed)
    return nullptr;
  auto *table = builder.make<ConstantTable>();
  table->name = decl.name.text();
  table->span = decl.name.span;
  table->element = type->element();
  table->isTable = tensor != nullptr;
  if (extents)
    table->extents = builder.list(*extents);
  table->values = builder.list(values);
  return table;
}
