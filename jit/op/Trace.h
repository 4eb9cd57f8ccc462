// Follows the body of an `op` for given shapes and scalars, and writes down
// what it does to memory.
#pragma once

#include "frontend/typed/ConstantValue.h"
#include "jit/bind/HostEval.h"
#include "jit/op/Plan.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <deque>

namespace quern::jit {

/// What a name in an `op` stands for.
struct OpValue {
  enum class Kind : std::uint8_t { Absent, Number, Tensor, List };
  Kind kind = Kind::Absent;
  HostValue number;
  PlanTensor tensor;
  std::vector<OpValue> elements;

  OpValue() = default;
  OpValue(HostValue number) : kind(Kind::Number), number(number) {}
  OpValue(PlanTensor tensor) : kind(Kind::Tensor), tensor(std::move(tensor)) {}
  static OpValue list(std::vector<OpValue> elements) {
    OpValue value;
    value.kind = Kind::List;
    value.elements = std::move(elements);
    return value;
  }
};

/// A callee that was bound, and the operands it wants a pointer for.
struct BoundCall {
  BoundKernel kernel;
  std::vector<Operand> operands;
};
using CallBinder =
    llvm::function_ref<std::optional<BoundCall>(const CallRequest &request)>;

/// Where the tensors of an `op` are. The host fills and copies by itself; on a
/// device kernels do.
struct OpPlace {
  DeviceId id = {};
  std::shared_ptr<Device> device;           ///< null on the host
  const typed::Declaration *copy = nullptr; ///< `copy(x)`
  const typed::Declaration *fill = nullptr; ///< `fill(x, value)`
};

/// Whom the session's owner sends; either may be null.
struct OpHelpers {
  std::shared_ptr<ExternRunner> externs;
  std::shared_ptr<CodeWaiter> waiter;
};

class OpTracer {
public:
  /// `bind` makes the kernels that are called; it reports by itself.
  OpTracer(CallBinder bind, OpHelpers helpers, OpPlace place, Pool &pool,
           DiagnosticEngine &report)
      : bind(bind), helpers(std::move(helpers)), place(std::move(place)),
        pool(pool), report(report) {}

  /// Parameters and then outputs become pointers of the plan. Nothing comes
  /// back after an error.
  std::unique_ptr<OpPlan> trace(const CallRequest &request, Solution solution,
                                std::vector<Operand> &operands,
                                std::vector<TensorSpec> &outputs);

  /// What failed while steps ran that `host` waits for, if anything did.
  const std::optional<Error> &failure() const { return failed; }

private:
  /// One `op` being followed.
  struct Frame {
    const typed::Declaration &declaration;
    Solution solution;
    llvm::DenseMap<const typed::Variable *, OpValue> values;
    std::vector<OpValue> results;
    llvm::ArrayRef<TensorView> likes; ///< what the results are to lie like
    bool hasReturned = false;

    Frame(const typed::Declaration &declaration, Solution solution)
        : declaration(declaration), solution(std::move(solution)) {}
  };
  using MaybeValue = std::optional<OpValue>;

  // Trace.cpp
  bool enter(Frame &entered, llvm::ArrayRef<OpValue> arguments);
  bool execute(typed::Block block);
  bool execute(const typed::Statement &statement);
  bool executeReturn(typed::Expressions values);
  bool executeLet(const typed::LetStatement &statement);
  bool executeFor(const typed::ForStatement &statement);
  bool executeWhile(const typed::WhileStatement &statement);
  bool assign(llvm::ArrayRef<const typed::Variable *> targets, OpValue value);
  std::optional<bool> decide(const typed::Expression &condition, bool isConst);
  bool countRound(Span span);
  unsigned temporary(std::int64_t bytes);
  PlanTensor allocate(ElementType type, Extents sizes);
  /// Holds `element` everywhere; nothing where that is no element of `type`.
  std::optional<PlanTensor> filled(ElementType type, Extents sizes,
                                   const HostValue &element);

  // TraceMoves.cpp
  /// Every element of `target` becomes the one with these bits.
  bool fill(const PlanTensor &target, const std::uint64_t (&bits)[2]);
  bool copy(const PlanTensor &target, const PlanTensor &source);
  bool launchMove(const typed::Declaration &move, const PlanTensor &source,
                  std::optional<std::int64_t> number, const PlanTensor &target);

