// Makes kernels: memory cache, disk cache, then the whole compiler.
#pragma once

#include "dsl/Specialization.h"
#include "dsl/irgen/IrGen.h"
#include "jit/Jit.h"
#include "jit/cache/DiskCache.h"
#include "jit/codegen/Codegen.h"
#include "jit/orc/Engine.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace quern::jit {

/// Code that is ready, and how to call it.
struct CompiledKernel {
  using Plan = void (*)(const std::uint64_t *packet, std::int64_t *plan);
  using Task = void (*)(const void *packet, std::int64_t begin,
                        std::int64_t end, std::int64_t worker);
  struct Launch {
    Plan plan;
    Task task;
  };
  std::shared_ptr<LoadedObject> code; ///< null for a GPU, which has
  std::string image;                  ///< PTX or a code object instead
  KernelAbi abi;
  std::vector<Launch> launches;
};

/// What to compile.
struct CompileRequest {
  std::shared_ptr<const typed::TypedModule> module;
  const typed::Declaration *declaration = nullptr;
  /// Stands for the module's text, and the texts it uses, in keys.
  CacheKey text;
  Specialization specialization;
};

/// The stages a compilation can show.
struct StageDump {
  std::string stage; ///< as `--emit` spells it
  std::string text;
};

class Compiler {
public:
  explicit Compiler(SessionOptions options) : options(std::move(options)) {}

  /// The kernel of a request. Equal requests at one time compile once.
  Result<std::shared_ptr<const CompiledKernel>>
  kernel(const CompileRequest &request);
  /// The same where it is in memory already; else null.
  std::shared_ptr<const CompiledKernel> inMemory(const CompileRequest &request);

  /// Makes a kernel for the cache. `reached` hears of every stage when it is
  /// done, first of `tools`: the compiler itself is made then.
  Result<CacheEntry>
  compile(const CompileRequest &request,
          const std::function<void(const std::string &)> &reached = {});

  /// Runs the compiler and hands every stage up to and with `last` to `dump`.
  Result<std::monostate>
  show(const CompileRequest &request, const std::string &last,
       const std::function<void(const StageDump &)> &dump);

  Result<TargetInfo> target();
  /// Whether `--emit` knows a stage for a target.
  static bool hasStage(const TargetInfo &target, const std::string &stage);
  std::atomic<std::int64_t> compiles{0}, diskHits{0};

private:
  Result<CacheEntry>
  compileStages(const CompileRequest &request,
                const std::function<void(const std::string &)> &reached);

  struct Slot {
    std::mutex making;
    std::shared_ptr<const CompiledKernel> kernel;
  };
  std::shared_ptr<Slot> slotOf(const CompileRequest &request);
  /// What one compilation needs and the next one can use again.
  struct Tools {
    DslContext dsl;
    std::unique_ptr<CodeGenerator> generator;
  };
  class Lease;

  CacheKey keyOf(const CompileRequest &request, const TargetInfo &target);
  /// Whether code for `target` names the lines that it is made of.
  bool hasLines(const TargetInfo &target) const {
    return listeners.needLines() && !target.isGpu();
  }
  Result<std::shared_ptr<const CompiledKernel>>
  make(const CompileRequest &request, const CacheKey &key);
  Result<LoweredModule> lowered(Tools &tools, const CompileRequest &request,
                                const TargetInfo &target,
                                const LoweringOptions &options);
  Result<std::shared_ptr<const CompiledKernel>> load(const CacheEntry &entry);
  Result<std::shared_ptr<Engine>> linker();
  DiskCache *disk();
  /// Tells the user once why kernels are not kept.
  void warnOfCache(const std::string &warning);
  void keep(const CompileRequest &request, const CacheKey &key,
            const CacheEntry &entry);

  const SessionOptions options;
  std::mutex slotsLock;
  std::map<std::string, std::shared_ptr<Slot>> slots;
  std::mutex toolsLock;
  std::vector<std::unique_ptr<Tools>> idleTools;
  std::once_flag targetOnce, diskOnce, engineOnce;
  std::optional<Result<TargetInfo>> knownTarget;
  std::optional<Result<std::shared_ptr<Engine>>> engine;
  DiskCache::Opened diskCache;
  std::atomic<bool> cacheWarned{false};
  Listeners listeners = wishedListeners();
  std::string reproducers = reproducerFolder();
  std::string keptIn; ///< folder for every stage of what is made, or ""
};

} // namespace quern::jit
