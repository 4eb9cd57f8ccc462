// The compiler as a library: text in, launch handles out. Includes std only.
#pragma once

#include <chrono>
#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#if defined(QUERN_BUILDING)
#define QUERN_API __attribute__((visibility("default")))
#else
#define QUERN_API
#endif

namespace quern {

namespace jit {
class ListedCalls;
} // namespace jit

/// Element types in the order of the language's own table.
enum class DType : std::uint8_t {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F8E4M3,
  F8E5M2,
  F16,
  BF16,
  F32,
  F64,
  C64,
  C128
};

/// One message about a source text or a call.
struct Diagnostic {
  std::string code; ///< "QN0123"
  std::string severity;
  std::string message;
  std::string file;
  int line = 0, column = 0; ///< from 1; 0 when there is no place
};

/// Why something did not happen: the rendered text and its parts.
struct Error {
  std::string message;
  std::vector<Diagnostic> diagnostics;
};

template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::move(value)) {}
  Result(Error error) : state(std::move(error)) {}
  explicit operator bool() const { return state.index() == 0; }
  T &operator*() { return std::get<0>(state); }
  const T &operator*() const { return std::get<0>(state); }
  T *operator->() { return &std::get<0>(state); }
  const Error &error() const { return std::get<1>(state); }

private:
  std::variant<T, Error> state;
};

/// Where memory is: in the host's, or in that of a GPU by its number.
enum class DeviceKind : std::uint8_t { Cpu, Cuda, Hip };
struct DeviceId {
  DeviceKind kind = DeviceKind::Cpu;
  int number = 0;
  bool operator==(const DeviceId &) const = default;
};

/// A tensor of the caller's; nothing is owned. Strides count elements. `data`
/// may be null while only shapes are being talked about.
struct TensorView {
  void *data = nullptr;
  DType type = DType::F32;
  std::span<const std::int64_t> sizes;
  std::span<const std::int64_t> strides;
  bool writable = true;
  DeviceId device = {};
};

/// What a parameter is given: nothing (an absent optional), a tensor, a host
/// scalar, the name of a function or type for a compile-time parameter (a
/// `bool[n]` as n digits), a list of scalars (`int[*S]`, `int[3]`), or a list
/// of tensors.
using Argument =
    std::variant<std::monostate, TensorView, std::int64_t, double, bool,
                 std::string, std::vector<std::int64_t>, std::vector<double>,
                 std::vector<TensorView>, std::complex<double>>;

/// Shape and type of an output that the caller is to allocate.
struct TensorSpec {
  DType type = DType::F32;
  std::vector<std::int64_t> sizes;
};

enum class DeclarationKind : std::uint8_t {
  Function,
  Elementwise,
  Reduction,
  Rowwise,
  Kernel,
  Op
};

struct ParameterInfo {
  std::string name;
  std::string type; ///< as written: "T[*R, C]"
  bool isTensor = false, isList = false, optional = false, isMutable = false;
  bool compileTime = false; ///< stands in `[ ]`
};

struct DeclarationInfo {
  std::string name, module, file;
  int line = 0;
  DeclarationKind kind = DeclarationKind::Elementwise;
  std::string documentation;
  std::vector<ParameterInfo> parameters;
  std::vector<std::string> results;     ///< types as written
  std::vector<std::string> resultNames; ///< "" where a result has none
  std::vector<bool> resultIsList;
  std::string backward;           ///< declaration of the derivative, or ""
  std::vector<std::string> saves; ///< what the derivative is given
};

/// A stage of the compiler as a text: its name as `--emit` spells it, the text.
using StageText = std::pair<std::string, std::string>;

/// A declaration with its axes solved for given shapes, its code ready, and its
/// packet filled but for pointers. Copies share the code, not the packet.
class QUERN_API BoundKernel {
public:
  BoundKernel();
  ~BoundKernel();
  BoundKernel(BoundKernel &&) noexcept;
  BoundKernel &operator=(BoundKernel &&) noexcept;
  BoundKernel(const BoundKernel &);
  BoundKernel &operator=(const BoundKernel &);

