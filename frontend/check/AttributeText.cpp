// Attributes other than `@aten`.
#include "frontend/check/AttributeChecker.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

void AttributeChecker::check() {
  Attributes result;
  llvm::SmallVector<AtenAttribute, 2> overloads;
  llvm::SmallVector<llvm::StringRef, 4> seen;
  for (const ast::Attribute &row : checker.text.attributes) {
    llvm::StringRef name = row.name.text();
    if (name == "aten") {
      if (std::optional<AtenAttribute> one = aten(row))
        overloads.push_back(*one);
      continue;
    }
    if (llvm::is_contained(seen, name))
      checker.report(row.span, diag::RepeatedAttribute, name);
    seen.push_back(name);
    attribute(row, result);
  }
  result.aten = checker.builder.list(overloads);
  checker.declaration.attributes = result;
}

void AttributeChecker::attribute(const ast::Attribute &attribute,
                                 Attributes &result) {
  llvm::StringRef name = attribute.name.text();
  if (name == "backward")
    return backward(attribute, result);
  if (name == "from")
    return origin(attribute, result);
  if (name == "expect")
    return expectations(attribute, result);
  if (flagAttribute(attribute, result))
    return;
  Suggestion suggestion(name);
#define QN_ATTRIBUTE(spelling) suggestion.consider(spelling);
#include "frontend/check/AttributeNames.def"
  checker.report(attribute.name.span, diag::UnknownAttribute, name)
      .hint(suggestion.hint());
}

bool AttributeChecker::flagAttribute(const ast::Attribute &attribute,
                                     Attributes &result) {
  llvm::StringRef name = attribute.name.text();
  bool *flag = name == "portable"      ? &result.portable
               : name == "fastmath"    ? &result.fastmath
               : name == "unchecked"   ? &result.unchecked
               : name == "commutative" ? &result.commutative
                                       : nullptr;
  if (!flag)
    return false;
  if (!attribute.arguments.empty())
    checker.report(attribute.span, diag::AttributeArguments, name,
                   "no arguments");
  if (name == "commutative" && !checker.declaration.reduction)
    checker.report(attribute.name.span, diag::CommutativeMisplaced,
                   checker.declaration.name, keyword(checker.declaration.kind));
  *flag = true;
  return true;
}

bool AttributeChecker::isParameterOrResult(llvm::StringRef name) const {
  return llvm::any_of(checker.parameters,
                      [&](const Parameter &row) {
                        return row.variable->name == name;
                      }) ||
         llvm::any_of(checker.results,
                      [&](const Result &row) { return row.name == name; });
}

/// One name of `saves`; reports what is neither parameter nor result.
bool AttributeChecker::saved(const ast::Expr *expr,
                             llvm::SmallVectorImpl<llvm::StringRef> &saves) {
  const auto *name = llvm::dyn_cast<ast::NameExpr>(ast::withoutParens(expr));
  llvm::StringRef text = name ? name->name().text() : llvm::StringRef();
  if (isParameterOrResult(text)) {
    checker.lookup(text);
    saves.push_back(text);
    return true;
  }
  Suggestion suggestion(text);
  for (const Parameter &row : checker.parameters)
    suggestion.consider(row.variable->name);
  checker
      .report(expr->span, diag::SavesUnknown, checker.source(expr->span),
              checker.declaration.name)
      .hint(suggestion.hint());
  return false;
}

const Declaration *
AttributeChecker::derivativeNamed(const ast::Identifier &name) {
  const Symbol *symbol = checker.module.lookup(name.text());
  if (symbol && (symbol->callable || symbol->isPoisoned))
    return symbol->callable;
  Suggestion suggestion(name.text());
  checker.module.suggest(suggestion);
  checker.report(name.span, diag::BackwardUnknown, name.text())
      .hint(suggestion.hint());
  return nullptr;
}

/// `@backward(silu_backward, saves = (x, y))`.
void AttributeChecker::backward(const ast::Attribute &attribute,
                                Attributes &result) {
  auto *made = checker.builder.make<BackwardAttribute>();
  made->span = attribute.span;
  llvm::SmallVector<llvm::StringRef, 4> saves;
  bool isNamed = false;
  for (const ast::AttributeArgument &argument : attribute.arguments) {
    bool isSaves =
        argument.names.size() == 1 && argument.names[0].text() == "saves";
    const auto *tuple =
        llvm::dyn_cast<ast::TupleExpr>(ast::withoutParens(argument.value));
    const auto *name = llvm::dyn_cast<ast::NameExpr>(argument.value);
    if (isSaves && tuple) {
      for (const ast::Argument &element : tuple->elements)
        saved(element.value, saves);
    } else if (isSaves) {
      saved(argument.value, saves);
    } else if (argument.names.empty() && name && !isNamed) {
      isNamed = true;
      made->declaration = derivativeNamed(name->name());
    } else {
      isNamed = false;
      break;
    }
  }
  if (!isNamed)
    checker.report(attribute.span, diag::AttributeArguments, "backward",
                   "a declaration and `saves = (…)`");
  made->saves = checker.builder.list(saves);
  if (made->declaration)
    result.backward = made;
}

/// `@from("model.py", 12)`.
void AttributeChecker::origin(const ast::Attribute &attribute,
                              Attributes &result) {
  const ast::StringExpr *file = nullptr;
  const ast::IntExpr *line = nullptr;
  if (attribute.arguments.size() == 2) {
    file = llvm::dyn_cast<ast::StringExpr>(attribute.arguments[0].value);
    line = llvm::dyn_cast<ast::IntExpr>(attribute.arguments[1].value);
  }
  if (!file || !line) {
    checker.report(attribute.span, diag::AttributeArguments, "from",
                   "a file's name and a line's number");
    return;
  }
  auto *made = checker.builder.make<OriginAttribute>();
  made->file = checker.builder.string(file->value);
  made->line = static_cast<std::int64_t>(line->value);
  result.origin = made;
}

void AttributeChecker::expectations(const ast::Attribute &attribute,
                                    Attributes &result) {
  static constexpr llvm::StringLiteral known[] = {"vectorized", "one_pass",
                                                  "no_workspace"};
  llvm::SmallVector<llvm::StringRef, 2> expected;
  for (const ast::AttributeArgument &argument : attribute.arguments) {
    const auto *name = llvm::dyn_cast<ast::NameExpr>(argument.value);
    llvm::StringRef text = name ? name->name().text() : llvm::StringRef();
    Suggestion suggestion(text);
    for (llvm::StringRef candidate : known)
      suggestion.consider(candidate);
    if (!llvm::is_contained(known, text)) {
      checker
          .report(argument.span, diag::UnknownExpectation,
                  checker.source(argument.span))
          .hint(suggestion.hint());
      continue;
    }
    expected.push_back(text);
  }
  if (attribute.arguments.empty())
    checker.report(attribute.span, diag::AttributeArguments, "expect",
                   "what is expected");
  result.expectations = checker.builder.list(expected);
}
