// Fills in a Specialization from wishes and defaults.
#include "dsl/irgen/Wishes.h"

#include "frontend/typed/ConstantValue.h"

#include "llvm/ADT/StringExtras.h"

using namespace quern;
using typed::ConstantParameterKind;
using typed::Declaration;

using Words = std::map<std::string, std::string>;

std::optional<Words> quern::splitWishes(std::string_view text) {
  Words words;
  for (llvm::StringRef part : llvm::split(llvm::StringRef(text), ',')) {
    auto [name, value] = part.split('=');
    if (part.empty())
      continue;
    if (name.empty() || value.empty())
      return std::nullopt;
    words[name.str()] = value.str();
  }
  return words;
}

namespace {

class Specializer {
public:
  Specializer(const Declaration &declaration,
              const SpecializationWishes &wishes, std::string &problem)
      : declaration(declaration), wishes(wishes), problem(problem) {}

  std::optional<Specialization> run() {
    if (!knownNames())
      return std::nullopt;
    if (!types() || !constants() || !ranks() || !operands())
      return std::nullopt;
    result.listed = wishes.listed;
    return result;
  }

private:
  bool fail(const llvm::Twine &message) {
    problem = message.str();
    return false;
  }
  bool knownNames();
  bool types();
  bool constants();
  std::optional<std::string>
  defaultOf(const typed::ConstantParameter &parameter);
  std::optional<ConstantArgument>
  constant(const typed::ConstantParameter &parameter, llvm::StringRef word);
  bool ranks();
  unsigned takeLength(const typed::Parameter &parameter);
  bool operands();
  bool addOperand(const std::string &name, bool isOptional,
                  llvm::ArrayRef<typed::Dimension> dimensions);

