// `quern run`: one declaration on generated inputs.
#include "jit/bind/Report.h"
#include "jit/command/Inputs.h"
#include "jit/command/Replay.h"
#include "jit/tool/Json.h"
#include "jit/tool/Output.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cmath>

using namespace quern;
using namespace quern::command;

namespace {

constexpr llvm::StringLiteral help =
    R"(usage: quern run FILE [DECLARATION] [options]

  --types=T=f32,...      element types (f32, or the first that is admitted)
  --axes=N=64,R=4x8,...  extents of axes and packs (64)
  --shape=4x8            shape of an elementwise's tensors (1024)
  --scalars=eps=1e-5,... values of scalar parameters (1, or their default)
  --constants=K=3,...    compile-time parameters
  --threads=N            threads (all processors)
  --repeat=N             run N times and print the time of one
  --seed=N               of the inputs (0)
  --json                 one JSON object a result, and one of the time
  --write-schedule=FILE  write the kernel with the schedule it runs by, and stop
  --schedule=FILE        run by the schedule of such a file

A graph's program that QUERN_DEBUG wrote runs whole, on the tensors of the call
that was recorded beside it, and says how far each result is from that call's.
)";

constexpr llvm::StringLiteral known[] = {
    "help",    "types",  "axes", "shape",    "scalars",        "constants",
    "threads", "repeat", "seed", "schedule", "write-schedule", "json"};

using Extents = std::vector<std::int64_t>;

/// "4x8" → {4, 8}, "" → {}; nothing when it is no list of extents.
std::optional<Extents> readExtents(llvm::StringRef text) {
  Extents extents;
  if (text.empty())
    return extents;
  for (llvm::StringRef part : llvm::split(text, 'x')) {
    std::int64_t extent;
    if (part.getAsInteger(10, extent) || extent < 0)
      return std::nullopt;
    extents.push_back(extent);
  }
  return extents;
}

/// What the options say, in the form that inputs are made from.
struct Plan {
  Wishes types, axes, scalars, constants;
  Extents shape;
  std::int64_t seed, repeat;
  int threads;
  bool asJson;
};

class Inputs {
public:
  Inputs(const typed::Declaration &declaration, const Plan &plan)
      : declaration(declaration), plan(plan), source(plan.seed) {}

  bool make();

  std::vector<std::unique_ptr<OwnedTensor>> tensors;
  /// Names and places of the tensors that the call writes.
  std::vector<std::pair<llvm::StringRef, std::size_t>> written;
  std::vector<Argument> arguments;
  std::vector<std::pair<std::string, Argument>> constants;

private:
  bool hasWishes();
  bool hasNames(llvm::StringRef option, const Wishes &wishes,
                llvm::function_ref<bool(llvm::StringRef)> has);
  ElementType typeOf(typed::ScalarType type);
  std::optional<Extents> extentsWished(const typed::Axis &axis);
  Extents extentsOf(typed::AxisId axis);
  Argument scalar(const typed::Parameter &parameter);
  void tensor(const typed::Parameter &parameter);

  const typed::Declaration &declaration;
  const Plan &plan;
  std::mt19937_64 source;
  llvm::SmallVector<ElementType, 4> types;
};

bool Inputs::hasNames(llvm::StringRef option, const Wishes &wishes,
                      llvm::function_ref<bool(llvm::StringRef)> has) {
  for (const auto &[name, value] : wishes)
    if (!has(name))
      return complain(usage, "`--" + option + "` names `" + name +
                                 "`, which `" + declaration.name +
                                 "` does not have") == success;
  return true;
}

