// What sessions, modules and bound kernels hold behind the interface.
#pragma once

#include "frontend/Frontend.h"
#include "frontend/check/Check.h"
#include "jit/Jit.h"
#include "jit/bind/Binding.h"
#include "jit/bind/Overlap.h"
#include "jit/op/Plan.h"
#include "jit/pool/Pool.h"
#include "jit/session/Devices.h"
#include "jit/session/Forks.h"
#include "jit/session/GridKernel.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

#include <list>
#include <mutex>

namespace quern::jit {
struct OpPlace;
}

namespace quern {

/// Shared by everything made from a session, so that kernels outlive it.
struct SessionCore {
  SessionCore(const SessionOptions &options, const jit::Limits &limits);
  /// With the limits of the environment.
  static Result<std::shared_ptr<SessionCore>>
  create(const SessionOptions &options);

  /// Why the session cannot have so many threads, or nothing.
  std::optional<Error> refusal(int threads) const;

  const jit::Limits limits;
  jit::Compiler compiler;
  jit::Pool pool;
  jit::Devices devices;
  std::atomic<std::int64_t> launches{0};
  /// Or null; set before they are used.
  std::shared_ptr<ExternRunner> externs;
  std::shared_ptr<CodeWaiter> waiter;

  /// The front end serves one thread at a time.
  std::mutex frontend;
  SourceManager sources;
  ModuleLibrary library;

  /// A module that a user added, and the operators it implements.
  struct Added {
    std::string name, text;
    std::vector<OperatorBinding> operators;
  };
  std::list<Added> added; ///< in order; texts stay where they are

  /// Of all modules' declarations that were called.
  std::mutex callables;

private:
  void beforeFork();
  void afterFork(bool isChild);
  /// Ends first.
  jit::ForkHandler forks;
};

/// Parses and checks a file, null after a failed load; the caller holds the
/// front end's lock. Modules that the session does not have come through
/// `loader`.
Result<std::shared_ptr<const typed::TypedModule>>
checkSource(const std::shared_ptr<SessionCore> &core, const SourceFile *file,
            DiagnosticEngine &diagnostics, ModuleLoader loader = {},
            std::stop_token stop = {});

/// The key of a module's text and of all texts that it uses, but the library's:
/// those are part of the compiler's own identity.
jit::CacheKey keyOfTexts(const typed::TypedModule &module,
                         llvm::StringRef text);

/// The file of the module that a path names, of a module and those it uses;
/// null where there is none. A kernel is kept by its texts, which may have lain
/// in another folder.
const SourceFile *fileNamed(const typed::TypedModule &module,
                            llvm::StringRef path);

/// A module of the embedded library by name; takes the front end's lock.
Result<std::shared_ptr<const Module::State>>
loadLibrary(const std::shared_ptr<SessionCore> &core, std::string_view name);

struct Session::State {
  std::shared_ptr<SessionCore> core;
};

struct Module::State {
  std::shared_ptr<SessionCore> core;
  bool keepsChecks = jit::keepsEveryCheck(); ///< every bounds check stays
  std::shared_ptr<const typed::TypedModule> module;
  jit::CacheKey text;
  std::vector<DeclarationInfo> declarations;
  std::vector<std::string> warnings; ///< rendered

  /// Found when a declaration is first called.
  struct Callable {
    const typed::Declaration *declaration;
    jit::Observed observed;
  };
  mutable llvm::StringMap<std::unique_ptr<Callable>> callables;

  const Callable *callable(llvm::StringRef name) const;
  /// A kernel with its axes solved; nothing after a report. `device`: where an
  /// `op` that calls it is.
  std::optional<BoundKernel>
  bindKernel(const jit::CallRequest &request, const jit::Observed &observed,
             DiagnosticEngine &report,
             std::optional<DeviceId> device = std::nullopt) const;
  bool placeOnDevice(jit::OpPlace &place, std::shared_ptr<const State> &moves,
                     std::optional<Error> &failure) const;
  /// An `op` followed for its shapes: a plan of launches. Without one there is
  /// a report, or the failure of a step that had to run.
  std::optional<BoundKernel> bindOp(const jit::CallRequest &request,
                                    DiagnosticEngine &report,
                                    std::optional<Error> &failure) const;
};

struct BoundKernel::State {
  std::shared_ptr<SessionCore> core;
  jit::CompileRequest request;
  jit::Binding binding;
  std::string name;
  DeviceId device;

