// Sessions: sources in, checked modules out.
#include "jit/session/State.h"

#include "frontend/check/Beside.h"
#include "jit/session/BuildId.h"
#include "jit/session/EmbeddedModules.h"
#include "jit/session/Keys.h"

#include "llvm/ADT/STLExtras.h"

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

SessionCore::SessionCore(const SessionOptions &options)
    : compiler(options),
      pool(options.threads, options.team, options.threadsNow), devices(options),
      library(
          sources,
          [this](llvm::StringRef name) { return findModule(added, name); },
          preludeNames()) {}

Session::Session() = default;
Session::~Session() = default;

Result<std::shared_ptr<Session>>
Session::create(const SessionOptions &options) {
  if (!options.target.empty())
    if (auto target = findTarget(options.target); !target)
      return target.error();
  std::shared_ptr<Session> session(new Session);
  session->state = std::make_unique<State>();
  session->state->core = std::make_shared<SessionCore>(options);
  return session;
}

/// "kernels/loss.qn" is the module `loss`.
static llvm::StringRef moduleName(llvm::StringRef path) {
  llvm::StringRef name = path.substr(path.find_last_of('/') + 1);
  name.consume_back(".qn");
  return name;
}

Result<std::shared_ptr<const typed::TypedModule>>
quern::checkSource(SessionCore &core, const SourceFile *file,
                   DiagnosticEngine &diagnostics, ModuleLoader loader) {
  std::shared_ptr<const typed::TypedModule> module;
  if (file) {
    std::unique_ptr<ast::Module> tree = parse(*file, diagnostics);
    if (!diagnostics.hasErrors())
      module = ModuleLibrary(core.library, std::move(loader))
                   .check(*tree, moduleName(file->name()), diagnostics);
  }
  if (diagnostics.hasErrors()) {
    diagnostics.sort();
    return toError(diagnostics, core.sources);
  }
  return module;
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

static std::shared_ptr<Module::State>
finish(const std::shared_ptr<SessionCore> &core,
       std::shared_ptr<const typed::TypedModule> module, llvm::StringRef text) {
  auto state = std::make_shared<Module::State>();
  state->core = core;
  state->text = keyOfTexts(*module, text);
  for (const typed::Declaration *declaration : module->declarations())
    state->declarations.push_back(describe(*declaration, core->sources));
  state->module = std::move(module);
  return state;
}

Result<Module> Session::compile(std::string_view source,
                                std::string_view name) const {
  SessionCore &core = *state->core;
  std::lock_guard lock(core.frontend);
  const SourceFile *file = core.sources.add(name, source);
  if (!file)
    return plain("the text is too large");
  DiagnosticEngine diagnostics;
  auto checked = checkSource(core, file, diagnostics);
  if (!checked)
    return checked.error();
  Module module;
  module.state = finish(state->core, std::move(*checked), source);
  return module;
}

Result<Module> Session::load(const std::string &path) const {
  SessionCore &core = *state->core;
  std::lock_guard lock(core.frontend);
  DiagnosticEngine diagnostics;
  const SourceFile *file = loadSource(core.sources, path, diagnostics);
  auto checked = checkSource(core, file, diagnostics, modulesBeside(path));
  if (!checked)
    return checked.error();
  Module module;
  module.state = finish(state->core, std::move(*checked), file->text());
  return module;
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
      finish(core, std::move(checked), ""));
}

Result<Module> Session::libraryModule(std::string_view name) const {
  auto loaded = loadLibrary(state->core, name);
  if (!loaded)
    return loaded.error();
  Module module;
  module.state = std::move(*loaded);
  return module;
}

Result<Module> Session::addModule(const std::string &name,
                                  std::string_view text,
                                  std::span<const OperatorBinding> operators) {
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
}

Result<std::string> Session::identity() const {
  Result<TargetInfo> target = state->core->compiler.target();
  if (!target)
    return target.error();
  return KeyBuilder()
      .add(buildIdentity())
      .add(keyText(*target))
      .finish()
      .text();
}

Result<MachineInfo> Session::machine() const {
  Result<TargetInfo> target = state->core->compiler.target();
  if (!target)
    return target.error();
  return MachineInfo{.vectorBytes = target->vectorBytes,
                     .hasTiles = target->hasTiles,
                     .isIntel = isOnIntel()};
}

void Session::setThreads(int threads) { state->core->pool.resize(threads); }

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
