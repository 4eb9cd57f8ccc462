// What a stand-in driver remembers, and the checks of one call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#define STANDIN_EXPORT __attribute__((visibility("default")))

namespace standin {

constexpr int kDevices = 2;

enum class Kind : std::uint8_t { Context, Stream, Event };

/// One driver call: counted, failed on request, its mistakes written down.
class Call {
public:
  explicit Call(const char *name);

  void check(bool holds, const char *mistake);
  void checkDevice(int device);
  /// Work needs a current context (CUDA); HIP always has a current device.
  void checkContext();
  void checkObject(Kind kind, void *object);
  void checkStream(void *stream);
  bool checkMemory(std::uint64_t address, std::size_t bytes);
  bool checkFunction(void *function);

  int code = 0;

private:
  const char *name;
};

int attributeValue(int attribute);
const char *errorText(int code);

std::uint64_t makeMemory(std::size_t bytes);
/// Gives back even when the call is to fail: what a driver does with the
/// object then is its own affair, and the caller cannot try again.
void releaseMemory(Call &call, std::uint64_t address);
void makeObject(Call &call, Kind kind, void **object);
void destroyObject(Call &call, Kind kind, void *object);
void retainContext(Call &call, int device, void **context);
void releaseContext(Call &call, int device);

/// The number by which a vendor asks whether there are pools of memory.
constexpr int poolsAttribute = STANDIN_HIP ? 88 : 115;
void *poolOf(int device);
/// One of ours: whether streams say that they are captured.
constexpr int capturing = 0;
/// Somebody has waited for all that was launched.
void everythingDone();

void *currentContext();
void pushContext(void *context);
void popContext(Call &call, void **context);
int currentDevice();
void setCurrentDevice(int device);

/// Reads the entries and their parameters out of the image's text; an image
/// with "syntax error" in it is refused, with a log where one is asked for.
void loadModule(Call &call, void **module, const char *image, unsigned count,
                const int *options, void **values);
void unloadModule(Call &call, void *module);
int findFunction(Call &call, void **function, void *module, const char *name);
/// Writes it down and, where somebody executes launches, hands it over.
int launch(void *function, const std::array<unsigned, 6> &shape,
           unsigned sharedBytes, void **parameters);

} // namespace standin
