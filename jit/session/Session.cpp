// Sessions: sources in, checked modules out.
#include "jit/session/State.h"

#include "frontend/check/Beside.h"
#include "frontend/diagnostics/Render.h"
#include "jit/session/BuildId.h"
#include "jit/session/EmbeddedModules.h"
#include "jit/session/Guard.h"
#include "jit/session/Keys.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace quern;
using namespace quern::jit;

namespace {

std::optional<ModuleText> findModule(const std::list<SessionCore::Added> &added,
                                     llvm::StringRef name) {
  for (const SessionCore::Added &each : added)
    if (each.name == name)
      return ModuleText{each.name + ".qn", each.text};
  for (const EmbeddedModule &module : embeddedModules())
    if (llvm::StringRef(module.name) == name)
      return ModuleText{std::string(module.path), module.text};
  return std::nullopt;
}

std::vector<std::string> preludeNames() {
  std::vector<std::string> names;
  for (const EmbeddedModule &module : embeddedModules())
    if (module.family == "prelude")
      names.emplace_back(module.name);
  return names;
}

Error plain(std::string message) { return Error{std::move(message), {}}; }

} // namespace

SessionCore::SessionCore(const SessionOptions &options, const Limits &limits)
    : limits(limits), compiler(options, limits),
      pool(options.threads, options.team, options.threadsNow),
      devices(options, limits),
      library(
          sources,
          [this](llvm::StringRef name) { return findModule(added, name); },
          preludeNames()),
      forks([this] { beforeFork(); },
            [this](bool isChild) { afterFork(isChild); }) {}

Result<std::shared_ptr<SessionCore>>
SessionCore::create(const SessionOptions &options) {
  Result<Limits> limits = wishedLimits();
  if (!limits)
    return limits.error();
  auto core = std::make_shared<SessionCore>(options, *limits);
  if (auto problem = core->refusal(options.threads))
    return std::move(*problem);
  return core;
}

std::optional<Error> SessionCore::refusal(int threads) const {
  if (threads <= 0 || static_cast<std::uint64_t>(threads) <= limits.threads)
    return std::nullopt;
  return plain(
      std::to_string(threads) + " threads are asked for, the limit is " +
      std::to_string(limits.threads) + "; `QUERN_MOST_THREADS` sets the limit");
}

/// The front end first: whoever checks a text takes the other locks for a
/// moment only, and holds none of them while it waits.
void SessionCore::beforeFork() {
  frontend.lock();
  callables.lock();
  sources.beforeFork();
  compiler.beforeFork();
  pool.scratch().beforeFork();
}

void SessionCore::afterFork(bool isChild) {
  pool.scratch().afterFork();
  compiler.afterFork(isChild);
  devices.afterFork(isChild);
  sources.afterFork();
  callables.unlock();
  frontend.unlock();
}

Session::Session() = default;
Session::~Session() = default;

Result<std::shared_ptr<Session>>
Session::create(const SessionOptions &options) {
  return guarded([&]() -> Result<std::shared_ptr<Session>> {
    if (!options.target.empty())
      if (auto target = findTarget(options.target); !target)
        return target.error();
    installFailureHandlers();
    auto core = SessionCore::create(options);
    if (!core)
      return core.error();
    std::shared_ptr<Session> session(new Session);
    session->state = std::make_unique<State>();
    session->state->core = std::move(*core);
    return session;
  });
}

/// "kernels/loss.qn" is the module `loss`.
static llvm::StringRef moduleName(llvm::StringRef path) {
  llvm::StringRef name = path.substr(path.find_last_of('/') + 1);
  name.consume_back(".qn");
  return name;
}

namespace {
/// A module and its texts, which go when nobody holds it any more.
struct HeldModule {
  explicit HeldModule(std::shared_ptr<SessionCore> core)
      : core(std::move(core)) {}
  ~HeldModule() {
    module = nullptr;
    for (const SourceFile *file : files)
      core->sources.remove(*file);
  }
  HeldModule(const HeldModule &) = delete;
  HeldModule &operator=(const HeldModule &) = delete;

  std::shared_ptr<SessionCore> core;
  std::shared_ptr<const typed::TypedModule> module;
  std::vector<const SourceFile *> files;
};
} // namespace

