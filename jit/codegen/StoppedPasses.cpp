// Passes that look whether the work is to go on, between all others.
#include "jit/codegen/StoppedPasses.h"

#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/IR/LegacyPassManagers.h"
#include "llvm/Support/ErrorHandling.h"

using namespace quern::jit;

namespace {

/// A manager asks for its number of passes before each one it runs: it ends
/// after this one where those behind it are taken away.
class CheckStop final : public llvm::FunctionPass {
public:
  explicit CheckStop(const StopWatch &watch) : FunctionPass(id), watch(watch) {}

  /// Passes hold what belongs to others, so those that were taken away end
  /// with their manager.
  ~CheckStop() override {
    for (llvm::Pass *pass : taken)
      delete pass;
  }
  CheckStop(const CheckStop &) = delete;
  CheckStop &operator=(const CheckStop &) = delete;

  bool runOnFunction(llvm::Function &) override {
    if (watch.isStopped())
      takeFollowing();
    return false;
  }
  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.setPreservesAll();
  }
  llvm::StringRef getPassName() const override { return "Check for a stop"; }

private:
  /// Names a protected member of every manager.
  struct Manager : llvm::PMDataManager {
    static auto passes() { return &Manager::PassVector; }
  };

  void takeFollowing() {
    auto &passes = getResolver()->getPMDataManager().*Manager::passes();
    auto *mine = llvm::find(passes, this);
    taken.append(std::next(mine), passes.end());
    passes.erase(std::next(mine), passes.end());
  }

  static char id;
  const StopWatch &watch;
  llvm::SmallVector<llvm::Pass *, 0> taken;
};
char CheckStop::id = 0;

/// Lets the watch hear of a function's machine code, before there is any.
class WatchCode final : public llvm::MachineFunctionPass {
public:
  explicit WatchCode(StopWatch &watch)
      : MachineFunctionPass(id), watch(watch) {}

  bool runOnMachineFunction(llvm::MachineFunction &function) override {
    function.setDelegate(&watch);
    function.getRegInfo().addDelegate(&watch);
    return false;
  }
  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  llvm::StringRef getPassName() const override { return "Watch for a stop"; }

private:
  static char id;
  StopWatch &watch;
};
char WatchCode::id = 0;

bool isOfMachineCode(const llvm::Pass &pass) {
  llvm::AnalysisUsage usage;
  pass.getAnalysisUsage(usage);
  llvm::AnalysisID module = &llvm::MachineModuleInfoWrapperPass::ID;
  return llvm::is_contained(usage.getRequiredSet(), module);
}

} // namespace

void StopWatch::endLate() {
  constexpr std::chrono::milliseconds patience(40);
  Clock::time_point now = Clock::now();
  if (!first)
    first = now;
  else if (now - *first > patience)
    llvm::report_fatal_error("interrupted", /*gen_crash_diag=*/false);
}

void StoppablePasses::add(llvm::Pass *pass) {
  // The pass may go at once where there is one like it.
  bool isOfFunctions = pass->getPassKind() == llvm::PT_Function;
  if (isOfFunctions && !isWatched && isOfMachineCode(*pass)) {
    isWatched = true;
    PassManager::add(new WatchCode(watch));
  }
  PassManager::add(pass);
  if (isOfFunctions)
    PassManager::add(new CheckStop(watch));
}