  /// Outputs the declaration yields, in order (not the `mut` parameters, nor
  /// optional results that the call switched off).
  std::span<const TensorSpec> outputs() const;
  /// How many outputs each declared result has, which the call decides for a
  /// list and an optional one; empty where each has one.
  std::span<const std::int64_t> outputCounts() const;
  /// Waits for the code; the first call compiles or loads it. Once `stop` is
  /// requested the work that nobody else waits for ends soon, with an error.
  Result<std::monostate> ready(std::stop_token stop = {});
  /// The same where the code is in this process already; else false, and
  /// nothing has happened.
  bool readyAtOnce();
  /// Runs on the session's pool, or on the device of the tensors it was bound
  /// for, in the order of `stream` (the device's default one when null).
  /// `pointers` holds the data of every tensor parameter that was given a
  /// tensor, in order, those of a list one by one, then of every output that is
  /// present. An elementwise parameter that was given a number has no pointer.
  Result<std::monostate> run(std::span<void *const> pointers,
                             void *stream = nullptr);
  /// False where the binding read values of tensors (`host` in an `op`), and
  /// has run what they depend on: it is to be run once, for the same tensors.
  bool isReusable() const;
  /// Whether two pointers of `run`, by number, may be one: an output, and a
  /// tensor that lies as it does and of which each element is read before it is
  /// written.
  bool mayCoincide(std::size_t written, std::size_t read) const;
  /// How many pointers `run` takes.
  std::size_t pointerCount() const;
  /// Where the tensors are that it was bound for, and the outputs must be.
  DeviceId device() const;
  /// Compiles once more and shows every stage from `qn` to `asm`; nothing for
  /// an `op`, which is a plan of launches.
  Result<std::vector<StageText>> stages() const;
  /// Bytes of scratch memory one run needs; allocated by `run`.
  std::int64_t workspaceBytes() const;

  struct State; ///< the library's own

private:
  friend class Module;
  friend class jit::ListedCalls;
  std::shared_ptr<State> state;
};

/// A checked source text.
class QUERN_API Module {
public:
  std::span<const DeclarationInfo> declarations() const;
  /// "did you mean `x`?" for a name that is not declared, or empty.
  std::string hintFor(std::string_view missing) const;
  /// What the checker warned about, each rendered as text for people. Whoever
  /// loads a text for a person shows them, once.
  std::span<const std::string> warnings() const;

  /// The same declarations, whose kernels keep every bounds check.
  Module keepingChecks() const;

  /// Solves axes and types for the arguments, one per parameter in order (those
  /// at the end that are optional or have a default may be left out), then the
  /// compile-time parameters that are not inferred, by name. `outs`, when
  /// not empty, gives the outputs' layouts; else they are contiguous.
  Result<BoundKernel>
  bind(std::string_view declaration, std::span<const Argument> arguments,
       std::span<const TensorView> outs = {},
       std::span<const std::pair<std::string, Argument>> constants = {}) const;

  struct State; ///< the library's own

private:
  friend class Session;
  std::shared_ptr<const State> state;
};

/// One `@aten` row of the library: everything a graph compiler may ask about
/// an operator, derived from the declaration alone.
struct OperatorRow {
  std::string overload;    ///< "aten::silu", "aten::add.Tensor"
  std::string declaration; ///< "silu"
  std::string module;      ///< "activations"
  std::string file;
  int line = 0;
  DeclarationKind kind = DeclarationKind::Elementwise;
  std::vector<ParameterInfo> parameters;
  std::vector<std::string> results;
  /// The attribute's other arguments, as text: {"dim", "C"}, {"promotes",
  /// "int_to_float"}, {"half_to_float", "false"}.
  std::vector<std::pair<std::string, std::string>> bindings;
  std::vector<std::string> dtypes; ///< constraint of each type parameter
  std::string backward;            ///< declaration of the derivative, or ""
  /// Sorts or scatters, which one thread of a GPU does along all of an axis.
  bool isSerial = false;
};

/// Says that a declaration of an added module implements an operator.
struct OperatorBinding {
  std::string overload;    ///< "mylib::silu_mul"
  std::string declaration; ///< "silu_mul"
};

/// Runs `body(context, member)` on up to `members` threads, as member 0 on the
/// caller's, and comes back when all of them have; or does nothing and gives
/// false, where these threads are not awake.
using HostTeam = bool (*)(void (*body)(void *context, int member),
                          void *context, int members);

/// How many threads the host wants now, as of this call; 0: every processor.
using HostThreads = int (*)();