/// A name that the declaration lacks would ask for nothing.
bool Inputs::hasWishes() {
  auto isType = [&](llvm::StringRef name) {
    return llvm::any_of(declaration.typeParameters,
                        [&](const auto &each) { return each.name == name; });
  };
  auto isAxis = [&](llvm::StringRef name) {
    return llvm::any_of(declaration.axes,
                        [&](const auto &each) { return each.name == name; });
  };
  for (const typed::Axis &axis : declaration.axes)
    if (!axis.pack && extentsWished(axis).value_or(Extents{64}).size() != 1)
      return complain(usage,
                      "`" + axis.name + "` of `--axes` is one axis, not `" +
                          plan.axes.at(axis.name.str()) + "`") == success;
  auto isScalar = [&](llvm::StringRef name) {
    return llvm::any_of(declaration.parameters, [&](const auto &each) {
      return !each.isTensor && each.variable->name == name;
    });
  };
  return hasNames("types", plan.types, isType) &&
         hasNames("axes", plan.axes, isAxis) &&
         hasNames("scalars", plan.scalars, isScalar);
}

ElementType Inputs::typeOf(typed::ScalarType type) {
  return type.substitute(types);
}

/// What `--axes` says of an axis or a pack.
std::optional<Extents> Inputs::extentsWished(const typed::Axis &axis) {
  auto wish = plan.axes.find(axis.name.str());
  return wish == plan.axes.end() ? std::nullopt : readExtents(wish->second);
}

Extents Inputs::extentsOf(typed::AxisId id) {
  const typed::Axis &axis = declaration.axis(id);
  if (auto *fixed =
          llvm::dyn_cast_or_null<typed::ConstantExpression>(axis.extent))
    return {fixed->value.integer};
  return extentsWished(axis).value_or(Extents{64});
}

Argument Inputs::scalar(const typed::Parameter &parameter) {
  auto wish = plan.scalars.find(parameter.variable->name.str());
  ElementKind kind = kindOf(typeOf(parameter.element));
  if (wish == plan.scalars.end()) {
    if (parameter.defaultValue)
      return std::monostate();
    return std::int64_t{1};
  }
  std::int64_t integer;
  double floating;
  llvm::StringRef text = wish->second;
  if (kind != ElementKind::Float && !text.getAsInteger(10, integer))
    return integer;
  if (!text.getAsDouble(floating))
    return floating;
  return wish->second;
}

void Inputs::tensor(const typed::Parameter &parameter) {
  Extents sizes = plan.shape;
  if (declaration.kind != typed::DeclarationKind::Elementwise) {
    sizes.clear();
    for (const typed::Dimension &dimension : parameter.dimensions) {
      if (!dimension.isSplit()) {
        llvm::append_range(sizes, extentsOf(dimension.axis()));
        continue;
      }
      std::int64_t product = 1;
      for (typed::AxisId part : dimension.parts)
        for (std::int64_t extent : extentsOf(part))
          product *= extent;
      sizes.push_back(product);
    }
  }
  if (parameter.isMutable)
    written.emplace_back(parameter.variable->name, tensors.size());
  tensors.push_back(
      std::make_unique<OwnedTensor>(typeOf(parameter.element), sizes));
  fillRandom(*tensors.back(), source);
  arguments.push_back(tensors.back()->view());
}

bool Inputs::make() {
  if (!hasWishes())
    return false;
  constexpr ElementType preferred[] = {ElementType::F32, ElementType::I64,
                                       ElementType::Bool, ElementType::C64};
  for (const typed::TypeParameter &parameter : declaration.typeParameters) {
    auto wish = plan.types.find(parameter.name.str());
    ElementType type = *llvm::find_if(preferred, [&](ElementType candidate) {
      return candidate == ElementType::C64 ||
             admits(parameter.constraint, candidate);
    });
    if (wish != plan.types.end()) {
      auto named = elementTypeNamed(wish->second);
      if (!named)
        return complain(failure, "there is no type `" + wish->second + "`") ==
               success;
      type = *named;
    }
    types.push_back(type);
    constants.emplace_back(parameter.name.str(), std::string(spelling(type)));
  }
  for (const auto &[name, text] : plan.constants) {
    std::int64_t integer;
    Argument value = text;
    if (!llvm::StringRef(text).getAsInteger(10, integer))
      value = integer;
    if (text == "true" || text == "false")
      value = text == "true";
    constants.emplace_back(name, value);
  }
  for (const typed::Parameter &parameter : declaration.parameters) {
    if (parameter.isTensor)
      tensor(parameter);
    else
      arguments.push_back(scalar(parameter));
  }
  return true;
}

