// Reads types of signatures: scalars, dimensions and axes.
#include "frontend/check/DeclarationChecker.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

/// What another language's name of a type is here; empty when it is none.
static llvm::StringRef foreignType(llvm::StringRef name) {
#define QN_FOREIGN_TYPE(foreign, spelling)                                     \
  if (name == foreign)                                                         \
    return spelling;
#include "frontend/check/ForeignTypes.def"
  return {};
}

std::optional<ScalarType>
DeclarationChecker::namedScalar(const ast::Identifier &name) {
  if (Binding *binding = lookup(name.text())) {
    if (binding->kind == Binding::Kind::TypeParameter)
      return ScalarType::parameter(binding->index);
    if (binding->kind == Binding::Kind::Poison)
      return std::nullopt;
  }
  if (name.text() == "int")
    return ScalarType::integer();
  if (std::optional<ElementType> element = elementTypeNamed(name.text()))
    return ScalarType::concrete(*element);
  if (llvm::StringRef type = foreignType(name.text()); !type.empty()) {
    report(name.span, diag::UnknownType, name.text())
        .hint("write `" + type + "`");
    return std::nullopt;
  }
  if (isVectorType(name.text())) {
    report(name.span, diag::UnknownType, name.text()).hint(noVectors);
    return std::nullopt;
  }
  Suggestion suggestion(name.text());
  for (const TypeParameter &parameter : typeParameters)
    suggestion.consider(parameter.name);
  suggestion.consider("int");
  forEachElement(allElements, [&](ElementType element) {
    suggestion.consider(quern::spelling(element));
  });
  std::string hint = suggestion.hint();
  bool mayBeParameter = name.text().size() == 1 && typeParameters.empty();
  if (hint.empty() && mayBeParameter)
    hint = ("a type parameter is declared: `" + text.name.text() + "[" +
            name.text() + ": Float]`")
               .str();
  report(name.span, diag::UnknownType, name.text()).hint(hint);
  return std::nullopt;
}

std::optional<ScalarType>
DeclarationChecker::appliedScalar(llvm::StringRef function, Span span,
                                  ScalarType inner) {
  if (function == "acc")
    return inner.accumulator();
  if (function == "real")
    return inner.component();
  if (function == "complex") {
    ElementMask parts = check::maskOf(Constraint::Float);
    parts |= check::maskOf(Constraint::Complex);
    if (!requireMask(inner, parts, span, function))
      return std::nullopt;
    return inner.complex();
  }
  if (function == "bits")
    return inner.bits();
  report(span, diag::UnknownTypeFunction, function);
  return std::nullopt;
}

std::optional<ScalarType>
DeclarationChecker::scalarType(const ast::Type *text) {
  if (const auto *named = llvm::dyn_cast<ast::NamedType>(text))
    return namedScalar(named->name);
  const auto *applied = llvm::dyn_cast<ast::AppliedType>(text);
  if (!applied) {
    hasFailed = true;
    if (!llvm::isa<ast::ErrorType>(text))
      report(text->span, diag::NotAScalar, "this type");
    return std::nullopt;
  }
  if (applied->arguments.size() != 1) {
    report(text->span, diag::TypeArgumentCount, applied->function.text(),
           applied->arguments.size());
    return std::nullopt;
  }
  std::optional<ScalarType> inner = scalarType(applied->arguments.front());
  if (!inner)
    return std::nullopt;
  return appliedScalar(applied->function.text(), applied->function.span,
                       *inner);
}

bool DeclarationChecker::writtenType(const ast::Type *text,
                                     WrittenType &written, bool isResult) {
  if (const auto *optional = llvm::dyn_cast<ast::OptionalType>(text)) {
    written.isOptional = true;
    return writtenType(optional->inner, written, isResult);
  }
  if (const auto *mut = llvm::dyn_cast<ast::MutType>(text)) {
    written.isMutable = true;
    return writtenType(mut->inner, written, isResult);
  }
  if (const auto *list = llvm::dyn_cast<ast::ListType>(text)) {
    if (written.isList) {
      report(text->span, diag::ListMisplaced);
      return false;
    }
    written.isList = true;
    return writtenType(list->element, written, isResult);
  }
  if (const auto *tensor = llvm::dyn_cast<ast::TensorType>(text))
    return tensorType(*tensor, written, isResult);
  if (const auto *named = llvm::dyn_cast<ast::NamedType>(text))
    written.isHostInteger = named->name.text() == "int";
  std::optional<ScalarType> element = scalarType(text);
  if (element)
    written.element = *element;
  return element.has_value();
}

bool DeclarationChecker::tensorType(const ast::TensorType &text,
                                    WrittenType &written, bool isResult) {
  written.hasBrackets = true;
  if (const auto *named = llvm::dyn_cast<ast::NamedType>(text.element))
    written.isHostInteger = named->name.text() == "int";
  std::optional<ScalarType> element = scalarType(text.element);
  if (!element)
    return false;
  written.element = *element;
  // The axes behind a bad one are named all the same.
  bool isGood = true;
  for (const ast::Dimension &row : text.dimensions) {
    typed::Dimension dimension;
    isGood &= this->dimension(row, dimension, isResult);
    written.dimensions.push_back(dimension);
  }
  return isGood && namesAxesOnce(text, written);
}

