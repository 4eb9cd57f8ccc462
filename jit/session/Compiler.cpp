// From a request to code: who makes it, where it is kept, and its stages.
#include "jit/session/Compiler.h"

#include "frontend/diagnostics/Render.h"
#include "frontend/typed/TypedModule.h"
#include "jit/bind/Report.h"
#include "jit/session/AbiText.h"
#include "jit/session/BuildId.h"
#include "jit/session/Keep.h"
#include "jit/session/Keys.h"
#include "jit/session/Reproducer.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace quern;
using namespace quern::jit;

namespace {

constexpr std::uint64_t cacheBytes = 512u << 20;

/// Where an error lies in the text of the declaration; empty where it names
/// another one.
Span spanOf(const CompileRequest &request, const DslError &error) {
  const SourceManager &sources = request.module->sources();
  const SourceFile *file = sources.fileOf(request.declaration->nameSpan.begin);
  return file && file->name() == error.file
             ? sources.spanAt(*file, error.line, error.column)
             : Span();
}

/// A lowering's errors in the words of the interface, above their lines.
Error dslError(const std::vector<DslError> &errors, llvm::StringRef fallback,
               const CompileRequest &request) {
  Error error;
  llvm::raw_string_ostream text(error.message);
  for (const DslError &each : errors) {
    error.diagnostics.push_back(
        {each.code, "error", each.message, each.file, each.line, each.column});
    DiagnosticInfo info = fault::LoweringFailed.info;
    llvm::StringRef(each.code).drop_front(2).getAsInteger(10, info.code);
    SourceDiagnostic shown;
    shown.info = &info;
    shown.message = each.message;
    shown.hint = each.hint;
    shown.span = spanOf(request, each);
    if (!shown.span.valid() && !each.file.empty())
      text << each.file << ':' << each.line << ':' << each.column << ": ";
    renderText(shown, request.module->sources(), text, /*color=*/false);
  }
  if (errors.empty())
    text << fallback;
  while (llvm::StringRef(error.message).ends_with("\n"))
    error.message.pop_back();
  return error;
}

std::string stageName(DslStage stage, const TargetInfo &machine) {
  bool grid = stage == DslStage::Loops && machine.isGpu();
  return grid ? "gpu" : std::string(spelling(stage));
}

std::string printed(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, nullptr);
  return text;
}

} // namespace

/// Lends tools for one compilation; MLIR contexts and code generators cost
/// milliseconds to make and serve one thread at a time.
class Compiler::Lease {
public:
  static Result<std::unique_ptr<Lease>> take(Compiler &owner,
                                             const TargetInfo &target) {
    auto lease = std::unique_ptr<Lease>(new Lease(owner));
    {
      std::lock_guard lock(owner.toolsLock);
      if (!owner.idleTools.empty()) {
        lease->tools = std::move(owner.idleTools.back());
        owner.idleTools.pop_back();
        return lease;
      }
    }
    lease->tools = std::make_unique<Tools>();
    auto generator = CodeGenerator::create(target);
    if (!generator)
      return generator.error();
    lease->tools->generator = std::move(*generator);
    return lease;
  }
  ~Lease() {
    std::lock_guard lock(owner.toolsLock);
    if (tools)
      owner.idleTools.push_back(std::move(tools));
  }
  std::unique_ptr<Tools> tools;

private:
  explicit Lease(Compiler &owner) : owner(owner) {}
  Compiler &owner;
};

bool Compiler::hasStage(const TargetInfo &target, const std::string &stage) {
  bool isPtx = target.kind == TargetKind::Nvptx;
  if (stage == "ptx")
    return isPtx;
  if (stage == "hsaco")
    return target.kind == TargetKind::Amdgpu;
  if (stage == "gpu")
    return target.isGpu();
  if (stage == "loops")
    return !target.isGpu();
  return !isPtx || stage != "obj";
}

Result<TargetInfo> Compiler::target() {
  std::call_once(targetOnce,
                 [this] { knownTarget = findTarget(options.target); });
  return *knownTarget;
}

DiskCache *Compiler::disk() {
  std::call_once(diskOnce, [this] {
    std::string folder = options.cacheDirectory.empty()
                             ? defaultCacheFolder()
                             : options.cacheDirectory;
    if (folder.empty() || folder == "-")
      return;
    diskCache = DiskCache::open(folder, cacheBytes);
    warnOfCache(diskCache.warning);
    if (diskCache.cache && keepsEveryStage())
      keptIn = folder;
  });
  return diskCache.cache.get();
}

void Compiler::warnOfCache(const std::string &warning) {
  if (!warning.empty() && !cacheWarned.exchange(true))
    llvm::errs() << "quern: warning: " << warning << '\n';
}

