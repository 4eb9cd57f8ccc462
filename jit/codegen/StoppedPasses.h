// Code generation that ends soon once nobody waits for it.
#pragma once

#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/IR/LegacyPassManager.h"

#include <chrono>
#include <optional>
#include <stop_token>

namespace quern::jit {

/// Hears of the instructions and registers that passes make, and ends a pass
/// that is in the middle of a large function: by LLVM's fatal error, after
/// which nobody touches what the pass worked on. That memory stays allocated,
/// so a pass gets some time to come to its own end.
class StopWatch final : public llvm::MachineFunction::Delegate,
                        public llvm::MachineRegisterInfo::Delegate {
public:
  explicit StopWatch(std::stop_token stop) : stop(std::move(stop)) {}
  bool isStopped() const { return stop.stop_requested(); }

  void MF_HandleInsertion(llvm::MachineInstr &) override { check(); }
  void MF_HandleRemoval(llvm::MachineInstr &) override { check(); }
  void MRI_NoteNewVirtualRegister(llvm::Register) override { check(); }

private:
  using Clock = std::chrono::steady_clock;
  void check() {
    if (isStopped())
      endLate();
  }
  void endLate();

  const std::stop_token stop;
  std::optional<Clock::time_point> first; ///< when the stop was seen
};

/// Runs passes over each function until the watch is stopped; then it leaves
/// out all that follow, required ones too. What was made until then is not
/// whole. The watch outlives the passes.
class StoppablePasses final : public llvm::legacy::PassManager {
public:
  explicit StoppablePasses(StopWatch &watch) : watch(watch) {}
  void add(llvm::Pass *pass) override;

private:
  StopWatch &watch;
  bool isWatched = false; ///< machine code is
};

} // namespace quern::jit
