// The facade of the room: contexts, stages, and errors as data.
#include "dsl/Dsl.h"

#include "dsl/dialect/Dialect.h"
#include "dsl/dialect/Steps.h"
#include "dsl/lower/HostPlan.h"
#include "dsl/lower/ToLoops.h"
#include "dsl/passes/Passes.h"
#include "dsl/pipeline/Pipelines.h"
#include "dsl/schedule/GivenSchedule.h"
#include "dsl/schedule/Schedule.h"
#include "dsl/threads/Ranges.h"
#include "dsl/threads/Threads.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace quern;

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

static std::string printed(mlir::Operation *module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

/// Explicit kernels say themselves how they run.
static mlir::LogicalResult scheduleKernels(mlir::ModuleOp module,
                                           const LoweringOptions &options) {
  for (qn::RowwiseOp kernel : module.getOps<qn::RowwiseOp>()) {
    if (failed(scheduleKernel(kernel, options.target)))
      return mlir::failure();
    if (!options.schedule.empty() &&
        failed(
            takeGivenSchedule(kernel, options.schedule, options.scheduleName)))
      return mlir::failure();
  }
  return mlir::success();
}

/// The one kernel of a module, as loops of vectors or of threads.
static std::optional<KernelAbi> lowerKernel(mlir::ModuleOp module,
                                            const LoweringOptions &options) {
  for (qn::KernelOp kernel : module.getOps<qn::KernelOp>())
    return lowerThreads(kernel, options.target);
  auto forms = llvm::to_vector(module.getOps<qn::RowwiseOp>());
  assert(!forms.empty() && "a module without a kernel");
  return lowerToLoops(forms, options.target, options.choose);
}

/// Whether the stage has come to its end; where no budget was left for it an
/// error says so, and where nobody waits for it nothing is said.
static bool isWhole(mlir::ModuleOp module, mlir::LogicalResult done,
                    std::vector<DslError> &errors) {
  Budget *budget = budgetOf(*module.getContext());
  if (budget && budget->isExceeded() &&
      (errors.empty() || errors.back().code != tooLargeCode)) {
    mlir::Operation &kernel = module.getBody()->front();
    kernel.emitError(tooLargeText(*budget)).attachNote() << tooLargeCode;
  }
  for (DslError &error : errors)
    if (error.code == tooLargeCode)
      error.hint = tooLargeHint;
  return succeeded(done) && (!budget || budget->goesOn());
}

std::optional<LoweredModule> quern::lower(DslContext &context, QnModule module,
                                          const LoweringOptions &options,
                                          std::vector<DslError> &errors) {
  Collector collector(&context.mlir(), errors);
  auto top = llvm::cast<mlir::ModuleOp>(module.operation());
  auto &state = *context.state;
  // Whether the caller asks for nothing beyond the stage.
  auto leave = [&](Stage stage) {
    options.observer.leave(stage, [&] { return printed(top); });
    return options.observer.last == stage;
  };
  if (options.keepsChecks)
    for (mlir::Operation &kernel : top.getOps())
      kernel.setAttr(keepsChecksAttribute,
                     mlir::UnitAttr::get(&context.mlir()));
  mlir::PassManager &simplify =
      options.target.isGpu() ? state.simplifyForGpu : state.simplify;
  if (failed(mlir::verify(top)) || !isWhole(top, simplify.run(top), errors))
    return std::nullopt;
  if (leave(Stage::Qn))
    return LoweredModule();
  if (!isWhole(top, scheduleKernels(top, options), errors))
    return std::nullopt;
  if (leave(Stage::Schedule))
    return LoweredModule();
  std::optional<KernelAbi> abi = lowerKernel(top, options);
  if (!isWhole(top, mlir::success(abi.has_value()), errors))
    return std::nullopt;
  if (leave(options.target.isGpu() ? Stage::Gpu : Stage::Loops))
    return LoweredModule();
  erasePlans(top, *abi);
  if (!isWhole(top, state.toLlvm.run(top), errors) ||
      (options.hasLines && failed(state.toLines.run(top))))
    return std::nullopt;
  if (leave(Stage::LlvmDialect))
    return LoweredModule();
  LoweredModule lowered;
  lowered.abi = std::move(*abi);
  lowered.context = std::make_unique<llvm::LLVMContext>();
  lowered.module = mlir::translateModuleToLLVMIR(top, *lowered.context);
  if (!lowered.module)
    return std::nullopt;
  return lowered;
}
