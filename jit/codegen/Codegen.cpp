// Runs LLVM's IR passes and code generation.
#include "jit/codegen/Codegen.h"

#include "jit/codegen/BackEnds.h"
#include "jit/codegen/StoppedPasses.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

namespace quern::jit {

namespace {

llvm::TargetOptions options() {
  llvm::TargetOptions options;
  // Floats are IEEE: only what the text wrote as fma is fused.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.NoTrappingFPMath = true;
  options.ExceptionModel = llvm::ExceptionHandling::None;
  options.UniqueSectionNames = false;
  return options;
}

/// Keeps code generation from reducing loops, which `optimise` has done where
/// it pays.
class PassChoice final : public llvm::OptPassGate {
public:
  explicit PassChoice(bool reducesLoops) : reducesLoops(reducesLoops) {}
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
    bool isReduction = pass == "Loop Strength Reduction" ||
                       pass == "Canonicalize Freeze Instructions in Loops";
    return reducesLoops || !isReduction;
  }
  bool isEnabled() const override { return true; }

private:
  const bool reducesLoops;
};

} // namespace

Result<std::unique_ptr<CodeGenerator>>
CodeGenerator::create(const TargetInfo &target) {
  llvm::Triple triple(target.triple);
  if (!initialiseBackEnd(triple.getArch()))
    return Error{llvm::formatv("this build has no code generator for `{0}`",
                               target.triple),
                 {}};
  std::string problem;
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!backend)
    return Error{problem, {}};
  // The small code model is enough: an object refers only to itself and to
  // run-time functions that are reached through stubs.
  std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      triple, target.cpu, target.features, options(), llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  if (!machine)
    return Error{llvm::formatv("no code generator for `{0}`", target.cpu), {}};
  return std::unique_ptr<CodeGenerator>(
      new CodeGenerator(std::move(machine), target));
}

CodeGenerator::CodeGenerator(std::unique_ptr<llvm::TargetMachine> machine,
                             const TargetInfo &target)
    : machine(std::move(machine)), target(target) {}

CodeGenerator::~CodeGenerator() = default;

Result<std::string> CodeGenerator::emit(llvm::Module &module, Image image,
                                        std::stop_token stop) {
  const Error interrupted{"interrupted", {}};
  if (stop.stop_requested())
    return interrupted;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  StopWatch watch(stop);
  StoppablePasses passes(watch);
  auto type = image == Image::Object ? llvm::CodeGenFileType::ObjectFile
                                     : llvm::CodeGenFileType::AssemblyFile;
  if (machine->addPassesToEmitFile(passes, out, nullptr, type,
                                   /*DisableVerify=*/true))
    return Error{"the target cannot emit this kind of file", {}};
  llvm::LLVMContext &context = module.getContext();
  llvm::OptPassGate &gate = context.getOptPassGate();
  PassChoice choice(target.isGpu());
  context.setOptPassGate(choice);
  passes.run(module);
  context.setOptPassGate(gate);
  if (stop.stop_requested())
    return interrupted;
  return std::string(bytes.begin(), bytes.end());
}

} // namespace quern::jit
