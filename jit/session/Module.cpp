// Modules: from a declaration and arguments to a bound kernel.
#include "jit/session/State.h"

using namespace quern;
using namespace quern::jit;

std::span<const DeclarationInfo> Module::declarations() const {
  return state->declarations;
}

/// A kernel before others of its name: a `fn` and a `reduction` may share one.
const Module::State::Callable *
Module::State::callable(llvm::StringRef name) const {
  std::lock_guard guard(lock);
  std::unique_ptr<Callable> &entry = callables[name];
  if (entry)
    return entry.get();
  const typed::Declaration *found = nullptr;
  for (const typed::Declaration *each : module->declarations())
    if (each->name == name && (!found || each->isLifted()))
      found = each;
  if (!found)
    return nullptr;
  entry = std::make_unique<Callable>(Callable{found, observe(*found)});
  return entry.get();
}

/// Pointers the caller gives, and the pairs of them that must be apart.
static void listPointers(BoundKernel::State &bound, bool isLifted) {
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
           isLifted && !other.isWritten && sameLayout(written, other)});
    }
  }
}

Result<BoundKernel> Module::bind(
    std::string_view name, std::span<const Argument> arguments,
    std::span<const TensorView> outs,
    std::span<const std::pair<std::string, Argument>> constants) const {
  SessionCore &core = *state->core;
  DiagnosticEngine diagnostics;
  const State::Callable *callable = state->callable(name);
  if (!callable) {
    diagnostics.report({}, fault::NoSuchDeclaration, state->module->name(),
                       llvm::StringRef(name));
    return toError(diagnostics, core.sources);
  }
  const typed::Declaration &declaration = *callable->declaration;
  std::optional<Binding> binding =
      bindCall({.declaration = declaration,
                .arguments = {arguments.data(), arguments.size()},
                .outs = {outs.data(), outs.size()},
                .constants = {constants.data(), constants.size()}},
               callable->observed, diagnostics);
  if (!binding) {
    std::lock_guard lock(core.frontend);
    return toError(diagnostics, core.sources);
  }
  auto bound = std::make_shared<BoundKernel::State>();
  bound->core = state->core;
  bound->name = declaration.name.str();
  bound->request = {state->module, &declaration, state->text,
                    binding->specialization};
  bound->binding = std::move(*binding);
  listPointers(*bound, declaration.kind == typed::DeclarationKind::Elementwise);
  BoundKernel kernel;
  kernel.state = std::move(bound);
  return kernel;
}
