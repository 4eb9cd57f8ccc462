// The text of typed statements, one a line.
#include "frontend/typed/Printer.h"

#include "llvm/ADT/STLExtras.h"

using namespace quern;
using namespace quern::typed;

llvm::raw_ostream &Printer::line() { return out.indent(2 * indent); }

void Printer::block(Block block) {
  ++indent;
  for (const Statement *s : block)
    statement(s);
  --indent;
}

void Printer::variables(llvm::ArrayRef<const Variable *> list, bool isTuple) {
  out << (isTuple ? "(" : "");
  llvm::interleaveComma(list, out, [&](const Variable *variable) {
    if (!variable) {
      out << '_';
      return;
    }
    out << variable->name << ": ";
    type(*variable->type);
  });
  out << (isTuple ? ")" : "");
}

void Printer::let(const LetStatement &s) {
  bool isVar = s.variables.size() == 1 && s.variables[0] &&
               s.variables[0]->kind == VariableKind::Var;
  line() << (isVar ? "var " : "let ");
  variables(s.variables, s.isTuple);
  out << " = ";
  expression(s.value);
  out << '\n';
}

void Printer::assign(const AssignStatement &s) {
  line();
  llvm::interleaveComma(s.targets, out,
                        [&](const Variable *v) { out << v->name; });
  out << " = ";
  expression(s.value);
  out << '\n';
}

void Printer::store(const StoreStatement &s) {
  line();
  expression(s.place);
  out << ' ' << (s.op ? spelling(*s.op) : "") << "= ";
  expression(s.value);
  out << '\n';
}

void Printer::branch(const IfStatement &s) {
  line() << (s.isConst ? "if const " : "if ");
  expression(s.condition);
  out << ":\n";
  block(s.then);
  if (s.otherwise.empty())
    return;
  line() << "else:\n";
  block(s.otherwise);
}

void Printer::loop(const ForStatement &s) {
  line() << "for " << (s.variable ? s.variable->name : "_") << " in range(";
  list({s.lower, s.upper, s.step});
  out << ")";
  if (s.broken)
    out << " until " << s.broken->name;
  out << ":\n";
  block(s.body);
}

void Printer::loop(const WhileStatement &s) {
  line() << "while ";
  expression(s.condition);
  if (s.bound) {
    out << " bound ";
    expression(s.bound);
  }
  out << ":\n";
  block(s.body);
}

void Printer::storage(const StorageStatement &s) {
  line() << (s.isShared ? "shared " : "local ") << s.variable->name << ": ";
  type(*s.variable->type);
  out << '\n';
}

void Printer::forEach(const ForEachStatement &s) {
  line() << (s.isEach ? "each " : "for ");
  variables(s.variables, true);
  out << " in (";
  list(s.lists);
  out << "):\n";
  block(s.body);
}

void Printer::statement(const Statement *s) {
  switch (s->kind) {
  case StatementKind::Let:
    return let(*llvm::cast<LetStatement>(s));
  case StatementKind::Assign:
    return assign(*llvm::cast<AssignStatement>(s));
  case StatementKind::Store:
    return store(*llvm::cast<StoreStatement>(s));
  case StatementKind::If:
    return branch(*llvm::cast<IfStatement>(s));
  case StatementKind::For:
    return loop(*llvm::cast<ForStatement>(s));
  case StatementKind::ForEach:
    return forEach(*llvm::cast<ForEachStatement>(s));
  case StatementKind::While:
    return loop(*llvm::cast<WhileStatement>(s));
  case StatementKind::Return:
    line() << "return ";
    list(llvm::cast<ReturnStatement>(s)->values);
    out << '\n';
    return;
  case StatementKind::Launch:
    line() << "launch grid(";
    list(llvm::cast<LaunchStatement>(s)->grid);
    out << ") block(";
    list(llvm::cast<LaunchStatement>(s)->block);
    out << ")\n";
    return;
  case StatementKind::Storage:
    return storage(*llvm::cast<StorageStatement>(s));
  case StatementKind::Evaluate:
    line();
    expression(llvm::cast<EvaluateStatement>(s)->expression);
    out << '\n';
    return;
  }
}
