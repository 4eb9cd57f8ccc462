// Reproducers as JSON: texts, target and specialization.
#include "jit/session/Reproducer.h"

#include "frontend/source/SourceManager.h"
#include "frontend/typed/TypedModule.h"
#include "jit/cache/Files.h"
#include "jit/cache/ReadJson.h"
#include "jit/session/EmbeddedModules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace quern;
using namespace quern::jit;

namespace json = llvm::json;

namespace {

/// A letter for the kind, then the value; floats by their bits.
std::string argumentText(const ConstantArgument &argument) {
  if (const auto *integer = std::get_if<std::int64_t>(&argument))
    return "i" + std::to_string(*integer);
  if (const auto *boolean = std::get_if<bool>(&argument))
    return *boolean ? "b1" : "b0";
  if (const auto *text = std::get_if<std::string>(&argument))
    return "s" + *text;
  if (const auto *floating = std::get_if<double>(&argument)) {
    std::int64_t bits;
    std::memcpy(&bits, floating, sizeof bits);
    return "f" + std::to_string(bits);
  }
  return "-";
}

ConstantArgument argumentOf(llvm::StringRef text) {
  llvm::StringRef value = text.drop_front(text.empty() ? 0 : 1);
  std::int64_t number = 0;
  value.getAsInteger(10, number);
  double floating;
  std::memcpy(&floating, &number, sizeof floating);
  if (text.starts_with("i"))
    return number;
  if (text.starts_with("b"))
    return number != 0;
  if (text.starts_with("s"))
    return value.str();
  if (text.starts_with("f"))
    return floating;
  return std::monostate();
}

/// `0`, `1` or `d` for each axis; `-`: absent.
std::string layoutText(const OperandLayout &layout) {
  std::string text;
  for (StrideClass stride : layout.strides)
    text += "01d"[static_cast<unsigned>(stride)];
  return layout.present ? text : "-";
}

OperandLayout layoutOf(llvm::StringRef text) {
  OperandLayout layout;
  layout.present = text != "-";
  for (char letter : layout.present ? text : "")
    layout.strides.push_back(letter == '0'   ? StrideClass::Zero
                             : letter == '1' ? StrideClass::One
                                             : StrideClass::Dynamic);
  return layout;
}

template <typename Values, typename Text>
json::Array listOf(const Values &values, Text text) {
  json::Array array;
  for (const auto &value : values)
    array.push_back(text(value));
  return array;
}

json::Object describe(const Specialization &given) {
  auto number = [](auto value) { return std::int64_t(value); };
  auto name = [](ElementType type) { return std::string(spelling(type)); };
  return json::Object{
      {"types", listOf(given.typeArguments, name)},
      {"constants", listOf(given.constantArguments, argumentText)},
      {"ranks", listOf(given.axisRanks, number)},
      {"operands", listOf(given.operands, layoutText)},
      {"units", listOf(given.unitScalars, number)},
      {"lists", listOf(given.listLengths, number)},
      {"narrow", given.narrowOffsets},
      {"listed", given.listed}};
}

/// Nothing where a type has another name in this version.
std::optional<Specialization> specializationOf(const json::Object &object) {
  Specialization made;
  bool areKnown = true;
  auto each = [&](llvm::StringRef key, auto take) {
    if (const json::Array *array = object.getArray(key))
      for (const json::Value &value : *array)
        take(value.getAsInteger().value_or(0),
             value.getAsString().value_or(""));
  };
  using Number = std::int64_t;
  using Text = llvm::StringRef;
  each("types", [&](Number, Text name) {
    auto type = elementTypeNamed(name);
    areKnown &= type.has_value();
    made.typeArguments.push_back(type.value_or(ElementType::F32));
  });
  each("constants", [&](Number, Text text) {
    made.constantArguments.push_back(argumentOf(text));
  });
  each("ranks", [&](Number number, Text) { made.axisRanks.push_back(number); });
  each("operands",
       [&](Number, Text text) { made.operands.push_back(layoutOf(text)); });
  each("units",
       [&](Number number, Text) { made.unitScalars.push_back(number != 0); });
  each("lists",
       [&](Number number, Text) { made.listLengths.push_back(number); });
  made.narrowOffsets = object.getBoolean("narrow").value_or(true);
  made.listed = object.getBoolean("listed").value_or(false);
  return areKnown ? std::optional(std::move(made)) : std::nullopt;
}

/// The text that a module was made from, or null.
const SourceFile *fileOf(const typed::TypedModule &module) {
  if (module.declarations().empty())
    return nullptr;
  std::uint32_t place = module.declarations().front()->nameSpan.begin;
  return module.sources().locate(place).file;
}

void addModules(const typed::TypedModule &module, Reproducer &into) {
  for (const auto &used : module.uses()) {
    bool isKnown = llvm::any_of(embeddedModules(), [&](const auto &each) {
      return used->name() == llvm::StringRef(each.name);
    });
    isKnown |= llvm::any_of(into.modules, [&](const auto &each) {
      return used->name() == each.first;
    });
    const SourceFile *file = isKnown ? nullptr : fileOf(*used);
    if (!file)
      continue;
    into.modules.emplace_back(used->name().str(), file->text().str());
    addModules(*used, into);
  }
}

} // namespace

