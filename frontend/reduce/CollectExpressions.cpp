// Expressions: replaced by parts of theirs, or by constants.
#include "frontend/reduce/Collector.h"

#include "llvm/ADT/Twine.h"

using namespace quern;
using namespace quern::reduce;
using namespace quern::ast;

/// A part that binds looser than where it goes gets parentheses; the next
/// round takes off those that are not needed.
static bool bindsLoosely(const Expr &expr) {
  return llvm::isa<BinaryExpr>(expr) || llvm::isa<ConditionalExpr>(expr) ||
         llvm::isa<ComparisonChainExpr>(expr) || llvm::isa<UnaryExpr>(expr);
}

void Collector::replace(const Expr &expr, const Expr *by) {
  if (!by)
    return;
  bool isLoose = bindsLoosely(*by) && !llvm::isa<ParenExpr>(expr);
  llvm::StringRef inner = text(by->span);
  add(expr.span, isLoose ? ("(" + inner + ")").str() : inner);
  if (isLoose)
    add(expr.span, inner);
}

void Collector::literals(const Expr &expr) {
  if (const auto *integer = llvm::dyn_cast<IntExpr>(&expr)) {
    if (integer->value > 1)
      add(expr.span, std::to_string(integer->value / 2));
    if (integer->value > 2)
      add(expr.span, std::to_string(integer->value - 1));
  }
  if (llvm::isa<FloatExpr>(expr))
    for (llvm::StringRef plain : {"0.0", "1.0", "0.5"})
      add(expr.span, plain);
  bool isPlain = llvm::isa<BoolExpr>(expr) || llvm::isa<StringExpr>(expr);
  if (!isPlain && !llvm::isa<FloatExpr>(expr))
    for (llvm::StringRef plain : {"0", "1", "0.0", "1.0", "true", "false"})
      add(expr.span, plain);
}

void Collector::expression(const Expr *expr) {
  if (!expr)
    return;
  literals(*expr);
  children(*expr);
}

void Collector::arguments(llvm::ArrayRef<Argument> arguments) {
  llvm::SmallVector<Span, 8> spans;
  for (const Argument &argument : arguments) {
    spans.push_back(argument.span());
    expression(argument.value);
  }
  eachElement(spans);
}

void Collector::call(const CallExpr &expr) {
  for (const Argument &argument : expr.arguments)
    replace(expr, argument.value);
  if (const auto *member = llvm::dyn_cast<MemberExpr>(expr.callee))
    replace(expr, member->base);
  arguments(expr.brackets);
  arguments(expr.arguments);
  if (!expr.over)
    return;
  const OverClause &over = *expr.over;
  llvm::SmallVector<Span, 4> spans;
  for (const OverAxis &axis : over.axes) {
    spans.push_back(axis.upper ? join(axis.name.span, axis.upper->span)
                               : axis.name.span);
    expression(axis.lower);
    expression(axis.upper);
  }
  if (spans.size() > 1)
    eachElement(spans);
  if (over.where) {
    llvm::StringRef before =
        file.text().take_front(local(over.where->span.begin)).rtrim();
    before.consume_back("where");
    edits.push_back({before.rtrim().size(), local(over.where->span.end), ""});
    expression(over.where);
  }
}

void Collector::children(const Expr &expr) {
  auto part = [&](const Expr *inner) {
    replace(expr, inner);
    expression(inner);
  };
  if (const auto *unary = llvm::dyn_cast<UnaryExpr>(&expr)) {
    part(unary->operand);
  } else if (const auto *binary = llvm::dyn_cast<BinaryExpr>(&expr)) {
    part(binary->left);
    part(binary->right);
  } else if (const auto *chain = llvm::dyn_cast<ComparisonChainExpr>(&expr)) {
    for (const Expr *operand : chain->operands)
      expression(operand);
    add({expr.span.begin, chain->operands[1]->span.begin}, "");
  } else if (const auto *choice = llvm::dyn_cast<ConditionalExpr>(&expr)) {
    part(choice->whenTrue);
    part(choice->whenFalse);
    expression(choice->condition);
  } else if (const auto *made = llvm::dyn_cast<CallExpr>(&expr)) {
    call(*made);
  } else if (const auto *index = llvm::dyn_cast<IndexExpr>(&expr)) {
    replace(expr, index->base);
    arguments(index->indices);
  } else if (const auto *member = llvm::dyn_cast<MemberExpr>(&expr)) {
    part(member->base);
  } else if (const auto *tuple = llvm::dyn_cast<TupleExpr>(&expr)) {
    for (const Argument &element : tuple->elements)
      replace(expr, element.value);
    arguments(tuple->elements);
  } else if (const auto *list = llvm::dyn_cast<ListExpr>(&expr)) {
    llvm::SmallVector<Span, 8> spans;
    for (const Expr *element : list->elements) {
      spans.push_back(element->span);
      expression(element);
    }
    if (spans.size() > 1)
      eachElement(spans);
  } else if (const auto *paren = llvm::dyn_cast<ParenExpr>(&expr)) {
    add(expr.span, text(paren->inner->span));
    expression(paren->inner);
  }
}
