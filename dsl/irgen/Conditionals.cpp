// `if` in lifted text: both arms are computed, or branched to, and joined.
#include "dsl/irgen/Assigned.h"
#include "dsl/irgen/Generator.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

Values Generator::selectValues(Scalar condition, Values whenTrue,
                               const Values &whenFalse) {
  if (whenTrue.size() < whenFalse.size())
    return whenFalse;
  for (auto [left, right] : llvm::zip(whenTrue, whenFalse)) {
    if (left.isScalar() && right.isScalar())
      left = b.select(condition, left.scalar,
                      coerce(right.scalar, left.scalar.type));
    else if (left.kind == Value::Kind::List)
      left.elements = selectValues(condition, left.elements, right.elements);
  }
  return whenTrue;
}

/// An arm hands out the variables it may assign, whether it has returned, and
/// what it returned.
Values Generator::runArm(typed::Block block, AssignedVariables assigned,
                         bool returns) {
  execute(block);
  return handOut(assigned, returns);
}

Values Generator::handOut(AssignedVariables assigned, bool returns) {
  Values values;
  for (const Variable *variable : assigned)
    values.push_back(whole(current(*variable)));
  if (!returns)
    return values;
  ReturnState &returned = frame->returned;
  values.push_back(returned.flag ? returned.flag : b.boolean(returned.always));
  if (returned.values.empty())
    returned.values = emptyReturn();
  for (Value &value : returned.values)
    values.push_back(whole(value));
  return values;
}

Values Generator::emptyReturn() {
  const Declaration &declaration = frame->declaration;
  if (declaration.reduction)
    return {zeroOf(*frame->partType)};
  Values values;
  for (const typed::Result &result : declaration.results)
    values.push_back(result.type ? zeroOf(*result.type)
                                 : zeroOf(frame->type(result.element)));
  return values;
}

void Generator::executeIf(const typed::IfStatement &statement) {
  if (statement.isConst)
    return execute(decide(*statement.condition) ? statement.then
                                                : statement.otherwise);
  Scalar condition = scalar(*statement.condition);
  at(statement.span);
  executeArms(condition, statement.then, statement.otherwise,
              /*otherwiseReturns=*/false);
}

/// `otherwiseReturns`: the second arm stands for lanes that have returned.
void Generator::executeArms(Scalar condition, typed::Block then,
                            typed::Block otherwise, bool otherwiseReturns) {
  Location location = b.location;
  SmallVector<const Variable *, 4> assigned;
  bool returns = collectCarried(then, assigned);
  returns |= collectCarried(otherwise, assigned);
  returns |= otherwiseReturns;
  llvm::erase_if(assigned, [&](const Variable *variable) {
    return frame->binding(*variable).kind == Binding::Kind::Unset;
  });
  ReturnState before = frame->returned;
  Values old;
  for (const Variable *variable : assigned)
    old.push_back(whole(current(*variable)));
  bool thenAlways = false, elseAlways = false;
  auto thenArm = [&]() {
    Values values = runArm(then, assigned, returns);
    thenAlways = frame->returned.always;
    return values;
  };
  auto elseArm = [&]() {
    frame->returned = before;
    frame->returned.always |= otherwiseReturns;
    for (auto [variable, value] : llvm::zip(assigned, old))
      assign(*variable, value);
    Values values = runArm(otherwise, assigned, returns);
    elseAlways = frame->returned.always;
    return values;
  };
  b.location = location;
  Values results = branch(condition, thenArm, elseArm);
  takeResults(results, assigned, returns);
  if (returns && thenAlways && elseAlways)
    frame->returned.always = true;
}

/// Binds what `runArm` handed out, after both ways were joined.
void Generator::takeResults(Values &results, AssignedVariables assigned,
                            bool returns) {
  auto next = results.begin();
  for (const Variable *variable : assigned)
    assign(*variable, std::move(*next++));
  if (!returns)
    return;
  ReturnState &returned = frame->returned;
  returned.flag = next++->scalar;
  returned.values.assign(next, results.end());
  returned.always = false;
  APInt known;
  if (matchPattern(returned.flag.value, m_ConstantInt(&known))) {
    returned.always = !known.isZero();
    returned.flag = Scalar();
    if (!returned.always)
      returned.values.clear();
  }
}
