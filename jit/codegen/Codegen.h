// LLVM IR to assembly, a relocatable object or a code object, for one target.
#pragma once

#include "dsl/target/TargetInfo.h"
#include "jit/Jit.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace llvm {
class Function;
class Module;
class TargetMachine;
} // namespace llvm

namespace quern::jit {

enum class Image : std::uint8_t { Assembly, Object };

/// Links a relocatable object for AMDGPU to what the driver loads.
Result<std::string> linkCodeObject(const std::string &object);

/// This machine: CPU name, features and cache sizes.
TargetInfo hostTarget();
/// Why code for a target cannot run in this process, or nothing.
std::optional<std::string> whyNotHere(const TargetInfo &target);
/// Whether Intel made it, whose libraries are written for its own machines.
bool isOnIntel();
/// A target by name; "" and "native" are this machine.
Result<TargetInfo> findTarget(const std::string &name);

/// Makes integers of the bf16 numbers that a function moves about.
void carryAsBits(llvm::Function &function);
/// Makes products of short numbers of 32 bits, where X86 forgets the upper
/// ones.
void multiplyNarrowly(llvm::Function &function);
/// Gives signs to numbers that are rounded to 16 bits by their bits.
void giveSignsByBits(llvm::Function &function);
/// Makes the larger of a number and zero as X86 has it.
void shortenZeroExtremes(llvm::Function &function);
/// Chooses between a NaN and what was there as AVX-512 does.
void keepNanAtOnce(llvm::Function &function);
/// Divides by a root as AVX-512 can, where the division may be inexact.
void estimateRoots(llvm::Function &function);
/// Makes a GPU's own instructions of what may be inexact.
void useEstimates(llvm::Function &function, bool isNvptx);
/// Makes f32 of both bf16 numbers of a word at once.
void widenPairs(llvm::Function &function);

/// Makes code for one target. One thread at a time; making one costs about a
/// millisecond, so keep it.
class CodeGenerator {
public:
  static Result<std::unique_ptr<CodeGenerator>>
  create(const TargetInfo &target);
  ~CodeGenerator();

  /// Gives the module the target's triple, layout and function attributes, and
  /// runs the IR passes. The lowering has vectorised and folded already: what
  /// is left for them is cleaning up.
  /// After `stop` is requested no further pass begins.
  void optimise(llvm::Module &module, std::stop_token stop = {});
  Result<std::string> emit(llvm::Module &module, Image image,
                           std::stop_token stop = {});

private:
  explicit CodeGenerator(std::unique_ptr<llvm::TargetMachine> machine,
                         const TargetInfo &target);
  std::unique_ptr<llvm::TargetMachine> machine;
  TargetInfo target;
};

} // namespace quern::jit