std::optional<Plan> readPlan(const CommandLine &line) {
  auto types = line.wishes("types"), axes = line.wishes("axes"),
       scalars = line.wishes("scalars"), constants = line.wishes("constants");
  if (!types || !axes || !scalars || !constants)
    return std::nullopt;
  auto shape = readExtents(line.option("shape", "1024"));
  if (!shape) {
    complain(usage, "`--shape` takes extents: 4x8");
    return std::nullopt;
  }
  for (const auto &[name, extents] : *axes)
    if (!readExtents(extents)) {
      complain(usage, "`--axes` takes extents: N=64,R=4x8");
      return std::nullopt;
    }
  auto seed = line.number("seed", 0, 0), repeat = line.number("repeat", 1, 1),
       threads = line.number("threads", 0, 0);
  if (!seed || !repeat || !threads)
    return std::nullopt;
  return Plan{*types,
              *axes,
              *scalars,
              *constants,
              *shape,
              *seed,
              *repeat,
              static_cast<int>(*threads),
              line.options.count("json") != 0};
}

/// Writes the kernel with the schedule that the call runs by.
int writeSchedule(const BoundKernel &kernel, const std::string &path) {
  auto stages = kernel.stages();
  if (!stages)
    return complain(stages.error());
  for (const auto &[stage, text] : *stages)
    if (stage == spelling(Stage::Schedule)) {
      std::string problem = tool::writeOutput(path, text);
      return problem.empty() ? success : complain(failure, problem);
    }
  return complain(failure, "an `op` has no schedule; its kernels have");
}

/// Has kernels run by the schedule in a file; false after a complaint.
bool giveSchedule(const std::string &path,
                  const typed::Declaration &declaration) {
  auto text = llvm::MemoryBuffer::getFile(path);
  if (!text)
    return complain(failure, "cannot read `" + path +
                                 "`: " + text.getError().message()) == success;
  std::string name = ("@" + declaration.name + " ").str();
  if (declaration.kind != typed::DeclarationKind::Op &&
      !(*text)->getBuffer().contains(name))
    return complain(failure, "`" + path + "` has no schedule of `" +
                                 declaration.name + "`") == success;
  return setenv("QUERN_SCHEDULE", path.c_str(), /*overwrite=*/1) == 0;
}

int runRepeatedly(BoundKernel &kernel, std::vector<void *> &pointers,
                  const Plan &plan) {
  std::int64_t repeat = plan.repeat;
  if (auto ready = kernel.ready(); !ready)
    return complain(ready.error());
  auto begin = std::chrono::steady_clock::now();
  for (std::int64_t round = 0; round < repeat; ++round)
    if (auto ran = kernel.run(pointers); !ran)
      return complain(ran.error());
  std::chrono::duration<double, std::micro> time =
      std::chrono::steady_clock::now() - begin;
  double each = time.count() / static_cast<double>(repeat);
  if (plan.asJson)
    tool::JsonLines(llvm::outs()).line([&](llvm::json::OStream &out) {
      out.attribute("microseconds", each);
      out.attribute("runs", repeat);
    });
  else if (repeat > 1)
    llvm::outs() << llvm::formatv("{0:f3} us a run\n", each);
  return success;
}

/// NaN and infinities are no numbers of JSON.
llvm::json::Value numberOf(double value) {
  if (std::isfinite(value))
    return value;
  return llvm::formatv("{0}", value).str();
}