Result<std::shared_ptr<const typed::TypedModule>>
quern::checkSource(const std::shared_ptr<SessionCore> &core,
                   const SourceFile *file, DiagnosticEngine &diagnostics,
                   ModuleLoader loader, std::stop_token stop) {
  auto held = std::make_shared<HeldModule>(core);
  diagnostics.setLimits(core->limits.text, stop);
  if (file) {
    held->files.push_back(file);
    ModuleLibrary library(core->library, std::move(loader));
    std::unique_ptr<ast::Module> tree = parse(*file, diagnostics);
    if (!diagnostics.hasErrors())
      held->module =
          library.check(*tree, moduleName(file->name()), diagnostics);
    llvm::append_range(held->files, library.files());
  }
  if (stop.stop_requested())
    return plain("interrupted");
  if (diagnostics.hasErrors()) {
    diagnostics.sort();
    return toError(diagnostics, core->sources);
  }
  return std::shared_ptr<const typed::TypedModule>(held, held->module.get());
}

/// Where the module's declarations are written; null when it has none.
static const SourceFile *fileOf(const typed::TypedModule &module) {
  if (!module.declarations().empty())
    return module.sources().fileOf(
        module.declarations().front()->nameSpan.begin);
  if (!module.constants().empty())
    return module.sources().fileOf(module.constants().front()->span.begin);
  return nullptr;
}

const SourceFile *quern::fileNamed(const typed::TypedModule &module,
                                   llvm::StringRef path) {
  if (module.name() == moduleName(path))
    return fileOf(module);
  for (const auto &used : module.uses())
    if (const SourceFile *file = fileNamed(*used, path))
      return file;
  return nullptr;
}

static void addTexts(const typed::TypedModule &module, KeyBuilder &key) {
  for (const auto &used : module.uses()) {
    const SourceFile *file = fileOf(*used);
    bool isEmbedded =
        llvm::any_of(embeddedModules(), [&](const EmbeddedModule &each) {
          return llvm::StringRef(each.name) == used->name() &&
                 (!file || file->name() == llvm::StringRef(each.path));
        });
    if (isEmbedded)
      continue;
    key.add(used->name()).add(file ? file->text() : "");
    addTexts(*used, key);
  }
}

CacheKey quern::keyOfTexts(const typed::TypedModule &module,
                           llvm::StringRef text) {
  KeyBuilder key;
  key.add(module.name()).add(text);
  addTexts(module, key);
  return key.finish();
}

/// Each diagnostic of a text without errors, as text for people.
static std::vector<std::string> warningsOf(const SessionCore &core,
                                           DiagnosticEngine &diagnostics) {
  diagnostics.sort();
  std::vector<std::string> rendered;
  for (const SourceDiagnostic &each : diagnostics.diagnostics()) {
    llvm::raw_string_ostream text(rendered.emplace_back());
    renderText(each, core.sources, text, /*color=*/false);
    rendered.back() = llvm::StringRef(rendered.back()).rtrim('\n').str();
  }
  return rendered;
}

static std::shared_ptr<Module::State>
finish(const std::shared_ptr<SessionCore> &core,
       std::shared_ptr<const typed::TypedModule> module, llvm::StringRef text,
       DiagnosticEngine &diagnostics) {
  auto state = std::make_shared<Module::State>();
  state->core = core;
  state->warnings = warningsOf(*core, diagnostics);
  state->text = keyOfTexts(*module, text);
  for (const typed::Declaration *declaration : module->declarations())
    state->declarations.push_back(describe(*declaration, core->sources));
  state->module = std::move(module);
  return state;
}

Result<Module> Session::compile(std::string_view source, std::string_view name,
                                std::stop_token stop) const {
  return guarded([&]() -> Result<Module> {
    SessionCore &core = *state->core;
    std::lock_guard lock(core.frontend);
    const SourceFile *file = core.sources.add(name, source);
    if (!file)
      return plain("the text is too large");
    DiagnosticEngine diagnostics;
    auto checked = checkSource(state->core, file, diagnostics, {}, stop);
    if (!checked)
      return checked.error();
    Module module;
    module.state =
        finish(state->core, std::move(*checked), source, diagnostics);
    return module;
  });
}