Result<std::shared_ptr<Engine>> Compiler::linker() {
  std::call_once(engineOnce, [this] { engine = Engine::create(listeners); });
  return *engine;
}

CacheKey Compiler::keyOf(const CompileRequest &request,
                         const TargetInfo &target) {
  static const std::string identity = buildIdentity();
  return KeyBuilder()
      .add(identity)
      .add(request.text.text())
      .add(request.declaration->module)
      .add(request.declaration->name)
      .add(keyText(request.specialization))
      .add(keyText(target))
      .add(hasLines(target) ? "lines" : "")
      .finish();
}

/// Where a kernel is kept: what is ready serves rows of any length. Nothing is
/// hashed, since calls of an `op` that reads numbers ask for each of its
/// kernels every time; all are for one target.
std::shared_ptr<Compiler::Slot>
Compiler::slotOf(const CompileRequest &request) {
  std::string key(request.text.bytes.begin(), request.text.bytes.end());
  for (llvm::StringRef name :
       {request.declaration->module, request.declaration->name}) {
    key += name;
    key += '\0';
  }
  key += keyText(request.specialization, /*ofAnyRows=*/true);
  std::lock_guard lock(slotsLock);
  std::shared_ptr<Slot> &found = slots[key];
  if (!found)
    found = std::make_shared<Slot>();
  return found;
}

std::shared_ptr<const CompiledKernel>
Compiler::inMemory(const CompileRequest &request) {
  std::shared_ptr<Slot> slot = slotOf(request);
  std::unique_lock lock(slot->making, std::try_to_lock);
  return lock ? slot->kernel : nullptr;
}

Result<std::shared_ptr<const CompiledKernel>>
Compiler::kernel(const CompileRequest &request) {
  Result<TargetInfo> machine = target();
  if (!machine)
    return machine.error();
  std::shared_ptr<Slot> slot = slotOf(request);
  // A failure is not kept: the next request tries, and reports, again.
  std::lock_guard lock(slot->making);
  if (slot->kernel)
    return slot->kernel;
  auto made = make(request, keyOf(request, *machine));
  if (made)
    slot->kernel = *made;
  return made;
}

Result<std::shared_ptr<const CompiledKernel>>
Compiler::make(const CompileRequest &request, const CacheKey &key) {
  Result<TargetInfo> machine = target();
  if (!machine)
    return machine.error();
  if (!options.target.empty() && !machine->isGpu())
    if (std::optional<std::string> why = whyNotHere(*machine))
      return Error{"code for `" + options.target + "` cannot run here: " + *why,
                   {}};
  if (DiskCache *cache = disk())
    if (auto entry = cache->load(key))
      if (auto kernel = load(*entry)) {
        diskHits.fetch_add(1, std::memory_order_relaxed);
        keep(request, key, *entry);
        return kernel;
      }
  Result<CacheEntry> entry = compile(request);
  if (!entry)
    return entry.error();
  compiles.fetch_add(1, std::memory_order_relaxed);
  auto kernel = load(*entry);
  if (kernel)
    if (DiskCache *cache = disk())
      warnOfCache(cache->store(key, *entry));
  if (kernel)
    keep(request, key, *entry);
  return kernel;
}

/// Compiles a second time, for the texts; nobody waits for this every day.
void Compiler::keep(const CompileRequest &request, const CacheKey &key,
                    const CacheEntry &entry) {
  std::string name = request.declaration->name.str();
  if (keptIn.empty() || llvm::sys::fs::exists(keptFolder(keptIn, name, key)))
    return;
  Result<TargetInfo> machine = target();
  if (!machine)
    return;
  KeptKernel kept{.name = name,
                  .module = request.declaration->module.str(),
                  .key = key,
                  .target = *machine,
                  .entry = entry,
                  .stages = {}};
  auto shown = show(request, "asm", [&](const StageDump &dump) {
    kept.stages.emplace_back(dump.stage, dump.text);
  });
  std::string problem =
      shown ? keepStages(keptIn, kept) : shown.error().message;
  if (!problem.empty())
    llvm::errs() << "quern: warning: stages of `" << name
                 << "` are not kept: " << problem << '\n';
}

Result<LoweredModule> Compiler::lowered(Tools &tools,
                                        const CompileRequest &request,
                                        const TargetInfo &target,
                                        const LoweringOptions &lowering) {
  std::vector<DslError> errors;
  GenerationRequest generation{.module = *request.module,
                               .declaration = *request.declaration,
                               .specialization = request.specialization,
                               .target = target};
  std::optional<QnModule> made = generateQn(tools.dsl, generation, errors);
  if (!made)
    return dslError(errors, "IR generation failed without a reason", request);
  std::optional<LoweredModule> low =
      lower(tools.dsl, std::move(*made), lowering, errors);
  if (!low)
    return dslError(errors, "lowering failed without a reason", request);
  return std::move(*low);
}

