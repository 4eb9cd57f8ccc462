// Compile-time parameters: types with constraints, constants, functions.
#include "frontend/check/DeclarationChecker.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

static std::optional<Constraint> constraintNamed(llvm::StringRef name) {
#define QN_CONSTRAINT(enumerator, spelling, booleans, integers, floats,        \
                      complexes)                                               \
  if (name == spelling)                                                        \
    return Constraint::enumerator;
#include "frontend/typed/Constraints.def"
  return std::nullopt;
}

void DeclarationChecker::checkGenerics(
    llvm::ArrayRef<ast::GenericParam> generics) {
  constexpr std::size_t limit = 256;
  if (generics.size() > limit) {
    report(generics[limit].span, diag::TooMany, limit,
           "compile-time parameters");
    return;
  }
  llvm::SmallVector<GenericOrder, 8> order;
  for (const ast::GenericParam &row : generics) {
    const auto *named = llvm::dyn_cast_if_present<ast::NamedType>(row.type);
    bool isType = named && constraintNamed(named->name.text());
    order.push_back(
        {isType, static_cast<unsigned>(isType ? typeParameters.size()
                                              : constantParameters.size())});
    if (isType)
      addTypeParameter(row);
    else
      addConstantParameter(row);
  }
  declaration.typeParameters = builder.list(typeParameters);
  declaration.constantParameters = builder.list(constantParameters);
  declaration.generics = builder.list(order);
}

void DeclarationChecker::addTypeParameter(const ast::GenericParam &text) {
  const auto *named = llvm::cast<ast::NamedType>(text.type);
  TypeParameter parameter;
  parameter.name = text.name.text();
  parameter.span = text.name.span;
  parameter.constraint = *constraintNamed(named->name.text());
  Binding binding;
  binding.kind = Binding::Kind::TypeParameter;
  binding.span = parameter.span;
  binding.index = typeParameters.size();
  if (isTypeName(parameter.name))
    report(parameter.span, diag::ReservedName, parameter.name);
  define(parameter.name, binding);
  masks.push_back(check::maskOf(parameter.constraint));
  typeParameters.push_back(parameter);
}

void DeclarationChecker::addConstantParameter(const ast::GenericParam &text) {
  auto *parameter = builder.make<ConstantParameter>();
  parameter->name = text.name.text();
  parameter->span = text.name.span;
  parameter->index = constantParameters.size();
  bool isValid = text.choice ? constantChoices(text, *parameter)
                             : constantParameterType(text, *parameter);
  Binding binding;
  binding.span = text.name.span;
  binding.kind =
      isValid ? Binding::Kind::ConstantParameter : Binding::Kind::Poison;
  binding.index = parameter->index;
  if (!isValid)
    parameter->type = types.integer();
  constantParameters.push_back(parameter);
  define(parameter->name, binding);
}

bool DeclarationChecker::constantParameterType(const ast::GenericParam &text,
                                               ConstantParameter &parameter) {
  if (const auto *function =
          llvm::dyn_cast_if_present<ast::FunctionType>(text.type))
    return functionParameterType(*function, parameter);
  const ast::Type *element = text.type;
  const auto *tensor = llvm::dyn_cast_if_present<ast::TensorType>(text.type);
  if (tensor)
    element = tensor->element;
  const auto *named = llvm::dyn_cast_if_present<ast::NamedType>(element);
  if (!named) {
    hasFailed = true;
    if (!element)
      report(text.span, diag::GenericKind, "without a constraint or type")
          .hint("write `" + text.name.text() +
                ": Any`, `Number`, `Float` …, "
                "or `int`");
    else if (!llvm::isa<ast::ErrorType>(element))
      report(text.span, diag::GenericKind, "of this type");
    return false;
  }
  if (named->name.text() == "int" && !tensor) {
    parameter.kind = ConstantParameterKind::Integer;
    parameter.type = types.integer();
    return true;
  }
  if (named->name.text() != "bool") {
    Suggestion suggestion(named->name.text());
    std::string all;
#define QN_CONSTRAINT(enumerator, spelling, booleans, integers, floats,        \
                      complexes)                                               \
  suggestion.consider(spelling);                                               \
  all += "`" spelling "`, ";
#include "frontend/typed/Constraints.def"
    suggestion.consider("int");
    suggestion.consider("bool");
    std::string near = suggestion.hint();
    report(named->span, diag::UnknownConstraint, named->name.text())
        .hint(near.empty() ? "write one of " + all + "`int`, `bool`" : near);
    return false;
  }
  parameter.kind = ConstantParameterKind::Boolean;
  parameter.type = types.boolean();
  return !tensor || booleansType(*tensor, parameter);
}