Result<Module> Session::load(const std::string &path,
                             std::stop_token stop) const {
  return guarded([&]() -> Result<Module> {
    SessionCore &core = *state->core;
    std::lock_guard lock(core.frontend);
    DiagnosticEngine diagnostics;
    const SourceFile *file = loadSource(core.sources, path, diagnostics);
    auto checked =
        checkSource(state->core, file, diagnostics, modulesBeside(path), stop);
    if (!checked)
      return checked.error();
    Module module;
    module.state =
        finish(state->core, std::move(*checked), file->text(), diagnostics);
    return module;
  });
}

Result<std::shared_ptr<const Module::State>>
quern::loadLibrary(const std::shared_ptr<SessionCore> &core,
                   std::string_view name) {
  std::lock_guard lock(core->frontend);
  DiagnosticEngine diagnostics;
  std::shared_ptr<const typed::TypedModule> checked =
      core->library.load(name, diagnostics);
  if (!checked)
    return plain("the library has no module `" + std::string(name) + "`");
  if (diagnostics.hasErrors())
    return toError(diagnostics, core->sources);
  return std::shared_ptr<const Module::State>(
      finish(core, std::move(checked), "", diagnostics));
}

Result<Module> Session::libraryModule(std::string_view name) const {
  return guarded([&]() -> Result<Module> {
    auto loaded = loadLibrary(state->core, name);
    if (!loaded)
      return loaded.error();
    Module module;
    module.state = std::move(*loaded);
    return module;
  });
}

Result<Module> Session::addModule(const std::string &name,
                                  std::string_view text,
                                  std::span<const OperatorBinding> operators) {
  return guarded([&]() -> Result<Module> {
    // Checked as a text of its own first: an added module has no errors.
    Result<Module> module = compile(text, name + ".qn");
    if (!module)
      return module;
    SessionCore &core = *state->core;
    std::lock_guard lock(core.frontend);
    auto known = llvm::find_if(
        core.added, [&](const auto &each) { return each.name == name; });
    if (known == core.added.end())
      known = core.added.insert(known, {name, std::string(text), {}});
    else if (known->text != text)
      return plain("the module `" + name + "` was added with another text");
    // One text may be added once for each of its operators.
    for (const OperatorBinding &binding : operators) {
      llvm::erase_if(known->operators, [&](const OperatorBinding &each) {
        return each.overload == binding.overload;
      });
      known->operators.push_back(binding);
    }
    // The newest is asked first.
    core.added.splice(core.added.begin(), core.added, known);
    return module;
  });
}

Result<std::string> Session::identity() const {
  return guarded([&]() -> Result<std::string> {
    Result<TargetInfo> target = state->core->compiler.target();
    if (!target)
      return target.error();
    return KeyBuilder()
        .add(buildIdentity())
        .add(keyText(*target))
        .finish()
        .text();
  });
}

Result<MachineInfo> Session::machine() const {
  return guarded([&]() -> Result<MachineInfo> {
    Result<TargetInfo> target = state->core->compiler.target();
    if (!target)
      return target.error();
    return MachineInfo{.vectorBytes = target->vectorBytes,
                       .hasTiles = target->hasTiles,
                       .isIntel = isOnIntel()};
  });
}

Result<std::monostate> Session::setThreads(int threads) {
  return guarded([&]() -> Result<std::monostate> {
    if (auto problem = state->core->refusal(threads))
      return std::move(*problem);
    state->core->pool.resize(threads);
    return std::monostate();
  });
}

void Session::setExternRunner(std::shared_ptr<ExternRunner> runner) {
  std::lock_guard lock(state->core->frontend);
  state->core->externs = std::move(runner);
}

void Session::setCodeWaiter(std::shared_ptr<CodeWaiter> waiter) {
  std::lock_guard lock(state->core->frontend);
  state->core->waiter = std::move(waiter);
}

Counters Session::counters() const {
  SessionCore &core = *state->core;
  return {core.compiler.compiles.load(std::memory_order_relaxed),
          core.compiler.diskHits.load(std::memory_order_relaxed),
          core.launches.load(std::memory_order_relaxed)};
}
