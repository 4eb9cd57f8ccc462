// Statements, one line each.
#include "frontend/ast/Printer.h"

using namespace quern::ast;

std::string quern::ast::dumpText(const Pattern &pattern) {
  std::string text;
  for (const Identifier &name : pattern.names)
    text += (text.empty() ? "" : " ") + name.text().str();
  return pattern.isTuple ? "(" + text + ")" : text;
}

static std::string annotation(const Type *type) {
  return type ? ": " + dumpText(type) : "";
}

void Printer::block(const Block &block) {
  ++level;
  for (const Stmt *each : block.statements)
    stmt(*each);
  --level;
}

void Printer::ifStmt(const IfStmt &stmt) {
  llvm::StringRef word = stmt.isConst ? "if const " : "if ";
  for (const IfBranch &branch : stmt.branches) {
    line(word + dumpText(branch.condition));
    block(branch.body);
    word = "elif ";
  }
  if (!stmt.otherwise)
    return;
  line("else");
  block(*stmt.otherwise);
}

/// The text of a statement that holds no block.
static std::string oneLine(const Stmt &stmt) {
  switch (stmt.kind) {
  case Stmt::Kind::Let: {
    const auto &let = llvm::cast<LetStmt>(stmt);
    return "let " + dumpText(let.pattern) + annotation(let.type) + " = " +
           dumpText(let.value);
  }
  case Stmt::Kind::Var: {
    const auto &var = llvm::cast<VarStmt>(stmt);
    return "var " + var.name.text().str() + annotation(var.type) + " = " +
           dumpText(var.value);
  }
  case Stmt::Kind::Assign: {
    const auto &assign = llvm::cast<AssignStmt>(stmt);
    llvm::StringRef word = assign.isCompound ? spelling(assign.op) : "";
    return "assign " + dumpText(assign.targets) + " " + word.str() + "= " +
           dumpText(assign.value);
  }
  case Stmt::Kind::Return: {
    const auto &result = llvm::cast<ReturnStmt>(stmt);
    return result.value ? "return " + dumpText(result.value) : "return";
  }
  case Stmt::Kind::Launch: {
    const auto &launch = llvm::cast<LaunchStmt>(stmt);
    return "launch grid(" + dumpText(launch.grid) + ") block(" +
           dumpText(launch.block) + ")";
  }
  case Stmt::Kind::Storage: {
    const auto &storage = llvm::cast<StorageStmt>(stmt);
    return (storage.isShared ? "shared " : "local ") +
           storage.name.text().str() + annotation(storage.type);
  }
  case Stmt::Kind::Expression:
    return dumpText(llvm::cast<ExpressionStmt>(stmt).expr);
  case Stmt::Kind::Break:
    return "break";
  case Stmt::Kind::Continue:
    return "continue";
  case Stmt::Kind::Pass:
    return "pass";
  default:
    return "<error>";
  }
}

void Printer::stmt(const Stmt &stmt) {
  switch (stmt.kind) {
  case Stmt::Kind::If:
    return ifStmt(llvm::cast<IfStmt>(stmt));
  case Stmt::Kind::For: {
    const auto &loop = llvm::cast<ForStmt>(stmt);
    line("for " + dumpText(loop.pattern) + " in " + dumpText(loop.iterable));
    return block(loop.body);
  }
  case Stmt::Kind::While: {
    const auto &loop = llvm::cast<WhileStmt>(stmt);
    std::string bound = loop.bound ? " bound " + dumpText(loop.bound) : "";
    line("while " + dumpText(loop.condition) + bound);
    return block(loop.body);
  }
  case Stmt::Kind::Each: {
    const auto &each = llvm::cast<EachStmt>(stmt);
    line("each " + dumpText(each.pattern) + " in " + dumpText(each.iterable));
    return block(each.body);
  }
  default:
    return line(oneLine(stmt));
  }
}
