// Compile-time arguments: given by name, selected by a scalar, or by default.
#include "frontend/diagnostics/Suggestion.h"
#include "jit/bind/Environment.h"
#include "jit/bind/Numbers.h"

#include "frontend/typed/ConstantValue.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <limits>

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

namespace {

llvm::StringRef kindText(ConstantParameterKind kind) {
  switch (kind) {
  case ConstantParameterKind::Integer:
    return "an integer";
  case ConstantParameterKind::Boolean:
    return "a bool";
  case ConstantParameterKind::Booleans:
    return "truth values, one for each";
  case ConstantParameterKind::String:
    return "a string";
  case ConstantParameterKind::Float:
    return "a number";
  case ConstantParameterKind::Function:
    return "the name of a function";
  }
  return "";
}

/// What was given instead.
llvm::StringRef kindText(const Argument &argument) {
  if (std::holds_alternative<std::string>(argument))
    return "a string";
  if (std::holds_alternative<double>(argument))
    return "a number with a fraction";
  if (std::holds_alternative<std::int64_t>(argument))
    return "an integer";
  if (std::holds_alternative<bool>(argument))
    return "a truth value";
  return "a value of another kind";
}

/// A `bool[n]` as a text of digits, or as a list of truth values.
std::optional<std::string> digitsOf(const Argument &argument) {
  std::string digits;
  if (auto *text = std::get_if<std::string>(&argument))
    digits = *text;
  else if (auto *list = std::get_if<std::vector<std::int64_t>>(&argument))
    for (std::int64_t value : *list)
      digits += value == 0 ? '0' : value == 1 ? '1' : '?';
  else
    return std::nullopt;
  if (digits.find_first_not_of("01") != digits.npos)
    return std::nullopt;
  return digits;
}

std::string argumentText(const ConstantArgument &argument) {
  if (auto *integer = std::get_if<std::int64_t>(&argument))
    return llvm::itostr(*integer);
  if (auto *boolean = std::get_if<bool>(&argument))
    return *boolean ? "true" : "false";
  if (auto *floating = std::get_if<double>(&argument))
    return llvm::formatv("{0}", llvm::format("%g", *floating));
  if (auto *text = std::get_if<std::string>(&argument))
    return "`" + *text + "`";
  return "else";
}

ConstantArgument fromConstant(const Constant &constant,
                              ConstantParameterKind kind) {
  switch (constant.kind) {
  case Constant::Kind::Boolean:
    return constant.boolean;
  case Constant::Kind::String:
    return constant.string.str();
  case Constant::Kind::Float:
    return constant.floating;
  case Constant::Kind::Integer:
    break;
  }
  if (kind == ConstantParameterKind::Float)
    return static_cast<double>(constant.integer);
  return constant.integer;
}

/// The argument as this kind of parameter takes it.
std::optional<ConstantArgument> convert(const Argument &argument,
                                        const ConstantParameter &parameter) {
  switch (parameter.kind) {
  case ConstantParameterKind::Integer:
    if (auto *integer = std::get_if<std::int64_t>(&argument))
      return ConstantArgument(*integer);
    return std::nullopt;
  case ConstantParameterKind::Boolean:
    if (auto *boolean = std::get_if<bool>(&argument))
      return ConstantArgument(*boolean);
    return std::nullopt;
  case ConstantParameterKind::Float:
    if (auto value = hostValueOf(argument); value && !value->isComplex)
      return ConstantArgument(value->asDouble());
    return std::nullopt;
  case ConstantParameterKind::Booleans: {
    std::optional<std::string> digits = digitsOf(argument);
    if (digits && digits->size() == static_cast<std::size_t>(parameter.count))
      return ConstantArgument(*digits);
    return std::nullopt;
  }
  case ConstantParameterKind::String:
  case ConstantParameterKind::Function:
    if (auto *text = std::get_if<std::string>(&argument))
      return ConstantArgument(*text);
    return std::nullopt;
  }
  return std::nullopt;
}

class ConstantSolver {
public:
  ConstantSolver(const CallRequest &request, Solution &solution,
                 DiagnosticEngine &report)
      : declaration(request.declaration), request(request), solution(solution),
        report(report) {}

  bool run() {
    return namesAreKnown() &&
           llvm::all_of(declaration.constantParameters,
                        [this](const ConstantParameter *p) { return one(*p); });
  }

private:
  bool namesAreKnown();
  bool one(const ConstantParameter &parameter);
  bool byDefault(const ConstantParameter &parameter);
  std::optional<std::string> truthValues(const Expression &given,
                                         std::int64_t count) const;
  bool choose(const ConstantParameter &parameter, ConstantArgument value);
  std::optional<Constant> subjectOf(const ConstantParameter &parameter) const;
  bool bySubject(const ConstantParameter &parameter, const Constant &value);
  bool refuse(const ConstantParameter &parameter, llvm::StringRef value);

