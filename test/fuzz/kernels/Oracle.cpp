// Runs a program by the evaluator.
#include "frontend/Frontend.h"
#include "frontend/check/Check.h"
#include "frontend/diagnostics/Render.h"
#include "frontend/eval/Eval.h"
#include "jit/session/EmbeddedModules.h"
#include "test/fuzz/kernels/Sides.h"

namespace quern::fuzz {

static std::optional<ModuleText> findModule(llvm::StringRef name) {
  for (const jit::EmbeddedModule &module : jit::embeddedModules())
    if (llvm::StringRef(module.name) == name)
      return ModuleText{std::string(module.path), module.text};
  return std::nullopt;
}

static std::vector<std::string> preludeNames() {
  std::vector<std::string> names;
  for (const jit::EmbeddedModule &module : jit::embeddedModules())
    if (module.family == "prelude")
      names.emplace_back(module.name);
  return names;
}

struct Oracle::State {
  SourceManager sources;
  ModuleLibrary library{sources, findModule, preludeNames()};
  unsigned count = 0;
};

Oracle::Oracle() : state(std::make_unique<State>()) {}
Oracle::~Oracle() = default;

static typed::Constant constantOf(const Operand &operand) {
  double number = numberOf(operand);
  if (operand.type == ElementType::Bool)
    return typed::Constant::ofBoolean(number != 0);
  if (kindOf(operand.type) == ElementKind::Float)
    return typed::Constant::ofFloat(number);
  return typed::Constant::ofInteger(static_cast<std::int64_t>(number));
}

static eval::Invocation invocationOf(const Program &program,
                                     const typed::TypedModule &module,
                                     std::vector<Memory> &operands) {
  eval::Invocation invocation;
  invocation.declaration = module.find("k");
  invocation.steps = 4'000'000;
  invocation.typeArguments = program.typeArguments;
  for (const auto &parameter : invocation.declaration->constantParameters) {
    for (const auto &[name, value] : program.numbers)
      if (parameter->name == name)
        invocation.constantArguments.emplace_back(
            typed::Constant::ofInteger(value));
    for (const auto &[name, function] : program.functions)
      if (parameter->name == name)
        invocation.constantArguments.emplace_back(module.find(function));
  }
  operands.reserve(program.operands.size());
  for (const Operand &operand : program.operands) {
    if (!operand.isTensor) {
      invocation.arguments.emplace_back(constantOf(operand));
      continue;
    }
    operands.push_back(contentsOf(operand));
    invocation.arguments.emplace_back(operands.back().tensor());
  }
  return invocation;
}

/// The results, then `mut` operands as they become.
static std::vector<Memory>
resultsFor(const Program &program, const eval::Invocation &invocation,
           const std::vector<std::vector<std::int64_t>> &shapes,
           const std::vector<Memory> &operands) {
  std::vector<Memory> results;
  for (auto [number, shape] : llvm::enumerate(shapes))
    results.push_back(
        laidOut(invocation.declaration->results[number].element.substitute(
                    program.typeArguments),
                shape, Layout::Contiguous, /*isAtEnd=*/false));
  std::size_t tensor = 0;
  for (const Operand &operand : program.operands) {
    if (operand.isMutable)
      results.push_back(operands[tensor].copy());
    tensor += operand.isTensor;
  }
  return results;
}

Outcome Oracle::run(const Program &program) {
  Outcome outcome;
  DiagnosticEngine diagnostics;
  std::string name = "k" + std::to_string(state->count++) + ".qn";
  const SourceFile *file = state->sources.add(name, program.text);
  auto tree = parse(*file, diagnostics);
  auto module = state->library.check(*tree, "k", diagnostics);
  if (diagnostics.hasErrors()) {
    outcome.isRejected = true;
    return outcome;
  }
  std::vector<Memory> operands;
  eval::Invocation invocation = invocationOf(program, *module, operands);
  auto shapes = eval::resultShapes(invocation);
  if (auto *problem = std::get_if<std::string>(&shapes)) {
    outcome.error = *problem;
    return outcome;
  }
  outcome.results =
      resultsFor(program, invocation, std::get<0>(shapes), operands);
  for (Memory &result : outcome.results)
    invocation.results.push_back(result.tensor());
  if (auto problem = eval::evaluate(invocation))
    outcome.error = *problem;
  return outcome;
}

} // namespace quern::fuzz
