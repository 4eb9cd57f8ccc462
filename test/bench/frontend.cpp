// `./dev bench frontend`: speed of lexing, parsing and checking, and memory, on
// a generated corpus of real-looking kernels.
#include "frontend/Frontend.h"
#include "frontend/check/Check.h"
#include "frontend/format/Format.h"
#include "frontend/lex/Lexer.h"
#include "jit/session/EmbeddedModules.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>

using namespace quern;

namespace {

constexpr unsigned wantedLines = 200000;
constexpr unsigned repetitions = 7;

/// One family of kernels as people write them; `@` stands for a number.
constexpr llvm::StringLiteral family = R"(
# Gate number @: an activation, its derivative, and a row norm behind it.
fn smooth_step_@[T: Float](x: T, edge: T) -> T:
    """Rises from 0 to 1 around `edge`."""
    let t = (x - edge) * 0.5 + 0.5
    let clamped = 0 if t < 0 else 1 if t > 1 else t
    return clamped * clamped * (3 - 2 * clamped)

@aten("lerp.Scalar", scale = weight)
@backward(gate_@_backward, saves = (x, w))
elementwise gate_@[T: Float](x: T, w: T, scale: f32) -> T:
    let s = smooth_step_@(x, 0.25)
    return x * s * w + T(scale) * (1 - s)

@aten("mse_loss_backward", reduction = 0)
elementwise gate_@_backward[T: Float](grad: T, x: T, w: T) -> (T, T):
    let s = smooth_step_@(x, 0.25)
    let ds = 6 * s * (1 - s)
    return grad * w * (s + x * ds), grad * x * s

reduction spread_@[T: Float]:
    state: (low: acc(T) = inf, high: acc(T) = -inf, n: i64 = 0)
    step(s, x: T):
        let v = acc(T)(x)
        return (min(s.low, v), max(s.high, v), s.n + 1)
    merge(a, b): (min(a.low, b.low), max(a.high, b.high), a.n + b.n)
    finish(s): s.high - s.low

@aten("_fused_rms_norm", normalized_shape = C)
rowwise spread_norm_@[T: Float](x: T[*R, C], w: T[C]?, eps: acc(T)) -> (T[*R, C], acc(T)[*R]):
    let width = spread_@(x over C)
    let centre = mean(x over C where x > -1e30)
    let y = (x - centre) / (width + eps)
    return y * w if const present(w) else y, width

rowwise window_@[T: Float](x: T[*B, H, W], kh: int, kw: int, sh: int = 1)
        -> T[*B, P = (H - kh) // sh + 1, Q = W - kw + 1]:
    let best = max(x.at(H = index(P) * sh + i, W = index(Q) + j, outside = -inf) over (i: 0 .. kh, j: 0 .. kw))
    return best

kernel tile_copy_@[T: Any, TILE: int = 32](src: T[M, N], dst: mut T[N, M]):
    launch grid(ceildiv(N, TILE), ceildiv(M, TILE)) block(TILE, 8)
    shared tile: T[TILE, TILE + 1]
    let x = block.x * TILE + thread.x
    for j in range(0, TILE, 8):
        let y = block.y * TILE + thread.y + j
        if x < N and y < M:
            tile[thread.y + j, thread.x] = src[y, x]
    barrier()
    for j in range(0, TILE, 8):
        if block.x * TILE + thread.y + j < N:
            dst[block.x * TILE + thread.y + j, thread.x] = tile[thread.x, thread.y + j]

elementwise step_@[T: Float](x: mut T, g: T, rate: f32):
    x = x - T(rate) * g

op apply_@[T: Float](xs: list[mut T[*S]], gs: list[T[*S]], rate: f32):
    each (x, g) in zip(xs, gs): step_@(x, g, rate)
)";

std::string makeCorpus() {
  std::string text = "\"\"\"A generated corpus.\"\"\"\n\nfrom math use exp\n";
  unsigned perFamily = family.count('\n');
  for (unsigned i = 0; i * perFamily < wantedLines; ++i) {
    std::string number = std::to_string(i);
    for (char c : family)
      if (c == '@' && text.back() == '_')
        text += number;
      else
        text += c;
  }
  return text;
}

/// Of this thread: what else runs on the machine does not count.
double secondsOfWork() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

double medianSeconds(llvm::function_ref<void()> work) {
  std::vector<double> times;
  for (unsigned i = 0; i < repetitions; ++i) {
    double begin = secondsOfWork();
    work();
    times.push_back(secondsOfWork() - begin);
  }
  llvm::sort(times);
  return times[times.size() / 2];
}

void printSpeed(const char *what, std::size_t lines, double seconds,
                double bar) {
  double millions = lines / seconds / 1e6;
  std::printf("%-8s %8.2f ms %8.2f M lines/s", what, seconds * 1e3, millions);
  if (bar > 0)
    std::printf("   bar %.1f: %s", bar, millions >= bar ? "reached" : "missed");
  std::printf("\n");
}

/// Since this program began: `getrusage` counts what its caller was before.
double peakMiB() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (double kibibytes = 0;
        std::sscanf(line.c_str(), "VmHWM: %lf", &kibibytes) == 1)
      return kibibytes / 1024;
  return 0;
}

