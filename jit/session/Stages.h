// The compiler's stages, from a request to an object or to a stage's text.
#pragma once

#include "dsl/Dsl.h"
#include "frontend/Budget.h"
#include "jit/codegen/Codegen.h"
#include "jit/session/Compiler.h"

namespace quern::jit {

/// What one compilation needs and the next one can use again. After something
/// was thrown through the stages nobody touches it any more.
struct CompilerTools {
  DslContext dsl;
  std::unique_ptr<CodeGenerator> generator;
  unsigned uses = 0;
};

/// One run of the stages. Compiled without cleaning up after exceptions: LLVM
/// does not either, and what it leaves half made is not to be destroyed.
class Stages {
public:
  Stages(CompilerTools &tools, const CompileRequest &request,
         const TargetInfo &machine, Budget &budget, std::stop_token stop)
      : tools(tools), request(request), machine(machine), budget(budget),
        stop(std::move(stop)) {}

  /// What is kept of a kernel: nothing where the observer's last stage comes
  /// before its code.
  Result<std::optional<CacheEntry>> make(const StageObserver &observer,
                                         LoweringOptions lowering);

private:
  Result<LoweredModule> lowered(const LoweringOptions &options);
  std::optional<Error> spend(const llvm::Module &module);
  Result<std::optional<std::string>> image(llvm::Module &module,
                                           const StageObserver &observer);

  CompilerTools &tools;
  const CompileRequest &request;
  const TargetInfo &machine;
  Budget &budget;
  const std::stop_token stop;
};

} // namespace quern::jit
