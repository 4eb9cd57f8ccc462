// Reads a recording (launches.json and the bytes of tensors) and launches it.
#include "jit/command/Replay.h"

#include "jit/bind/Numbers.h"
#include "jit/bind/Report.h"
#include "jit/cache/ReadJson.h"
#include "jit/command/Inputs.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace quern;
using namespace quern::command;

namespace {

using Bytes = std::vector<char>;

/// An operand of a launch: where it lies in a named block of memory.
struct Recorded {
  std::string base, file, name;
  ElementType type = ElementType::F32;
  std::int64_t offset = 0; ///< elements
  std::vector<std::int64_t> sizes, strides;

  /// Whether all elements are in so many bytes.
  bool fits(std::size_t bytes) const {
    std::int64_t width = bytesOf(type), low = offset, high = offset;
    for (auto [size, stride] : llvm::zip_equal(sizes, strides)) {
      std::int64_t reach = 0, &end = stride < 0 ? low : high;
      if (size < 0 ||
          (size > 1 && (llvm::MulOverflow(size - 1, stride, reach) ||
                        llvm::AddOverflow(end, reach, end))))
        return false;
    }
    return jit::isAddressable(sizes, type) &&
           (llvm::is_contained(sizes, 0) ||
            (low >= 0 && high < static_cast<std::int64_t>(bytes) / width));
  }

  TensorView view(Bytes &memory, bool writable) const {
    return {.data = memory.data() + offset * bytesOf(type),
            .type = static_cast<DType>(type),
            .sizes = sizes,
            .strides = strides,
            .writable = writable};
  }
};

std::vector<std::int64_t> numbers(const llvm::json::Array *array) {
  std::vector<std::int64_t> result;
  for (const llvm::json::Value &value : *array)
    result.push_back(value.getAsInteger().value_or(0));
  return result;
}

std::optional<Recorded> readOperand(const llvm::json::Value &value) {
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return std::nullopt;
  auto text = [&](llvm::StringRef key) {
    return object->getString(key).value_or("").str();
  };
  auto type = elementTypeNamed(text("type"));
  const llvm::json::Array *sizes = object->getArray("sizes"),
                          *strides = object->getArray("strides");
  if (!type || !sizes || !strides || sizes->size() != strides->size())
    return std::nullopt;
  return Recorded{.base = text("base"),
                  .file = text("file"),
                  .name = text("name"),
                  .type = *type,
                  .offset = object->getInteger("offset").value_or(0),
                  .sizes = numbers(sizes),
                  .strides = numbers(strides)};
}

std::optional<Bytes> readBytes(const llvm::Twine &path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return std::nullopt;
  return Bytes((*file)->getBufferStart(), (*file)->getBufferEnd());
}

/// The largest difference, relative where numbers are above one.
double difference(const Recorded &operand, Bytes &ours, Bytes &theirs) {
  OwnedTensor mine(operand.type, {1}), other(operand.type, {1});
  double worst = 0;
  std::vector<std::int64_t> at(operand.sizes.size());
  std::int64_t count = 1;
  for (std::int64_t size : operand.sizes)
    count *= size;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t place = operand.offset, rest = i;
    for (std::size_t axis = at.size(); axis-- > 0;) {
      place += rest % operand.sizes[axis] * operand.strides[axis];
      rest /= operand.sizes[axis];
    }
    std::size_t width = bytesOf(operand.type), begin = place * width;
    std::memcpy(mine.memory.get(), ours.data() + begin, width);
    std::memcpy(other.memory.get(), theirs.data() + begin, width);
    double a = elementAt(mine, 0), b = elementAt(other, 0);
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    double apart = std::abs(a - b) / std::max(1.0, std::abs(b));
    worst = std::isnan(apart) ? INFINITY : std::max(worst, apart);
  }
  return worst;
}

class Replayer {
public:
  Replayer(Module module, std::string folder)
      : module(std::move(module)), folder(std::move(folder)) {}

  int launch(const llvm::json::Object &launch);

private:
  bool readOperands(const llvm::json::Object &launch, llvm::StringRef key,
                    std::vector<Recorded> &operands);
  int makeMemory();
  int run(const std::string &kernel, std::span<const std::int64_t> more);
  int compare(const std::string &kernel);

  Module module;
  std::string folder;
  std::map<std::string, Bytes> memory; ///< by base; results stay for readers
  std::vector<Recorded> inputs, outputs;
};

/// For every operand of the launch, each file being as long as it must.
int Replayer::makeMemory() {
  for (const Recorded &input : inputs)
    if (!memory.contains(input.base)) {
      auto bytes = readBytes(folder + "/" + input.file);
      if (!bytes)
        return complain(failure, "cannot read `" + input.file + "`");
      memory[input.base] = std::move(*bytes);
    }
  for (const Recorded &output : outputs) {
    auto expected = readBytes(folder + "/" + output.file);
    if (!expected)
      return complain(failure, "cannot read `" + output.file + "`");
    // Other launches may have stored parts of it.
    memory[output.base].resize(expected->size());
  }
  for (const auto *operands : {&inputs, &outputs})
    for (const Recorded &operand : *operands)
      if (!operand.fits(memory[operand.base].size()))
        return complain(failure, "the recording is damaged: `" + operand.file +
                                     "` is too short");
  return success;
}

