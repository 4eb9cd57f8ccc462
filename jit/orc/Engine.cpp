// The ORC session: one library of symbols for every object.
#include "jit/orc/Engine.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/Debugging/DebugInfoSupport.h"
#include "llvm/ExecutionEngine/Orc/Debugging/ELFDebugObjectPlugin.h"
#include "llvm/ExecutionEngine/Orc/Debugging/PerfSupportPlugin.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderPerf.h"
#include "llvm/ExecutionEngine/Orc/TaskDispatch.h"
#include "llvm/Support/MemoryBuffer.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <unistd.h>

namespace quern::jit {

namespace orc = llvm::orc;

LoadedObject::~LoadedObject() = default;

struct Engine::State {
  explicit State(std::unique_ptr<orc::ExecutorProcessControl> process)
      : session(std::move(process)), linker(session) {
    // The lookup's own error names the symbol that failed, not the reason.
    session.setErrorReporter([this](llvm::Error problem) {
      std::lock_guard lock(reporting);
      reported += llvm::toString(std::move(problem)) + "; ";
    });
  }
  ~State() { llvm::consumeError(session.endSession()); }

  orc::ExecutionSession session;
  orc::ObjectLinkingLayer linker;
  orc::JITDylib *runtime = nullptr;
  std::atomic<unsigned> objects{0};
  std::mutex reporting;
  std::string reported;

  llvm::Error tell(const Listeners &listeners) {
    if (listeners.perfLines) {
      linker.addPlugin(std::make_shared<orc::DebugInfoPreservationPlugin>());
      linker.addPlugin(std::make_shared<orc::PerfSupportPlugin>(
          session.getExecutorProcessControl(),
          orc::ExecutorAddr::fromPtr(&llvm_orc_registerJITLoaderPerfStart),
          orc::ExecutorAddr::fromPtr(&llvm_orc_registerJITLoaderPerfEnd),
          orc::ExecutorAddr::fromPtr(&llvm_orc_registerJITLoaderPerfImpl),
          /*EmitDebugInfo=*/true, /*EmitUnwindInfo=*/false));
    }
    llvm::Error problem = llvm::Error::success();
    if (listeners.debugger)
      linker.addPlugin(std::make_shared<orc::ELFDebugObjectPlugin>(
          session, /*RequireDebugSections=*/true, /*AutoRegisterCode=*/true,
          problem));
    return problem;
  }

  Error failure(llvm::Error problem) {
    std::lock_guard lock(reporting);
    std::string text = std::exchange(reported, "");
    return Error{text + llvm::toString(std::move(problem)), {}};
  }
};

namespace {

Error toError(llvm::Error problem) {
  return Error{llvm::toString(std::move(problem)), {}};
}

/// Keeps an object's code until nobody can call it any more.
class Code final : public LoadedObject {
public:
  Code(std::shared_ptr<void> engine, orc::ExecutionSession &session,
       orc::JITDylib &library)
      : engine(std::move(engine)), session(session), library(&library) {}
  /// A forked child leaves it: the session's locks may be held by threads that
  /// it does not have.
  ~Code() override {
    if (process == ::getpid()) {
      llvm::consumeError(session.removeJITDylib(*library));
    } else {
      new std::shared_ptr(std::move(engine));
      new orc::JITDylibSP(std::move(library));
    }
  }

private:
  const pid_t process = ::getpid();
  std::shared_ptr<void> engine; ///< outlives the code
  orc::ExecutionSession &session;
  orc::JITDylibSP library;
};

} // namespace

Engine::Engine(std::shared_ptr<State> state, const Listeners &listeners)
    : state(std::move(state)), isNamedForPerf(listeners.perfNames) {}
Engine::~Engine() = default;

Result<std::shared_ptr<Engine>> Engine::create(const Listeners &listeners) {
  // Linking happens on the thread that asks for it: requests already come from
  // as many threads as the host wants.
  auto process = orc::SelfExecutorProcessControl::Create(
      nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
  if (!process)
    return toError(process.takeError());
  auto state = std::make_shared<State>(std::move(*process));
  orc::ExecutionSession &session = state->session;
  state->runtime = &session.createBareJITDylib("runtime");
  auto symbol = [](auto *function) {
    return orc::ExecutorSymbolDef(orc::ExecutorAddr::fromPtr(function),
                                  llvm::JITSymbolFlags::Exported |
                                      llvm::JITSymbolFlags::Callable);
  };
  // x86-64-v2 has no instruction for a fused product.
  double (*fusedDouble)(double, double, double) = std::fma;
  float (*fusedFloat)(float, float, float) = std::fma;
  if (llvm::Error problem = state->runtime->define(orc::absoluteSymbols(
          {{session.intern("memcpy"), symbol(&std::memcpy)},
           {session.intern("memmove"), symbol(&std::memmove)},
           {session.intern("fma"), symbol(fusedDouble)},
           {session.intern("fmaf"), symbol(fusedFloat)},
           {session.intern("memset"), symbol(&std::memset)}})))
    return toError(std::move(problem));
  if (llvm::Error problem = state->tell(listeners))
    return toError(std::move(problem));
  return std::shared_ptr<Engine>(new Engine(std::move(state), listeners));
}

Result<std::shared_ptr<LoadedObject>>
Engine::load(std::string object, const std::vector<std::string> &symbols) {
  orc::ExecutionSession &session = state->session;
  orc::JITDylib &library = session.createBareJITDylib(
      "kernel" + std::to_string(state->objects.fetch_add(1)));
  library.addToLinkOrder(*state->runtime);
  auto code = std::make_shared<Code>(state, session, library);
  if (llvm::Error problem = state->linker.add(
          library, llvm::MemoryBuffer::getMemBufferCopy(object, "kernel")))
    return state->failure(std::move(problem));
  orc::SymbolLookupSet wanted;
  for (const std::string &symbol : symbols)
    wanted.add(session.intern(symbol));
  auto found =
      session.lookup({{&library, orc::JITDylibLookupFlags::MatchAllSymbols}},
                     std::move(wanted));
  if (!found)
    return state->failure(found.takeError());
  for (const std::string &symbol : symbols)
    code->addresses.push_back(
        (*found)[session.intern(symbol)].getAddress().toPtr<void *>());
  if (isNamedForPerf)
    addToPerfMap(object, symbols, code->addresses);
  return std::shared_ptr<LoadedObject>(std::move(code));
}

} // namespace quern::jit
