// From a request to code: who makes it, where it is kept, and its stages.
#include "jit/session/Compiler.h"

#include "frontend/typed/TypedModule.h"
#include "jit/session/AbiText.h"
#include "jit/session/BuildId.h"
#include "jit/session/Forks.h"
#include "jit/session/Keep.h"
#include "jit/session/Keys.h"
#include "jit/session/Reproducer.h"
#include "jit/session/Stages.h"
#include "jit/session/Variants.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace quern;
using namespace quern::jit;

namespace {

/// Its destructor would take locks that nobody gives back.
template <typename T> void leaveForGood(std::shared_ptr<T> object) {
  [[maybe_unused]] auto *kept = new std::shared_ptr<T>(std::move(object));
}

constexpr std::uint64_t cacheBytes = 512u << 20;

/// An MLIR context keeps every type, attribute and place that it has seen:
/// after so many kernels it goes, and what it keeps with it.
constexpr unsigned mostUses = 256;

void warnNotKept(const CompileRequest &request, const std::string &problem) {
  llvm::errs() << "quern: warning: stages of `" << request.declaration->name
               << "` are not kept: " << problem << '\n';
}

} // namespace

Compiler::Compiler(SessionOptions options, const Limits &limits)
    : options(std::move(options)), limits(limits), slots(limits.kernels) {}
Compiler::~Compiler() = default;

/// Lends tools for one compilation; MLIR contexts and code generators cost
/// milliseconds to make and serve one thread at a time.
class Compiler::Lease {
public:
  static Result<std::unique_ptr<Lease>> take(Compiler &owner,
                                             const TargetInfo &target) {
    auto lease = std::unique_ptr<Lease>(new Lease(owner));
    {
      std::lock_guard guard(owner.lock);
      if (!owner.idleTools.empty()) {
        lease->tools = std::move(owner.idleTools.back());
        owner.idleTools.pop_back();
        return lease;
      }
    }
    lease->tools = std::make_unique<CompilerTools>();
    auto generator = CodeGenerator::create(target);
    if (!generator) {
      lease->tools.reset();
      return generator.error();
    }
    lease->tools->generator = std::move(*generator);
    return lease;
  }
  /// What an exception has gone through is not touched any more.
  ~Lease() { (void)tools.release(); }

  /// The stages have come to their end, well or not.
  void giveBack() {
    if (++tools->uses >= mostUses)
      return tools.reset();
    std::lock_guard guard(owner.lock);
    owner.idleTools.push_back(std::move(tools));
  }
  std::unique_ptr<CompilerTools> tools;

private:
  explicit Lease(Compiler &owner) : owner(owner) {}
  Compiler &owner;
  const ThreadOfMlir use;
};

Result<TargetInfo> Compiler::target() {
  std::lock_guard guard(lock);
  if (!knownTarget)
    knownTarget = findTarget(options.target);
  return *knownTarget;
}

DiskCache *Compiler::disk() {
  std::lock_guard guard(lock);
  if (std::exchange(isDiskKnown, true))
    return diskCache.cache.get();
  std::string folder = options.cacheDirectory.empty() ? defaultCacheFolder()
                                                      : options.cacheDirectory;
  if (folder.empty() || folder == "-")
    return nullptr;
  diskCache = DiskCache::open(folder, cacheBytes);
  warnOfCache(diskCache.warning);
  if (diskCache.cache && keepsEveryStage())
    keptIn = folder;
  return diskCache.cache.get();
}

void Compiler::warnOfCache(const std::string &warning) {
  if (!warning.empty() && !cacheWarned.exchange(true))
    llvm::errs() << "quern: warning: " << warning << '\n';
}

Result<std::shared_ptr<Engine>> Compiler::linker() {
  std::lock_guard guard(lock);
  if (!engine) {
    auto made = Engine::create(listeners);
    if (!made)
      return made.error();
    engine = *made;
  }
  return engine;
}

/// A linker and an MLIR context have locks of their own, which threads may hold
/// that the child does not have: it gets others. What the old one has linked
/// stays.
void Compiler::afterFork(bool isChild) {
  if (isChild) {
    leaveForGood(std::exchange(engine, nullptr));
    for (std::unique_ptr<CompilerTools> &idle : idleTools)
      (void)idle.release();
    idleTools.clear();
  }
  if (diskCache.cache)
    diskCache.cache->afterFork();
  lock.unlock();
  slots.afterFork(isChild);
}

void Compiler::beforeFork() {
  slots.beforeFork();
  lock.lock();
  if (diskCache.cache)
    diskCache.cache->beforeFork();
}

