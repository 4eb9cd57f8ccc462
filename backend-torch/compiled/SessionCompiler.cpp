// Compiler over a Session of libquern.
#include "backend-torch/compiled/Compiler.h"

namespace quern {

namespace {
class SessionHandle : public LaunchHandle {
public:
  explicit SessionHandle(BoundKernel kernel) : kernel(std::move(kernel)) {}
  Result<std::monostate> ready() override { return kernel.ready(); }
  Result<std::monostate> run(std::span<void *const> pointers,
                             void *stream) override {
    return kernel.run(pointers, stream);
  }
  bool mayCoincide(std::size_t output, std::size_t input) const override {
    return kernel.mayCoincide(output, input);
  }
  Result<std::vector<StageText>> stages() const override {
    return kernel.stages();
  }

private:
  BoundKernel kernel;
};

class SessionModule : public CompiledModule {
public:
  explicit SessionModule(Module module) : module(std::move(module)) {}

  Result<std::unique_ptr<LaunchHandle>>
  bind(std::string_view declaration, std::span<const Argument> arguments,
       std::span<const TensorView> outputs,
       std::span<const std::pair<std::string, Argument>> constants)
      const override {
    Result<BoundKernel> kernel =
        module.bind(declaration, arguments, outputs, constants);
    if (!kernel)
      return kernel.error();
    return std::unique_ptr<LaunchHandle>(
        std::make_unique<SessionHandle>(std::move(*kernel)));
  }

private:
  Module module;
};
} // namespace

std::shared_ptr<const CompiledModule>
SessionCompiler::keep(Module module) const {
  return std::make_shared<SessionModule>(keepsChecks ? module.keepingChecks()
                                                     : std::move(module));
}

Result<std::shared_ptr<const CompiledModule>>
SessionCompiler::compile(const std::string &text, const std::string &name) {
  {
    std::lock_guard lock(mutex);
    if (auto it = modules.find(text); it != modules.end())
      return it->second;
  }
  Result<Module> module = session->compile(text, name);
  if (!module)
    return module.error();
  std::lock_guard lock(mutex);
  return modules.try_emplace(text, keep(std::move(*module))).first->second;
}

Result<std::shared_ptr<const CompiledModule>>
SessionCompiler::library(const std::string &name) {
  {
    std::lock_guard lock(mutex);
    if (auto it = shared.find(name); it != shared.end())
      return it->second;
  }
  Result<Module> module = session->libraryModule(name);
  if (!module)
    return module.error();
  std::lock_guard lock(mutex);
  return shared.try_emplace(name, keep(std::move(*module))).first->second;
}

Result<std::vector<OperatorRow>> SessionCompiler::operators() const {
  return session->operators();
}

} // namespace quern
