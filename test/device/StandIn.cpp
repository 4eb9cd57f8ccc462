// A driver library without a device: records, checks lifetimes, fails on
// request. Built twice, as CUDA's library and as HIP's.
#include "test/device/StandIn.h"

#include "test/device/StandInState.h"

#include <cstdlib>
#include <cstring>

using namespace standin;

#if STANDIN_HIP
#define QN_SYMBOL(cuda, hip) #hip
#define QN_HIP_DRIVER(name, symbol, ...)                                       \
  extern "C" STANDIN_EXPORT int standin_##name(__VA_ARGS__) __asm__(#symbol);
#else
#define QN_SYMBOL(cuda, hip) #cuda
#define QN_CUDA_DRIVER(name, symbol, ...)                                      \
  extern "C" STANDIN_EXPORT int standin_##name(__VA_ARGS__) __asm__(#symbol);
#endif
#define QN_DRIVER(name, cuda, hip, ...)                                        \
  extern "C" STANDIN_EXPORT int standin_##name(__VA_ARGS__) __asm__(           \
      QN_SYMBOL(cuda, hip));
#include "jit/device/Driver.def"

int standin_init(unsigned flags) {
  Call call("init");
  call.check(flags == 0, "flags must be zero");
  return call.code;
}

int standin_driverVersion(int *version) {
  Call call("driverVersion");
  *version = 13000;
  return call.code;
}

int standin_deviceCount(int *count) {
  Call call("deviceCount");
  *count = call.code ? 0 : kDevices;
  return call.code;
}

int standin_device(int *device, int ordinal) {
  Call call("device");
  call.check(ordinal >= 0 && ordinal < kDevices, "no such device");
  *device = ordinal;
  return call.code;
}

int standin_deviceName(char *name, int size, int device) {
  Call call("deviceName");
  call.checkDevice(device);
  std::strncpy(name, "Stand-in", static_cast<std::size_t>(size));
  return call.code;
}

int standin_deviceAttribute(int *value, int attribute, int device) {
  Call call("deviceAttribute");
  call.checkDevice(device);
  *value = attributeValue(attribute);
  return call.code;
}

int standin_deviceMemory(std::size_t *bytes, int device) {
  Call call("deviceMemory");
  call.checkDevice(device);
  *bytes = std::size_t(1) << 30;
  return call.code;
}

int standin_allocate(std::uint64_t *address, std::size_t bytes) {
  Call call("allocate");
  call.checkContext();
  call.check(bytes > 0, "no bytes asked for");
  if (!call.code)
    *address = makeMemory(bytes);
  return call.code;
}

int standin_release(std::uint64_t address) {
  Call call("release");
  call.checkContext();
  releaseMemory(call, address);
  return call.code;
}

int standin_allocateInOrder(std::uint64_t *address, std::size_t bytes,
                            void *stream) {
  Call call("allocateInOrder");
  call.checkContext();
  call.check(attributeValue(poolsAttribute) == 1, "there are no pools");
  call.checkStream(stream);
  if (!call.code)
    *address = makeMemory(bytes);
  return call.code;
}

int standin_releaseInOrder(std::uint64_t address, void *stream) {
  Call call("releaseInOrder");
  call.checkContext();
  call.checkStream(stream);
  releaseMemory(call, address);
  return call.code;
}

int standin_ownPool(void **pool, int device) {
  Call call("ownPool");
  call.checkDevice(device);
  *pool = poolOf(device);
  return call.code;
}

int standin_askPool(void *pool, int attribute, void *value) {
  Call call("askPool");
  call.check(pool && attribute == 4, "no such attribute of a pool");
  if (pool && !call.code)
    std::memcpy(value, pool, sizeof(std::uint64_t));
  return call.code;
}

int standin_setPool(void *pool, int attribute, void *value) {
  Call call("setPool");
  call.check(pool && attribute == 4, "no such attribute of a pool");
  if (pool && !call.code)
    std::memcpy(pool, value, sizeof(std::uint64_t));
  return call.code;
}

int standin_copyIn(std::uint64_t target, const void *source, std::size_t bytes,
                   void *stream) {
  Call call("copyIn");
  call.checkContext();
  call.check(attributeValue(capturing) != 1, "a graph would copy this later");
  call.checkStream(stream);
  if (call.checkMemory(target, bytes) && !call.code)
    std::memcpy(reinterpret_cast<void *>(target), source, bytes);
  return call.code;
}

int standin_copyOut(void *target, std::uint64_t source, std::size_t bytes,
                    void *stream) {
  Call call("copyOut");
  call.checkContext();
  call.checkStream(stream);
  if (call.checkMemory(source, bytes) && !call.code)
    std::memcpy(target, reinterpret_cast<void *>(source), bytes);
  return call.code;
}

int standin_fillBytes(std::uint64_t target, unsigned char value,
                      std::size_t bytes, void *stream) {
  Call call("fillBytes");
  call.checkContext();
  call.checkStream(stream);
  if (call.checkMemory(target, bytes) && !call.code)
    std::memset(reinterpret_cast<void *>(target), value, bytes);
  return call.code;
}

int standin_loadModule(void **module, const void *image, unsigned count,
                       int *options, void **values) {
  Call call("loadModule");
  call.checkContext();
  loadModule(call, module, static_cast<const char *>(image), count, options,
             values);
  return call.code;
}

