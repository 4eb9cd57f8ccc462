// The facade of the room: contexts, stages, and errors as data.
#include "dsl/Dsl.h"

#include "dsl/dialect/Dialect.h"
#include "dsl/lower/ToLoops.h"
#include "dsl/passes/Passes.h"
#include "dsl/pipeline/Pipelines.h"
#include "dsl/threads/Threads.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace quern;

std::string_view quern::spelling(DslStage stage) {
  switch (stage) {
  case DslStage::Qn:
    return "qn";
  case DslStage::Loops:
    return "loops";
  case DslStage::LlvmDialect:
    return "llvm-dialect";
  }
  return "";
}

/// Pass managers are kept: their patterns are made once.
struct DslContext::State {
  State()
      : context(registry(), mlir::MLIRContext::Threading::DISABLED),
        simplify(&context), simplifyForGpu(&context), toLlvm(&context),
        toLines(&context) {
    context.loadAllAvailableDialects();
    simplifyPipeline(simplify, /*isForGpu=*/false);
    simplifyPipeline(simplifyForGpu, /*isForGpu=*/true);
    llvmPipeline(toLlvm);
    linesPipeline(toLines);
    for (mlir::PassManager *passes : {&simplify, &simplifyForGpu, &toLlvm})
      passes->enableVerifier(false);
  }

  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry dialects;
    registerDialects(dialects);
    return dialects;
  }

  mlir::MLIRContext context;
  mlir::PassManager simplify, simplifyForGpu, toLlvm, toLines;
};

DslContext::DslContext() : state(std::make_unique<State>()) {}
DslContext::~DslContext() = default;
DslContext::DslContext(DslContext &&) noexcept = default;
DslContext &DslContext::operator=(DslContext &&) noexcept = default;
mlir::MLIRContext &DslContext::mlir() { return state->context; }

QnModule::QnModule(mlir::Operation *owned) : module(owned) {}
QnModule::QnModule(QnModule &&other) noexcept
    : module(std::exchange(other.module, nullptr)) {}
QnModule &QnModule::operator=(QnModule &&other) noexcept {
  std::swap(module, other.module);
  return *this;
}
QnModule::~QnModule() {
  if (module)
    module->erase();
}

LoweredModule::LoweredModule() = default;
LoweredModule::LoweredModule(LoweredModule &&) noexcept = default;
LoweredModule::~LoweredModule() { module.reset(); }

/// Turns MLIR's diagnostics into data while it lives.
namespace {
struct Collector {
  Collector(mlir::MLIRContext *context, std::vector<DslError> &errors)
      : handler(context, [&errors](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
            return;
          DslError error{.message = diagnostic.str(), .file = {}};
          if (auto place = diagnostic.getLocation()
                               ->findInstanceOf<mlir::FileLineColLoc>()) {
            error.file = place.getFilename().str();
            error.line = place.getLine();
            error.column = place.getColumn();
          }
          for (mlir::Diagnostic &note : diagnostic.getNotes())
            if (std::string code = note.str(); code.starts_with("QN"))
              error.code = code;
          errors.push_back(std::move(error));
        }) {}

  mlir::ScopedDiagnosticHandler handler;
};
} // namespace

std::optional<QnModule> quern::parseQn(DslContext &context,
                                       std::string_view text,
                                       std::vector<DslError> &errors) {
  Collector collector(&context.mlir(), errors);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context.mlir());
  if (!module)
    return std::nullopt;
  return QnModule(module.release());
}

static void leave(const LoweringOptions &options, DslStage stage,
                  mlir::Operation *module) {
  if (options.reached)
    options.reached(stage);
  if (!options.dump)
    return;
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  options.dump(stage, text);
}

/// The one kernel of a module, as loops of vectors or of threads.
static std::optional<KernelAbi> lowerKernel(mlir::ModuleOp module,
                                            const TargetInfo &target) {
  for (qn::KernelOp kernel : module.getOps<qn::KernelOp>())
    return lowerThreads(kernel, target);
  auto kernels = module.getOps<qn::RowwiseOp>();
  assert(!kernels.empty() && "a module without a kernel");
  return lowerToLoops(*kernels.begin(), target);
}

std::optional<LoweredModule> quern::lower(DslContext &context, QnModule module,
                                          const LoweringOptions &options,
                                          std::vector<DslError> &errors) {
  Collector collector(&context.mlir(), errors);
  auto top = llvm::cast<mlir::ModuleOp>(module.operation());
  auto &state = *context.state;
  mlir::PassManager &simplify =
      options.target.isGpu() ? state.simplifyForGpu : state.simplify;
  if (failed(mlir::verify(top)) || failed(simplify.run(top)))
    return std::nullopt;
  leave(options, DslStage::Qn, top);
  std::optional<KernelAbi> abi = lowerKernel(top, options.target);
  if (!abi)
    return std::nullopt;
  leave(options, DslStage::Loops, top);
  if (failed(state.toLlvm.run(top)) ||
      (options.hasLines && failed(state.toLines.run(top))))
    return std::nullopt;
  leave(options, DslStage::LlvmDialect, top);
  LoweredModule lowered;
  lowered.abi = std::move(*abi);
  lowered.context = std::make_unique<llvm::LLVMContext>();
  lowered.module = mlir::translateModuleToLLVMIR(top, *lowered.context);
  if (!lowered.module)
    return std::nullopt;
  return lowered;
}
