// Finds what has to be stored before it is read, along axes that are no
// operand's.
#include "frontend/typed/AlongLocal.h"

#include "frontend/typed/Walk.h"

#include "llvm/ADT/DenseSet.h"

using namespace quern;
using namespace quern::typed;

namespace {

/// The variables of a body that are assigned, and what is made of them.
class Moving {
public:
  explicit Moving(Block body) { collect(body); }
  bool empty() const { return names.empty(); }
  bool isBehind(const Expression *expression) const {
    bool found = false;
    walk(expression, [&](const Expression &e) {
      const auto *name = llvm::dyn_cast<VariableExpression>(&e);
      found |= name && names.contains(name->variable);
    });
    return found;
  }

private:
  void collect(Block body);
  llvm::DenseSet<const Variable *> names;
};

void Moving::collect(Block body) {
  for (const Statement *statement : body) {
    if (const auto *let = llvm::dyn_cast<LetStatement>(statement))
      for (const Variable *variable : let->variables)
        if (variable &&
            (variable->kind == VariableKind::Var || isBehind(let->value)))
          names.insert(variable);
    if (const auto *branch = llvm::dyn_cast<IfStatement>(statement)) {
      collect(branch->then);
      collect(branch->otherwise);
    }
    if (const auto *counted = llvm::dyn_cast<ForStatement>(statement)) {
      names.insert(counted->variable);
      collect(counted->body);
    }
    if (const auto *open = llvm::dyn_cast<WhileStatement>(statement))
      collect(open->body);
  }
}

/// Whether a call's text is to be looked into: a body with an error may call
/// itself.
bool isRowwise(const CallExpression *call) {
  return call && call->callee->kind == DeclarationKind::Rowwise &&
         !call->callee->hasError;
}

using Seen = llvm::DenseSet<const Declaration *>;

/// Whether a body stores something as a whole before it goes on; false of what
/// was `seen`.
bool storesWhole(const Declaration &declaration, Seen &seen) {
  if (!seen.insert(&declaration).second)
    return false;
  Moving moving(declaration.body);
  bool found = false;
  walk(declaration.body, [&](const Expression &e) {
    const auto *load = llvm::dyn_cast<LoadExpression>(&e);
    const auto *call = llvm::dyn_cast<CallExpression>(&e);
    found |= llvm::isa<ScatterExpression>(e) ||
             (load && !load->positions.empty() &&
              load->base->type->isScalar() && moving.isBehind(load->base)) ||
             (isRowwise(call) && storesWhole(*call->callee, seen));
  });
  return found;
}

bool storesWhole(const Declaration &declaration) {
  Seen seen;
  return storesWhole(declaration, seen);
}

/// Whether a call's value is stored when it is read at other places.
bool isStored(const Expression &base) {
  const auto *call = llvm::dyn_cast<CallExpression>(&base);
  return isRowwise(call) && !Moving(call->callee->body).empty();
}

} // namespace

WholeAlongLocal typed::wholeAlongLocal(const Declaration &declaration) {
  WholeAlongLocal found;
  walk(declaration.body, [&](const Expression &e) {
    const auto *load = llvm::dyn_cast<LoadExpression>(&e);
    const auto *call = llvm::dyn_cast<CallExpression>(&e);
    bool isMoved = load && !load->positions.empty() && isStored(*load->base);
    const Expression &value = isMoved ? *load->base : e;
    bool isWhole = isMoved || llvm::isa<ScatterExpression>(e) ||
                   (isRowwise(call) && storesWhole(*call->callee));
    if (!isWhole || found.expression)
      return;
    for (AxisId axis : value.axes())
      if (declaration.axis(axis).kind == AxisKind::Local)
        found = {&value, axis};
  });
  return found;
}
