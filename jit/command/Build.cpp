// `quern build`: prints a stage of the compiler.
#include "jit/command/Command.h"

#include "dsl/irgen/Wishes.h"
#include "jit/bind/Environment.h"
#include "jit/session/Fits.h"
#include "jit/session/Reproducer.h"
#include "jit/tool/Json.h"
#include "jit/tool/Output.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace quern;
using namespace quern::command;

namespace {

constexpr llvm::StringLiteral usageLine =
    "usage: quern build FILE [DECLARATION] --emit=STAGE [options]\n\n";
constexpr llvm::StringLiteral help =
    R"(
  --target=NAME          x86-64-v3, sm_90, gfx942, … or native
  --types=T=f32,...      element types (f32, or the first that is admitted)
  --constants=K=3,...    compile-time parameters
  --ranks=R=2,...        axes of packs; of an elementwise by its own name (1)
  --layouts=x=d1,...     strides of an operand: 0, 1 or d for each axis
  --absent=w,b           optional operands that are not given
  --listed               for a GPU: as the calls of an `each` are
  --output=FILE, -o FILE instead of standard output; written when all is built
  --replay=FILE          instead of FILE: a compilation that QUERN_REPRODUCE kept
  --timing               instead of --emit: milliseconds that each stage takes
  --json                 one JSON object a declaration: its stage's text, or times

Without a declaration every one that can be called is built; an object holds one.
)";

constexpr llvm::StringLiteral known[] = {
    "help",   "emit",   "target", "types",  "constants", "ranks", "layouts",
    "absent", "listed", "output", "replay", "timing",    "json"};

/// The stages that `target` has, all without one, as people read them.
std::string listStages(const TargetInfo *target = nullptr) {
  std::string text;
  llvm::ListSeparator comma;
  for (Stage stage : allStages())
    if (!target || hasStage(*target, stage))
      text += (llvm::StringRef(comma) + spelling(stage)).str();
  return text;
}

std::optional<SpecializationWishes> readWishes(const CommandLine &line) {
  SpecializationWishes wishes;
  for (auto [name, place] : {std::pair("types", &wishes.types),
                             {"constants", &wishes.constants},
                             {"ranks", &wishes.ranks},
                             {"layouts", &wishes.layouts}}) {
    auto split = line.wishes(name);
    if (!split)
      return std::nullopt;
    *place = std::move(*split);
  }
  std::string absent = line.option("absent");
  for (llvm::StringRef name : llvm::split(absent, ','))
    if (!name.empty())
      wishes.absent.insert(name.str());
  wishes.listed = line.options.count("listed");
  return wishes;
}

/// How a kernel is printed.
struct Printing {
  std::optional<Stage> stage; ///< nothing: the times of all
  bool asJson = false;
};

using Times = std::vector<std::pair<std::string, double>>;

void printTimes(llvm::StringRef name, const Times &times, bool asJson,
                llvm::raw_ostream &out) {
  double total = 0;
  for (const auto &[stage, spent] : times)
    total += spent;
  if (asJson) {
    tool::JsonLines(out).line([&](llvm::json::OStream &json) {
      json.attribute("declaration", name);
      json.attribute("milliseconds", total);
      json.attributeArray("stages", [&] {
        for (const auto &[stage, spent] : times)
          json.value(
              llvm::json::Object{{"milliseconds", spent}, {"stage", stage}});
      });
    });
    return;
  }
  out << llvm::formatv("{0,-16}{1,10:f2} ms\n", name, total);
  for (const auto &[stage, spent] : times)
    out << llvm::formatv("  {0,-14}{1,10:f2}\n", stage, spent);
}

/// A line for each stage; printing it is not part of its time.
int timeKernel(const LoadedFile &file, const jit::CompileRequest &request,
               bool asJson, llvm::raw_ostream &out) {
  using Clock = std::chrono::steady_clock;
  using Milliseconds = std::chrono::duration<double, std::milli>;
  Times times;
  Clock::time_point before = Clock::now();
  StageObserver observer;
  observer.reached = [&](std::string_view at) {
    double spent = Milliseconds(Clock::now() - before).count();
    times.emplace_back(at, spent);
    before = Clock::now();
  };
  auto made = file.core->compiler.compile(request, observer);
  if (!made)
    return complain(made.error());
  printTimes(request.declaration->name, times, asJson, out);
  return success;
}