/// Lifted text knows a value's places by the names of its axes alone; elsewhere
/// `f32[N, N]` is square.
bool DeclarationChecker::namesAxesOnce(const ast::TensorType &text,
                                       const WrittenType &written) {
  if (!declaration.isLifted())
    return true;
  llvm::SmallVector<AxisId, 8> known;
  for (auto [row, dimension] : llvm::zip(text.dimensions, written.dimensions))
    for (AxisId axis : dimension.parts) {
      if (!contains(known, axis)) {
        known.push_back(axis);
        continue;
      }
      llvm::StringRef name = axes[axis.index].name;
      report(row.span, diag::RepeatedAxis, name)
          .hint(("values align by the names of axes: give this one another "
                 "name, and the diagonal is `x[" +
                 name + ", " + name + "]`")
                    .str());
      return false;
    }
  return true;
}

bool DeclarationChecker::dimension(const ast::Dimension &text,
                                   typed::Dimension &dimension, bool isResult) {
  llvm::SmallVector<AxisId, 2> parts;
  if (text.kind != ast::Dimension::Kind::Group) {
    AxisId axis = axisOfDimension(text, isResult);
    if (!axis.valid())
      return false;
    parts.push_back(axis);
  }
  for (const ast::Dimension &part : text.parts) {
    AxisId axis = axisOfDimension(part, isResult);
    if (!axis.valid())
      return false;
    parts.push_back(axis);
  }
  dimension.parts = builder.list(parts);
  return true;
}

AxisId DeclarationChecker::newAxis(const Axis &axis, bool isVisible) {
  constexpr std::size_t limit = 4096;
  AxisId id{static_cast<std::uint16_t>(axes.size())};
  if (axes.size() == limit) {
    report(axis.span, diag::TooMany, limit, "axes");
    return {};
  }
  axes.push_back(axis);
  if (!isVisible)
    return id;
  Binding binding;
  binding.kind = Binding::Kind::Axis;
  binding.span = axis.span;
  binding.index = id.index;
  define(axis.name, binding);
  return id;
}

AxisId DeclarationChecker::fixedAxis(const Expression *extent, Span span) {
  if (!extent)
    return {};
  Axis axis;
  axis.text = module.text(span);
  axis.span = span;
  axis.kind = AxisKind::Fixed;
  axis.extent = extent;
  return newAxis(axis, false);
}

AxisId DeclarationChecker::axisOfDimension(const ast::Dimension &text,
                                           bool isResult) {
  if (text.kind == ast::Dimension::Kind::Extent)
    return fixedAxis(checkInteger(text.extent), text.span);
  bool isPack = text.kind == ast::Dimension::Kind::Pack;
  Binding *binding = lookup(text.name.text());
  if (binding && binding->kind == Binding::Kind::Poison) {
    hasFailed = true;
    return {};
  }
  if (binding && binding->kind == Binding::Kind::ConstantParameter)
    return fixedAxis(
        coerce(bindingValue(*binding, text.span), ScalarType::integer()),
        text.span);
  if (binding && binding->kind == Binding::Kind::Axis && !text.extent) {
    AxisId axis{static_cast<std::uint16_t>(binding->index)};
    if (axes[axis.index].pack == isPack)
      return axis;
    report(text.span, diag::PackMismatch, text.name.text(),
           isPack ? "a pack" : "one axis", isPack ? "one axis" : "a pack")
        .label(axes[axis.index].span, "first used here");
    return {};
  }
  if (text.extent && !isResult) {
    report(text.span, diag::ExtentOnParameter);
    define(text.name.text(), Binding{});
    return {};
  }
  bool isOp = declaration.kind == DeclarationKind::Op;
  if (isResult && !text.extent && !isOp) {
    Suggestion suggestion(text.name.text());
    for (const Axis &axis : axes)
      suggestion.consider(axis.name);
    std::string near = suggestion.hint();
    if (near.empty())
      near = ("write its extent, `" + text.name.text() + " = …`").str();
    report(text.span, diag::ResultAxisUnknown, text.name.text()).hint(near);
    return {};
  }
  Axis axis;
  axis.name = text.name.text();
  axis.span = text.span;
  axis.kind = isResult ? AxisKind::Derived : AxisKind::Named;
  axis.pack = isPack;
  AxisId id = newAxis(axis, true);
  if (id.valid() && text.extent)
    derivedExtent(id, text.extent);
  return id;
}

void DeclarationChecker::derivedExtent(AxisId axis, const ast::Expr *extent) {
  const Expression *value = axes[axis.index].pack ? checkScalarOrAligned(extent)
                                                  : checkScalar(extent);
  value = value ? coerce(value, ScalarType::integer()) : nullptr;
  if (!value)
    return;
  if (axes[axis.index].pack && !value->type->pack.valid()) {
    report(extent->span, diag::NotPackAligned, spell(axis));
    return;
  }
  axes[axis.index].extent = value;
  axes[axis.index].rankOf = value->type->pack;
}
