// Compile-time parameters that are functions: which one is meant, whether it
// fits, and its calls.
#include "dsl/irgen/Generator.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

/// The default of a `fn` parameter, which may be known to its text alone.
static const Declaration *
defaultFunction(const typed::ConstantParameter &parameter) {
  const auto *reference =
      dyn_cast_if_present<typed::FunctionReferenceExpression>(
          parameter.defaultValue);
  return reference ? reference->function : nullptr;
}

/// A `fn` of so many operands by name in `module` or in what it uses.
static const Declaration *findFunction(const typed::TypedModule &module,
                                       StringRef name, std::size_t operands) {
  const Declaration *found = module.find(name);
  if (found && found->kind == typed::DeclarationKind::Function &&
      found->parameters.size() == operands)
    return found;
  for (const auto &used : module.uses())
    if (const Declaration *found = findFunction(*used, name, operands))
      return found;
  return nullptr;
}

/// The function that the caller or the parameter's default names.
const Declaration *
Generator::functionNamed(const typed::ConstantParameter &parameter,
                         StringRef name) {
  const Declaration *found = defaultFunction(parameter);
  if (found && found->name == name)
    return found;
  std::size_t operands = parameter.type->elements.size() - 1;
  found = findFunction(request.module, name, operands);
  if (!found)
    complain(parameter.span,
             "compile-time parameter `" + parameter.name +
                 "` takes the name of a `fn` of " + Twine(operands) +
                 (operands == 1 ? " operand" : " operands") + ", and `" + name +
                 "` is none here",
             "QN2042");
  return found;
}

namespace {

/// How a function reads where a parameter `wanted` is called in `caller`.
class Fitting {
public:
  Fitting(const Declaration &function, const typed::Type &wanted,
          const Frame &caller)
      : function(function), wanted(wanted), caller(caller) {}

  /// The type arguments; else `reason` says what does not fit.
  std::optional<SmallVector<ElementType, 4>> run();

  std::string reason;

private:
  bool fail(const Twine &text) {
    reason = text.str();
    return false;
  }
  bool constants();
  bool operand(const typed::Parameter &parameter, const typed::Type &given);
  bool parameters();
  bool result();
  ElementType typeOf(typed::ScalarType type) const {
    return type.substitute(ArrayRef(given));
  }

  const Declaration &function;
  const typed::Type &wanted;
  const Frame &caller;
  SmallVector<ElementType, 4> given; ///< as the caller's text sees them
  SmallVector<bool, 4> isBound;
};

} // namespace

/// Types with one compute type mix where scalars are computed.
static bool mixes(ElementType a, ElementType b) {
  return a == b || computeTypeOf(a) == computeTypeOf(b);
}

static std::string quoted(ElementType type) {
  return ("`" + StringRef(quern::spelling(type)) + "`").str();
}

/// Nobody gives a function its own compile-time parameters here.
bool Fitting::constants() {
  for (const typed::ConstantParameter *each : function.constantParameters)
    if (!each->defaultValue)
      return fail("its `" + each->name + "` has no default");
  return true;
}

bool Fitting::operand(const typed::Parameter &parameter,
                      const typed::Type &operand) {
  ElementType type = caller.type(operand.scalar);
  if (!parameter.element.isBareParameter())
    return true;
  unsigned index = parameter.element.parameterIndex();
  const typed::TypeParameter &own = function.typeParameters[index];
  if (!typed::admits(own.constraint, type))
    return fail("its `" + own.name + "` must be `" +
                typed::spelling(own.constraint) + "`, not " + quoted(type));
  if (isBound[index] && given[index] != type)
    return fail("its `" + own.name + "` is " + quoted(given[index]) + " and " +
                quoted(type));
  given[index] = type;
  isBound[index] = true;
  return true;
}

bool Fitting::parameters() {
  auto operands = wanted.elements.drop_back();
  for (auto [parameter, type] : llvm::zip_equal(function.parameters, operands))
    if (!operand(parameter, *type))
      return false;
  for (auto [own, bound] : llvm::zip_equal(function.typeParameters, isBound))
    if (!bound)
      return fail("its `" + own.name + "` does not follow from operands");
  for (auto [parameter, type] : llvm::zip_equal(function.parameters, operands))
    if (ElementType taken = typeOf(parameter.element),
        passed = caller.type(type->scalar);
        !mixes(taken, passed))
      return fail("its `" + parameter.variable->name + "` is " + quoted(taken) +
                  ", not " + quoted(passed));
  return true;
}

/// A parameter's function yields one scalar.
bool Fitting::result() {
  if (function.results.size() != 1)
    return fail("it yields " + Twine(function.results.size()) +
                " values, not 1");
  ElementType is = typeOf(function.results.front().element);
  ElementType must = caller.type(wanted.elements.back()->scalar);
  return mixes(is, must) ||
         fail("it yields " + quoted(is) + ", not " + quoted(must));
}

std::optional<SmallVector<ElementType, 4>> Fitting::run() {
  given.assign(function.typeParameters.size(), ElementType::F32);
  isBound.assign(function.typeParameters.size(), false);
  if (!constants() || !parameters() || !result())
    return std::nullopt;
  return given;
}

irgen::Value Generator::visit(const typed::IndirectCallExpression &expression) {
  const typed::ConstantParameter &parameter = *expression.function;
  const Declaration *function = frame->constants[parameter.index].function;
  if (!function)
    return zeroOf(*expression.type); // its parameter was complained about
  Fitting fitting(*function, *parameter.type, *frame);
  auto types = fitting.run();
  if (!types) {
    if (misfits.insert(&parameter).second)
      complain(parameter.span,
               "compile-time parameter `" + parameter.name + "` cannot be `" +
                   function->name + "`: " + fitting.reason,
               "QN2042");
    return zeroOf(*expression.type);
  }
  Frame &callee = frames.emplace_back(*function);
  for (ElementType type : *types)
    callee.types.push_back(typeIn(*function, type));
  bindConstants(callee, {});
  for (auto [own, argument] :
       llvm::zip_equal(function->parameters, expression.arguments))
    bindIn(callee, *own.variable,
           coerce(scalar(*argument), callee.type(own.element)));
  at(expression.span);
  return inlineBody(callee);
}