/// Prints one stage of a kernel.
int showStage(const LoadedFile &file, const jit::CompileRequest &request,
              Stage stage, bool asJson, llvm::raw_ostream &out) {
  std::string whole;
  StageObserver observer{
      .wants = [=](Stage each) { return each == stage; },
      .take = [&](Stage, const std::string &text) { whole += text; },
      .last = stage};
  auto shown = file.core->compiler.compile(request, observer);
  if (!asJson)
    out << whole;
  if (!shown)
    return complain(shown.error());
  if (asJson)
    tool::JsonLines(out).line([&](llvm::json::OStream &json) {
      json.attribute("declaration", request.declaration->name);
      json.attribute("stage", llvm::StringRef(spelling(stage)));
      json.attribute("text", whole);
    });
  return success;
}

/// Prints a stage, or the times of all of them.
int emitKernel(const LoadedFile &file, const typed::Declaration &declaration,
               const SpecializationWishes &wishes, const Printing &printing,
               llvm::raw_ostream &out) {
  std::string problem;
  auto specialization = specialize(declaration, wishes, problem);
  if (!specialization)
    return complain(failure, problem);
  jit::dropAbsentResults(declaration, *specialization);
  jit::CompileRequest request{file.module, &declaration, file.text,
                              std::move(*specialization)};
  return printing.stage
             ? showStage(file, request, *printing.stage, printing.asJson, out)
             : timeKernel(file, request, printing.asJson, out);
}

/// What is asked for: a stage, or times instead. False after a complaint.
bool readStage(const CommandLine &line, std::optional<Stage> &stage) {
  std::string name = line.option("emit");
  if (line.options.count("timing")) {
    if (!name.empty())
      complain(usage, "`--timing` takes the place of `--emit`");
    return name.empty();
  }
  stage = stageNamed(name);
  if (stage)
    return true;
  std::string problem = name.empty() ? "`build` needs `--emit=STAGE`"
                                     : "there is no stage `" + name + "`";
  complain(usage, problem + "; there are " + listStages());
  return false;
}

int write(llvm::StringRef text, llvm::StringRef path) {
  std::string problem = tool::writeOutput(path, text);
  return problem.empty() ? success : complain(failure, problem);
}

} // namespace

/// Compiles what a reproducer holds, or shows a stage of it.
static int replay(const CommandLine &line) {
  std::string path = line.option("replay");
  auto text = llvm::MemoryBuffer::getFile(path);
  auto given = text ? jit::readReproducer((*text)->getBuffer())
                    : std::optional<jit::Reproducer>();
  if (!given)
    return complain(failure, "cannot read a compilation from `" + path + "`");
  auto made =
      SessionCore::create({.threads = 1,
                           .cacheDirectory = "-",
                           .target = line.option("target", given->target)});
  if (!made)
    return complain(made.error());
  LoadedFile file;
  file.core = std::move(*made);
  SessionCore &core = *file.core;
  DiagnosticEngine diagnostics;
  for (const auto &[name, module] : given->modules)
    core.added.push_back({name, module, {}});
  auto checked = checkSource(
      file.core, core.sources.add(given->name, given->text), diagnostics);
  if (!checked)
    return complain(checked.error());
  file.module = std::move(*checked);
  const typed::Declaration *kernel = findKernel(file, given->kernel);
  if (!kernel)
    return complain(failure, "`" + path + "` has no `" + given->kernel + "`");
  if (!jit::fits(given->specialization, *kernel))
    return complain(failure, "`" + path + "` is of another `" + given->kernel +
                                 "`, or of another version");
  jit::CompileRequest request{file.module, kernel, file.text,
                              given->specialization, given->keepsChecks};
  std::optional<Stage> stage = stageNamed(line.option("emit"));
  bool asJson = line.options.count("json");
  return stage ? showStage(file, request, *stage, asJson, llvm::outs())
               : timeKernel(file, request, asJson, llvm::outs());
}