CacheKey Compiler::keyOf(const CompileRequest &request,
                         const TargetInfo &target, llvm::StringRef variant) {
  return KeyBuilder()
      .add(buildIdentity())
      .add(request.text.text())
      .add(request.declaration->module)
      .add(request.declaration->name)
      .add(keyText(request.specialization))
      .add(keyText(target))
      .add(hasLines(target) ? "lines" : "")
      .add(request.keepsChecks ? "checks" : "")
      .add(schedule.text)
      .add(variant)
      .finish();
}

/// Where a kernel is kept. Nothing is hashed, since calls of an `op` that reads
/// numbers ask for each of its kernels every time; all are for one target.
std::string Compiler::slotOf(const CompileRequest &request) {
  std::string key(request.text.bytes.begin(), request.text.bytes.end());
  for (llvm::StringRef name :
       {request.declaration->module, request.declaration->name}) {
    key += name;
    key += '\0';
  }
  key += keyText(request.specialization);
  key += request.keepsChecks ? '\1' : '\0';
  return key;
}

std::shared_ptr<const CompiledKernel>
Compiler::inMemory(const CompileRequest &request, const ChooseVariant &choose) {
  Kernel first = slots.find(slotOf(request));
  if (!first || !hasVariants(first->abi))
    return first;
  return slots.find(slotOf(request) + nameOf(choose(first->abi)));
}

Result<std::shared_ptr<const CompiledKernel>>
Compiler::kernel(const CompileRequest &request, const ChooseVariant &choose,
                 std::stop_token stop) {
  auto first = slots.get(slotOf(request), stop,
                         [&] { return make(request, "", choose, stop); });
  if (!first || !hasVariants((*first)->abi))
    return first;
  Variant variant = choose((*first)->abi);
  std::string name = nameOf(variant);
  return slots.get(slotOf(request) + name, stop, [&] {
    auto chosen = [&](const KernelAbi &) { return variant; };
    return make(request, name, chosen, stop);
  });
}

Result<Compiler::Kernel> Compiler::make(const CompileRequest &request,
                                        llvm::StringRef variant,
                                        const ChooseVariant &choose,
                                        std::stop_token stop) {
  Result<TargetInfo> machine = target();
  if (!machine)
    return machine.error();
  if (!options.target.empty() && !machine->isGpu())
    if (std::optional<std::string> why = whyNotHere(*machine))
      return Error{"code for `" + options.target + "` cannot run here: " + *why,
                   {}};
  CacheKey key = keyOf(request, *machine, variant);
  std::vector<StageText> stages;
  if (DiskCache *cache = disk())
    if (auto entry = cache->load(key))
      if (auto kernel = load(request, *entry)) {
        if (entry->object.empty())
          return kernel;
        diskHits.fetch_add(1, std::memory_order_relaxed);
        if (lacksStages(request, key)) {
          auto again = makeEntry(request, choose, stages, stop);
          if (again)
            keep(request, key, *again, std::move(stages));
          else
            warnNotKept(request, again.error().message);
        }
        return kernel;
      }
  Result<CacheEntry> entry = makeEntry(request, choose, stages, stop);
  if (!entry)
    return entry.error();
  compiles.fetch_add(1, std::memory_order_relaxed);
  KernelAbi abi = readAbi(entry->description).value();
  if (!variant.empty() || !hasVariants(abi))
    return finish(request, key, *entry, std::move(stages));
  std::string name = nameOf(choose(abi));
  auto code = finish(request, keyOf(request, *machine, name), *entry,
                     std::move(stages));
  if (!code)
    return code;
  slots.add(slotOf(request) + name, *code);
  return loadAndStore(request, key,
                      {writeAbi(conditionsOf(std::move(abi))), ""});
}

Result<Compiler::Kernel> Compiler::finish(const CompileRequest &request,
                                          const CacheKey &key,
                                          const CacheEntry &entry,
                                          std::vector<StageText> stages) {
  if (lacksStages(request, key))
    keep(request, key, entry, std::move(stages));
  return loadAndStore(request, key, entry);
}

Result<Compiler::Kernel> Compiler::loadAndStore(const CompileRequest &request,
                                                const CacheKey &key,
                                                const CacheEntry &entry) {
  auto kernel = load(request, entry);
  if (kernel)
    if (DiskCache *cache = disk())
      warnOfCache(cache->store(key, entry));
  return kernel;
}

bool Compiler::lacksStages(const CompileRequest &request,
                           const CacheKey &key) const {
  std::string name = request.declaration->name.str();
  return !keptIn.empty() &&
         !llvm::sys::fs::exists(keptFolder(keptIn, name, key));
}

StageObserver Compiler::collector(std::vector<StageText> &texts) {
  return {.wants =
              [](Stage stage) {
                return makerOf(stage) == StageMaker::Lowering ||
                       stage == Stage::Llvm || stage == Stage::Asm;
              },
          .take =
              [&texts](Stage stage, std::string text) {
                texts.emplace_back(spelling(stage), std::move(text));
              }};
}

