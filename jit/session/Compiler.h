// Makes kernels: memory cache, disk cache, then the whole compiler.
#pragma once

#include "dsl/Specialization.h"
#include "dsl/irgen/IrGen.h"
#include "jit/Jit.h"
#include "jit/cache/DiskCache.h"
#include "jit/cache/Variables.h"
#include "jit/codegen/Codegen.h"
#include "jit/orc/Engine.h"
#include "jit/session/Slots.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace quern::jit {

/// Code that is ready, and how to call it.
struct CompiledKernel {
  using Task = void (*)(const void *packet, std::int64_t begin,
                        std::int64_t end, std::int64_t worker);
  std::shared_ptr<LoadedObject> code; ///< null for a GPU, which has
  std::string image;                  ///< PTX or a code object instead
  KernelAbi abi;
  std::vector<Task> tasks; ///< of every launch; null where code is left out
};

/// What to compile.
struct CompileRequest {
  std::shared_ptr<const typed::TypedModule> module;
  const typed::Declaration *declaration = nullptr;
  /// Stands for the module's text, and the texts it uses, in keys.
  CacheKey text;
  Specialization specialization;
  bool keepsChecks = keepsEveryCheck(); ///< every bounds check stays
};

struct CompilerTools;

class Compiler {
public:
  Compiler(SessionOptions options, const Limits &limits);
  ~Compiler();

  /// The variant of a kernel that a call needs. Equal requests at one time
  /// compile once. Nobody waits for it any more once `stop` is requested: the
  /// work then ends soon, with an error.
  Result<std::shared_ptr<const CompiledKernel>>
  kernel(const CompileRequest &request, const ChooseVariant &choose,
         std::stop_token stop = {});
  /// The same where it is in memory already; else null.
  std::shared_ptr<const CompiledKernel> inMemory(const CompileRequest &request,
                                                 const ChooseVariant &choose);

  /// Makes a variant of a kernel for the cache, or one of all its code where
  /// nothing chooses: nothing where the observer's last stage comes before its
  /// code. The observer hears first of `tools`: the compiler itself is made
  /// then.
  Result<std::optional<CacheEntry>> compile(const CompileRequest &request,
                                            const StageObserver &observer = {},
                                            const ChooseVariant &choose = {},
                                            std::stop_token stop = {});

  /// Collects the texts that are kept, and shown, of every kernel.
  static StageObserver collector(std::vector<StageText> &texts);

  Result<TargetInfo> target();
  std::atomic<std::int64_t> compiles{0}, diskHits{0};

  void beforeFork();
  void afterFork(bool isChild);

private:
  using Kernel = std::shared_ptr<const CompiledKernel>;

  Result<std::optional<CacheEntry>> compileStages(const CompileRequest &request,
                                                  const StageObserver &observer,
                                                  const ChooseVariant &choose,
                                                  std::stop_token stop);

  static std::string slotOf(const CompileRequest &request);
  class Lease;

  CacheKey keyOf(const CompileRequest &request, const TargetInfo &target,
                 llvm::StringRef variant = "");
  /// Whether code for `target` names the lines that it is made of.
  bool hasLines(const TargetInfo &target) const {
    return listeners.needLines() && !target.isGpu();
  }
  /// What `kernel` gives of one slot: the named variant of a kernel or, without
  /// a name, the kernel itself, or what chooses among its variants.
  Result<Kernel> make(const CompileRequest &request, llvm::StringRef variant,
                      const ChooseVariant &choose, std::stop_token stop);
  Result<Kernel> finish(const CompileRequest &request, const CacheKey &key,
                        const CacheEntry &entry, std::vector<StageText> stages);
  Result<Kernel> loadAndStore(const CompileRequest &request,
                              const CacheKey &key, const CacheEntry &entry);
  Result<std::shared_ptr<LoadedObject>>
  loadCode(const std::shared_ptr<Engine> &linker, const std::string &object,
           const std::vector<std::string> &symbols);
  Result<Kernel> load(const CompileRequest &request, const CacheEntry &entry);
  Result<std::shared_ptr<Engine>> linker();
  DiskCache *disk();
  /// Tells the user once why kernels are not kept.
  void warnOfCache(const std::string &warning);
  Result<CacheEntry> makeEntry(const CompileRequest &request,
                               const ChooseVariant &choose,
                               std::vector<StageText> &stages,
                               std::stop_token stop);
  bool lacksStages(const CompileRequest &request, const CacheKey &key) const;
  void keep(const CompileRequest &request, const CacheKey &key,
            const CacheEntry &entry, std::vector<StageText> stages);

  const SessionOptions options;
  const Limits limits;
  Slots slots;
  std::mutex lock; ///< of what follows
  std::optional<Result<TargetInfo>> knownTarget;
  std::vector<std::unique_ptr<CompilerTools>> idleTools;
  std::shared_ptr<Engine> engine; ///< null until the first kernel is loaded
  bool isDiskKnown = false;
  DiskCache::Opened diskCache;
  std::atomic<bool> cacheWarned{false};
  Listeners listeners = wishedListeners();
  std::string reproducers = reproducerFolder();
  const GivenSchedule schedule = givenSchedule();
  std::string keptIn; ///< folder for every stage of what is made, or ""
};

} // namespace quern::jit