bool Replayer::readOperands(const llvm::json::Object &launch,
                            llvm::StringRef key,
                            std::vector<Recorded> &operands) {
  operands.clear();
  const llvm::json::Array *array = launch.getArray(key);
  for (std::size_t i = 0; array && i != array->size(); ++i) {
    auto operand = readOperand((*array)[i]);
    if (!operand)
      return false;
    operands.push_back(std::move(*operand));
  }
  return array;
}

int Replayer::launch(const llvm::json::Object &launch) {
  const llvm::json::Array *more = launch.getArray("numbers");
  auto kernel = launch.getString("kernel");
  if (!kernel || !more || !readOperands(launch, "inputs", inputs) ||
      !readOperands(launch, "outputs", outputs))
    return complain(failure, "the recording is damaged");
  // A step that is not a launch may have written what follows reads.
  if (const llvm::json::Array *stale = launch.getArray("stale"))
    for (const llvm::json::Value &base : *stale)
      memory.erase(base.getAsString().value_or("").str());
  int code = run(kernel->str(), numbers(more));
  return code == success ? compare(kernel->str()) : code;
}

int Replayer::run(const std::string &kernel,
                  std::span<const std::int64_t> more) {
  std::vector<Argument> arguments;
  std::vector<TensorView> results;
  std::vector<void *> pointers;
  if (int code = makeMemory(); code != success)
    return code;
  for (const Recorded &input : inputs) {
    arguments.push_back(input.view(memory[input.base], false));
    pointers.push_back(std::get<TensorView>(arguments.back()).data);
  }
  for (std::int64_t number : more)
    arguments.push_back(number);
  for (const Recorded &output : outputs) {
    results.push_back(output.view(memory[output.base], true));
    pointers.push_back(results.back().data);
  }
  auto bound = module.bind(kernel, arguments, results);
  if (!bound)
    return complain(bound.error());
  auto done = bound->run(pointers);
  return done ? success : complain(done.error());
}

int Replayer::compare(const std::string &kernel) {
  for (const Recorded &output : outputs) {
    auto expected = readBytes(folder + "/" + output.file);
    if (!expected || !output.fits(expected->size()))
      return complain(failure, "the recording is damaged");
    double apart = difference(output, memory[output.base], *expected);
    llvm::outs() << llvm::formatv("{0} -> {1}: {2}{3}, ", kernel, output.name,
                                  spelling(output.type),
                                  jit::shapeText(output.sizes));
    if (apart == 0)
      llvm::outs() << "as recorded\n";
    else
      llvm::outs() << llvm::formatv("differs from the recording by {0:e2}\n",
                                    apart);
  }
  return success;
}

} // namespace

std::string command::recordingOf(llvm::StringRef program) {
  llvm::SmallString<128> path(llvm::sys::path::parent_path(program));
  llvm::sys::path::append(path, "recorded", "launches.json");
  return llvm::sys::fs::exists(path) ? path.str().str() : "";
}

/// Modules that lie beside the program, which it may use.
static Result<std::monostate> addModules(Session &session,
                                         const std::string &program) {
  std::error_code problem;
  llvm::StringRef folder = llvm::sys::path::parent_path(program);
  for (llvm::sys::fs::directory_iterator
           it(folder.empty() ? "." : folder, problem),
       end;
       it != end && !problem; it.increment(problem)) {
    llvm::StringRef path = it->path();
    if (llvm::sys::path::extension(path) != ".qn" ||
        llvm::sys::path::filename(path) ==
            llvm::sys::path::filename(llvm::StringRef(program)))
      continue;
    auto text = llvm::MemoryBuffer::getFile(path);
    if (!text)
      continue;
    auto added = session.addModule(llvm::sys::path::stem(path).str(),
                                   (*text)->getBuffer().str());
    if (!added)
      return added.error();
  }
  return std::monostate();
}

int command::replay(const std::string &program, const std::string &recording,
                    int threads) {
  auto session =
      Session::create({.threads = threads, .cacheDirectory = "", .target = ""});
  if (!session)
    return complain(session.error());
  if (auto added = addModules(**session, program); !added)
    return complain(added.error());
  auto module = (*session)->load(program);
  if (!module)
    return complain(module.error());
  auto text = llvm::MemoryBuffer::getFile(recording);
  if (!text)
    return complain(failure, "cannot read `" + recording + "`");
  auto parsed = jit::readJson((*text)->getBuffer());
  const llvm::json::Array *launches = parsed ? parsed->getAsArray() : nullptr;
  if (!launches)
    return complain(failure, "the recording is damaged");
  Replayer replayer(std::move(*module),
                    llvm::sys::path::parent_path(recording).str());
  for (const llvm::json::Value &launch : *launches)
    if (const llvm::json::Object *object = launch.getAsObject())
      if (int code = replayer.launch(*object); code != success)
        return code;
  return success;
}
