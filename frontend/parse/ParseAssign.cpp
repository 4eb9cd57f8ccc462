// Statements that begin with an expression.
#include "frontend/parse/Parser.h"

#include "llvm/Support/Casting.h"

using namespace quern;
using namespace quern::ast;

std::optional<BinaryOp> Parser::compoundOperator() const {
  switch (peek()) {
  case Kind::PlusAssign:
    return BinaryOp::Add;
  case Kind::MinusAssign:
    return BinaryOp::Subtract;
  case Kind::StarAssign:
    return BinaryOp::Multiply;
  case Kind::SlashAssign:
    return BinaryOp::Divide;
  case Kind::SlashSlashAssign:
    return BinaryOp::FloorDivide;
  case Kind::PercentAssign:
    return BinaryOp::Modulo;
  case Kind::AmpersandAssign:
    return BinaryOp::BitAnd;
  case Kind::PipeAssign:
    return BinaryOp::BitOr;
  case Kind::CaretAssign:
    return BinaryOp::BitXor;
  case Kind::LessLessAssign:
    return BinaryOp::ShiftLeft;
  case Kind::GreaterGreaterAssign:
    return BinaryOp::ShiftRight;
  default:
    return std::nullopt;
  }
}

/// Whether a later line of this declaration assigns the name.
bool Parser::isAssignedLater(llvm::StringRef name) const {
  constexpr std::size_t farthest = 4096;
  for (std::size_t ahead = 1; ahead != farthest; ++ahead) {
    Kind before = peek(ahead - 1), kind = peek(ahead);
    bool begins = before == Kind::Newline || before == Kind::Indent ||
                  before == Kind::Dedent;
    bool isNext =
        begins && (kind == Kind::KwFn || kind == Kind::KwElementwise ||
                   kind == Kind::KwRowwise || kind == Kind::KwOp ||
                   kind == Kind::KwKernel || kind == Kind::KwReduction);
    if (kind == Kind::EndOfFile || isNext)
      return false;
    if (begins && kind == Kind::Identifier &&
        tokens.text(position + ahead) == name &&
        (peek(ahead + 1) == Kind::Assign || compoundAt(ahead + 1)))
      return true;
  }
  return false;
}

const Stmt *Parser::parseExpressionOrAssignment() {
  Span begin = here();
  // At the begin of a line any foreign word is out of place.
  if (at(Kind::Identifier) && peek(1) != Kind::Assign && peek(1) != Kind::Dot &&
      peek(1) != Kind::LeftBracket && !compoundAt(1) && reportForeignWord()) {
    if (headerFollows())
      skipHeaderAndBlock();
    return nullptr;
  }
  if (at(Kind::Error)) {
    broken = true;
    return nullptr;
  }
  const Expr *expr = parseExprList();
  if (broken)
    return nullptr;
  if (at(Kind::Assign) || compoundOperator())
    return finishAssignment(begin, expr);
  if (at(Kind::Colon) && llvm::isa<NameExpr>(expr)) {
    llvm::StringRef name = tokens.file().text(begin);
    llvm::StringRef word = isAssignedLater(name) ? "var " : "let ";
    fail(begin, diag::AnnotatedAssignment, name)
        .hint("write `" + word + name +
              (peek(1) == Kind::Assign ? " = …`" : ": …`"));
    return nullptr;
  }
  if (!llvm::isa<CallExpr, ErrorExpr>(expr) && at(Kind::Newline)) {
    auto message = fail(expr->span, diag::ExpressionWithoutEffect);
    const auto *binary = llvm::dyn_cast<BinaryExpr>(expr);
    if (binary && binary->op == BinaryOp::Equal)
      message.hint("`=` assigns");
    else if (const auto *name = llvm::dyn_cast<NameExpr>(expr))
      message.hint(("write `return " + name->name().text() +
                    "` if it is the value of the block, `" +
                    name->name().text() + "()` to call it")
                       .str());
    else if (peek(1) == Kind::Dedent)
      message.hint("write `return …` if it is the value of the block");
    return nullptr;
  }
  return arena.make<ExpressionStmt>(since(begin), expr);
}

/// Is the line the header of a block, `try:` or `class C:`?
bool Parser::headerFollows() const {
  std::size_t ahead = 0;
  while (peek(ahead) != Kind::Newline && peek(ahead) != Kind::EndOfFile)
    ++ahead;
  return peek(ahead + 1) == Kind::Indent;
}

bool Parser::compoundAt(std::size_t ahead) const {
  Kind kind = peek(ahead);
  return kind >= Kind::PlusAssign && kind <= Kind::GreaterGreaterAssign;
}

static bool isTarget(const Expr *expr) {
  return llvm::isa<NameExpr, IndexExpr, MemberExpr, ErrorExpr>(expr);
}

const Stmt *Parser::finishAssignment(Span begin, const Expr *target) {
  llvm::SmallVector<const Expr *, 4> targets;
  if (const auto *tuple = llvm::dyn_cast<TupleExpr>(target))
    for (const Argument &element : tuple->elements) {
      if (element.name && !broken)
        fail(element.name.span, diag::InvalidAssignmentTarget)
            .hint("targets take values in their order, without names");
      targets.push_back(element.value);
    }
  else
    targets.push_back(target);
  for (const Expr *each : targets)
    if (!isTarget(each) && !broken)
      fail(each->span, diag::InvalidAssignmentTarget)
          .hint(llvm::isa<CallExpr>(each)
                    ? "an element has its place in brackets: `y[i] = …`"
                    : "names, indexed places and tuples of them can be");
  std::optional<BinaryOp> op = compoundOperator();
  if (op && targets.size() > 1)
    fail(target->span, diag::CompoundTupleAssignment, text(), targets.size());
  advance();
  const Expr *value = broken ? errorExpr() : parseExprList();
  if (!broken && at(Kind::Assign))
    fail(here(), diag::AssignmentInExpression)
        .hint("one assignment stands on a line");
  if (broken)
    value = errorExpr();
  return arena.make<AssignStmt>(since(begin), arena.list<const Expr *>(targets),
                                op.has_value(), op.value_or(BinaryOp::Add),
                                value);
}