struct SessionOptions {
  int threads = 0;                  ///< 0: what the host says, else all
  HostThreads threadsNow = nullptr; ///< asked at every launch
  HostTeam team = nullptr;          ///< the host's own threads, where awake
  std::string cacheDirectory;       ///< "": the default; "-": none
  std::string target;               ///< "": this machine
};

/// Counts since the session began.
struct Counters {
  std::int64_t compiles = 0, diskHits = 0, launches = 0;
};

/// The machine that a session makes code for, as far as a choice between its
/// kernels and those of others depends on it.
struct MachineInfo {
  unsigned vectorBytes = 16;
  bool hasTiles = false; ///< registers of 16 x 16 words (AMX), for bf16
  bool isIntel = false;  ///< whose own libraries are written for it
};

/// A call in an `op` of what is no Quern text: `extern "aten::mm"(a, b)`.
struct ExternCall {
  std::string symbol;
  /// Names are empty for arguments by position.
  std::vector<std::pair<std::string, Argument>> arguments;
};

/// Who runs such calls: a framework that the session's owner knows.
class ExternRunner {
public:
  virtual ~ExternRunner() = default;
  /// Types and shapes of the results; the arguments have no data.
  virtual Result<std::vector<TensorSpec>> infer(const ExternCall &call) = 0;
  virtual Result<std::monostate> run(const ExternCall &call,
                                     std::span<const TensorView> results) = 0;
};

/// Waits for code in the place of a caller that meanwhile heeds its user, who
/// may end the call.
class CodeWaiter {
public:
  virtual ~CodeWaiter() = default;
  /// Comes back when all are ready, or with why the call goes no further. Asked
  /// at every value that an `op` reads, whether or not code is to be made.
  /// Where nobody waits, code is made when it is to run.
  virtual Result<std::monostate> wait(const std::vector<BoundKernel> &) {
    return std::monostate();
  }
  /// Asked at least ten times a second while a run goes on for long, by the
  /// thread that called; false ends it early.
  virtual bool goesOn() { return true; }

protected:
  /// Whether this thread's user was answered long ago; he counts as answered
  /// then. Looking for him costs more than a clock.
  static bool isTime() {
    using Clock = std::chrono::steady_clock;
    static thread_local Clock::time_point last;
    Clock::time_point now = Clock::now();
    bool isLong = now - last >= std::chrono::milliseconds(100);
    if (isLong)
      last = now;
    return isLong;
  }
};

/// One JIT: target, caches, threads, the library. Thread-safe.
class QUERN_API Session {
public:
  static Result<std::shared_ptr<Session>> create(const SessionOptions &options);
  ~Session();

  /// Parses and checks a text; `name` stands in messages. Once `stop` is
  /// requested the work ends soon, with an error.
  Result<Module> compile(std::string_view source, std::string_view name,
                         std::stop_token stop = {}) const;
  Result<Module> load(const std::string &path, std::stop_token stop = {}) const;
  /// A module of the embedded library by name.
  Result<Module> libraryModule(std::string_view name) const;
  /// Adds a module that other texts may use by its name; its `@aten` rows, and
  /// those of `operators`, come before the library's. A name stands for one
  /// text for good, so it should hold a hash of it.
  Result<Module> addModule(const std::string &name, std::string_view text,
                           std::span<const OperatorBinding> operators = {});
  /// Every `@aten` row: of added modules, the newest first, then the library's.
  Result<std::vector<OperatorRow>> operators() const;
  /// Names this build and the machine that code is made for: what was compiled
  /// elsewhere is of use only under the same name.
  Result<std::string> identity() const;
  Result<MachineInfo> machine() const;
  /// As in the options; fails beyond the limit of QUERN_MOST_THREADS.
  Result<std::monostate> setThreads(int threads);
  /// Without one, an `op` with `extern` cannot be bound.
  void setExternRunner(std::shared_ptr<ExternRunner> runner);
  /// Without one, an `op` waits for code as if nobody could interrupt it.
  void setCodeWaiter(std::shared_ptr<CodeWaiter> waiter);
  Counters counters() const;
  /// Gives back to the system what compiling took and running does not need:
  /// the memory that is free, and the compiler's own code, which the next
  /// kernel to be compiled brings in again within a millisecond or two.
  static void giveBackMemory();

  struct State; ///< the library's own

private:
  Session();
  std::unique_ptr<State> state;
};

} // namespace quern
