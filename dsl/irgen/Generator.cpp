// Entry of IR generation, places in the source, and its errors.
#include "dsl/irgen/Generator.h"

#include "frontend/diagnostics/Engine.h"
#include "frontend/source/SourceManager.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

Location Generator::at(Span span) {
  if (!span.valid())
    return b.location;
  SourceLocation place = request.module.sources().locate(span.begin);
  if (place.file)
    b.location = FileLineColLoc::get(builder.getContext(), place.file->name(),
                                     place.line, place.column);
  return b.location;
}

LocationAttr Generator::rangeOf(Span span) {
  if (!span.valid())
    return b.location;
  const SourceManager &sources = request.module.sources();
  SourceLocation first = sources.locate(span.begin);
  SourceLocation last = sources.locate(span.end - 1);
  if (!first.file)
    return b.location;
  auto file = builder.getStringAttr(first.file->name());
  if (last.file != first.file || last.line != first.line)
    return FileLineColLoc::get(file, first.line, first.column);
  return FileLineColRange::get(file, first.line, first.column, last.column + 1);
}

irgen::Value Generator::unsupported(Span span, const Twine &what,
                                    StringRef code, StringRef hint) {
  complain(span, what, code, hint);
  return zeroOf(ElementType::I64);
}

void Generator::complain(Span span, const Twine &what, StringRef code,
                         StringRef hint) {
  DslError error;
  error.message = what.str();
  error.code = code.str();
  error.hint = hint.str();
  SourceLocation place = request.module.sources().locate(span.begin);
  if (place.file) {
    error.file = place.file->name().str();
    error.line = place.line;
    error.column = place.column;
  }
  errors.push_back(std::move(error));
}

bool Generator::holds(
    llvm::function_ref<bool(DiagnosticEngine &diagnostics)> rule) {
  DiagnosticEngine diagnostics;
  bool isGood = rule(diagnostics);
  for (const SourceDiagnostic &each : diagnostics.diagnostics())
    unsupported(each.span, each.message, each.code(), each.hint);
  return isGood;
}

Operation *Generator::generate() {
  std::size_t errorsBefore = errors.size();
  const Declaration &declaration = request.declaration;
  at(declaration.nameSpan);
  auto module = ModuleOp::create(builder, b.location);
  Frame &top = frames.emplace_back(declaration);
  frame = &top;
  b.fastMath = fastMathOf(declaration);
  b.estimatesRoots = declaration.attributes.fastmath;
  readsAreChecked = !declaration.attributes.unchecked;
  bindTypesAndAxes(top);
  bindParameters(top);

  builder.setInsertionPointToEnd(module.getBody());
  StringRef name =
      request.symbol.empty() ? declaration.name : StringRef(request.symbol);
  auto open = [&](auto kernel) {
    kernel.setNumbers(argumentNumbers);
    kernel.setWide(!request.specialization.narrowOffsets);
    body = &kernel.block();
  };
  if (isThreadText()) {
    open(b.create<qn::KernelOp>(name, kernelAxes, argumentTypes));
  } else {
    auto rows = b.create<qn::RowwiseOp>(name, kernelAxes, argumentTypes);
    rows.setListed(request.specialization.listed);
    open(rows);
  }
  builder.setInsertionPointToStart(body);
  attachArguments(top);
  if (isThreadText())
    executeLaunch();
  execute(declaration.body);
  storeResults(top);
  skipFewerLoops();
  stageScans();
  asksTooMuch = !mayMiss.empty() && !resultsTake(mayMiss);
  if (readsBack)
    readStagedBack();
  if (!isThreadText())
    dropUnread();
  if (errors.size() != errorsBefore) {
    module->erase();
    return nullptr;
  }
  assert(succeeded(verify(module)) && "IR generation made invalid IR");
  return module;
}

std::optional<QnModule> quern::generateQn(DslContext &context,
                                          const GenerationRequest &request,
                                          std::vector<DslError> &errors) {
  for (bool isBold : {true, false}) {
    Generator generator(context.mlir(), request, errors, isBold);
    Operation *module = generator.generate();
    if (!module)
      break;
    if (!generator.wasTooBold())
      return QnModule(module);
    module->erase();
  }
  return std::nullopt;
}