std::optional<ModuleText> embedded(llvm::StringRef name) {
  for (const jit::EmbeddedModule &module : jit::embeddedModules())
    if (module.name == std::string_view(name))
      return ModuleText{std::string(module.path), module.text};
  return std::nullopt;
}

std::vector<std::string> preludeModules() {
  std::vector<std::string> names;
  for (const jit::EmbeddedModule &module : jit::embeddedModules())
    if (module.family == "prelude")
      names.emplace_back(module.name);
  return names;
}

constexpr llvm::StringLiteral tenLines = R"(fn gate[T: Float](x: T) -> T:
    return 1 / (1 + exp(-x))

elementwise swish[T: Float](x: T) -> T:
    return x * gate(x)

rowwise softmax[T: Float](x: T[*R, C]) -> T[*R, C]:
    let e = exp(x - max(x over C))
    return e / sum(e over C)
)";

/// `quern check` of ten lines as a whole process, from start to end.
void printProcess() {
  llvm::SmallString<128> program(llvm::sys::fs::getMainExecutable("", nullptr)),
      path;
  llvm::sys::path::remove_filename(program);
  llvm::sys::path::append(program, "quern");
  int file;
  if (llvm::sys::fs::createTemporaryFile("ten", "qn", file, path))
    return;
  llvm::raw_fd_ostream(file, /*shouldClose=*/true) << tenLines;
  std::vector<double> times;
  for (unsigned i = 0; i < 3 * repetitions; ++i) {
    auto begin = std::chrono::steady_clock::now();
    if (llvm::sys::ExecuteAndWait(program, {program, "check", path}) != 0)
      return;
    std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - begin;
    times.push_back(elapsed.count() * 1e3);
  }
  llvm::sys::fs::remove(path);
  llvm::sort(times);
  double median = times[times.size() / 2];
  std::printf("process  %.1f ms for `quern check` of ten lines   bar 10: %s\n",
              median, median <= 10 ? "reached" : "missed");
}

bool reportErrors(const DiagnosticEngine &diagnostics) {
  if (diagnostics.hasErrors())
    std::printf("the corpus has an error: %s\n",
                diagnostics.diagnostics()[0].message.c_str());
  return diagnostics.hasErrors();
}

} // namespace

int main() {
  SourceManager sources;
  const SourceFile *file = sources.add("corpus.qn", makeCorpus());
  std::size_t lines = file->text().count('\n');
  double sourceMiB = file->text().size() / 1048576.0;
  std::printf("corpus   %zu lines, %.1f MiB\n", lines, sourceMiB);

  DiagnosticEngine diagnostics;
  ModuleLibrary library(sources, embedded, preludeModules());
  library.load("math", diagnostics);
  double before = peakMiB();
  std::unique_ptr<ast::Module> module = parse(*file, diagnostics);
  double parsed = peakMiB() - before;
  auto typed = library.check(*module, "corpus", diagnostics);
  double grown = peakMiB() - before;
  if (reportErrors(diagnostics))
    return 1;

  TokenBuffer tokens = lex(*file, diagnostics);
  double lexing = medianSeconds([&] { lex(*file, diagnostics); });
  double parsing = medianSeconds([&] { parse(tokens, diagnostics); });
  double checking =
      medianSeconds([&] { library.check(*module, "corpus", diagnostics); });
  double formatting = medianSeconds([&] { format(tokens); });
  printSpeed("lex", lines, lexing, 5);
  printSpeed("parse", lines, parsing, 2);
  printSpeed("check", lines, checking, 0.5);
  printSpeed("format", lines, formatting, 0);
  std::printf("tokens   %zu, %.1f MiB; tree %.1f MiB; typed %.1f MiB\n",
              tokens.size(), tokens.bytes() / 1048576.0,
              module->arena.bytes() / 1048576.0, typed->bytes() / 1048576.0);
  std::printf("memory   %.1f times the source when parsed, %.1f when checked"
              "   bar 40: %s\n",
              parsed / sourceMiB, grown / sourceMiB,
              grown <= 40 * sourceMiB ? "reached" : "missed");
  printProcess();
  return 0;
}
