// Checks a declaration's signature and builds its axis table.
#include "frontend/check/DeclarationChecker.h"

#include "frontend/eval/Constants.h"
#include "frontend/typed/Walk.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

DeclarationChecker::DeclarationChecker(ModuleChecker &module,
                                       const ast::Decl &text,
                                       Declaration &declaration)
    : module(module), builder(module.builder), types(module.builder.types()),
      text(text), declaration(declaration) {
  isSilent = text.hasError;
}

void DeclarationChecker::checkSignature() {
  place = Place::Extent;
  if (const auto *reduction = llvm::dyn_cast<ast::ReductionDecl>(&text)) {
    checkGenerics(reduction->generics);
    checkParameters(reduction->params);
    finishGenerics(reduction->generics);
    checkReductionSignature(*reduction);
  } else {
    const auto &callable = llvm::cast<ast::CallableDecl>(text);
    checkGenerics(callable.generics);
    checkParameters(callable.params);
    finishGenerics(callable.generics);
    checkResults(callable.result);
  }
  warnUnusedNames();
  checkArgumentNames();
  declaration.parameters = builder.list(parameters);
  declaration.results = builder.list(results);
  declaration.axes = builder.list(axes);
  declaration.hasError = hasFailed || text.hasError;
}

void DeclarationChecker::checkParameters(llvm::ArrayRef<ast::Param> params) {
  constexpr std::size_t limit = 4096;
  if (params.size() > limit) {
    report(params[limit].span, diag::TooMany, limit, "parameters");
    return;
  }
  for (const ast::Param &param : params)
    addParameter(param);
  checkDefaults(params);
}

bool DeclarationChecker::isHostScalar(const ast::Param &text,
                                      const WrittenType &written) const {
  if (declaration.kind != DeclarationKind::Elementwise)
    return !written.hasBrackets ||
           (written.isHostInteger && !written.dimensions.empty());
  bool isAccumulator =
      llvm::isa<ast::AppliedType>(text.type) && written.element.isAccumulator();
  bool isConcreteAccumulator = false;
  if (const auto *applied = llvm::dyn_cast<ast::AppliedType>(text.type))
    isConcreteAccumulator = applied->function.text() == "acc";
  return written.isHostInteger || isAccumulator || isConcreteAccumulator ||
         text.defaultValue;
}

/// Threads and broadcasts have no use for a list, and only an `op` writes to
/// the tensors of one: there `each` is one launch over all of them.
bool DeclarationChecker::admitList(const ast::Param &text,
                                   const WrittenType &written) {
  bool isOp = declaration.kind == DeclarationKind::Op;
  bool isRead = declaration.kind == DeclarationKind::Rowwise &&
                !written.isMutable && !written.isOptional;
  if (isRead && !isHostScalar(text, written))
    return true;
  if (!isOp)
    report(text.type->span, diag::ListMisplaced)
        .hint("a `rowwise` reads lists in `concat`; an `op` walks them");
  return isOp;
}

/// One mistake, one error: later operands, and the result, have it too.
void DeclarationChecker::refuseBrackets(Span type) {
  if (hasFailed)
    return;
  llvm::StringRef element = module.text(type).split('[').first;
  report(type, diag::ElementwiseBrackets, declaration.name)
      .hint("write `" + element.str() + "`: it takes tensors of any shape");
}

bool DeclarationChecker::admitParameter(const ast::Param &text,
                                        const WrittenType &written) {
  bool isElementwise = declaration.kind == DeclarationKind::Elementwise;
  if (isElementwise && written.hasBrackets && !written.isHostInteger) {
    refuseBrackets(text.type->span);
    return false;
  }
  bool takesScalars = declaration.kind == DeclarationKind::Function ||
                      declaration.kind == DeclarationKind::Reduction;
  if (takesScalars && (written.hasBrackets || written.isList)) {
    report(text.type->span, diag::FunctionBrackets, text.name.text());
    return false;
  }
  if (written.isList && !admitList(text, written))
    return false;
  bool isScalar = isHostScalar(text, written) && !written.isList;
  if (isScalar && written.isOptional)
    report(text.type->span, diag::OptionalScalar);
  if (isScalar && written.isMutable)
    report(text.type->span, diag::MutScalar);
  return !isScalar || (!written.isOptional && !written.isMutable);
}