  const Declaration &declaration;
  const CallRequest &request;
  Solution &solution;
  DiagnosticEngine &report;
};

bool ConstantSolver::namesAreKnown() {
  for (const auto &[name, value] : request.constants) {
    llvm::StringRef wanted = name;
    auto isWanted = [&](const auto &p) { return p.name == wanted; };
    if (llvm::any_of(declaration.typeParameters, isWanted) ||
        llvm::any_of(declaration.constantParameters,
                     [&](const ConstantParameter *p) { return isWanted(*p); }))
      continue;
    // A pack's name gives its number of axes, where two packs meet.
    if (llvm::any_of(declaration.axes, [&](const Axis &axis) {
          return axis.pack && isWanted(axis);
        }))
      continue;
    Suggestion suggestion(wanted);
    for (const auto &parameter : declaration.typeParameters)
      suggestion.consider(parameter.name);
    for (const ConstantParameter *parameter : declaration.constantParameters)
      suggestion.consider(parameter->name);
    for (const typed::Parameter &parameter : declaration.parameters)
      suggestion.consider(parameter.variable->name);
    report
        .report(declaration.nameSpan, fault::ConstantUnknown, declaration.name,
                name)
        .hint(suggestion.hint());
    return false;
  }
  return true;
}

/// `[true, K > 1]`, or a list before it, as a text of digits.
std::optional<std::string>
ConstantSolver::truthValues(const Expression &given, std::int64_t count) const {
  SolutionEnvironment environment(request, solution);
  const auto *list = llvm::dyn_cast<TupleExpression>(&given);
  std::string digits, problem;
  for (unsigned element = 0; element < count; ++element) {
    const Expression &one = list ? *list->elements[element] : given;
    auto value = environment.evaluate(one, element, problem);
    if (!value)
      return std::nullopt;
    digits += value->integer ? '1' : '0';
  }
  return digits;
}

/// False where the default asks for what is not known.
bool ConstantSolver::byDefault(const ConstantParameter &parameter) {
  SolutionEnvironment environment(request, solution);
  std::string problem;
  if (auto *constant =
          llvm::dyn_cast<ConstantExpression>(parameter.defaultValue)) {
    solution.constants.push_back(fromConstant(constant->value, parameter.kind));
    return true;
  }
  if (auto *reference =
          llvm::dyn_cast<FunctionReferenceExpression>(parameter.defaultValue)) {
    solution.constants.emplace_back(reference->function->name.str());
    return true;
  }
  if (parameter.kind == ConstantParameterKind::Booleans) {
    auto digits = truthValues(*parameter.defaultValue, parameter.count);
    if (digits)
      solution.constants.emplace_back(*digits);
    if (digits)
      return true;
  } else if (auto value =
                 environment.evaluate(*parameter.defaultValue, 0, problem)) {
    ConstantArgument argument = value->integer;
    if (parameter.kind == ConstantParameterKind::Boolean)
      argument = value->integer != 0;
    if (value->isFloat)
      argument = value->floating;
    solution.constants.push_back(argument);
    return true;
  }
  return false;
}

bool ConstantSolver::one(const ConstantParameter &parameter) {
  for (const auto &[name, value] : request.constants) {
    if (parameter.name != llvm::StringRef(name))
      continue;
    if (auto converted = convert(value, parameter))
      return choose(parameter, std::move(*converted));
    report.report(parameter.span, fault::ConstantKind, parameter.name,
                  kindText(parameter.kind), kindText(value));
    return false;
  }
  if (auto value = subjectOf(parameter))
    return bySubject(parameter, *value);
  if (parameter.defaultValue && byDefault(parameter))
    return true;
  report.report(parameter.span, fault::ConstantMissing, parameter.name);
  return false;
}

/// `[P: match p {…}]`: the number that `p` is in this call. A complex one that
/// is not real equals no choice, as NaN does not.
std::optional<Constant>
ConstantSolver::subjectOf(const ConstantParameter &parameter) const {
  if (!parameter.subject)
    return std::nullopt;
  auto value = SolutionEnvironment(request, solution)
                   .variable(*parameter.subject, /*element=*/0);
  if (!value)
    return std::nullopt;
  if (value->imaginary != 0)
    return Constant::ofFloat(std::numeric_limits<double>::quiet_NaN());
  return value->isFloat ? Constant::ofFloat(value->floating)
                        : Constant::ofInteger(value->integer);
}

bool ConstantSolver::bySubject(const ConstantParameter &parameter,
                               const Constant &value) {
  if (auto choice = choiceOf(parameter, value))
    solution.constants.push_back(fromConstant(*choice, parameter.kind));
  else if (parameter.hasElse)
    solution.constants.push_back(std::monostate());
  else
    return refuse(parameter, argumentText(fromConstant(value, parameter.kind)));
  return true;
}

/// Checks the value against the choices the text lists.
bool ConstantSolver::choose(const ConstantParameter &parameter,
                            ConstantArgument value) {
  bool isListed = llvm::any_of(parameter.choices, [&](const Constant &choice) {
    return fromConstant(choice, parameter.kind) == value;
  });
  if (!isListed && !parameter.choices.empty() && !parameter.hasElse)
    return refuse(parameter, argumentText(value));
  if (!isListed && !parameter.choices.empty())
    value = std::monostate();
  solution.constants.push_back(std::move(value));
  return true;
}

bool ConstantSolver::refuse(const ConstantParameter &parameter,
                            llvm::StringRef value) {
  auto text = [&](const Constant &choice) {
    return argumentText(fromConstant(choice, parameter.kind));
  };
  report.report(parameter.span, fault::ConstantChoice, parameter.name, value,
                llvm::join(llvm::map_range(parameter.choices, text), ", "));
  return false;
}

} // namespace

bool quern::jit::solveConstants(const CallRequest &request, Solution &solution,
                                DiagnosticEngine &report) {
  return ConstantSolver(request, solution, report).run();
}
