// `@aten("mm", dim = C, (kh, kw) = kernel_size)`: checked against the
// declaration.
#include "frontend/check/AttributeChecker.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

std::optional<unsigned>
AttributeChecker::parameterIndex(llvm::StringRef name) const {
  for (auto [number, parameter] : llvm::enumerate(checker.parameters))
    if (parameter.variable->name == name) {
      checker.lookup(name);
      return static_cast<unsigned>(number);
    }
  return std::nullopt;
}

std::optional<AtenAttribute>
AttributeChecker::aten(const ast::Attribute &attribute) {
  AtenAttribute result;
  result.span = attribute.span;
  const auto *overload =
      attribute.arguments.empty()
          ? nullptr
          : llvm::dyn_cast<ast::StringExpr>(attribute.arguments[0].value);
  if (!overload || !attribute.arguments[0].names.empty()) {
    checker.report(attribute.span, diag::AtenOverload);
    return std::nullopt;
  }
  result.overload = checker.builder.string(overload->value);
  result.overload.consume_front("aten::");
  llvm::SmallVector<AtenBinding, 8> bindings;
  bool areRead = true;
  for (const ast::AttributeArgument &argument :
       attribute.arguments.drop_front()) {
    AtenBinding binding;
    binding.span = argument.span;
    binding.text = checker.module.text(argument.value->span);
    if (!atenBinding(argument, binding)) {
      areRead = false;
      continue;
    }
    for (const AtenBinding &other : bindings)
      if (!binding.left.empty() && other.left == binding.left)
        checker.report(argument.span, diag::BindingRepeated, binding.left)
            .label(other.span, "bound here already");
    bindings.push_back(binding);
  }
  result.bindings = checker.builder.list(bindings);
  if (areRead)
    checkSchema(result);
  return result;
}

bool AttributeChecker::atenBinding(const ast::AttributeArgument &argument,
                                   AtenBinding &binding) {
  if (argument.names.empty()) {
    const auto *call = llvm::dyn_cast<ast::CallExpr>(argument.value);
    const auto *name =
        call ? llvm::dyn_cast<ast::NameExpr>(call->callee) : nullptr;
    if (name && name->name().text() == "promotes")
      return promotionBinding(argument, binding);
    checker.report(argument.span, diag::BindingForm);
    return false;
  }
  Span left = join(argument.names.front().span, argument.names.back().span);
  binding.left = checker.module.text(left);
  if (binding.left == "promotes")
    return promotionBinding(argument, binding);
  // `nonempty = C`: where nothing lies along the axis ATen says what is wrong.
  if (binding.left == "nonempty") {
    bool isRead = valueBinding(argument.value, binding);
    if (isRead && binding.kind != AtenBindingKind::Axis)
      checker.report(argument.value->span, diag::BindingAxis, binding.text);
    binding.kind = AtenBindingKind::Nonempty;
    return isRead;
  }
  // A name of a parameter on the left: it takes its value from ATen. Otherwise
  // the left side is an ATen argument.
  bool isParameter =
      argument.isTuple ||
      (parameterIndex(argument.names[0].text()) &&
       llvm::isa<ast::NameExpr, ast::BinaryExpr>(argument.value));
  if (isParameter)
    return parameterBinding(argument, binding);
  binding.argument = argument.names[0].text();
  return valueBinding(argument.value, binding);
}

/// `(sh, sw) = stride or kernel_size`.
bool AttributeChecker::parameterBinding(const ast::AttributeArgument &argument,
                                        AtenBinding &binding) {
  binding.kind = AtenBindingKind::Parameter;
  llvm::SmallVector<unsigned, 4> numbers;
  for (const ast::Identifier &name : argument.names) {
    std::optional<unsigned> number = parameterIndex(name.text());
    if (!number) {
      Suggestion suggestion(name.text());
      for (const Parameter &parameter : checker.parameters)
        suggestion.consider(parameter.variable->name);
      checker
          .report(name.span, diag::BindingUnknownParameter,
                  checker.declaration.name, name.text())
          .hint(suggestion.hint());
      return false;
    }
    numbers.push_back(*number);
  }
  binding.parameters = checker.builder.list(numbers);
  const ast::Expr *value = ast::withoutParens(argument.value);
  const auto *binary = llvm::dyn_cast<ast::BinaryExpr>(value);
  const auto *second = binary && binary->op == ast::BinaryOp::Or
                           ? llvm::dyn_cast<ast::NameExpr>(binary->right)
                           : nullptr;
  const auto *first =
      llvm::dyn_cast<ast::NameExpr>(second ? binary->left : value);
  if (!first) {
    checker.report(argument.value->span, diag::BindingForm);
    return false;
  }
  binding.argument = first->name().text();
  if (binding.argument == "generator")
    return seedBinding(binding);
  if (second)
    binding.alternative = second->name().text();
  return true;
}

