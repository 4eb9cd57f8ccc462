// Compiler over a Session of libquern.
#include "backend-torch/compiled/Compiler.h"

namespace quern {

namespace {
class SessionHandle : public LaunchHandle {
public:
  explicit SessionHandle(BoundKernel kernel) : kernel(std::move(kernel)) {}
  using LaunchHandle::ready;
  Result<std::monostate> ready(std::stop_token stop) override {
    return kernel.ready(std::move(stop));
  }
  bool readyAtOnce() override {
    if (!isReady.load(std::memory_order_acquire) && kernel.readyAtOnce())
      isReady.store(true, std::memory_order_release);
    return isReady.load(std::memory_order_relaxed);
  }
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
  std::atomic<bool> isReady = false; ///< has been seen
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
SessionCompiler::compile(const std::string &text, const std::string &name,
                         std::stop_token stop) {
  {
    std::lock_guard lock(mutex);
    if (auto it = modules.find(text); it != modules.end())
      return it->second;
  }
  Result<Module> module = session->compile(text, name, std::move(stop));
  if (!module)
    return module.error();
  auto kept = keep(std::move(*module));
  std::lock_guard lock(mutex);
  return modules.try_emplace(text, kept).first->second;
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
  auto kept = keep(std::move(*module));
  std::lock_guard lock(mutex);
  return shared.try_emplace(name, kept).first->second;
}

Result<std::vector<OperatorRow>> SessionCompiler::operators() const {
  return session->operators();
}

} // namespace quern