/// Why nothing was built: `wanted` is not there, or nothing that can be built.
static std::string nothingBuilt(const LoadedFile &file, const std::string &path,
                                const std::string &wanted) {
  std::string text = "nothing to build in `" + path + "`";
  if (wanted.empty())
    return text;
  for (const typed::Declaration *each : file.module->declarations())
    if (each->name == wanted)
      return text + ": `" + wanted + "` is no kernel; its kind is `" +
             keyword(each->kind).str() + "`";
  return text + ": no declaration `" + wanted + "`" + meant(file, wanted);
}

/// What is built: `wanted`, or all that can be called when it is empty.
static std::vector<const typed::Declaration *>
kernelsNamed(const LoadedFile &file, const std::string &wanted) {
  std::vector<const typed::Declaration *> chosen;
  for (const typed::Declaration *each : file.module->declarations())
    if (each->isCompiled() && (wanted.empty() || each->name == wanted))
      chosen.push_back(each);
  return chosen;
}

static std::string
oneOf(Stage stage, llvm::ArrayRef<const typed::Declaration *> declarations) {
  std::string text = "an `" + std::string(spelling(stage)) +
                     "` holds one declaration; name one of ";
  llvm::ListSeparator comma;
  for (const typed::Declaration *each : declarations)
    text += (llvm::StringRef(comma) + "`" + each->name + "`").str();
  return text;
}

/// Why the stage of these declarations cannot be printed so, or "".
static std::string
unprintable(const Printing &printing,
            llvm::ArrayRef<const typed::Declaration *> declarations) {
  if (!printing.stage || !isBinary(*printing.stage))
    return "";
  if (printing.asJson)
    return "`--json` holds text, and an `" +
           std::string(spelling(*printing.stage)) + "` is none";
  return declarations.size() > 1 ? oneOf(*printing.stage, declarations) : "";
}

static std::string noStage(const TargetInfo &target, Stage stage) {
  return "target `" + target.name + "` has no stage `" +
         std::string(spelling(stage)) + "`; it has " + listStages(&target);
}

/// Why the target has no such specialization, or "".
static std::string unfitWish(const SpecializationWishes &wishes,
                             const TargetInfo &target) {
  if (wishes.listed && !target.isGpu())
    return "`--listed` is for a GPU; `" + target.name + "` is a CPU";
  return "";
}

int command::build(Words words) {
  auto line = CommandLine::read(words, known);
  if (!line)
    return usage;
  if (line->options.count("help")) {
    llvm::outs() << usageLine << "stages: " << listStages() << '\n' << help;
    return success;
  }
  if (line->options.count("replay"))
    return replay(*line);
  std::optional<Stage> stage;
  if (!readStage(*line, stage))
    return usage;
  if (line->plain.empty() || line->plain.size() > 2)
    return complain(usage, "`build` takes a file and a declaration");
  auto wishes = readWishes(*line);
  if (!wishes)
    return usage;
  auto file = loadFile(
      line->plain[0],
      {.threads = 1, .cacheDirectory = "-", .target = line->option("target")});
  if (!file)
    return complain(file.error());
  auto target = file->core->compiler.target();
  if (!target)
    return complain(target.error());
  if (stage && !hasStage(*target, *stage))
    return complain(usage, noStage(*target, *stage));
  if (std::string problem = unfitWish(*wishes, *target); !problem.empty())
    return complain(usage, problem);
  std::string text;
  llvm::raw_string_ostream out(text);
  if (stage == Stage::Typed) {
    print(*file->module, out);
    return write(text, line->option("output", "-"));
  }
  std::string wanted = line->plain.size() == 2 ? line->plain[1] : "";
  auto chosen = kernelsNamed(*file, wanted);
  if (chosen.empty())
    return complain(failure, nothingBuilt(*file, line->plain[0], wanted));
  Printing printing{stage, line->options.count("json") != 0};
  if (std::string problem = unprintable(printing, chosen); !problem.empty())
    return complain(usage, problem);
  int code = success;
  for (const typed::Declaration *each : chosen)
    code = std::max(code, emitKernel(*file, *each, *wishes, printing, out));
  if (code != success)
    return code;
  return write(text, line->option("output", "-"));
}
