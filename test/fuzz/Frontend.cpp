// Fuzz target: whatever the bytes, the front end neither crashes nor hangs,
// formatting keeps the tree, and what is checked can be printed.
#include "frontend/Frontend.h"
#include "frontend/ast/Print.h"
#include "frontend/check/Check.h"
#include "frontend/diagnostics/Render.h"
#include "frontend/format/Format.h"
#include "frontend/lex/Lexer.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

using namespace quern;

/// A library in little: enough for calls, reductions and imports.
static constexpr llvm::StringLiteral prelude = R"(
reduction sum[T: Number]:
    state: acc(T) = 0
    step(s, x: T): s + acc(T)(x)
    merge(a, b): a + b

reduction max[T: Ordered]:
    state: (value: T = lowest(T), at: i64 = 0)
    step(s, x: T, i: index): (x, i) if x > s.value else (s.value, s.at)
    merge(a, b): (b.value, b.at) if b.value > a.value else (a.value, a.at)
    finish(s): s.value

fn exp[T: Float](x: T) -> T:
    return 1 + x * (1 + x / 2)

fn ceildiv[T: Int](a: T, b: T) -> T:
    return a // b + T(a % b != 0)

rowwise softmax[T: Float](x: T[*R, C]) -> T[*R, C]:
    let e = exp(x - max(x over C))
    return e / sum(e over C)
)";

namespace {

/// The library in little, checked once for many inputs.
struct Base {
  Base()
      : library(sources,
                [](llvm::StringRef name) -> std::optional<ModuleText> {
                  if (name != "prelude")
                    return std::nullopt;
                  return ModuleText{"prelude.qn", prelude};
                },
                {"prelude"}) {
    DiagnosticEngine diagnostics;
    library.load("prelude", diagnostics);
    if (diagnostics.hasErrors()) {
      renderText(diagnostics, sources, llvm::errs(), false);
      std::abort();
    }
  }

  SourceManager sources;
  ModuleLibrary library;
  unsigned served = 0;
};

/// A fresh one now and then: texts of old inputs pile up in its sources.
Base &base() {
  static std::unique_ptr<Base> kept;
  if (!kept || ++kept->served == 256)
    kept = std::make_unique<Base>();
  return *kept;
}

} // namespace

/// Checks what could be read, whole or not, and prints what came out.
static void checkModule(const ast::Module &module, ModuleLibrary &library,
                        DiagnosticEngine &diagnostics) {
  auto typed =
      ModuleLibrary(library, nullptr).check(module, "fuzz", diagnostics);
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const typed::Declaration *declaration : typed->declarations())
    if (!declaration->hasError)
      typed::print(*declaration, out);
}

static std::string dump(const ast::Module &module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  ast::print(module, out);
  return text;
}

/// Formats what parses: the tree stays, and a second time changes nothing.
static void checkFormat(const TokenBuffer &tokens, const ast::Module &module) {
  std::string once = format(tokens);
  SourceManager sources;
  DiagnosticEngine diagnostics;
  const SourceFile *file = sources.add("formatted.qn", once);
  TokenBuffer again = lex(*file, diagnostics);
  std::unique_ptr<ast::Module> reparsed = parse(again, diagnostics);
  bool faithful = !diagnostics.hasErrors() && dump(module) == dump(*reparsed) &&
                  format(again) == once;
  if (!faithful) {
    llvm::errs() << "formatting is not faithful:\n" << once;
    std::abort();
  }
}

/// Read by the address sanitizer where it is linked: short histories, since
/// every input allocates much.
extern "C" const char *__asan_default_options() {
  return "quarantine_size_mb=16:malloc_context_size=8:max_malloc_fill_size=256";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size) {
  auto &[sources, library, served] = base();
  DiagnosticEngine diagnostics;
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  const SourceFile *file = sources.add("fuzz.qn", text);
  TokenBuffer tokens = lex(*file, diagnostics);
  std::unique_ptr<ast::Module> module = parse(tokens, diagnostics);
  if (!diagnostics.hasErrors())
    checkFormat(tokens, *module);
  checkModule(*module, library, diagnostics);
  diagnostics.sort();
  std::string rendered;
  llvm::raw_string_ostream out(rendered);
  out.SetBufferSize(4096);
  renderText(diagnostics, sources, out, false);
  renderJson(diagnostics, sources, out);
  renderSarif(diagnostics, sources, out);
  return 0;
}
