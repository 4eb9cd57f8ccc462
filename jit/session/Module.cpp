// Modules: from a declaration and arguments to a bound kernel.
#include "jit/op/Trace.h"
#include "jit/session/Guard.h"
#include "jit/session/State.h"

using namespace quern;
using namespace quern::jit;

std::span<const DeclarationInfo> Module::declarations() const {
  return state->declarations;
}

std::span<const std::string> Module::warnings() const {
  return state->warnings;
}

std::string Module::hintFor(std::string_view missing) const {
  return state->module->hintFor(missing);
}

/// A kernel before others of its name: a `fn` and a `reduction` may share one.
const Module::State::Callable *
Module::State::callable(llvm::StringRef name) const {
  std::lock_guard guard(core->callables);
  std::unique_ptr<Callable> &entry = callables[name];
  if (entry)
    return entry.get();
  const typed::Declaration *found = nullptr;
  for (const typed::Declaration *each : module->declarations())
    if (each->name == name && (!found || each->isCompiled()))
      found = each;
  if (!found)
    return nullptr;
  entry = std::make_unique<Callable>(Callable{found, observe(*found)});
  return entry.get();
}

/// The operands whose memory a result may take; lists are never among them. A
/// device's schedules of rows read as if nothing wrote.
static llvm::SmallVector<bool> coinciding(const typed::Declaration &declaration,
                                          const Observed &observed,
                                          const std::vector<Operand> &operands,
                                          DeviceId device) {
  llvm::SmallVector<bool> result(operands.size());
  bool isElementwise = declaration.kind == typed::DeclarationKind::Elementwise;
  if ((device != DeviceId{} && !isElementwise) ||
      llvm::any_of(declaration.parameters,
                   [](const typed::Parameter &each) { return each.isList; }))
    return result;
  std::size_t operand = 0;
  for (auto [number, parameter] : llvm::enumerate(declaration.parameters))
    if (parameter.isTensor)
      result[operand++] = observed.own[number];
  return result;
}

/// Pointers the caller gives, and the pairs of them that must be apart.
static void listPointers(BoundKernel::State &bound,
                         llvm::ArrayRef<bool> coinciding = {}) {
  const std::vector<Operand> &operands = bound.binding.operands;
  for (unsigned number = 0; number < operands.size(); ++number) {
    if (!operands[number].present || operands[number].isNumber)
      continue;
    bound.external.push_back(number);
    bound.touches.push_back(!byteRange(operands[number]).isEmpty());
  }
  for (unsigned a = 0; a < bound.external.size(); ++a) {
    const Operand &written = operands[bound.external[a]];
    for (unsigned b = 0; b < bound.external.size(); ++b) {
      const Operand &other = operands[bound.external[b]];
      // Two written operands are one pair.
      if (a == b || !written.isWritten || (other.isWritten && b < a))
        continue;
      bound.pairs.push_back(
          {a, b, byteRange(written), byteRange(other),
           !coinciding.empty() && coinciding[bound.external[b]] &&
               !other.isWritten && sameLayout(written, other)});
    }
  }
}

/// What `bindCall` asks of a kernel, asked of an `op`.
static bool isCallable(const CallRequest &request, DiagnosticEngine &report) {
  const typed::Declaration &declaration = request.declaration;
  if (declaration.hasError) {
    report.report(declaration.nameSpan, fault::DeclarationHasError,
                  declaration.name);
    return false;
  }
  if (request.arguments.size() == declaration.parameters.size())
    return true;
  report.report(declaration.nameSpan, fault::ArgumentCount, declaration.name,
                declaration.parameters.size(), request.arguments.size());
  return false;
}

/// What a call leaves out at its end is absent, where parameters may be: those
/// that are optional or have a default. Else the arguments stay as they are.
static std::vector<Argument> completed(const typed::Declaration &declaration,
                                       std::span<const Argument> given) {
  std::vector<Argument> all(given.begin(), given.end());
  auto rest = declaration.parameters.drop_front(
      std::min(given.size(), declaration.parameters.size()));
  bool mayBeAbsent = llvm::all_of(rest, [](const typed::Parameter &parameter) {
    return parameter.isOptional || parameter.defaultValue;
  });
  if (mayBeAbsent && !rest.empty())
    all.resize(declaration.parameters.size());
  return all;
}

Module Module::keepingChecks() const {
  auto checking = std::make_shared<State>();
  checking->core = state->core;
  checking->module = state->module;
  checking->text = state->text;
  checking->declarations = state->declarations;
  checking->keepsChecks = true;
  Module made;
  made.state = std::move(checking);
  return made;
}