std::string quern::jit::writeReproducer(const Reproducer &reproducer) {
  json::Array modules;
  for (const auto &[name, text] : reproducer.modules)
    modules.push_back(json::Object{{"name", name}, {"text", text}});
  json::Object object{{"kernel", reproducer.kernel},
                      {"target", reproducer.target},
                      {"stage", reproducer.stage},
                      {"name", reproducer.name},
                      {"text", reproducer.text},
                      {"modules", std::move(modules)},
                      {"specialization", describe(reproducer.specialization)},
                      {"checks", reproducer.keepsChecks}};
  return llvm::formatv("{0:2}\n", json::Value(std::move(object))).str();
}

std::optional<Reproducer> quern::jit::readReproducer(std::string_view text) {
  std::optional<json::Value> parsed = readJson(text);
  if (!parsed)
    return std::nullopt;
  const json::Object *object = parsed->getAsObject();
  const json::Object *given =
      object ? object->getObject("specialization") : nullptr;
  const json::Array *modules = object ? object->getArray("modules") : nullptr;
  auto specialization = given ? specializationOf(*given) : std::nullopt;
  if (!specialization || !modules)
    return std::nullopt;
  auto word = [](const json::Object &from, llvm::StringRef key) {
    return from.getString(key).value_or("").str();
  };
  Reproducer made{.kernel = word(*object, "kernel"),
                  .target = word(*object, "target"),
                  .stage = word(*object, "stage"),
                  .name = word(*object, "name"),
                  .text = word(*object, "text"),
                  .modules = {},
                  .specialization = std::move(*specialization),
                  .keepsChecks = object->getBoolean("checks").value_or(false)};
  for (const json::Value &value : *modules)
    if (const json::Object *module = value.getAsObject())
      made.modules.emplace_back(word(*module, "name"), word(*module, "text"));
  return made;
}

PendingReproducer::PendingReproducer(const std::string &folder,
                                     const CompileRequest &request,
                                     const CacheKey &key,
                                     const TargetInfo &target) {
  const SourceFile *file = folder.empty() ? nullptr : fileOf(*request.module);
  if (!file || llvm::sys::fs::create_directories(folder))
    return;
  std::string kernel = request.declaration->name.str();
  llvm::SmallString<128> place(folder);
  llvm::sys::path::append(place, kernel + "-" + key.text() + ".json");
  path = place.str().str();
  reproducer = {.kernel = kernel,
                .target = targetNamed(target.name) ? target.name : "native",
                .stage = "",
                .name = file->name().str(),
                .text = file->text().str(),
                .modules = {},
                .specialization = request.specialization,
                .keepsChecks = request.keepsChecks};
  addModules(*request.module, reproducer);
  write();
}

PendingReproducer::~PendingReproducer() {
  if (isOpen() && !isKept)
    llvm::sys::fs::remove(path);
}

void PendingReproducer::reached(std::string_view stage) {
  reproducer.stage = stage;
  write();
}

const std::string &PendingReproducer::keep() {
  isKept = true;
  return path;
}

/// As a whole: the process may end while it is written.
void PendingReproducer::write() const {
  (void)replaceFile(path, writeReproducer(reproducer));
}