  /// What a run needs; made once, by the first who asks.
  struct Prepared {
    struct Launch {
      jit::Pool::Task task;
      std::int64_t units, grain;
      std::int64_t shared, own; ///< bytes of workspace: of all, of each worker
      std::int64_t unasked;     ///< units that run before anybody is asked

      /// Bytes of workspace for so many threads, or for one, which has all the
      /// units where they are no more than a grain.
      std::int64_t workspace(int threads) const {
        bool isShared = units > std::max<std::int64_t>(grain, 1);
        auto all = llvm::SaturatingMultiplyAdd<std::uint64_t>(
            isShared ? threads : 1, own, shared);
        constexpr auto most = std::numeric_limits<std::int64_t>::max();
        return std::min<std::uint64_t>(all, most);
      }
    };
    std::shared_ptr<const jit::CompiledKernel> kernel;
    std::vector<std::uint64_t> packet; ///< all words but the pointers
    /// The word of every pointer the caller gives, or -1 if the code has none.
    std::vector<int> slots;
    std::vector<Launch> launches;
    std::unique_ptr<jit::GridKernel> grid; ///< on a GPU, instead of launches
    std::int64_t gridWorkspace = 0;        ///< bytes of its workspace
    /// Bytes of workspace that a run by so many threads takes.
    std::int64_t workspace(int threads) const {
      std::int64_t most = gridWorkspace;
      for (const Launch &launch : launches)
        most = std::max(most, launch.workspace(threads));
      return most;
    }
  };
  /// Of an `op`: what runs instead of a kernel.
  std::unique_ptr<jit::OpPlan> plan;
  /// Set once; owned.
  std::atomic<const Prepared *> prepared{nullptr};

  /// Operands the caller gives a pointer for, in order.
  std::vector<unsigned> external;
  /// Pairs that run() must find apart: a written one and another.
  struct Pair {
    unsigned written, other; ///< numbers into `external`
    jit::ByteRange writtenRange, otherRange;
    bool mayCoincide; ///< the same element read and written is legal
  };
  std::vector<Pair> pairs;
  llvm::SmallVector<bool, 8> touches; ///< by `external`: memory is accessed
  llvm::SmallVector<TensorSpec, 2> outputs;
  /// Of a kernel with optional results; else empty.
  std::vector<std::int64_t> resultCounts;

  State() = default;
  ~State() { delete prepared.load(); }
  State(const State &) = delete;
  State &operator=(const State &) = delete;

  Result<std::monostate> prepare(std::stop_token stop);
  /// The same with a kernel that is in memory; false where there is none.
  bool prepareAtOnce();
  Variant variantOf(const KernelAbi &abi) const;
  ChooseVariant chooser() const {
    return [this](const KernelAbi &abi) { return variantOf(abi); };
  }
  void install(std::shared_ptr<const jit::CompiledKernel> kernel);
  Result<std::monostate> prepareOnDevice(Prepared &made, std::stop_token stop);
  /// What is there already stays.
  void keep(std::unique_ptr<Prepared> made);
  /// Made by the first who asks.
  Result<const Prepared *> ready(std::stop_token stop = {});
  /// Why the pointers cannot be used, or nothing.
  std::optional<Error> check(std::span<void *const> pointers) const;
  /// Both after `ready`, on a GPU: what a launch is told, and what came of it.
  jit::GridKernel::Call callOf(std::span<void *const> pointers) const;
  Result<std::monostate> launch(std::span<const jit::GridKernel::Call> calls,
                                void *stream);
  /// On the CPU: one launch with its words, by so many threads at most.
  Result<std::monostate> work(const Prepared::Launch &launch,
                              const void *packet, ErrorRecord &record,
                              int threads);
  Error apartError(const Pair &pair) const;
};

/// What the interface says of a declaration.
DeclarationInfo describe(const typed::Declaration &declaration,
                         const SourceManager &sources);

} // namespace quern
