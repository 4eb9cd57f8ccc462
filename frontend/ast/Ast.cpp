// Facts about the syntax tree's closed sets.
#include "frontend/ast/Decl.h"

#include "llvm/Support/ErrorHandling.h"

using namespace quern;
using namespace quern::ast;

llvm::StringRef ast::spelling(BinaryOp op) {
  static constexpr llvm::StringLiteral table[] = {
#define QN_BINARY(enumerator, spelling, precedence) spelling,
#include "frontend/ast/Operators.def"
  };
  return table[static_cast<unsigned>(op)];
}

llvm::StringRef ast::spelling(UnaryOp op) {
  static constexpr llvm::StringLiteral table[] = {
#define QN_UNARY(enumerator, spelling) spelling,
#include "frontend/ast/Operators.def"
  };
  return table[static_cast<unsigned>(op)];
}

unsigned ast::precedence(BinaryOp op) {
  static constexpr std::uint8_t table[] = {
#define QN_BINARY(enumerator, spelling, precedence) precedence,
#include "frontend/ast/Operators.def"
  };
  return table[static_cast<unsigned>(op)];
}

bool ast::isComparison(BinaryOp op) {
  return op >= BinaryOp::Less && op <= BinaryOp::NotEqual;
}

const Expr *ast::withoutParens(const Expr *expr) {
  while (const auto *paren = llvm::dyn_cast<ParenExpr>(expr))
    expr = paren->inner;
  return expr;
}

llvm::StringRef ast::keyword(Decl::Kind kind) {
  switch (kind) {
  case Decl::Kind::Use:
    return "from";
  case Decl::Kind::Const:
    return "const";
  case Decl::Kind::Function:
    return "fn";
  case Decl::Kind::Elementwise:
    return "elementwise";
  case Decl::Kind::Reduction:
    return "reduction";
  case Decl::Kind::Rowwise:
    return "rowwise";
  case Decl::Kind::Kernel:
    return "kernel";
  case Decl::Kind::Op:
    return "op";
  }
  llvm_unreachable("all declaration kinds are named");
}
