// `let y: T[R, C] = …` and `var y: T = …`: values against written types.
#include "frontend/check/Lists.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

/// The axes that an annotation of lifted text names; nothing after an error.
std::optional<AxisList>
DeclarationChecker::annotatedAxes(const ast::TensorType &text) {
  llvm::SmallVector<AxisId, 8> named;
  auto add = [&](const ast::Dimension &row) {
    bool isName = (row.kind == ast::Dimension::Kind::Axis ||
                   row.kind == ast::Dimension::Kind::Pack) &&
                  !row.extent;
    if (!isName) {
      report(row.span, diag::AnnotationExtent);
      return false;
    }
    AxisId axis = axisNamed(row.name);
    if (axis.valid())
      named.push_back(axis);
    return axis.valid();
  };
  for (const ast::Dimension &row : text.dimensions) {
    bool isGroup = row.kind == ast::Dimension::Kind::Group;
    for (const ast::Dimension &part :
         isGroup ? row.parts : llvm::ArrayRef<ast::Dimension>(row))
      if (!add(part))
        return std::nullopt;
  }
  return builder.list(named);
}

/// A tensor of an `op`: its element type, and how many axes it has.
const Expression *
DeclarationChecker::annotatedTensor(const ast::TensorType &text,
                                    const Expression *value) {
  std::optional<ScalarType> element = scalarType(text.element);
  if (!element)
    return nullptr;
  const Type &type = *value->type;
  bool fits =
      type.isTensor() && sameType(type.scalar, *element) &&
      (!type.ranked || type.dimensions.size() == text.dimensions.size());
  if (!fits)
    report(value->span, diag::TypeMismatch, source(value->span), spell(value),
           source(text.span));
  return fits ? value : nullptr;
}

/// A list of an `op`, by the element type of its tensors.
const Expression *DeclarationChecker::annotatedList(const ast::ListType &text,
                                                    const Expression *value) {
  const auto *tensor = llvm::dyn_cast<ast::TensorType>(text.element);
  if (!tensor || place != Place::Host) {
    report(text.span, diag::ListMisplaced);
    return nullptr;
  }
  std::optional<ScalarType> element = scalarType(tensor->element);
  return element ? ListChecker(*this).as(value, *element, source(text.span))
                 : nullptr;
}

/// `value` as the type written behind its name, whose axes come back in
/// `named`.
const Expression *DeclarationChecker::annotated(const ast::Type *text,
                                                const Expression *value,
                                                AxisList &named) {
  const auto *tensor = llvm::dyn_cast<ast::TensorType>(text);
  if (tensor && place == Place::Host)
    return annotatedTensor(*tensor, value);
  if (const auto *list = llvm::dyn_cast<ast::ListType>(text))
    return annotatedList(*list, value);
  if (tensor && place == Place::Kernel) {
    report(text->span, diag::NotAScalar, "this type")
        .hint("an array is declared by `local` or `shared`");
    return nullptr;
  }
  bool hasAxes = tensor && declaration.kind == DeclarationKind::Rowwise;
  std::optional<ScalarType> type = scalarType(hasAxes ? tensor->element : text);
  value = type ? coerce(asScalar(value, true), *type) : nullptr;
  if (!value || !hasAxes)
    return value;
  std::optional<AxisList> axes = annotatedAxes(*tensor);
  if (!axes)
    return nullptr;
  named = *axes;
  for (AxisId axis : value->axes()) {
    if (contains(named, axis))
      continue;
    report(value->span, diag::AnnotationAxis, source(value->span), spell(axis))
        .label(text->span, "declared here");
    return nullptr;
  }
  return value;
}
