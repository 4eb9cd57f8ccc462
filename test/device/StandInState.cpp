// The memory of a stand-in driver.
#include "test/device/StandInState.h"

#include "test/device/StandIn.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace standin {
namespace {

struct Function {
  std::string name;
  const std::string *image = nullptr;
  std::vector<std::size_t> parameterBytes;
};

struct Module {
  std::unique_ptr<std::string> image; ///< as a text, where it is one
  std::vector<std::unique_ptr<Function>> functions;
};

struct State {
  std::recursive_mutex lock;
  long calls = 0, failing = -1;
  int failure = 0;
  std::set<std::pair<Kind, void *>> objects;
  std::map<std::uint64_t, std::size_t> memory;
  std::map<void *, Module> modules;
  std::string violations, launches;
  std::uintptr_t next = 0x1000;
  std::set<void *> running; ///< functions launched and not waited for
  std::uint64_t pools[kDevices] = {};
  /// Those of the devices, and how many hold each.
  std::map<int, std::pair<void *, int>> contexts;
  std::map<int, int> attributes; ///< instead of the usual ones
  standin_runner runner = nullptr;
  std::uint64_t begin = 0; ///< of the memory, where launches are executed
};

/// A library has one state, as a driver has.
State &state() {
  static State one;
  return one;
}

thread_local std::vector<void *> contexts;
thread_local int device = 0;

const Function *known(void *function) {
  for (const auto &[handle, module] : state().modules)
    for (const auto &candidate : module.functions)
      if (candidate.get() == function)
        return candidate.get();
  return nullptr;
}

/// The size that a PTX parameter's declaration states; bytes as an array.
std::size_t bytesOf(const std::string &declaration) {
  if (std::size_t open = declaration.find('['); open != std::string::npos)
    return std::strtoull(declaration.c_str() + open + 1, nullptr, 10);
  for (std::size_t bytes : {8, 4, 2, 1})
    for (const char *letter : {".u", ".b", ".s", ".f"})
      if (declaration.find(letter + std::to_string(8 * bytes) + " ") !=
          std::string::npos)
        return bytes;
  return 8;
}

void readEntries(Module &module, const std::string &text) {
  const std::string entry = ".entry ";
  for (std::size_t at = text.find(entry); at != std::string::npos;
       at = text.find(entry, at + 1)) {
    std::size_t open = text.find('(', at), close = text.find(')', at);
    auto function = std::make_unique<Function>();
    std::size_t begin = at + entry.size();
    function->name = text.substr(begin, open - begin);
    std::string parameters = text.substr(open, close - open);
    const std::string parameter = ".param ";
    for (std::size_t p = parameters.find(parameter); p != std::string::npos;
         p = parameters.find(parameter, p + 1))
      function->parameterBytes.push_back(
          bytesOf(parameters.substr(p, parameters.find(',', p) - p)));
    module.functions.push_back(std::move(function));
  }
}

/// Kernels of a code object are the symbols that end in `.kd`.
void readKernels(Module &module, const char *image) {
  std::uint64_t sections = 0;
  std::uint16_t size = 0, count = 0;
  std::memcpy(&sections, image + 40, sizeof sections);
  std::memcpy(&size, image + 58, sizeof size);
  std::memcpy(&count, image + 60, sizeof count);
  std::string all(image, sections + std::uint64_t(size) * count);
  const std::string ending(".kd", 4);
  for (std::size_t at = all.find(ending); at != std::string::npos;
       at = all.find(ending, at + 1)) {
    auto function = std::make_unique<Function>();
    std::size_t begin = all.rfind('\0', at) + 1;
    function->name = all.substr(begin, at - begin);
    module.functions.push_back(std::move(function));
  }
}

void readImage(Module &module, const char *image) {
  if (std::memcmp(image, "\177ELF", 4) == 0)
    return readKernels(module, image);
  module.image = std::make_unique<std::string>(image);
  readEntries(module, *module.image);
  for (const auto &function : module.functions)
    function->image = module.image.get();
}

/// Behind all that is there, with a gap.
std::uint64_t nextAddress() {
  constexpr std::uint64_t step = 256;
  std::uint64_t end = state().begin;
  if (!state().memory.empty()) {
    auto last = std::prev(state().memory.end());
    end = last->first + last->second;
  }
  return (end / step + 2) * step;
}

} // namespace