int standin_unloadModule(void *module) {
  Call call("unloadModule");
  call.checkContext();
  unloadModule(call, module);
  return call.code;
}

int standin_function(void **function, void *module, const char *name) {
  Call call("function");
  call.checkContext();
  if (!call.code)
    call.code = findFunction(call, function, module, name);
  return call.code;
}

int standin_functionAttribute(int *value, int attribute, void *function) {
  Call call("functionAttribute");
  call.checkFunction(function);
  *value = attribute == 4 ? 32 : 0;
  return call.code;
}

int standin_launch(void *function, unsigned gridX, unsigned gridY,
                   unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned sharedBytes, void *stream,
                   void **parameters, void **extra) {
  Call call("launch");
  call.checkContext();
  call.checkStream(stream);
  call.check(extra == nullptr, "`extra` is not used");
  call.check(std::size_t(blockX) * blockY * blockZ <= 1024,
             "more than 1024 threads a block");
  call.check(gridX && gridY && gridZ && blockX && blockY && blockZ,
             "an empty launch");
  if (call.checkFunction(function) && !call.code)
    call.code = launch(function, {gridX, gridY, gridZ, blockX, blockY, blockZ},
                       sharedBytes, parameters);
  return call.code;
}

int standin_blocksPerProcessor(int *blocks, void *function, int blockSize,
                               std::size_t sharedBytes) {
  Call call("blocksPerProcessor");
  call.checkFunction(function);
  *blocks = blockSize > 0 && sharedBytes < 200000 ? 2048 / blockSize : 0;
  return call.code;
}

int standin_createStream(void **stream, unsigned) {
  Call call("createStream");
  call.checkContext();
  makeObject(call, Kind::Stream, stream);
  return call.code;
}

int standin_destroyStream(void *stream) {
  Call call("destroyStream");
  call.checkContext();
  destroyObject(call, Kind::Stream, stream);
  return call.code;
}

int standin_waitForStream(void *stream) {
  Call call("waitForStream");
  call.checkStream(stream);
  call.check(attributeValue(capturing) != 1, "nothing captured ever ends");
  if (!call.code)
    everythingDone();
  return call.code;
}

int standin_isCapturing(void *stream, int *status) {
  Call call("isCapturing");
  call.checkStream(stream);
  *status = attributeValue(capturing) == 1 ? 1 : 0;
  return call.code;
}

int standin_waitForAll() {
  Call call("waitForAll");
  call.checkContext();
  if (!call.code)
    everythingDone();
  return call.code;
}

int standin_streamWaitsFor(void *stream, void *event, unsigned) {
  Call call("streamWaitsFor");
  call.checkStream(stream);
  call.checkObject(Kind::Event, event);
  return call.code;
}

int standin_createEvent(void **event, unsigned) {
  Call call("createEvent");
  call.checkContext();
  makeObject(call, Kind::Event, event);
  return call.code;
}

int standin_destroyEvent(void *event) {
  Call call("destroyEvent");
  call.checkContext();
  destroyObject(call, Kind::Event, event);
  return call.code;
}

int standin_recordEvent(void *event, void *stream) {
  Call call("recordEvent");
  call.checkObject(Kind::Event, event);
  call.checkStream(stream);
  return call.code;
}

int standin_waitForEvent(void *event) {
  Call call("waitForEvent");
  call.checkObject(Kind::Event, event);
  return call.code;
}

int standin_eventTime(float *milliseconds, void *first, void *last) {
  Call call("eventTime");
  call.checkObject(Kind::Event, first);
  call.checkObject(Kind::Event, last);
  *milliseconds = 0.5F;
  return call.code;
}

#if STANDIN_HIP

extern "C" STANDIN_EXPORT const char *hipGetErrorString(int code) {
  return errorText(code);
}

int standin_currentDevice(int *device) {
  Call call("currentDevice");
  *device = currentDevice();
  return call.code;
}

int standin_setDevice(int device) {
  Call call("setDevice");
  call.checkDevice(device);
  setCurrentDevice(device);
  return call.code;
}

int standin_deviceProperties(void *properties, int device) {
  Call call("deviceProperties");
  call.checkDevice(device);
  constexpr char name[] = "gfx942:sramecc+:xnack-";
  std::memcpy(static_cast<char *>(properties) + 396, name, sizeof(name));
  return call.code;
}

#else

int standin_errorText(int code, const char **text) {
  *text = errorText(code);
  return *text ? 0 : 1;
}

int standin_retainContext(void **context, int device) {
  Call call("retainContext");
  call.checkDevice(device);
  retainContext(call, device, context);
  return call.code;
}

int standin_releaseContext(int device) {
  Call call("releaseContext");
  call.checkDevice(device);
  releaseContext(call, device);
  return call.code;
}

int standin_currentContext(void **context) {
  Call call("currentContext");
  *context = currentContext();
  return call.code;
}

int standin_pushContext(void *context) {
  Call call("pushContext");
  call.checkObject(Kind::Context, context);
  if (!call.code)
    pushContext(context);
  return call.code;
}

int standin_popContext(void **context) {
  Call call("popContext");
  popContext(call, context);
  return call.code;
}

int standin_allowShared(void *function, int attribute, int value) {
  Call call("allowShared");
  call.checkFunction(function);
  call.check(attribute == 8 && value > 48 * 1024, "nothing to allow");
  return call.code;
}

#endif