/// `int[*S]` and `int[3]`: several host integers.
void DeclarationChecker::hostShape(const WrittenType &written,
                                   Parameter &parameter) {
  if (written.dimensions.empty())
    return;
  const Dimension &dimension = written.dimensions.front();
  const Axis &axis = axes[dimension.axis().index];
  if (axis.pack) {
    parameter.pack = dimension.axis();
    return;
  }
  const auto *count =
      llvm::dyn_cast_if_present<ConstantExpression>(axis.extent);
  if (written.dimensions.size() == 1 && count) {
    parameter.count = count->value.integer;
    return;
  }
  auto report = this->report(axis.span, diag::ConstantNotInteger);
  if (!axis.name.empty())
    report.hint("`int[*" + axis.name + "]` takes as many as are given");
}

void DeclarationChecker::addParameter(const ast::Param &text) {
  WrittenType written;
  Binding poison;
  poison.span = text.name.span;
  if (!text.type || !writtenType(text.type, written, false) ||
      !admitParameter(text, written)) {
    hasFailed = true;
    define(text.name.text(), poison);
    return;
  }
  Parameter parameter;
  parameter.element = written.element;
  parameter.isList = written.isList;
  parameter.isOptional = written.isOptional;
  parameter.isMutable = written.isMutable;
  parameter.text = module.text(text.type->span);
  bool takesTensors = declaration.kind != DeclarationKind::Function &&
                      declaration.kind != DeclarationKind::Reduction;
  parameter.isTensor = takesTensors && !isHostScalar(text, written);
  if (parameter.isTensor)
    parameter.dimensions =
        builder.list(llvm::ArrayRef<Dimension>(written.dimensions));
  else
    hostShape(written, parameter);
  // `G: int` behind `x: T[N, (G C)]` gives the axis its extent; in the body the
  // name stays the axis.
  auto known = names.find(text.name.text());
  bool givesExtent = known != names.end() &&
                     known->second.kind == Binding::Kind::Axis &&
                     isHostScalar(text, written) && !parameter.pack.valid();
  if (givesExtent)
    module.noteName(text.name.text(), known->second, declaration, axes);
  Variable *variable =
      newVariable(givesExtent ? "_" : text.name.text(), text.name.span,
                  VariableKind::Parameter, variableType(parameter));
  variable->name = text.name.text();
  variable->isOptional = parameter.isOptional;
  parameter.variable = variable;
  parameters.push_back(parameter);
}

/// What the parameter's name means in the body.
const typed::Type *
DeclarationChecker::variableType(const Parameter &parameter) {
  if (!parameter.isTensor) {
    if (parameter.count != 0)
      return types.list(types.scalar(parameter.element));
    if (parameter.isList)
      return types.list(types.scalar(parameter.element));
    AxisId pack = parameter.pack.valid() ? rankRoot(parameter.pack) : AxisId();
    return types.scalar(parameter.element, {}, pack);
  }
  bool isObject = declaration.kind == DeclarationKind::Kernel ||
                  declaration.kind == DeclarationKind::Op;
  if (isObject || parameter.isList) {
    const Type *tensor = types.tensor(parameter.element, parameter.dimensions);
    return parameter.isList ? types.list(tensor) : tensor;
  }
  llvm::SmallVector<AxisId, 8> own;
  for (const Dimension &dimension : parameter.dimensions)
    for (AxisId axis : dimension.parts)
      if (!contains(own, axis))
        own.push_back(axis);
  return types.scalar(parameter.element, own);
}

