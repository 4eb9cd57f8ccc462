// The IR passes run before code generation: few, and each measured.
#include "dsl/lower/Mark.h"
#include "dsl/threads/Mark.h"
#include "jit/codegen/Codegen.h"

#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopStrengthReduce.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace quern::jit {

namespace {

/// A kernel of a list reads its parameter through a pointer that may lead to
/// memory as well; nobody writes it, so no thread needs a copy of its own.
void keepParameters(llvm::Function &function) {
  if (function.getCallingConv() != llvm::CallingConv::PTX_Kernel)
    return;
  for (llvm::Argument &argument : function.args())
    if (argument.hasByValAttr())
      argument.addAttr(
          llvm::Attribute::get(function.getContext(), "nvvm.grid_constant"));
}

void prepare(llvm::Module &module, const llvm::TargetMachine &machine,
             const TargetInfo &target) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  if (target.kind == TargetKind::Amdgpu)
    module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version",
                         500);
  std::string width = std::to_string(target.vectorBytes * 8);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    keepParameters(function);
    function.addFnAttr("target-features", target.features);
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (target.isGpu())
      continue;
    // Tasks run on threads of the caller, whose stacks may be small: a frame
    // that does not fit ends at the guard page and never lies behind it.
    function.addFnAttr("probe-stack", "inline-asm");
    // Without these X86 splits wide vectors on CPUs that clock down for them.
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
    // X86's own estimates make NaN of zero and infinity.
    function.addFnAttr("reciprocal-estimates", "none");
  }
}

/// Loops of a known, small number of rounds become straight code, so that a
/// thread's own arrays become registers. What is lifted over axes is unrolled
/// for a CPU where it is made; of explicit kernels the loops are the user's.
bool wantsUnrolling(const llvm::Function &function, const TargetInfo &target) {
  return target.isGpu() || function.hasFnAttribute(threadsAttribute);
}

void unrollLoops(llvm::FunctionPassManager &passes) {
  llvm::LoopPassManager turned, unrolled;
  turned.addPass(llvm::LoopRotatePass());
  unrolled.addPass(llvm::IndVarSimplifyPass());
  unrolled.addPass(llvm::LoopDeletionPass());
  unrolled.addPass(llvm::LoopFullUnrollPass(/*OptLevel=*/3));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(turned)));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(unrolled)));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  // What was an element of an array before is a value now, made once.
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
}

/// No further pass begins once nobody waits for the code.
void leaveOutAfter(const std::stop_token &stop,
                   llvm::PassInstrumentationCallbacks &callbacks) {
  callbacks.registerShouldRunOptionalPassCallback(
      [&stop](llvm::StringRef, const llvm::Any &) {
        return !stop.stop_requested();
      });
}

/// What X86 has instructions for, or code generation gets wrong.
void suitX86(llvm::Function &function, const TargetInfo &target) {
  multiplyNarrowly(function);
  giveSignsByBits(function);
  shortenZeroExtremes(function);
  if (!target.hasMask)
    return;
  keepNanAtOnce(function);
  estimateRoots(function);
}

} // namespace

void CodeGenerator::optimise(llvm::Module &module, std::stop_token stop) {
  prepare(module, *machine, target);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassInstrumentationCallbacks callbacks;
  leaveOutAfter(stop, callbacks);
  llvm::PassBuilder builder(machine.get(), llvm::PipelineTuningOptions(),
                            std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  llvm::FunctionPassManager passes;
  if (target.isGpu())
    passes.addPass(llvm::InferAddressSpacesPass());
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/false));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/false));
  llvm::FunctionPassManager unrolling;
  unrollLoops(unrolling);
  llvm::FunctionPassManager reducing;
  reducing.addPass(
      llvm::createFunctionToLoopPassAdaptor(llvm::LoopStrengthReducePass()));
  for (llvm::Function &function : module) {
    if (function.isDeclaration() || stop.stop_requested())
      continue;
    passes.run(function, functions);
    if (wantsUnrolling(function, target))
      unrolling.run(function, functions);
    if (target.isGpu()) {
      widenPairs(function);
      useEstimates(function, target.kind == TargetKind::Nvptx);
      continue;
    }
    if (!function.hasFnAttribute(steppedAttribute))
      reducing.run(function, functions);
    carryAsBits(function);
    if (machine->getTargetTriple().isX86())
      suitX86(function, target);
  }
}

} // namespace quern::jit