/// Makes an entry, and the texts of its stages where they may be kept.
Result<CacheEntry> Compiler::makeEntry(const CompileRequest &request,
                                       const ChooseVariant &choose,
                                       std::vector<StageText> &stages,
                                       std::stop_token stop) {
  auto made =
      compile(request, keptIn.empty() ? StageObserver() : collector(stages),
              choose, stop);
  if (!made)
    return made.error();
  return std::move(**made);
}

void Compiler::keep(const CompileRequest &request, const CacheKey &key,
                    const CacheEntry &entry, std::vector<StageText> stages) {
  Result<TargetInfo> machine = target();
  if (!machine)
    return;
  std::string name = request.declaration->name.str();
  KeptKernel kept{.name = name,
                  .module = request.declaration->module.str(),
                  .key = key,
                  .target = *machine,
                  .entry = entry,
                  .stages = std::move(stages)};
  std::string problem = keepStages(keptIn, kept);
  if (!problem.empty())
    warnNotKept(request, problem);
}

Result<std::optional<CacheEntry>>
Compiler::compile(const CompileRequest &request, const StageObserver &observer,
                  const ChooseVariant &choose, std::stop_token stop) {
  Result<TargetInfo> machine = target();
  if (reproducers.empty() || !machine)
    return compileStages(request, observer, choose, stop);
  PendingReproducer pending(reproducers, request, keyOf(request, *machine),
                            *machine);
  StageObserver watched = observer;
  watched.reached = [&](std::string_view stage) {
    if (pending.isOpen())
      pending.reached(stage);
    if (observer.reached)
      observer.reached(stage);
  };
  auto made = compileStages(request, watched, choose, stop);
  if (made || !pending.isOpen() || stop.stop_requested())
    return made;
  Error error = made.error();
  error.message += "\nto see it again: quern build --replay=" + pending.keep();
  return error;
}

Result<std::optional<CacheEntry>>
Compiler::compileStages(const CompileRequest &request,
                        const StageObserver &observer,
                        const ChooseVariant &choose, std::stop_token stop) {
  Result<TargetInfo> machine = target();
  if (!machine)
    return machine.error();
  if (!schedule.problem.empty())
    return Error{schedule.problem, {}};
  auto lease = Lease::take(*this, *machine);
  if (!lease)
    return lease.error();
  Budget budget(limits.operations, stop);
  Stages stages(*(*lease)->tools, request, *machine, budget, stop);
  auto made = stages.make(observer, {.target = *machine,
                                     .hasLines = hasLines(*machine),
                                     .keepsChecks = request.keepsChecks,
                                     .schedule = schedule.text,
                                     .scheduleName = schedule.name,
                                     .choose = choose});
  (*lease)->giveBack();
  return made;
}

/// What is thrown through a linker leaves its locks as they are: nobody uses it
/// any more, and what it has linked stays.
Result<std::shared_ptr<LoadedObject>>
Compiler::loadCode(const std::shared_ptr<Engine> &linker,
                   const std::string &object,
                   const std::vector<std::string> &symbols) {
  try {
    return linker->load(object, symbols);
  } catch (...) {
    std::lock_guard guard(lock);
    if (engine == linker)
      leaveForGood(std::exchange(engine, nullptr));
    throw;
  }
}

Result<Compiler::Kernel> Compiler::load(const CompileRequest &request,
                                        const CacheEntry &entry) {
  auto kernel = std::make_shared<CompiledKernel>();
  std::optional<KernelAbi> abi = readAbi(entry.description);
  if (!abi)
    return Error{"a cached kernel has no description", {}};
  kernel->abi = std::move(*abi);
  if (auto machine = target(); machine && machine->isGpu()) {
    kernel->image = entry.object;
    return std::shared_ptr<const CompiledKernel>(std::move(kernel));
  }
  kernel->tasks.resize(kernel->abi.launches.size());
  std::vector<std::string> symbols;
  for (const LaunchEntry &launch : kernel->abi.launches)
    if (!launch.plan.steps.empty())
      symbols.push_back(launch.task);
  if (symbols.empty())
    return Kernel(std::move(kernel));
  auto engine = linker();
  if (!engine)
    return engine.error();
  auto code = loadCode(*engine, entry.object, symbols);
  if (!code)
    return code.error();
  auto address = (*code)->addresses.begin();
  for (auto [launch, task] :
       llvm::zip_equal(kernel->abi.launches, kernel->tasks))
    if (!launch.plan.steps.empty())
      task = reinterpret_cast<CompiledKernel::Task>(*address++);
  kernel->code = std::move(*code);
  return Kernel(std::move(kernel));
}