  const Declaration &declaration;
  const SpecializationWishes &wishes;
  std::string &problem;
  Specialization result;
  unsigned elementwiseRank = 1;
};

bool Specializer::knownNames() {
  std::set<std::string> types, constants, operands,
      ranks = {declaration.name.str()};
  for (const auto &parameter : declaration.typeParameters)
    types.insert(parameter.name.str());
  for (const auto *parameter : declaration.constantParameters)
    constants.insert(parameter->name.str());
  for (const auto &axis : declaration.axes)
    ranks.insert(axis.name.str());
  for (const auto &parameter : declaration.parameters)
    operands.insert(parameter.variable->name.str());
  for (std::size_t number = 0; number != declaration.results.size(); ++number)
    operands.insert("result" + std::to_string(number));
  auto isKnown = [&](const std::set<std::string> &names,
                     const std::string &name) {
    return names.contains(name) ||
           fail("`" + declaration.name + "` has no `" + name + "`");
  };
  for (auto [names, words] : {std::pair(&types, &wishes.types),
                              {&constants, &wishes.constants},
                              {&ranks, &wishes.ranks},
                              {&operands, &wishes.layouts}})
    for (const auto &[name, value] : *words)
      if (!isKnown(*names, name))
        return false;
  return llvm::all_of(wishes.absent, [&](const std::string &name) {
    return isKnown(operands, name);
  });
}

bool Specializer::types() {
  static constexpr ElementType defaults[] = {
      ElementType::F32, ElementType::I64, ElementType::Bool, ElementType::C64};
  for (const typed::TypeParameter &parameter : declaration.typeParameters) {
    auto wish = wishes.types.find(parameter.name.str());
    std::optional<ElementType> type;
    if (wish != wishes.types.end()) {
      type = elementTypeNamed(wish->second);
      if (!type)
        return fail("there is no type `" + wish->second + "`");
      if (!admits(parameter.constraint, *type))
        return fail("`" + parameter.name + "` cannot be " + wish->second);
    }
    for (ElementType candidate : defaults)
      if (!type && admits(parameter.constraint, candidate))
        type = candidate;
    result.typeArguments.push_back(*type);
  }
  return true;
}

/// The word for a choice or a default, as it would be given.
std::string wordOf(const typed::Constant &value) {
  switch (value.kind) {
  case typed::Constant::Kind::Integer:
    return std::to_string(value.integer);
  case typed::Constant::Kind::Float:
    return std::to_string(value.floating);
  case typed::Constant::Kind::Boolean:
    return value.boolean ? "true" : "false";
  case typed::Constant::Kind::String:
    return value.string.str();
  }
  return "";
}

/// What an argument is to the defaults behind it.
std::optional<typed::Constant> valueOf(const ConstantArgument &argument,
                                       unsigned element) {
  if (const auto *integer = std::get_if<std::int64_t>(&argument))
    return typed::Constant::ofInteger(*integer);
  if (const auto *boolean = std::get_if<bool>(&argument))
    return typed::Constant::ofBoolean(*boolean);
  if (const auto *floating = std::get_if<double>(&argument))
    return typed::Constant::ofFloat(*floating);
  if (const auto *digits = std::get_if<std::string>(&argument);
      digits && element < digits->size())
    return typed::Constant::ofBoolean((*digits)[element] == '1');
  return std::nullopt;
}

std::optional<ConstantArgument>
Specializer::constant(const typed::ConstantParameter &parameter,
                      llvm::StringRef word) {
  std::int64_t integer = 0;
  double floating = 0;
  if (parameter.hasElse && word == "else")
    return std::monostate();
  switch (parameter.kind) {
  case ConstantParameterKind::Integer:
    if (word.getAsInteger(0, integer))
      return std::nullopt;
    return integer;
  case ConstantParameterKind::Boolean:
    if (word != "true" && word != "false")
      return std::nullopt;
    return word == "true";
  case ConstantParameterKind::Float:
    if (word.getAsDouble(floating))
      return std::nullopt;
    return floating;
  case ConstantParameterKind::Booleans:
    if (word.size() != static_cast<std::size_t>(parameter.count))
      return std::nullopt;
    return word.str();
  case ConstantParameterKind::String:
  case ConstantParameterKind::Function:
    return word.str();
  }
  return std::nullopt;
}

/// It may ask for types and for the parameters in front of it.
std::optional<std::string>
Specializer::defaultOf(const typed::ConstantParameter &parameter) {
  if (!parameter.defaultValue)
    return std::nullopt;
  if (const auto *function = llvm::dyn_cast<typed::FunctionReferenceExpression>(
          parameter.defaultValue))
    return function->function->name.str();
  typed::ConstantEnvironment environment;
  environment.typeArguments = result.typeArguments;
  environment.parameter = [&](unsigned index, unsigned element) {
    return valueOf(result.constantArguments[index], element);
  };
  auto value = typed::evaluateConstant(*parameter.defaultValue, environment);
  return value ? std::optional(wordOf(*value)) : std::nullopt;
}

bool Specializer::constants() {
  for (const typed::ConstantParameter *parameter :
       declaration.constantParameters) {
    auto wish = wishes.constants.find(parameter->name.str());
    std::string word;
    if (wish != wishes.constants.end())
      word = wish->second;
    else if (auto given = defaultOf(*parameter))
      word = *given;
    else if (!parameter->choices.empty())
      word = wordOf(parameter->choices.front());
    else if (parameter->kind == ConstantParameterKind::Booleans)
      word = std::string(parameter->count, '1');
    else
      return fail("`" + parameter->name + "` of `" + declaration.name +
                  "` has no default: give it with --constants");
    auto argument = constant(*parameter, word);
    if (!argument)
      return fail("`" + parameter->name + "` cannot be `" + word + "`");
    result.constantArguments.push_back(*argument);
  }
  return true;
}

bool Specializer::ranks() {
  auto rankOf = [&](llvm::StringRef name) -> std::optional<unsigned> {
    auto wish = wishes.ranks.find(name.str());
    unsigned rank = 1;
    if (wish != wishes.ranks.end() &&
        (llvm::StringRef(wish->second).getAsInteger(10, rank) || rank > 16))
      return std::nullopt;
    return rank;
  };
  for (const typed::Axis &axis : declaration.axes) {
    if (axis.kind == typed::AxisKind::Local)
      continue;
    std::optional<unsigned> rank = 1;
    if (axis.pack && axis.rankOf.valid())
      rank = rankOf(declaration.axis(axis.rankOf).name);
    else if (axis.pack)
      rank = rankOf(axis.name);
    if (!rank)
      return fail("`" + axis.name + "` cannot have that many axes");
    result.axisRanks.push_back(*rank);
  }
  auto rank = rankOf(declaration.name);
  if (!rank)
    return fail("`" + declaration.name + "` cannot have that many axes");
  elementwiseRank = *rank;
  return true;
}

bool Specializer::addOperand(const std::string &name, bool isOptional,
                             llvm::ArrayRef<typed::Dimension> dimensions) {
  OperandLayout layout;
  unsigned rank = 0;
  if (declaration.kind == typed::DeclarationKind::Elementwise)
    rank = elementwiseRank;
  for (const typed::Dimension &dimension : dimensions)
    for (typed::AxisId axis : dimension.parts)
      rank += result.axisRanks[axis.index];
  layout.strides.assign(rank, StrideClass::Dynamic);
  if (rank)
    layout.strides.back() = StrideClass::One;
  if (wishes.absent.contains(name)) {
    if (!isOptional)
      return fail("`" + name + "` cannot be absent");
    layout.present = false;
    layout.strides.clear();
  }
  auto wish = wishes.layouts.find(name);
  if (wish != wishes.layouts.end() && layout.present) {
    if (wish->second.size() != rank)
      return fail("the layout of `" + name + "` has " +
                  llvm::Twine(wish->second.size()) + " letters for " +
                  llvm::Twine(rank) + " axes");
    for (unsigned axis = 0; axis != rank; ++axis) {
      char letter = wish->second[axis];
      if (letter != '0' && letter != '1' && letter != 'd')
        return fail("the layout of `" + name + "` may hold `0`, `1` and `d`");
      layout.strides[axis] = letter == '0'   ? StrideClass::Zero
                             : letter == '1' ? StrideClass::One
                                             : StrideClass::Dynamic;
    }
  }
  result.operands.push_back(std::move(layout));
  return true;
}

/// How many operands a parameter is; of a list, what the request is made for.
unsigned Specializer::takeLength(const typed::Parameter &parameter) {
  constexpr unsigned tensorsOfList = 2;
  if (!parameter.isList)
    return parameter.isTensor;
  result.listLengths.push_back(tensorsOfList);
  return tensorsOfList;
}

bool Specializer::operands() {
  for (const typed::Parameter &parameter : declaration.parameters)
    for (unsigned left = takeLength(parameter); left; --left)
      if (!addOperand(parameter.variable->name.str(), parameter.isOptional,
                      parameter.dimensions))
        return false;
  for (auto [number, output] : llvm::enumerate(declaration.results))
    if (!addOperand("result" + std::to_string(number), output.isOptional,
                    output.dimensions))
      return false;
  return true;
}

} // namespace

std::optional<Specialization>
quern::specialize(const Declaration &declaration,
                  const SpecializationWishes &wishes, std::string &problem) {
  return Specializer(declaration, wishes, problem).run();
}