Result<CacheEntry>
Compiler::compile(const CompileRequest &request,
                  const std::function<void(const std::string &)> &reached) {
  Result<TargetInfo> machine = target();
  if (reproducers.empty() || !machine)
    return compileStages(request, reached);
  PendingReproducer pending(reproducers, request, keyOf(request, *machine),
                            *machine);
  auto made = compileStages(request, [&](const std::string &stage) {
    if (pending.isOpen())
      pending.reached(stage);
    if (reached)
      reached(stage);
  });
  if (made || !pending.isOpen())
    return made;
  Error error = made.error();
  error.message += "\nto see it again: quern build --replay=" + pending.keep();
  return error;
}

Result<CacheEntry> Compiler::compileStages(
    const CompileRequest &request,
    const std::function<void(const std::string &)> &reached) {
  auto leave = [&](const std::string &stage) {
    if (reached)
      reached(stage);
  };
  Result<TargetInfo> machine = target();
  if (!machine)
    return machine.error();
  auto lease = Lease::take(*this, *machine);
  if (!lease)
    return lease.error();
  Tools &tools = *(*lease)->tools;
  leave("tools");
  LoweringOptions lowering{
      .target = *machine, .dump = {}, .hasLines = hasLines(*machine)};
  if (reached)
    lowering.reached = [&](DslStage stage) {
      leave(stageName(stage, *machine));
    };
  auto low = lowered(tools, request, *machine, lowering);
  if (!low)
    return low.error();
  tools.generator->optimise(*low->module);
  leave("llvm");
  bool isPtx = machine->kind == TargetKind::Nvptx;
  auto object = tools.generator->emit(*low->module,
                                      isPtx ? Image::Assembly : Image::Object);
  if (object && machine->kind == TargetKind::Amdgpu)
    object = linkCodeObject(*object);
  if (!object)
    return object.error();
  leave(isPtx ? "ptx" : machine->isGpu() ? "hsaco" : "obj");
  return CacheEntry{writeAbi(low->abi), std::move(*object)};
}

Result<std::monostate>
Compiler::show(const CompileRequest &request, const std::string &last,
               const std::function<void(const StageDump &)> &dump) {
  Result<TargetInfo> machine = target();
  if (!machine)
    return machine.error();
  auto lease = Lease::take(*this, *machine);
  if (!lease)
    return lease.error();
  Tools &tools = *(*lease)->tools;
  LoweringOptions lowering{.target = *machine, .dump = {}};
  lowering.dump = [&](DslStage stage, const std::string &text) {
    dump({stageName(stage, *machine), text});
  };
  auto low = lowered(tools, request, *machine, lowering);
  if (!low)
    return low.error();
  if (last == "abi")
    dump({last, printAbi(low->abi)});
  if (last == "llvm-raw")
    dump({last, printed(*low->module)});
  tools.generator->optimise(*low->module);
  dump({"llvm", printed(*low->module)});
  bool isText = last == "asm" || last == "ptx";
  if (!isText && last != "obj" && last != "hsaco")
    return std::monostate();
  auto image = tools.generator->emit(*low->module,
                                     isText ? Image::Assembly : Image::Object);
  if (image && last == "hsaco")
    image = linkCodeObject(*image);
  if (!image)
    return image.error();
  dump({last, std::move(*image)});
  return std::monostate();
}

Result<std::shared_ptr<const CompiledKernel>>
Compiler::load(const CacheEntry &entry) {
  auto kernel = std::make_shared<CompiledKernel>();
  std::optional<KernelAbi> abi = readAbi(entry.description);
  if (!abi)
    return Error{"a cached kernel has no description", {}};
  kernel->abi = std::move(*abi);
  if (auto machine = target(); machine && machine->isGpu()) {
    kernel->image = entry.object;
    return std::shared_ptr<const CompiledKernel>(std::move(kernel));
  }
  std::vector<std::string> symbols;
  for (const LaunchEntry &launch : kernel->abi.launches) {
    symbols.push_back(launch.plan);
    symbols.push_back(launch.task);
  }
  auto engine = linker();
  if (!engine)
    return engine.error();
  auto code = (*engine)->load(entry.object, symbols);
  if (!code)
    return code.error();
  for (std::size_t i = 0; i + 1 < (*code)->addresses.size(); i += 2)
    kernel->launches.push_back(
        {reinterpret_cast<CompiledKernel::Plan>((*code)->addresses[i]),
         reinterpret_cast<CompiledKernel::Task>((*code)->addresses[i + 1])});
  kernel->code = std::move(*code);
  return std::shared_ptr<const CompiledKernel>(std::move(kernel));
}
