// The IR half as a library: a kernel in the qn dialect in, LLVM IR and its
// packet out. Holds no MLIR header.
#pragma once

#include "dsl/KernelAbi.h"
#include "dsl/Stages.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace mlir {
class MLIRContext;
class Operation;
} // namespace mlir

namespace quern {

/// Why a lowering stopped, at a place of the source.
struct DslError {
  std::string message, file;
  int line = 0, column = 0;
  std::string code = "QN2060";
  std::string hint = {};
};

/// An MLIR context with every dialect loaded. Costs milliseconds to make: keep
/// it and lend it to one compilation at a time.
class DslContext {
public:
  DslContext();
  ~DslContext();
  DslContext(DslContext &&) noexcept;
  DslContext &operator=(DslContext &&) noexcept;
  mlir::MLIRContext &mlir();

private:
  friend std::optional<struct LoweredModule>
  lower(DslContext &, class QnModule, const struct LoweringOptions &,
        std::vector<DslError> &);
  struct State;
  std::unique_ptr<State> state;
};

/// A module of the qn dialect with one kernel; the context must outlive it.
class QnModule {
public:
  explicit QnModule(mlir::Operation *owned);
  ~QnModule();
  QnModule(QnModule &&) noexcept;
  QnModule &operator=(QnModule &&) noexcept;
  mlir::Operation *operation() const { return module; }

private:
  mlir::Operation *module = nullptr;
};

/// Reads the text of a module of the qn dialect.
std::optional<QnModule> parseQn(DslContext &context, std::string_view text,
                                std::vector<DslError> &errors);

struct LoweringOptions {
  TargetInfo target;
  StageObserver observer = {};
  /// Whether code says which lines of the text it is made of.
  bool hasLines = false;
  /// Whether every bounds check stays, whatever is proved (docs/bounds.md).
  bool keepsChecks = false;
  /// The kernel's text with the schedule that it takes instead of its own, and
  /// the name of that text in errors; or nothing.
  std::string_view schedule = {}, scheduleName = {};
  /// Which code is made; without it all that the kernel may need.
  ChooseVariant choose = {};
};

/// One kernel in LLVM's terms; symbols are those of `abi`.
struct LoweredModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  KernelAbi abi;

  LoweredModule();
  LoweredModule(LoweredModule &&) noexcept;
  ~LoweredModule();
};

/// Consumes the module: canonicalises, schedules, emits loops, converts.
std::optional<LoweredModule> lower(DslContext &context, QnModule module,
                                   const LoweringOptions &options,
                                   std::vector<DslError> &errors);

} // namespace quern
