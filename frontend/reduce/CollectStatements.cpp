// Statements: left out, or replaced by what stands inside of them.
#include "frontend/reduce/Collector.h"

#include "llvm/ADT/StringExtras.h"

using namespace quern;
using namespace quern::reduce;
using namespace quern::ast;

void Collector::block(const Block &block) {
  llvm::SmallVector<Span, 16> spans;
  for (const Stmt *stmt : block.statements)
    spans.push_back(stmt->span);
  bool isPass =
      spans.size() == 1 && block.statements.front()->kind == Stmt::Kind::Pass;
  if (block.isInline && !isPass)
    add(block.span, "pass");
  else if (!block.isInline && !isPass)
    runs(spans, "pass");
  for (const Stmt *stmt : block.statements)
    statement(*stmt);
}

static std::size_t indentOf(llvm::StringRef text, std::size_t offset) {
  std::size_t begin = text.rfind('\n', offset);
  begin = begin == llvm::StringRef::npos ? 0 : begin + 1;
  return text.find_first_not_of(" \t", begin) - begin;
}

/// The body instead of the statement around it.
void Collector::hoist(const Stmt &stmt, const Block &body) {
  if (body.statements.empty())
    return;
  if (body.isInline)
    return add(stmt.span, text(body.span));
  Span first = body.statements.front()->span;
  Span last = body.statements.back()->span;
  llvm::StringRef whole = file.text();
  std::size_t outer = indentOf(whole, local(stmt.span.begin));
  std::size_t inner = indentOf(whole, local(first.begin));
  Edit inside = lines(first, last);
  std::string moved;
  for (llvm::StringRef line :
       llvm::split(whole.slice(inside.begin, inside.end).rtrim('\n'), '\n'))
    moved += (line.drop_front(
                  std::min(inner - std::min(inner, outer), line.size())) +
              "\n")
                 .str();
  Edit edit = lines(stmt.span, stmt.span);
  edit.text = std::move(moved);
  edits.push_back(std::move(edit));
}

void Collector::branches(const IfStmt &stmt) {
  for (auto [number, branch] : llvm::enumerate(stmt.branches)) {
    hoist(stmt, branch.body);
    expression(branch.condition);
    block(branch.body);
    if (number == 0)
      continue;
    // From `elif` to the end of its block.
    Span before = stmt.branches[number - 1].body.span;
    add({before.end, branch.body.span.end}, "");
  }
  if (!stmt.otherwise)
    return;
  hoist(stmt, *stmt.otherwise);
  block(*stmt.otherwise);
  add({stmt.branches[stmt.branches.size() - 1].body.span.end,
       stmt.otherwise->span.end},
      "\n");
}

void Collector::annotation(std::uint32_t behind, const Type *written) {
  if (written)
    add({behind, written->span.end}, "");
}

void Collector::statement(const Stmt &stmt) {
  if (const auto *let = llvm::dyn_cast<LetStmt>(&stmt)) {
    annotation(let->pattern.span.end, let->type);
    expression(let->value);
  } else if (const auto *var = llvm::dyn_cast<VarStmt>(&stmt)) {
    annotation(var->name.span.end, var->type);
    expression(var->value);
  } else if (const auto *assign = llvm::dyn_cast<AssignStmt>(&stmt)) {
    for (const Expr *target : assign->targets)
      children(*target);
    expression(assign->value);
  } else if (const auto *branch = llvm::dyn_cast<IfStmt>(&stmt)) {
    branches(*branch);
  } else if (const auto *loop = llvm::dyn_cast<ForStmt>(&stmt)) {
    hoist(stmt, loop->body);
    children(*loop->iterable);
    block(loop->body);
  } else if (const auto *loop = llvm::dyn_cast<WhileStmt>(&stmt)) {
    hoist(stmt, loop->body);
    expression(loop->condition);
    if (loop->bound)
      add({loop->condition->span.end, loop->bound->span.end}, "");
    expression(loop->bound);
    block(loop->body);
  } else if (const auto *end = llvm::dyn_cast<ReturnStmt>(&stmt)) {
    expression(end->value);
  } else if (const auto *each = llvm::dyn_cast<EachStmt>(&stmt)) {
    hoist(stmt, each->body);
    children(*each->iterable);
  } else if (const auto *launch = llvm::dyn_cast<LaunchStmt>(&stmt)) {
    for (llvm::ArrayRef<const Expr *> list :
         {llvm::ArrayRef(launch->grid), llvm::ArrayRef(launch->block)})
      for (const Expr *extent : list)
        expression(extent);
  } else if (const auto *storage = llvm::dyn_cast<StorageStmt>(&stmt)) {
    type(storage->type);
  } else if (const auto *effect = llvm::dyn_cast<ExpressionStmt>(&stmt)) {
    children(*effect->expr);
  }
}
