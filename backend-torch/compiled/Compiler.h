// The seam to the compiler: text in, launch handles out. A test may stand in
// for the real one.
#pragma once

#include "backend-torch/compiled/BriefMutex.h"
#include "jit/Jit.h"

#include <atomic>
#include <map>

namespace quern {

/// A kernel with its axes solved. Several threads may run it at once.
class LaunchHandle {
public:
  virtual ~LaunchHandle() = default;
  /// Makes its code, unless it is there; ends soon once `stop` is requested.
  virtual Result<std::monostate> ready(std::stop_token stop) = 0;
  Result<std::monostate> ready() { return ready({}); }
  /// Whether its code is there.
  virtual bool readyAtOnce() { return true; }
  /// In the order of `stream`, on a device that has any.
  virtual Result<std::monostate> run(std::span<void *const> pointers,
                                     void *stream) = 0;
  /// Whether an output may have the memory of an input, pointers by number.
  virtual bool mayCoincide(std::size_t /*output*/,
                           std::size_t /*input*/) const {
    return false;
  }
  /// The stages of the compiler, for those who look.
  virtual Result<std::vector<StageText>> stages() const {
    return std::vector<StageText>();
  }
};

class CompiledModule {
public:
  virtual ~CompiledModule() = default;
  virtual Result<std::unique_ptr<LaunchHandle>>
  bind(std::string_view declaration, std::span<const Argument> arguments,
       std::span<const TensorView> outputs,
       std::span<const std::pair<std::string, Argument>> constants) const = 0;
};

class Compiler {
public:
  virtual ~Compiler() = default;
  /// Equal texts are compiled once.
  virtual Result<std::shared_ptr<const CompiledModule>>
  compile(const std::string &text, const std::string &name,
          std::stop_token stop) = 0;
  /// A module of the library.
  virtual Result<std::shared_ptr<const CompiledModule>>
  library(const std::string &name) = 0;
  virtual Result<std::vector<OperatorRow>> operators() const = 0;
};

/// The compiler of a session.
class SessionCompiler : public Compiler {
public:
  explicit SessionCompiler(std::shared_ptr<Session> session,
                           bool keepsChecks = false)
      : session(std::move(session)), keepsChecks(keepsChecks) {}

  Result<std::shared_ptr<const CompiledModule>>
  compile(const std::string &text, const std::string &name,
          std::stop_token stop) override;
  Result<std::shared_ptr<const CompiledModule>>
  library(const std::string &name) override;
  Result<std::vector<OperatorRow>> operators() const override;
  Session &owner() const { return *session; }

private:
  std::shared_ptr<const CompiledModule> keep(Module module) const;

  std::shared_ptr<Session> session;
  bool keepsChecks; ///< kernels keep every bounds check
  BriefMutex mutex;
  /// By text, and by name.
  std::map<std::string, std::shared_ptr<const CompiledModule>> modules, shared;
};

} // namespace quern