Call::Call(const char *name) : name(name) {
  std::lock_guard guard(state().lock);
  if (state().calls++ == state().failing)
    code = state().failure;
}

void Call::check(bool holds, const char *mistake) {
  if (holds)
    return;
  std::lock_guard guard(state().lock);
  state().violations += std::string(name) + ": " + mistake + "\n";
  code = code ? code : 1;
}

void Call::checkDevice(int device) {
  check(device >= 0 && device < kDevices, "no such device");
}

void Call::checkContext() {
#if !STANDIN_HIP
  check(!contexts.empty(), "no context is current");
#endif
}

void Call::checkObject(Kind kind, void *object) {
  std::lock_guard guard(state().lock);
  check(state().objects.contains({kind, object}),
        "an object that is not alive");
}

void Call::checkStream(void *stream) {
  if (stream)
    checkObject(Kind::Stream, stream);
}

bool Call::checkMemory(std::uint64_t address, std::size_t bytes) {
  std::lock_guard guard(state().lock);
  auto after = state().memory.upper_bound(address);
  bool inside =
      after != state().memory.begin() &&
      address + bytes <= std::prev(after)->first + std::prev(after)->second;
  check(inside, "memory that is not allocated");
  return inside;
}

bool Call::checkFunction(void *function) {
  std::lock_guard guard(state().lock);
  bool alive = known(function) != nullptr;
  check(alive, "a function of no loaded module");
  return alive;
}

int attributeValue(int attribute) {
#if STANDIN_HIP
  const std::map<int, int> values = {
      {87, 64}, {63, 304}, {74, 65536}, {56, 1024}, {poolsAttribute, 1}};
#else
  const std::map<int, int> values = {
      {10, 32}, {16, 132}, {97, 232448},       {1, 1024},
      {75, 9},  {76, 0},   {poolsAttribute, 1}};
#endif
  std::lock_guard guard(state().lock);
  if (auto other = state().attributes.find(attribute);
      other != state().attributes.end())
    return other->second;
  auto found = values.find(attribute);
  return found == values.end() ? -1 : found->second;
}

const char *errorText(int code) {
  switch (code) {
  case 1:
    return "invalid argument";
  case 2:
    return "out of memory";
  case 218:
    return "a kernel image is invalid";
  case 500:
    return "named symbol not found";
  default:
    return nullptr;
  }
}

std::uint64_t makeMemory(std::size_t bytes) {
  std::lock_guard guard(state().lock);
  auto address = state().runner
                     ? nextAddress()
                     : reinterpret_cast<std::uint64_t>(std::malloc(bytes));
  state().memory[address] = bytes;
  return address;
}

void releaseMemory(Call &call, std::uint64_t address) {
  std::lock_guard guard(state().lock);
  bool known = state().memory.erase(address) != 0;
  call.check(known, "memory that is not allocated");
  if (known && !state().runner)
    std::free(reinterpret_cast<void *>(address));
}

void makeObject(Call &call, Kind kind, void **object) {
  std::lock_guard guard(state().lock);
  if (call.code)
    return;
  *object = reinterpret_cast<void *>(state().next += 16);
  state().objects.insert({kind, *object});
}

void destroyObject(Call &call, Kind kind, void *object) {
  std::lock_guard guard(state().lock);
  call.check(state().objects.erase({kind, object}) != 0,
             "an object that is not alive");
}

/// A device has one, however many ask for it.
void retainContext(Call &call, int device, void **context) {
  std::lock_guard guard(state().lock);
  if (call.code)
    return;
  auto &[handle, holders] = state().contexts[device];
  if (holders++ == 0)
    makeObject(call, Kind::Context, &handle);
  *context = handle;
}

void releaseContext(Call &call, int device) {
  std::lock_guard guard(state().lock);
  auto &[handle, holders] = state().contexts[device];
  call.check(holders > 0, "nothing to give back");
  if (holders == 0)
    return;
  --holders;
  if (holders == 0)
    destroyObject(call, Kind::Context, handle);
}

void pushContext(void *context) { contexts.push_back(context); }

void *currentContext() { return contexts.empty() ? nullptr : contexts.back(); }

void *poolOf(int device) { return &state().pools[device]; }

void everythingDone() {
  std::lock_guard guard(state().lock);
  state().running.clear();
}

