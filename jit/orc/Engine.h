// Loads object files into this process and finds their symbols.
#pragma once

#include "jit/Jit.h"
#include "jit/orc/Listeners.h"

#include <memory>
#include <string>
#include <vector>

namespace quern::jit {

/// Code in memory; it goes when the last copy of the handle does.
class LoadedObject {
public:
  virtual ~LoadedObject();
  /// In the order of the names given to load().
  std::vector<void *> addresses;
};

/// A linker in this process. Made on first use by the session; thread-safe.
class Engine {
public:
  static Result<std::shared_ptr<Engine>> create(const Listeners &listeners);
  ~Engine();

  /// Links `object` and finds `symbols` in it. An object may call nothing but
  /// memcpy, memmove and memset: kernels are whole, and a call of anything else
  /// is an error here rather than a surprise at run time.
  Result<std::shared_ptr<LoadedObject>>
  load(std::string object, const std::vector<std::string> &symbols);

private:
  struct State;
  Engine(std::shared_ptr<State> state, const Listeners &listeners);
  std::shared_ptr<State> state;
  bool isNamedForPerf;
};

} // namespace quern::jit
