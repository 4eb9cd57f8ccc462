// Statements: bindings, assignments, returns and branches.
#include "dsl/irgen/Generator.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;
using llvm::cast;
using typed::StatementKind;

/// Behind a `return` that not every lane took, the rest runs for the others.
void Generator::execute(typed::Block statements) {
  std::size_t outer = conditions.size();
  for (auto [number, statement] : llvm::enumerate(statements)) {
    ReturnState &returned = frame->returned;
    if (returned.always)
      break;
    mlir::Value flagBefore = returned.flag.value;
    execute(*statement);
    bool mayHaveReturned = returned.flag && returned.flag.value != flagBefore;
    if (mayHaveReturned && isThreadText())
      return executeRest(statements.drop_front(number + 1));
    if (mayHaveReturned)
      conditions.push_back({returned.flag.value, true});
  }
  conditions.truncate(outer);
}

void Generator::execute(const typed::Statement &statement) {
  at(statement.span);
  switch (statement.kind) {
  case StatementKind::Let:
    return executeLet(cast<typed::LetStatement>(statement));
  case StatementKind::Assign:
    return executeAssign(cast<typed::AssignStatement>(statement));
  case StatementKind::If:
    return executeIf(cast<typed::IfStatement>(statement));
  case StatementKind::For:
    return executeFor(cast<typed::ForStatement>(statement));
  case StatementKind::While:
    return executeWhile(cast<typed::WhileStatement>(statement));
  case StatementKind::Return:
    return executeReturn(cast<typed::ReturnStatement>(statement));
  case StatementKind::Evaluate:
    if (isThreadText()) // no effect in lifted text
      evaluate(*cast<typed::EvaluateStatement>(statement).expression);
    return;
  case StatementKind::Store:
    return executeStore(cast<typed::StoreStatement>(statement));
  case StatementKind::Launch:
    return; // done before all others
  case StatementKind::Storage:
    return executeStorage(cast<typed::StorageStatement>(statement));
  case StatementKind::ForEach:
    unsupported(statement.span, "`each` belongs into an `op`");
    return;
  }
  llvm_unreachable("every kind of statement is executed");
}

/// The value of a let, as many as there are axes where it aligns with a pack.
irgen::Value Generator::valueFor(const Variable &variable,
                                 const Expression &expression) {
  const typed::Type &type = *variable.type;
  if (type.pack.valid())
    return evaluateRanks(expression, frame->axes[type.pack.index].size());
  return coerce(evaluate(expression), type);
}

void Generator::executeLet(const typed::LetStatement &statement) {
  bool changes = this->changes(*statement.value);
  unsigned before = b.created;
  bool canMakeAgain =
      frame->declaration.kind == typed::DeclarationKind::Rowwise && !changes;
  auto define = [&](const Variable &variable, int field) {
    if (variable.kind != typed::VariableKind::Let || !canMakeAgain)
      return;
    Binding &binding = frame->binding(variable);
    binding.definition = statement.value;
    binding.definitionFrame = frame;
    binding.field = field;
    binding.operations = b.created - before;
  };
  if (!statement.isTuple) {
    const Variable *variable = statement.variables.front();
    if (!variable)
      return;
    Value value = valueFor(*variable, *statement.value);
    bind(*variable, changes ? whole(std::move(value)) : std::move(value));
    if (!variable->type->pack.valid())
      define(*variable, -1);
    return;
  }
  Value tuple = evaluate(*statement.value);
  for (auto [field, variable] : llvm::enumerate(statement.variables)) {
    if (!variable)
      continue;
    bind(*variable, coerce(Value(tuple.elements[field]), *variable->type));
    define(*variable, static_cast<int>(field));
  }
}

irgen::Value Generator::current(const Variable &variable) {
  Binding &binding = frame->binding(variable);
  if (binding.kind == Binding::Kind::Tensor)
    return binding.isAssigned ? binding.stored : lookup(variable);
  if (binding.kind == Binding::Kind::Unset || binding.made.empty())
    return Value();
  return binding.made.back().value;
}

/// A `mut` tensor keeps its old value for reads.
void Generator::assign(const Variable &variable, Value value) {
  Binding &binding = frame->binding(variable);
  if (binding.kind != Binding::Kind::Tensor) {
    binding.kind = Binding::Kind::Value;
    binding.made.clear();
    binding.made.push_back(madeHere(std::move(value)));
    return;
  }
  binding.stored = std::move(value);
  binding.isAssigned = true;
}

void Generator::executeAssign(const typed::AssignStatement &statement) {
  Value value = evaluate(*statement.value);
  if (changes(*statement.value))
    value = whole(std::move(value));
  Values values;
  if (statement.targets.size() == 1)
    values.push_back(std::move(value));
  else
    values = std::move(value.elements);
  for (auto [target, part] : llvm::zip(statement.targets, values)) {
    if (!target)
      continue;
    Value next = coerce(std::move(part), *target->type);
    // Lanes that have returned must not change what is stored at the end.
    Scalar gone = frame->returned.flag, ahead = frame->returned.ahead;
    if (ahead)
      gone = gone ? b.bitOr(gone, ahead) : ahead;
    if (gone && next.isScalar() &&
        target->kind == typed::VariableKind::Parameter)
      next = b.select(gone, current(*target).scalar, next.scalar);
    assign(*target, std::move(next));
  }
}

void Generator::executeReturn(const typed::ReturnStatement &statement) {
  ReturnState &returned = frame->returned;
  Values values;
  for (const Expression *expression : statement.values)
    values.push_back(expression ? evaluate(*expression) : Value());
  if (returned.flag)
    values = selectValues(returned.flag, returned.values, values);
  returned.values = std::move(values);
  returned.always = true;
  returned.flag = Scalar();
}