void popContext(Call &call, void **context) {
  call.check(!contexts.empty(), "no context to pop");
  if (contexts.empty())
    return;
  *context = contexts.back();
  contexts.pop_back();
}

int currentDevice() { return device; }
void setCurrentDevice(int chosen) { device = chosen; }

void loadModule(Call &call, void **module, const char *image, unsigned count,
                const int *options, void **values) {
  std::lock_guard guard(state().lock);
  if (call.code)
    return;
  if (std::strstr(image, "syntax error")) {
    constexpr int kErrorLog = 5;
    constexpr char log[] = "line 3: syntax error";
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == kErrorLog)
        std::memcpy(values[i], log, sizeof(log));
    call.code = 218;
    return;
  }
  *module = reinterpret_cast<void *>(state().next += 16);
  readImage(state().modules[*module], image);
}

void unloadModule(Call &call, void *module) {
  std::lock_guard guard(state().lock);
  auto found = state().modules.find(module);
  call.check(found != state().modules.end(), "a module that is not loaded");
  if (found == state().modules.end())
    return;
  for (const auto &function : found->second.functions)
    call.check(!state().running.contains(function.get()),
               "a kernel of the module may still run");
  state().modules.erase(found);
}

int findFunction(Call &call, void **function, void *module, const char *name) {
  std::lock_guard guard(state().lock);
  auto found = state().modules.find(module);
  call.check(found != state().modules.end(), "a module that is not loaded");
  if (found == state().modules.end())
    return 1;
  for (const auto &candidate : found->second.functions)
    if (candidate->name == name) {
      *function = candidate.get();
      return 0;
    }
  return 500;
}

int launch(void *function, const std::array<unsigned, 6> &shape,
           unsigned sharedBytes, void **parameters) {
  std::lock_guard guard(state().lock);
  const Function *launched = known(function);
  std::string line = launched->name + " grid";
  for (std::size_t i = 0; i < shape.size(); ++i)
    line += (i == 3 ? " block " : " ") + std::to_string(shape[i]);
  line += " shared " + std::to_string(sharedBytes) + " parameters";
  for (std::size_t i = 0; i < launched->parameterBytes.size(); ++i) {
    std::size_t bytes = launched->parameterBytes[i];
    std::vector<std::uint64_t> words((bytes + 7) / 8);
    std::memcpy(words.data(), parameters[i], bytes);
    line += " " + std::to_string(bytes);
    for (std::uint64_t word : words)
      line += ":" + std::to_string(word);
  }
  state().launches += line + "\n";
  state().running.insert(function);
  if (!state().runner || !launched->image)
    return 0;
  return state().runner(launched->image->c_str(), launched->name.c_str(),
                        shape.data(), sharedBytes, parameters[0]);
}

} // namespace standin

using standin::state;

STANDIN_EXPORT void standin_reset() {
  std::lock_guard guard(state().lock);
  state().calls = 0;
  state().failing = -1;
  state().violations.clear();
  state().launches.clear();
  state().attributes.clear();
}

STANDIN_EXPORT void standin_execute(standin_runner runner,
                                    std::uint64_t begin) {
  std::lock_guard guard(state().lock);
  state().runner = runner;
  state().begin = begin;
}

STANDIN_EXPORT long standin_memory(std::uint64_t *pairs, long most) {
  std::lock_guard guard(state().lock);
  long count = 0;
  for (auto [address, bytes] : state().memory) {
    if (count == most)
      break;
    pairs[2 * count] = address;
    pairs[2 * count + 1] = bytes;
    ++count;
  }
  return count;
}

STANDIN_EXPORT void standin_attribute(int attribute, int value) {
  std::lock_guard guard(state().lock);
  state().attributes[attribute] = value;
}

STANDIN_EXPORT void standin_fail(long call, int code) {
  std::lock_guard guard(state().lock);
  state().failing = call;
  state().failure = code;
}

STANDIN_EXPORT long standin_calls() { return state().calls; }

STANDIN_EXPORT long standin_live() {
  std::lock_guard guard(state().lock);
  return static_cast<long>(state().objects.size() + state().memory.size() +
                           state().modules.size());
}

STANDIN_EXPORT const char *standin_violations() {
  return state().violations.c_str();
}
STANDIN_EXPORT const char *standin_launches() {
  return state().launches.c_str();
}
