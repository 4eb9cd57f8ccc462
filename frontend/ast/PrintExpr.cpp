// Expressions as one line, operators in front.
#include "frontend/ast/Printer.h"

#include "llvm/ADT/StringExtras.h"

using namespace quern::ast;

namespace {

class Writer {
public:
  explicit Writer(llvm::raw_ostream &out) : out(out) {}
  void write(const Expr *expr);

private:
  void leaf(const Expr *expr);
  void call(const CallExpr &call);
  void chain(const ComparisonChainExpr &chain);
  void list(const ListExpr &list);
  void over(const OverClause &over);
  void arguments(List<Argument> arguments);
  /// `(word child child …)`.
  void node(llvm::StringRef word, List<const Expr *> children);
  void quoted(llvm::StringRef text);

  llvm::raw_ostream &out;
};

} // namespace

void Writer::node(llvm::StringRef word, List<const Expr *> children) {
  out << '(' << word;
  for (const Expr *child : children) {
    out << ' ';
    write(child);
  }
  out << ')';
}

void Writer::list(const ListExpr &list) {
  if (!list.iterable)
    return node("list", list.elements);
  node("list for " + dumpText(list.pattern),
       {list.iterable, list.elements.front()});
}

void Writer::quoted(llvm::StringRef text) {
  out << '"';
  llvm::printEscapedString(text, out);
  out << '"';
}

void Writer::arguments(List<Argument> arguments) {
  for (const Argument &argument : arguments) {
    out << ' ';
    if (argument.name)
      out << (argument.isPack ? "*" : "") << argument.name.text() << '=';
    write(argument.value);
  }
}

void Writer::over(const OverClause &over) {
  out << " (over " << over.operandCount << ':';
  for (const OverAxis &axis : over.axes) {
    out << ' ' << (axis.isPack ? "*" : "") << axis.name.text();
    if (!axis.isLocal())
      continue;
    out << '=';
    node("..", {axis.lower, axis.upper});
  }
  if (over.where) {
    out << " where ";
    write(over.where);
  }
  out << ')';
}

void Writer::call(const CallExpr &call) {
  out << "(call ";
  write(call.callee);
  if (!call.brackets.empty()) {
    out << " [";
    arguments(call.brackets);
    out << " ]";
  }
  arguments(call.arguments);
  if (call.over)
    over(*call.over);
  out << ')';
}

void Writer::leaf(const Expr *expr) {
  if (const auto *literal = llvm::dyn_cast<IntExpr>(expr))
    out << literal->value;
  else if (const auto *literal = llvm::dyn_cast<FloatExpr>(expr))
    out << literal->text;
  else if (const auto *literal = llvm::dyn_cast<StringExpr>(expr))
    quoted(literal->value);
  else if (const auto *literal = llvm::dyn_cast<BoolExpr>(expr))
    out << (literal->value ? "true" : "false");
  else if (const auto *name = llvm::dyn_cast<NameExpr>(expr))
    out << name->name().text();
  else if (const auto *pack = llvm::dyn_cast<PackExpr>(expr)) {
    out << '*' << pack->function.text() << (pack->function ? "(" : "")
        << pack->name.text() << (pack->function ? ")" : "");
  } else if (const auto *callee = llvm::dyn_cast<ExternExpr>(expr)) {
    out << "extern ";
    quoted(callee->overload);
  } else
    out << (llvm::isa<NoneExpr>(expr) ? "none" : "<error>");
}

void Writer::chain(const ComparisonChainExpr &chain) {
  std::string word = "chain";
  for (BinaryOp op : chain.operators)
    word += (" " + spelling(op)).str();
  node(word, chain.operands);
}

void Writer::write(const Expr *expr) {
  switch (expr->kind) {
  case Expr::Kind::Unary: {
    const auto *unary = llvm::cast<UnaryExpr>(expr);
    return node(spelling(unary->op), {unary->operand});
  }
  case Expr::Kind::Binary: {
    const auto *binary = llvm::cast<BinaryExpr>(expr);
    return node(spelling(binary->op), {binary->left, binary->right});
  }
  case Expr::Kind::ComparisonChain:
    return chain(*llvm::cast<ComparisonChainExpr>(expr));
  case Expr::Kind::Conditional: {
    const auto *choice = llvm::cast<ConditionalExpr>(expr);
    return node(choice->isConst ? "if const" : "if",
                {choice->condition, choice->whenTrue, choice->whenFalse});
  }
  case Expr::Kind::Call:
    return call(*llvm::cast<CallExpr>(expr));
  case Expr::Kind::Index: {
    const auto *index = llvm::cast<IndexExpr>(expr);
    out << "(index ";
    write(index->base);
    arguments(index->indices);
    out << ')';
    return;
  }
  case Expr::Kind::Member: {
    const auto *member = llvm::cast<MemberExpr>(expr);
    out << "(. ";
    write(member->base);
    out << ' ' << member->member.text() << ')';
    return;
  }
  case Expr::Kind::Tuple:
    out << "(tuple";
    arguments(llvm::cast<TupleExpr>(expr)->elements);
    out << ')';
    return;
  case Expr::Kind::List:
    return list(*llvm::cast<ListExpr>(expr));
  case Expr::Kind::Paren:
    return write(llvm::cast<ParenExpr>(expr)->inner);
  default:
    return leaf(expr);
  }
}

std::string quern::ast::dumpText(const Expr *expr) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Writer(out).write(expr);
  return text;
}

std::string quern::ast::dumpText(List<const Expr *> exprs) {
  std::string text;
  for (const Expr *expr : exprs)
    text += (text.empty() ? "" : " ") + dumpText(expr);
  return text;
}