/// `bool[3]`.
bool DeclarationChecker::booleansType(const ast::TensorType &text,
                                      ConstantParameter &parameter) {
  bool isOneExtent = text.dimensions.size() == 1 &&
                     text.dimensions[0].kind == ast::Dimension::Kind::Extent;
  const auto *count =
      isOneExtent ? llvm::dyn_cast<ast::IntExpr>(text.dimensions[0].extent)
                  : nullptr;
  if (!count) {
    report(text.span, diag::ConstantNotInteger);
    return false;
  }
  parameter.kind = ConstantParameterKind::Booleans;
  parameter.count = static_cast<std::int64_t>(count->value);
  parameter.type = types.list(types.boolean());
  return true;
}

bool DeclarationChecker::functionParameterType(const ast::FunctionType &text,
                                               ConstantParameter &parameter) {
  llvm::SmallVector<const Type *, 4> operands;
  for (const ast::Type *operand : text.parameters) {
    std::optional<ScalarType> type = scalarType(operand);
    if (!type)
      return false;
    operands.push_back(types.scalar(*type));
  }
  std::optional<ScalarType> result = scalarType(text.result);
  if (!result)
    return false;
  parameter.kind = ConstantParameterKind::Function;
  parameter.type = types.function(operands, types.scalar(*result));
  return true;
}

/// The number of a value that stands in front of itself too.
static std::optional<std::size_t>
firstRepeated(llvm::ArrayRef<Constant> values) {
  for (std::size_t number = 1; number < values.size(); ++number)
    if (llvm::any_of(values.take_front(number), [&](const Constant &before) {
          return before.isSame(values[number]);
        }))
      return number;
  return std::nullopt;
}

/// `{"none", "tanh"}` and `match p {0, 1, 2, inf, else}`.
bool DeclarationChecker::constantChoices(const ast::GenericParam &text,
                                         ConstantParameter &parameter) {
  llvm::SmallVector<Constant, 8> values;
  bool isFloat = false, isString = false;
  for (const ast::Expr *choice : text.choice->values) {
    if (const auto *string = llvm::dyn_cast<ast::StringExpr>(choice)) {
      isString = true;
      values.push_back(Constant::ofString(string->value));
      continue;
    }
    const Expression *value = fold(check(choice));
    const auto *constant = llvm::dyn_cast_if_present<ConstantExpression>(value);
    if (!value)
      return false;
    if (!constant) {
      report(choice->span, diag::NotConstant);
      return false;
    }
    isFloat |= constant->value.kind == Constant::Kind::Float;
    values.push_back(constant->value);
  }
  if (isFloat)
    for (Constant &value : values)
      if (value.kind == Constant::Kind::Integer)
        value = Constant::ofFloat(static_cast<double>(value.integer));
  if (auto number = firstRepeated(values)) {
    Span span = text.choice->values[*number]->span;
    report(span, diag::RepeatedChoice, source(span));
    return false;
  }
  bool isBoolean =
      !values.empty() && values.front().kind == Constant::Kind::Boolean;
  parameter.kind = isString    ? ConstantParameterKind::String
                   : isFloat   ? ConstantParameterKind::Float
                   : isBoolean ? ConstantParameterKind::Boolean
                               : ConstantParameterKind::Integer;
  parameter.type = isString ? types.stringType()
                   : isFloat
                       ? types.scalar(ScalarType::concrete(ElementType::F64))
                   : isBoolean ? types.boolean()
                               : types.integer();
  parameter.choices = builder.list(values);
  parameter.hasElse = text.choice->hasElse;
  return true;
}

/// What needs the other parameters: defaults and the subjects of `match`.
void DeclarationChecker::finishGenerics(
    llvm::ArrayRef<ast::GenericParam> generics) {
  place = Place::Extent;
  unsigned number = 0;
  for (const ast::GenericParam &row : generics) {
    const auto *named = llvm::dyn_cast_if_present<ast::NamedType>(row.type);
    if (named && constraintNamed(named->name.text()))
      continue;
    if (number == constantParameters.size())
      return;
    // Made by this object a moment ago, and not handed out yet.
    auto &parameter =
        const_cast<ConstantParameter &>(*constantParameters[number++]);
    if (row.choice && row.choice->subject) {
      Binding *binding = lookup(row.choice->subject.text());
      const Variable *subject = binding ? binding->variable : nullptr;
      bool isPoison = binding && binding->kind == Binding::Kind::Poison;
      if (subject && subject->type->isScalar() && subject->type->axes.empty())
        parameter.subject = subject;
      else if (!isPoison)
        report(row.choice->subject.span, diag::MatchSubject,
               row.choice->subject.text());
    }
    if (row.defaultValue) {
      ast::Argument argument;
      argument.value = row.defaultValue;
      constantGeneric(argument, parameter, parameter.defaultValue);
    }
  }
}
