// The evaluator's one class; its parts stand in a file per construct.
#pragma once

#include "frontend/Budget.h"
#include "frontend/eval/Frame.h"
#include "frontend/typed/Statement.h"

namespace quern::eval {

/// How far a run may go before it fails.
struct Limits {
  std::uint64_t steps = UINT64_MAX; ///< expressions evaluated
  Budget *budget = nullptr; ///< steps and values that several runs share
  unsigned calls = 4096;    ///< within one another
  bool knowsTarget = true;  ///< questions about the target have answers
  bool isExact = false;     ///< `int`s do not wrap, nothing is divided by zero
};

/// Evaluates expressions in a frame and scope at a point. After a failure
/// every value is meaningless and `failure` says what happened first.
class Evaluator {
public:
  std::optional<std::string> failure;
  Limits limits;
  bool portable = false; ///< the declaration that was called is `@portable`

  Value expression(const Expression &node, const Where &where);
  /// What a parameter that was not given is in a frame of its declaration.
  ConstantArgument defaultOf(const typed::ConstantParameter &parameter,
                             const Frame &frame);
  Value callFunction(const Declaration &function,
                     std::vector<ElementType> types,
                     std::vector<ConstantArgument> constants,
                     const std::vector<Value> &arguments);
  /// The results of a lifted body, one meaning each; absent ones are null.
  std::vector<Lifted> liftedBody(const Frame &frame, Scope scope);
  /// Extents per concrete axis: of a known axis, or of a local one at a point.
  Positions extentOf(AxisId axis, const Where &where);
  /// Calls `visit` at every point of the axes, in row-major order, the last
  /// axis fastest.
  void forEach(llvm::ArrayRef<AxisId> axes, const Where &where,
               const std::function<void(const Point &)> &visit);

private:
  using ExpressionList = typed::Expressions;

  Value fail(std::string message);
  bool spendStep();
  bool spend(std::uint64_t count);

  // Expressions.cpp
  Value known(const Expression &node, const Where &where);
  /// The nodes with axes or bodies of their own.
  Value construct(const Expression &node, const Where &where);
  Value constant(const typed::ConstantExpression &node, const Frame &frame);
  Value constantParameter(const typed::ConstantParameterExpression &node,
                          const Where &where);
  Value variable(const typed::VariableExpression &node, const Scope &scope,
                 const Point &point);
  Value binary(const typed::BinaryExpression &node, const Where &where);
  Value exactly(typed::BinaryOperator op, const Value &a, const Value &b);
  Value targetQuery(const typed::TargetExpression &node);
  Value cast(const typed::CastExpression &node, const Where &where);
  Value tuple(const typed::TupleExpression &node, const Where &where);

  // Builtins.cpp
  Value builtin(const typed::BuiltinExpression &node, const Where &where);
  Value position(const typed::BuiltinExpression &node, const Where &where);

  // Access.cpp
  Value load(const typed::LoadExpression &node, const Where &where);
  Value loadTable(const typed::LoadExpression &node, const Where &where);
  Value concat(const typed::ConcatExpression &node, const Where &where);

  // Calls.cpp
  Value call(const typed::CallExpression &node, const Where &where);
  Value indirectCall(const typed::IndirectCallExpression &node,
                     const Where &where);
  Value callRowwise(const typed::CallExpression &node, Frame callee,
                    const Where &where);
  Frame calleeFrame(const Declaration &callee,
                    llvm::ArrayRef<typed::ScalarType> typeArguments,
                    ExpressionList constantArguments, const Where &where);

  // Reductions.cpp
  Value reduce(const typed::ReduceExpression &node, const Where &where);
  Value scan(const typed::ScanExpression &node, const Where &where);
  Value sort(const typed::SortExpression &node, const Where &where);
  Value scatter(const typed::ScatterExpression &node, const Where &where);

  // Statements.cpp
  /// Runs scalar statements; true when a `return` was met.
  bool run(typed::Block block, const Frame &frame, Locals &locals,
           std::vector<Value> &results);
  bool runFor(const typed::ForStatement &loop, const Frame &frame,
              Locals &locals, std::vector<Value> &results);
  bool runWhile(const typed::WhileStatement &loop, const Frame &frame,
                Locals &locals, std::vector<Value> &results);
  void assign(llvm::ArrayRef<const Variable *> targets, bool isTuple,
              const Value &value, Locals &locals);
  bool liftedBlock(typed::Block block, const Frame &frame, Scope &scope,
                   std::vector<Lifted> &results);
  bool liftedControl(const typed::Statement &statement, const Frame &frame,
                     Scope &scope, std::vector<Lifted> &results);
  bool liftedBranch(const Lifted &condition, typed::Block whenTrue,
                    typed::Block whenFalse, const Frame &frame, Scope &scope);
  bool liftedLoop(const typed::ForStatement &loop, const Frame &frame,
                  Scope &scope);

  friend struct Monoid;
};

} // namespace quern::eval