Result<BoundKernel> Module::bind(
    std::string_view name, std::span<const Argument> arguments,
    std::span<const TensorView> outs,
    std::span<const std::pair<std::string, Argument>> constants) const {
  return guarded([&]() -> Result<BoundKernel> {
    SessionCore &core = *state->core;
    DiagnosticEngine diagnostics;
    const State::Callable *callable = state->callable(name);
    if (!callable) {
      diagnostics
          .report({}, fault::NoSuchDeclaration, state->module->name(),
                  llvm::StringRef(name))
          .hint(hintFor(name));
      return toError(diagnostics, core.sources);
    }
    const typed::Declaration &declaration = *callable->declaration;
    std::vector<Argument> all;
    if (arguments.size() < declaration.parameters.size()) {
      all = completed(declaration, arguments);
      arguments = all;
    }
    CallRequest request{.declaration = declaration,
                        .arguments = {arguments.data(), arguments.size()},
                        .outs = {outs.data(), outs.size()},
                        .constants = {constants.data(), constants.size()}};
    std::optional<Error> failure;
    std::optional<BoundKernel> bound =
        declaration.kind == typed::DeclarationKind::Op
            ? state->bindOp(request, diagnostics, failure)
            : state->bindKernel(request, callable->observed, diagnostics);
    if (bound)
      return std::move(*bound);
    if (failure)
      return std::move(*failure);
    std::lock_guard lock(core.frontend);
    return toError(diagnostics, core.sources);
  });
}

std::optional<BoundKernel>
Module::State::bindKernel(const CallRequest &request, const Observed &observed,
                          DiagnosticEngine &report,
                          std::optional<DeviceId> device) const {
  if (!device)
    device = commonDevice(request, report);
  std::optional<Binding> binding;
  if (device)
    binding = bindCall(request, observed, report);
  if (!binding)
    return std::nullopt;
  const typed::Declaration &declaration = request.declaration;
  auto bound = std::make_shared<BoundKernel::State>();
  bound->core = core;
  bound->name = declaration.name.str();
  bound->device = *device;
  bound->request = {module, &declaration, text, binding->specialization,
                    keepsChecks};
  bound->binding = std::move(*binding);
  if (llvm::any_of(declaration.results,
                   [](const typed::Result &each) { return each.isOptional; }))
    for (const Operand &operand : bound->binding.operands)
      if (operand.isResult)
        bound->resultCounts.push_back(operand.present);
  listPointers(*bound, coinciding(declaration, observed,
                                  bound->binding.operands, bound->device));
  BoundKernel kernel;
  kernel.state = std::move(bound);
  return kernel;
}

/// The device, and the library's kernels that fill and copy there.
bool Module::State::placeOnDevice(OpPlace &place,
                                  std::shared_ptr<const State> &moves,
                                  std::optional<Error> &failure) const {
  auto owner = core->devices.get(place.id);
  if (!owner) {
    failure = owner.error();
    return false;
  }
  auto loaded = loadLibrary(core, "copies");
  if (!loaded) {
    failure = loaded.error();
    return false;
  }
  moves = std::move(*loaded);
  place.device = (*owner)->device;
  place.copy = moves->module->find("copy");
  place.fill = moves->module->find("fill");
  return true;
}

std::optional<BoundKernel>
Module::State::bindOp(const CallRequest &request, DiagnosticEngine &report,
                      std::optional<Error> &failure) const {
  std::optional<DeviceId> device = commonDevice(request, report);
  if (!device)
    return std::nullopt;
  OpPlace place;
  place.id = *device;
  std::shared_ptr<const State> moves;
  if (*device != DeviceId{} && !placeOnDevice(place, moves, failure))
    return std::nullopt;
  Solution solution;
  if (!isCallable(request, report) || !solveTypes(request, solution, report) ||
      !solveConstants(request, solution, report) ||
      !solveAxes(request, solution, report))
    return std::nullopt;
  auto bindCallee = [&](const CallRequest &call) -> std::optional<BoundCall> {
    const typed::Declaration *callee = &call.declaration;
    bool isMove = callee == place.copy || callee == place.fill;
    const State &owner = isMove ? *moves : *this;
    auto kernel = owner.bindKernel(call, observe(*callee), report, place.id);
    if (!kernel)
      return std::nullopt;
    std::vector<Operand> operands = kernel->state->binding.operands;
    return BoundCall{std::move(*kernel), std::move(operands)};
  };
  auto bound = std::make_shared<BoundKernel::State>();
  bound->core = core;
  bound->name = request.declaration.name.str();
  bound->device = *device;
  OpTracer tracer(bindCallee, {core->externs, core->waiter}, place, core->pool,
                  report);
  bound->plan = tracer.trace(request, std::move(solution),
                             bound->binding.operands, bound->binding.outputs);
  if (!bound->plan) {
    failure = tracer.failure();
    return std::nullopt;
  }
  listPointers(*bound);
  BoundKernel kernel;
  kernel.state = std::move(bound);
  return kernel;
}
