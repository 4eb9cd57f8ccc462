// Runs the stages one after the other.
#include "jit/session/Stages.h"

#include "dsl/dialect/Steps.h"
#include "frontend/diagnostics/Render.h"
#include "frontend/typed/TypedModule.h"
#include "jit/bind/Report.h"
#include "jit/session/AbiText.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace quern;
using namespace quern::jit;

namespace {

/// Where an error lies in the text of the declaration; empty where it names
/// another one.
Span spanOf(const CompileRequest &request, const DslError &error) {
  const SourceManager &sources = request.module->sources();
  const SourceFile *file = sources.fileOf(request.declaration->nameSpan.begin);
  return file && file->name() == error.file
             ? sources.spanAt(*file, error.line, error.column)
             : Span();
}

/// A lowering's errors in the words of the interface, above their lines.
Error dslError(const std::vector<DslError> &errors, llvm::StringRef fallback,
               const CompileRequest &request) {
  Error error;
  llvm::raw_string_ostream text(error.message);
  for (const DslError &each : errors) {
    error.diagnostics.push_back(
        {each.code, "error", each.message, each.file, each.line, each.column});
    DiagnosticInfo info = fault::LoweringFailed.info;
    llvm::StringRef(each.code).drop_front(2).getAsInteger(10, info.code);
    SourceDiagnostic shown;
    shown.info = &info;
    shown.message = each.message;
    shown.hint = each.hint;
    shown.span = spanOf(request, each);
    if (!shown.span.valid() && !each.file.empty())
      text << each.file << ':' << each.line << ':' << each.column << ": ";
    renderText(shown, request.module->sources(), text, /*color=*/false);
  }
  if (errors.empty())
    text << fallback;
  while (llvm::StringRef(error.message).ends_with("\n"))
    error.message.pop_back();
  return error;
}

std::string printed(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, nullptr);
  return text;
}

/// Work in a context spends from a budget while this lives.
class Spending {
public:
  Spending(DslContext &context, Budget &budget) : context(context) {
    setBudget(context.mlir(), &budget);
  }
  ~Spending() { setBudget(context.mlir(), nullptr); }
  Spending(const Spending &) = delete;
  Spending &operator=(const Spending &) = delete;

private:
  DslContext &context;
};
} // namespace

Result<LoweredModule> Stages::lowered(const LoweringOptions &lowering) {
  Spending spending(tools.dsl, budget);
  std::vector<DslError> errors;
  GenerationRequest generation{.module = *request.module,
                               .declaration = *request.declaration,
                               .specialization = request.specialization,
                               .target = machine};
  std::optional<QnModule> made = generateQn(tools.dsl, generation, errors);
  if (budget.isStopped())
    return Error{"interrupted", {}};
  if (!made)
    return dslError(errors, "IR generation failed without a reason", request);
  std::optional<LoweredModule> low =
      lower(tools.dsl, std::move(*made), lowering, errors);
  if (budget.isStopped())
    return Error{"interrupted", {}};
  if (!low)
    return dslError(errors, "lowering failed without a reason", request);
  return std::move(*low);
}

/// Operations of vectors may be many instructions, and loops are unrolled: the
/// same limit holds for them by themselves.
std::optional<Error> Stages::spend(const llvm::Module &module) {
  Budget instructions(budget.limit(), stop);
  if (instructions.spend(module.getInstructionCount()))
    return std::nullopt;
  if (instructions.isStopped())
    return Error{"interrupted", {}};
  SourceLocation place =
      request.module->sources().locate(request.declaration->nameSpan.begin);
  DslError error{.message = tooLargeText(instructions),
                 .file = place.file ? place.file->name().str() : "",
                 .line = static_cast<int>(place.line),
                 .column = static_cast<int>(place.column),
                 .code = tooLargeCode,
                 .hint = tooLargeHint};
  return dslError({error}, "", request);
}

/// The code of an optimised module. Assembly that is shown beside it is made of
/// a copy: making code changes the module.
Result<std::optional<std::string>>
Stages::image(llvm::Module &module, const StageObserver &observer) {
  CodeGenerator &generator = *tools.generator;
  if (observer.wants && observer.wants(Stage::Asm)) {
    auto copy = llvm::CloneModule(module);
    auto text = generator.emit(*copy, Image::Assembly, stop);
    if (!text)
      return text.error();
    observer.leave(Stage::Asm, [&] { return std::move(*text); });
  }
  if (observer.last == Stage::Asm)
    return std::optional<std::string>();
  Stage first = machine.kind == TargetKind::Nvptx ? Stage::Ptx : Stage::Obj;
  Image kind = first == Stage::Ptx ? Image::Assembly : Image::Object;
  auto code = generator.emit(module, kind, stop);
  if (!code)
    return code.error();
  observer.leave(first, [&] { return *code; });
  if (machine.kind != TargetKind::Amdgpu || observer.last == first)
    return std::optional(std::move(*code));
  code = linkCodeObject(*code);
  if (!code)
    return code.error();
  observer.leave(Stage::Hsaco, [&] { return *code; });
  return std::optional(std::move(*code));
}

Result<std::optional<CacheEntry>> Stages::make(const StageObserver &observer,
                                               LoweringOptions lowering) {
  if (observer.reached)
    observer.reached("tools");
  lowering.observer = observer;
  auto low = lowered(lowering);
  if (!low)
    return low.error();
  if (!low->module)
    return std::optional<CacheEntry>();
  llvm::Module &module = *low->module;
  observer.leave(Stage::Abi, [&] { return printAbi(low->abi); });
  observer.leave(Stage::LlvmRaw, [&] { return printed(module); });
  if (observer.last && *observer.last < Stage::Llvm)
    return std::optional<CacheEntry>();
  tools.generator->optimise(module, stop);
  observer.leave(Stage::Llvm, [&] { return printed(module); });
  if (auto problem = spend(module))
    return std::move(*problem);
  if (observer.last == Stage::Llvm)
    return std::optional<CacheEntry>();
  auto code = image(module, observer);
  if (!code)
    return code.error();
  if (!*code)
    return std::optional<CacheEntry>();
  return std::optional(CacheEntry{writeAbi(low->abi), std::move(**code)});
}
