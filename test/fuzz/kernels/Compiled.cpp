// Runs a program as machine code.
#include "test/fuzz/kernels/Sides.h"

#include <map>

namespace quern::fuzz {

struct Compiled::State {
  std::map<std::string, std::shared_ptr<Session>> sessions;
  std::shared_ptr<Session> session(const std::string &target) {
    std::shared_ptr<Session> &found = sessions[target];
    if (!found)
      if (auto made = Session::create(
              {.threads = 2, .cacheDirectory = "-", .target = target}))
        found = *made;
    return found;
  }
};

Compiled::Compiled() : state(std::make_unique<State>()) {}
Compiled::~Compiled() = default;

static Argument scalarOf(const Operand &operand) {
  double number = numberOf(operand);
  if (operand.type == ElementType::Bool)
    return number != 0;
  if (kindOf(operand.type) == ElementKind::Float)
    return number;
  return static_cast<std::int64_t>(number);
}

namespace {

/// One call: operands, results, pointers.
struct Call {
  std::vector<Memory> operands, results;
  std::vector<Argument> arguments;
  std::vector<std::pair<std::string, Argument>> constants;

  explicit Call(const Program &program) {
    operands.reserve(program.operands.size());
    for (const Operand &operand : program.operands) {
      if (!operand.isTensor) {
        arguments.push_back(scalarOf(operand));
        continue;
      }
      operands.push_back(contentsOf(operand));
      arguments.push_back(operands.back().view());
    }
    for (const auto &[name, value] : program.numbers)
      constants.emplace_back(name, value);
    for (const auto &[name, function] : program.functions)
      constants.emplace_back(name, function);
  }

  /// Allocates the results in the layout asked for and binds for it.
  Result<BoundKernel> bind(const Module &module, const Program &program) {
    auto bound = module.bind("k", arguments, {}, constants);
    if (!bound)
      return bound;
    for (const TensorSpec &spec : bound->outputs()) {
      bool isAtEnd = (program.text.size() + results.size()) % 2;
      results.push_back(laidOut(static_cast<ElementType>(spec.type), spec.sizes,
                                program.outputs, isAtEnd));
    }
    if (program.outputs == Layout::Contiguous || results.empty())
      return bound;
    std::vector<TensorView> outs;
    for (Memory &result : results)
      outs.push_back(result.view());
    return module.bind("k", arguments, outs, constants);
  }

  std::vector<void *> pointers() {
    std::vector<void *> all;
    for (Memory &operand : operands)
      all.push_back(operand.data());
    for (Memory &result : results)
      all.push_back(result.data());
    return all;
  }
};

Outcome failed(const Error &error, bool isRejected) {
  Outcome outcome;
  outcome.error = error.message;
  outcome.isRejected = isRejected;
  return outcome;
}

} // namespace

Outcome Compiled::run(const Program &program) {
  auto module = state->session(program.target)->compile(program.text, "k.qn");
  if (!module)
    return failed(module.error(), true);
  Call call(program);
  auto bound = call.bind(*module, program);
  if (!bound)
    return failed(bound.error(), true);
  if (auto ready = bound->ready(); !ready)
    return failed(ready.error(), true);
  if (auto ran = bound->run(call.pointers()); !ran)
    return failed(ran.error(), false);
  Outcome outcome;
  outcome.results = std::move(call.results);
  std::size_t tensor = 0;
  for (const Operand &operand : program.operands) {
    if (operand.isMutable)
      outcome.results.push_back(std::move(call.operands[tensor]));
    tensor += operand.isTensor;
  }
  return outcome;
}

} // namespace quern::fuzz
