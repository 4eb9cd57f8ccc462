// Solves type parameters against the element types of the arguments.
#include "jit/bind/Binding.h"
#include "jit/bind/Numbers.h"

#include <cmath>

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

namespace {

/// What is said of an argument of the wrong kind.
llvm::StringRef described(const Argument &argument) {
  constexpr llvm::StringLiteral names[] = {"nothing",
                                           "tensor",
                                           "number",
                                           "number",
                                           "bool",
                                           "string",
                                           "list of numbers",
                                           "list of numbers",
                                           "list of tensors",
                                           "complex number"};
  return names[argument.index()];
}

class TypeSolver {
public:
  TypeSolver(const CallRequest &request, Solution &solution,
             DiagnosticEngine &report)
      : declaration(request.declaration), request(request), solution(solution),
        report(report), known(declaration.typeParameters.size()),
        origin(declaration.typeParameters.size()) {}

  bool run() {
    return named() && tensors() && numbers() && complete() && check();
  }

private:
  bool named();
  bool tensors();
  bool solve(const Parameter &parameter, const TensorView &tensor);
  bool numbers();
  bool complete();
  bool check();
  bool isListOfTensors(const Parameter &parameter, const Argument &argument);
  bool isShape(const Parameter &parameter, const Argument &argument);

  const Declaration &declaration;
  const CallRequest &request;
  Solution &solution;
  DiagnosticEngine &report;
  llvm::SmallVector<std::optional<ElementType>, 4> known;
  llvm::SmallVector<std::string, 4> origin;
};

/// Types given by name: `T = "f32"`.
bool TypeSolver::named() {
  for (const auto &[name, value] : request.constants) {
    const TypeParameter *found =
        llvm::find_if(declaration.typeParameters,
                      [&](const TypeParameter &p) { return p.name == name; });
    if (found == declaration.typeParameters.end())
      continue;
    auto *text = std::get_if<std::string>(&value);
    auto type = text ? elementTypeNamed(*text) : std::nullopt;
    if (!type) {
      report.report(found->span, fault::NoSuchType,
                    text ? llvm::StringRef(*text) : described(value));
      return false;
    }
    std::size_t index = found - declaration.typeParameters.begin();
    known[index] = type;
    origin[index] = "the call";
  }
  return true;
}

/// Tensors of a list that one kernel reads.
static constexpr std::size_t longestList = 4096;

/// `[]` in an `op`, where nothing says what it is a list of.
static bool isEmptyList(const Argument &argument) {
  const auto *numbers = std::get_if<std::vector<std::int64_t>>(&argument);
  return numbers && numbers->empty();
}

bool TypeSolver::isListOfTensors(const Parameter &parameter,
                                 const Argument &argument) {
  const Variable &variable = *parameter.variable;
  const auto *tensors = std::get_if<std::vector<TensorView>>(&argument);
  bool isOp = declaration.kind == typed::DeclarationKind::Op;
  std::size_t length = tensors ? tensors->size() : 0;
  if (tensors && (isOp || (length > 0 && length <= longestList)))
    return true;
  if (tensors || (!isOp && isEmptyList(argument)))
    report.report(variable.span, fault::ListLength, variable.name, length,
                  longestList);
  else
    report.report(variable.span, fault::ScalarExpected, variable.name,
                  "a list of tensors", described(argument));
  return false;
}

static bool holdsFraction(const Argument &argument) {
  auto isFraction = [](double value) { return value != std::trunc(value); };
  if (const auto *number = std::get_if<double>(&argument))
    return isFraction(*number);
  const auto *list = std::get_if<std::vector<double>>(&argument);
  return list && llvm::any_of(*list, isFraction);
}

/// Whether the argument's kind suits the parameter; reports if not.
bool TypeSolver::isShape(const Parameter &parameter, const Argument &argument) {
  const Variable &variable = *parameter.variable;
  if (std::holds_alternative<std::monostate>(argument)) {
    if (parameter.isOptional || parameter.defaultValue)
      return true;
    report.report(variable.span, fault::ArgumentMissing, variable.name);
    return false;
  }
  bool isTensor = std::holds_alternative<TensorView>(argument);
  bool isNumber = std::holds_alternative<std::int64_t>(argument) ||
                  std::holds_alternative<double>(argument) ||
                  std::holds_alternative<std::complex<double>>(argument) ||
                  std::holds_alternative<bool>(argument);
  bool isList = parameter.pack.valid() || parameter.count > 0;
  if (parameter.isList)
    return isListOfTensors(parameter, argument);
  if (parameter.isTensor) {
    // A number broadcasts like a 0-d tensor.
    if (isTensor || (isNumber && !parameter.isMutable &&
                     declaration.kind == typed::DeclarationKind::Elementwise))
      return true;
    report.report(variable.span, fault::TensorExpected, variable.name,
                  described(argument));
    return false;
  }
  if (takesIntegers(parameter.element) && holdsFraction(argument)) {
    report.report(variable.span, fault::ScalarExpected, variable.name,
                  "an integer", "fraction");
    return false;
  }
  if (isNumber ||
      (isList && (std::holds_alternative<std::vector<std::int64_t>>(argument) ||
                  std::holds_alternative<std::vector<double>>(argument))))
    return true;
  report.report(variable.span, fault::ScalarExpected, variable.name,
                isList ? "numbers" : "a number", described(argument));
  return false;
}

bool TypeSolver::tensors() {
  for (auto [parameter, argument] :
       llvm::zip_equal(declaration.parameters, request.arguments)) {
    if (!isShape(parameter, argument))
      return false;
    if (!parameter.element.isBareParameter())
      continue;
    for (const TensorView &tensor : tensorsOf(argument))
      if (!solve(parameter, tensor))
        return false;
  }
  return true;
}

/// The tensor's element type is that of the bare type parameter.
bool TypeSolver::solve(const Parameter &parameter, const TensorView &tensor) {
  unsigned index = parameter.element.parameterIndex();
  auto type = static_cast<ElementType>(tensor.type);
  if (known[index] && *known[index] != type) {
    report.report(parameter.variable->span, fault::TypeConflict,
                  declaration.typeParameters[index].name,
                  spelling(*known[index]), origin[index], spelling(type),
                  parameter.variable->name);
    return false;
  }
  known[index] = type;
  origin[index] = parameter.variable->name.str();
  return true;
}

/// Numbers are weak: they decide a type only where no tensor does.
bool TypeSolver::numbers() {
  for (auto [parameter, argument] :
       llvm::zip_equal(declaration.parameters, request.arguments)) {
    if (!parameter.element.isBareParameter())
      continue;
    unsigned index = parameter.element.parameterIndex();
    if (known[index])
      continue;
    if (std::holds_alternative<double>(argument))
      known[index] = ElementType::F32;
    if (std::holds_alternative<std::complex<double>>(argument))
      known[index] = ElementType::C64;
    if (std::holds_alternative<std::int64_t>(argument))
      known[index] =
          admits(declaration.typeParameters[index].constraint, ElementType::I64)
              ? ElementType::I64
              : ElementType::F32;
    if (std::holds_alternative<bool>(argument))
      known[index] = ElementType::Bool;
  }
  return true;
}

/// A type that the constraint admits, to show how one is given.
ElementType exampleOf(Constraint constraint) {
  for (ElementType type :
       {ElementType::F32, ElementType::I32, ElementType::C64})
    if (admits(constraint, type))
      return type;
  return ElementType::Bool;
}

bool TypeSolver::complete() {
  for (auto [parameter, type] :
       llvm::zip_equal(declaration.typeParameters, known)) {
    if (!type) {
      report.report(parameter.span, fault::TypeUnknown, parameter.name)
          .hint("give it by name: " + llvm::Twine(parameter.name) + " = \"" +
                spelling(exampleOf(parameter.constraint)) + "\"");
      return false;
    }
    if (!admits(parameter.constraint, *type)) {
      report.report(parameter.span, fault::TypeConstraint, parameter.name,
                    spelling(*type), spelling(parameter.constraint));
      return false;
    }
    solution.types.push_back(*type);
  }
  return true;
}

/// Concrete and derived element types, now that all are known.
bool TypeSolver::check() {
  for (auto [parameter, argument] :
       llvm::zip_equal(declaration.parameters, request.arguments)) {
    ElementType wanted = parameter.element.substitute(solution.types);
    for (const TensorView &tensor : tensorsOf(argument)) {
      auto given = static_cast<ElementType>(tensor.type);
      if (given == wanted)
        continue;
      report.report(parameter.variable->span, fault::ElementMismatch,
                    parameter.variable->name, spelling(given),
                    spelling(wanted));
      return false;
    }
  }
  return true;
}

} // namespace

bool quern::jit::solveTypes(const CallRequest &request, Solution &solution,
                            DiagnosticEngine &report) {
  return TypeSolver(request, solution, report).run();
}
