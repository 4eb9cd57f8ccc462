// Which parameters a `rowwise` reads only where the element that it writes
// lies.
#include "frontend/typed/Walk.h"
#include "jit/bind/Binding.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

namespace {

/// One declaration, and those that it calls.
class Reader {
public:
  struct Found {
    bool isSimple = true;  ///< no value is made of several elements
    std::vector<bool> own; ///< by parameter
  };

  const Found &read(const Declaration &declaration);

private:
  using Variables = llvm::DenseSet<const Variable *>;

  bool isSimple(const Declaration &declaration);
  bool isSimple(Block block);
  bool isSimple(const Expression &e);
  bool staysOwn(const Declaration &declaration, const Variable *parameter);
  bool readsElsewhere(const Declaration &declaration, const Variables &made);

  llvm::DenseMap<const Declaration *, Found> known;
};

/// Calls `visit` with what each statement assigns, and to what.
void eachAssigned(Block block,
                  llvm::function_ref<void(llvm::ArrayRef<const Variable *>,
                                          const Expression *)>
                      visit) {
  for (const Statement *statement : block) {
    if (auto *let = llvm::dyn_cast<LetStatement>(statement)) {
      visit(let->variables, let->value);
    } else if (auto *assign = llvm::dyn_cast<AssignStatement>(statement)) {
      visit(assign->targets, assign->value);
    } else if (auto *branch = llvm::dyn_cast<IfStatement>(statement)) {
      eachAssigned(branch->then, visit);
      eachAssigned(branch->otherwise, visit);
    } else if (auto *rounds = llvm::dyn_cast<ForStatement>(statement)) {
      eachAssigned(rounds->body, visit);
    } else if (auto *rounds = llvm::dyn_cast<WhileStatement>(statement)) {
      eachAssigned(rounds->body, visit);
    }
  }
}

} // namespace

bool Reader::isSimple(const Expression &e) {
  switch (e.kind) {
  case ExpressionKind::Reduce:
  case ExpressionKind::Scan:
  case ExpressionKind::Sort:
  case ExpressionKind::Scatter:
  case ExpressionKind::Concat:
  case ExpressionKind::Extern:
  case ExpressionKind::List:
  case ExpressionKind::FunctionReference:
  case ExpressionKind::IndirectCall:
    return false;
  case ExpressionKind::Call:
    return read(*llvm::cast<CallExpression>(e).callee).isSimple;
  default:
    return true;
  }
}

bool Reader::isSimple(Block block) {
  return llvm::all_of(block, [this](const Statement *statement) {
    switch (statement->kind) {
    case StatementKind::Store:
    case StatementKind::Launch:
    case StatementKind::Storage:
    case StatementKind::ForEach:
    case StatementKind::Evaluate:
      return false;
    case StatementKind::If: {
      auto *branch = llvm::cast<IfStatement>(statement);
      return isSimple(branch->then) && isSimple(branch->otherwise);
    }
    case StatementKind::For:
      return isSimple(llvm::cast<ForStatement>(statement)->body);
    case StatementKind::While:
      return isSimple(llvm::cast<WhileStatement>(statement)->body);
    default:
      return true;
    }
  });
}

bool Reader::isSimple(const Declaration &declaration) {
  bool simple = declaration.kind != typed::DeclarationKind::Reduction &&
                declaration.kind != typed::DeclarationKind::Kernel &&
                declaration.kind != typed::DeclarationKind::Op &&
                isSimple(declaration.body);
  walk(declaration.body,
       [&](const Expression &e) { simple = simple && isSimple(e); });
  return simple &&
         llvm::none_of(declaration.parameters, [](const Parameter &parameter) {
           return parameter.isMutable || parameter.isList;
         });
}

static bool holdsAny(const Expression *expression,
                     const llvm::DenseSet<const Variable *> &variables) {
  bool holds = false;
  walk(expression, [&](const Expression &e) {
    auto *name = llvm::dyn_cast<VariableExpression>(&e);
    holds |= name && variables.contains(name->variable);
  });
  return holds;
}

/// Whether a value made of the parameter is read at a position of its own, here
/// or in what is called.
bool Reader::readsElsewhere(const Declaration &declaration,
                            const Variables &made) {
  bool elsewhere = false;
  walk(declaration.body, [&](const Expression &e) {
    if (auto *load = llvm::dyn_cast<LoadExpression>(&e))
      elsewhere |= holdsAny(load->base, made);
    auto *call = llvm::dyn_cast<CallExpression>(&e);
    if (!call || elsewhere)
      return;
    const Found &callee = read(*call->callee);
    for (auto [number, argument] : llvm::enumerate(call->arguments))
      if (!callee.own[number] && holdsAny(argument, made))
        elsewhere = true;
  });
  return elsewhere;
}

bool Reader::staysOwn(const Declaration &declaration,
                      const Variable *parameter) {
  Variables made = {parameter};
  for (std::size_t before = 0; before != made.size();) {
    before = made.size();
    eachAssigned(declaration.body, [&](auto targets, const Expression *value) {
      if (holdsAny(value, made))
        made.insert(targets.begin(), targets.end());
    });
  }
  return !readsElsewhere(declaration, made);
}

const Reader::Found &Reader::read(const Declaration &declaration) {
  if (auto found = known.find(&declaration); found != known.end())
    return found->second;
  // Nothing calls itself.
  Found found;
  found.isSimple = isSimple(declaration);
  for (const Parameter &parameter : declaration.parameters)
    found.own.push_back(found.isSimple &&
                        staysOwn(declaration, parameter.variable));
  return known[&declaration] = std::move(found);
}

/// Whether a parameter lies along the same axes as every result.
static bool isLikeAll(const Parameter &parameter,
                      llvm::ArrayRef<typed::Result> results) {
  return parameter.isTensor &&
         llvm::all_of(results, [&](const typed::Result &result) {
           return llvm::equal(result.dimensions, parameter.dimensions,
                              [](const Dimension &a, const Dimension &b) {
                                return a.parts == b.parts;
                              });
         });
}

std::vector<bool> quern::jit::ownElements(const Declaration &declaration) {
  bool isElementwise = declaration.kind == typed::DeclarationKind::Elementwise;
  std::vector<bool> own(declaration.parameters.size(), isElementwise);
  if (declaration.kind != typed::DeclarationKind::Rowwise)
    return own;
  Reader reader;
  const Reader::Found &found = reader.read(declaration);
  for (auto [number, parameter] : llvm::enumerate(declaration.parameters))
    own[number] =
        found.own[number] && isLikeAll(parameter, declaration.results);
  return own;
}