/// `name` is empty for a result.
void print(const OwnedTensor &tensor, llvm::StringRef name, bool asJson) {
  if (!asJson) {
    llvm::outs() << name << (name.empty() ? "" : ": ") << summary(tensor)
                 << '\n';
    return;
  }
  Summary made = summarize(tensor);
  tool::JsonLines(llvm::outs()).line([&](llvm::json::OStream &out) {
    out.attributeArray("first", [&] {
      for (double value : made.first)
        out.value(numberOf(value));
    });
    out.attribute("mean", numberOf(made.mean));
    if (!name.empty())
      out.attribute("name", name);
    out.attribute("shape", llvm::json::Array(tensor.sizes));
    out.attribute("type", llvm::StringRef(spelling(tensor.type)));
  });
}

/// Prints what it gives, and behind their names what it wrote.
int runAndPrint(BoundKernel &kernel, const Inputs &given, const Plan &plan) {
  const auto &inputs = given.tensors;
  std::vector<std::unique_ptr<OwnedTensor>> outputs;
  std::vector<void *> pointers;
  pointers.reserve(inputs.size() + kernel.outputs().size());
  for (const auto &tensor : inputs)
    pointers.push_back(tensor->memory.get());
  for (const TensorSpec &spec : kernel.outputs()) {
    outputs.push_back(std::make_unique<OwnedTensor>(
        static_cast<ElementType>(spec.type), spec.sizes));
    pointers.push_back(outputs.back()->memory.get());
  }
  for (const auto *tensors : {&inputs, &std::as_const(outputs)})
    for (const auto &tensor : *tensors)
      if (!tensor->memory)
        return complain(failure, "there is no memory for " +
                                     llvm::Twine(spelling(tensor->type)) +
                                     jit::shapeText(tensor->sizes));
  int code = runRepeatedly(kernel, pointers, plan);
  if (code != success)
    return code;
  for (const auto &output : outputs)
    print(*output, "", plan.asJson);
  for (auto [name, place] : given.written)
    print(*inputs[place], name, plan.asJson);
  return success;
}

/// Why nothing runs: `wanted` is not there, or several could.
std::string notOne(const LoadedFile &file, const std::string &wanted) {
  if (!wanted.empty())
    return "no declaration `" + wanted + "` to run" + meant(file, wanted);
  std::vector<std::string> names;
  for (const typed::Declaration *each : file.module->declarations())
    if (each->isCompiled())
      names.push_back("`" + std::string(each->name) + "`");
  if (names.empty())
    return "no declaration to run";
  return "say which declaration to run: " + llvm::join(names, ", ");
}

} // namespace

int command::run(Words words) {
  auto line = CommandLine::read(words, known);
  if (!line)
    return usage;
  if (line->options.count("help")) {
    llvm::outs() << help;
    return success;
  }
  if (line->plain.empty() || line->plain.size() > 2)
    return complain(usage, "`run` takes a file and a declaration");
  auto plan = readPlan(*line);
  if (!plan)
    return usage;
  if (line->plain.size() == 1)
    if (auto recording = recordingOf(line->plain[0]); !recording.empty())
      return replay(line->plain[0], recording, plan->threads);
  auto file = loadFile(line->plain[0], {});
  if (!file)
    return complain(file.error());
  std::string wanted = line->plain.size() == 2 ? line->plain[1] : "";
  const typed::Declaration *declaration = findKernel(*file, wanted);
  if (!declaration)
    return complain(failure, notOne(*file, wanted));
  if (line->options.count("schedule") &&
      !giveSchedule(line->option("schedule"), *declaration))
    return failure;
  auto session = Session::create(
      {.threads = plan->threads, .cacheDirectory = "", .target = ""});
  if (!session)
    return complain(session.error());
  auto module = (*session)->load(line->plain[0]);
  if (!module)
    return complain(module.error());
  Inputs inputs(*declaration, *plan);
  if (!inputs.make())
    return failure;
  auto bound =
      module->bind(declaration->name, inputs.arguments, {}, inputs.constants);
  if (!bound)
    return complain(bound.error());
  if (line->options.count("write-schedule"))
    return writeSchedule(*bound, line->option("write-schedule"));
  return runAndPrint(*bound, inputs, *plan);
}