void DeclarationChecker::checkDefaults(llvm::ArrayRef<ast::Param> params) {
  if (hasFailed)
    return;
  for (auto [number, param] : llvm::enumerate(params)) {
    if (!param.defaultValue)
      continue;
    Parameter &parameter = parameters[number];
    bool isNone = llvm::isa<ast::NoneExpr>(param.defaultValue);
    if (isNone && !parameter.isOptional)
      report(param.defaultValue->span, diag::NoneMisplaced)
          .hint("leave it out: the caller gives `" + param.name.text() + "`");
    if (!isNone)
      parameter.defaultValue = defaultOf(param.defaultValue, parameter.element);
  }
}

/// Whether nothing that a call gives decides about a value.
static bool isGivenByText(const Expression *value) {
  bool isFixed = true;
  walk(value, [&](const Expression &part) {
    const auto *builtin = llvm::dyn_cast<BuiltinExpression>(&part);
    isFixed &= !llvm::isa<VariableExpression, ConstantParameterExpression,
                          PackElementExpression>(part) &&
               !(builtin && builtin->axis.valid());
  });
  return isFixed;
}

/// A value, or what the call's other arguments make of it: `c: int = 2 * b`.
const Expression *DeclarationChecker::defaultOf(const ast::Expr *written,
                                                ScalarType type) {
  const Expression *value = fold(checkAs(written, type));
  if (!value || llvm::isa<ConstantExpression>(value) || !type.isConcrete() ||
      !isGivenByText(value))
    return value;
  std::string problem;
  std::optional<Constant> made = eval::constantValue(
      *value, declaration, module.diagnostics.constantBudget(), problem);
  if (!made)
    return value;
  auto *node = make<ConstantExpression>(value->span, value->type);
  node->value = *made;
  return node;
}

void DeclarationChecker::checkResults(const ast::Type *result) {
  if (!result) {
    bool mayBeVoid = declaration.kind == DeclarationKind::Kernel ||
                     declaration.kind == DeclarationKind::Op ||
                     llvm::any_of(parameters, [](const Parameter &parameter) {
                       return parameter.isMutable;
                     });
    if (!mayBeVoid && !hasFailed)
      report(text.name.span, diag::ResultMissing, text.name.text())
          .hint("write its type behind the parameters: `-> f32`");
    return;
  }
  if (declaration.kind == DeclarationKind::Kernel) {
    report(result->span, diag::KernelResult)
        .hint("write a parameter `y: mut " + module.text(result->span) + "`");
    return;
  }
  if (const auto *tuple = llvm::dyn_cast<ast::TupleType>(result)) {
    for (const ast::TypeField &field : tuple->fields)
      addResult(field.name.text(), field.type);
    return;
  }
  addResult({}, result);
}

void DeclarationChecker::addResult(llvm::StringRef name,
                                   const ast::Type *text) {
  WrittenType written;
  if (!writtenType(text, written, true)) {
    hasFailed = true;
    return;
  }
  if (written.isMutable)
    report(text->span, diag::MutScalar);
  if (declaration.kind == DeclarationKind::Elementwise && written.hasBrackets)
    refuseBrackets(text->span);
  if (declaration.kind == DeclarationKind::Function && written.hasBrackets)
    report(text->span, diag::FunctionBrackets, "->");
  if (declaration.kind != DeclarationKind::Op && written.isList)
    report(text->span, diag::ListMisplaced).hint("only an `op` yields lists");
  Result result;
  result.name = name;
  result.element = written.element;
  result.dimensions =
      builder.list(llvm::ArrayRef<Dimension>(written.dimensions));
  result.isTensor = declaration.isLifted() || written.hasBrackets;
  result.isOptional = written.isOptional;
  result.isList = written.isList;
  result.span = text->span;
  result.text = module.text(text->span);
  results.push_back(result);
}