  // TraceLists.cpp
  OpValue tensorArgument(const typed::Parameter &parameter,
                         const TensorView &given, std::string name,
                         std::vector<Operand> &operands);
  MaybeValue tensorArguments(const typed::Parameter &parameter,
                             const Argument &argument,
                             std::vector<Operand> &operands);
  bool executeForEach(const typed::ForEachStatement &statement);
  using Round = llvm::function_ref<bool()>;
  bool forEach(llvm::ArrayRef<const typed::Variable *> variables,
               typed::Expressions expressions, Span span, Round round);
  bool forRange(const typed::Variable *variable, typed::Expressions range,
                Span span, Round round);
  MaybeValue list(const typed::ListExpression &expression);
  MaybeValue madeList(const typed::ListExpression &expression);
  MaybeValue listElement(const typed::BuiltinExpression &expression,
                         const OpValue &list);
  void gather(std::size_t first);
  MaybeValue readOnHost(const typed::BuiltinExpression &expression);

  // TraceOutputs.cpp
  static OpValue scalarsOf(const typed::Parameter &parameter,
                           const Argument &argument, const CallRequest &request,
                           const Solution &solution);
  /// Whether the numbers given are ones of the parameter's type; reports where
  /// not.
  bool fits(const typed::Parameter &parameter, const OpValue &given,
            const Solution &solution);
  static Operand operandOf(llvm::StringRef name, Span span,
                           const PlanTensor &tensor, void *data);
  void layLikeResult(const typed::Variable *variable, PlanTensor &made);
  bool isAsDeclared(const typed::Result &declared, const PlanTensor &result);
  /// Whether each element of the caller's tensor has a place that an `op` may
  /// write to; reports where not.
  bool mayWrite(const Operand &operand, const TensorView &given);
  bool giveOutputs(const CallRequest &request, std::vector<Operand> &operands,
                   std::vector<TensorSpec> &outputs);
  bool giveTensor(const CallRequest &request, const typed::Result &declared,
                  const PlanTensor &result, std::vector<Operand> &operands,
                  std::vector<TensorSpec> &outputs);
  bool giveOutput(const PlanTensor &result, const PlanTensor &target);

  // TraceValues.cpp
  MaybeValue evaluate(const typed::Expression &expression);
  std::optional<std::vector<OpValue>>
  evaluateAll(typed::Expressions expressions);
  std::optional<HostValue> numberOf(const typed::Expression &expression);
  std::optional<HostValue> number(const typed::Expression &expression,
                                  unsigned element = 0);
  std::optional<std::vector<HostValue>>
  hostValues(const typed::Expression &expression, unsigned element);
  std::optional<Extents> numbers(typed::Expressions expressions);
  MaybeValue hostBuiltin(const typed::BuiltinExpression &expression);
  MaybeValue allocation(const typed::BuiltinExpression &expression);
  MaybeValue view(const typed::BuiltinExpression &expression);
  std::optional<PlanTensor> viewOf(const typed::BuiltinExpression &expression,
                                   PlanTensor tensor, Numbers numbers);
  std::optional<PlanTensor> slice(const typed::BuiltinExpression &expression,
                                  PlanTensor tensor);
  std::optional<PlanTensor> reshape(PlanTensor tensor, Numbers sizes);
  typed::ConstantEnvironment constantEnvironment();
  std::optional<typed::Constant> known(const typed::Expression &expression);
  std::nullopt_t unsupported(Span span, llvm::StringRef what);
  /// Whether a tensor of these sizes has room in memory; reports where not.
  bool canLie(Span span, ElementType type, llvm::ArrayRef<std::int64_t> sizes);

  // TraceCalls.cpp
  static std::optional<Argument> toArgument(const OpValue &value);
  static OpValue oneOrList(std::vector<OpValue> results);
  MaybeValue call(const typed::CallExpression &expression,
                  llvm::ArrayRef<TensorView> likes = {});
  MaybeValue callKernel(const CallRequest &request,
                        llvm::ArrayRef<OpValue> arguments);
  MaybeValue callExtern(const typed::ExternExpression &expression);
  MaybeValue externResults(const typed::ExternExpression &expression,
                           llvm::ArrayRef<TensorSpec> specs, PlanStep step);
  MaybeValue callOp(const CallRequest &request,
                    llvm::ArrayRef<OpValue> arguments);
  std::optional<std::vector<std::pair<std::string, Argument>>>
  constantsOf(const typed::CallExpression &expression);

  CallBinder bind;
  OpHelpers helpers;
  OpPlace place;
  Pool &pool;
  DiagnosticEngine &report;
  std::vector<void *> pointers; ///< of the parameters' tensors
  std::optional<Error> failed;
  std::unique_ptr<OpPlan> plan;
  Frame *frame = nullptr;
  std::size_t rounds = 0;
  unsigned depth = 0;
};

} // namespace quern::jit