/// `seed = generator`: the call's own number, from torch's generator where the
/// overload has such an argument, which then is none.
bool AttributeChecker::seedBinding(AtenBinding &binding) {
  binding.kind = AtenBindingKind::Seed;
  for (unsigned number : binding.parameters) {
    const Parameter &parameter = checker.parameters[number];
    if (parameter.element == ScalarType::integer() && !parameter.isOptional &&
        !parameter.isMutable && !parameter.isList && !parameter.count &&
        !parameter.pack.valid() && parameter.dimensions.empty())
      continue;
    checker
        .report(binding.span, diag::SeedType, parameter.variable->name,
                parameter.text)
        .label(parameter.variable->span, "declared here");
    return false;
  }
  return true;
}

/// `promotes = int_to_float`, `promotes(args = (self, other))`.
bool AttributeChecker::promotionBinding(const ast::AttributeArgument &argument,
                                        AtenBinding &binding) {
  static constexpr llvm::StringLiteral known[] = {
      "default", "no_opmath",    "int_to_float", "complex_to_float",
      "bool",    "bool_to_long", "none"};
  binding.kind = AtenBindingKind::Promotion;
  binding.left = "promotes";
  binding.promotion = "default";
  auto kind = [&](const ast::Expr *expr) {
    llvm::StringRef text = checker.module.text(expr->span);
    Suggestion suggestion(text);
    for (llvm::StringRef candidate : known)
      suggestion.consider(candidate);
    binding.promotion = text;
    if (!llvm::is_contained(known, text))
      checker.report(expr->span, diag::UnknownPromotion, text)
          .hint(suggestion.hint());
    return llvm::is_contained(known, text);
  };
  const auto *call = llvm::dyn_cast<ast::CallExpr>(argument.value);
  if (!call)
    return kind(argument.value);
  llvm::SmallVector<llvm::StringRef, 4> promoted;
  for (const ast::Argument &row : call->arguments) {
    if (row.name.text() != "args") {
      if (!kind(row.value))
        return false;
      continue;
    }
    const auto *tuple =
        llvm::dyn_cast<ast::TupleExpr>(ast::withoutParens(row.value));
    if (!tuple)
      promoted.push_back(checker.module.text(row.value->span));
    for (const ast::Argument &element :
         tuple ? tuple->elements : llvm::ArrayRef<ast::Argument>())
      promoted.push_back(checker.module.text(element.value->span));
  }
  binding.promotedArguments = checker.builder.list(promoted);
  return true;
}

/// A name on the right: type, parameter, compile-time parameter or axis.
bool AttributeChecker::nameBinding(const ast::Expr *value,
                                   const ast::Identifier &name, bool isPack,
                                   AtenBinding &binding) {
  std::optional<ScalarType> type;
  if (!isPack)
    type = checker.typeNamed(value);
  if (type && type->isBareParameter()) {
    binding.kind = AtenBindingKind::Type;
    binding.typeParameter = type->parameterIndex();
    return true;
  }
  if (std::optional<unsigned> number = parameterIndex(name.text())) {
    binding.kind = AtenBindingKind::Parameter;
    binding.parameters = checker.builder.list(llvm::ArrayRef(*number));
    return true;
  }
  Binding *found = checker.lookup(name.text());
  if (found && found->kind == Binding::Kind::ConstantParameter) {
    binding.kind = AtenBindingKind::Generic;
    binding.constantParameter = found->index;
    return true;
  }
  if (found && found->kind == Binding::Kind::Axis) {
    binding.kind = AtenBindingKind::Axis;
    binding.axis.index = found->index;
    return true;
  }
  Suggestion suggestion(name.text());
  for (const Axis &row : checker.axes)
    suggestion.consider(row.name);
  std::string near = suggestion.hint();
  checker.report(value->span, diag::BindingAxis, checker.source(value->span))
      .hint(near.empty() ? checker.axesHint() : near);
  return false;
}

/// `dim = C`, `dtype = U`, `half_to_float = false`.
bool AttributeChecker::valueBinding(const ast::Expr *value,
                                    AtenBinding &binding) {
  value = ast::withoutParens(value);
  if (llvm::isa<ast::NoneExpr>(value)) {
    binding.isNone = true;
    return true;
  }
  if (const auto *pack = llvm::dyn_cast<ast::PackExpr>(value))
    return nameBinding(value, pack->name, true, binding);
  // `output_padding = _`: any value will do.
  if (binding.text == "_")
    return true;
  if (const auto *name = llvm::dyn_cast<ast::NameExpr>(value))
    return nameBinding(value, name->name(), false, binding);
  // `output_mask = (true, false)`: a value for each of a list.
  if (const auto *tuple = llvm::dyn_cast<ast::TupleExpr>(value))
    return llvm::all_of(tuple->elements, [&](const ast::Argument &element) {
      AtenBinding one;
      if (!llvm::isa<ast::NameExpr, ast::PackExpr>(element.value))
        return valueBinding(element.value, one);
      checker.report(element.value->span, diag::BindingForm);
      return false;
    });
  const Expression *constant = nullptr;
  if (!llvm::isa<ast::ListExpr>(value))
    constant = checker.fold(checker.check(value));
  const auto *known = llvm::dyn_cast_if_present<ConstantExpression>(constant);
  if (!known) {
    checker.report(value->span, diag::BindingForm);
    return false;
  }
  binding.constant = known->value;
  return true;
}
