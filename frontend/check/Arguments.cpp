// Reports names before `=` that nothing reads, and names that are repeated.
#include "frontend/check/Arguments.h"

#include "frontend/check/DeclarationChecker.h"

#include "llvm/ADT/Sequence.h"

using namespace quern;
using namespace quern::check;

bool check::hasNames(llvm::ArrayRef<ast::Argument> arguments) {
  return llvm::any_of(
      arguments, [](const ast::Argument &each) { return bool(each.name); });
}

bool check::areAllNamed(llvm::ArrayRef<ast::Argument> arguments) {
  return llvm::all_of(
      arguments, [](const ast::Argument &each) { return bool(each.name); });
}

const ast::TupleExpr *check::writtenTuple(const ast::Expr *expr) {
  return llvm::dyn_cast<ast::TupleExpr>(ast::withoutParens(expr));
}

void ArgumentNames::expect(llvm::ArrayRef<ast::Argument> arguments) {
  if (hasNames(arguments))
    lists.push_back(arguments);
  for (const ast::Argument &argument : arguments)
    if (const ast::TupleExpr *tuple = writtenTuple(argument.value))
      expect(tuple->elements);
}

void ArgumentNames::readTuple(const ast::Expr *value) {
  value = ast::withoutParens(value);
  if (const auto *choice = llvm::dyn_cast<ast::ConditionalExpr>(value)) {
    readTuple(choice->whenTrue);
    readTuple(choice->whenFalse);
  }
  const ast::TupleExpr *tuple = writtenTuple(value);
  if (!tuple || !areAllNamed(tuple->elements))
    return;
  for (const ast::Argument &element : tuple->elements)
    readName(element);
}

/// Reports the first argument of a list whose name an earlier one has.
bool DeclarationChecker::reportRepeatedName(
    llvm::ArrayRef<ast::Argument> arguments) {
  for (std::size_t last = 1; last < arguments.size(); ++last)
    for (const ast::Argument &first : arguments.take_front(last)) {
      const ast::Argument &second = arguments[last];
      bool isSame = second.name && first.name.text() == second.name.text();
      if (!isSame || argumentNames.repeatable.count(second.name.span.begin))
        continue;
      report(second.name.span, diag::RepeatedArgument, second.name.text())
          .label(first.name.span, "given here already");
      return true;
    }
  return false;
}

/// Asked once the text is checked: then all that reads names has done so.
void DeclarationChecker::checkArgumentNames() {
  llvm::DenseSet<unsigned> seen;
  for (llvm::ArrayRef<ast::Argument> list : argumentNames.lists) {
    bool isNew = seen.insert(list.front().value->span.begin).second;
    if (hasFailed || !isNew || reportRepeatedName(list))
      continue;
    for (const ast::Argument &argument : list) {
      if (!argument.name)
        continue;
      unsigned place = argument.name.span.begin;
      if (!argumentNames.names.count(place))
        report(argument.name.span, diag::UnreadName, argument.name.text())
            .hint("leave the name out: values are taken in their order here");
      else if (argument.isPack && !argumentNames.stars.count(place))
        report(argument.name.span, diag::UnreadName,
               ("*" + argument.name.text()).str())
            .hint("leave the `*` out: only a pack of axes has one");
      else
        continue;
      break;
    }
  }
  argumentNames.clear();
}

/// Where each of the wanted names is among the given ones, which are the same
/// in any order.
static std::optional<Places>
placesByName(llvm::ArrayRef<llvm::StringRef> given,
             llvm::ArrayRef<llvm::StringRef> wanted) {
  if (given.size() != wanted.size())
    return std::nullopt;
  Places places;
  for (llvm::StringRef name : wanted) {
    const auto *found = llvm::find(given, name);
    if (found == given.end())
      return std::nullopt;
    places.push_back(found - given.begin());
  }
  return places;
}

/// Puts the elements of a returned tuple in the order of the results or states.
/// What has no names, or those of another declaration, stays in its own order.
/// False after an error: a written tuple has the names of what it returns.
bool DeclarationChecker::namesResults(const ast::Expr *value,
                                      llvm::ArrayRef<llvm::StringRef> given,
                                      llvm::ArrayRef<llvm::StringRef> wanted,
                                      Places &places) {
  places.assign(llvm::seq<unsigned>(0, given.size()).begin(),
                llvm::seq<unsigned>(0, given.size()).end());
  if (given.empty())
    return true;
  if (std::optional<Places> found = placesByName(given, wanted)) {
    argumentNames.readTuple(value);
    places = *found;
    return true;
  }
  const ast::TupleExpr *tuple = writtenTuple(value);
  if (!tuple || wanted.empty() || !areAllNamed(tuple->elements) ||
      given.size() != wanted.size())
    return true;
  for (const ast::Argument &element : tuple->elements) {
    if (llvm::is_contained(wanted, element.name.text()))
      continue;
    report(element.name.span, diag::UnreadName, element.name.text())
        .hint("what is returned here is `" + llvm::join(wanted, "`, `") + "`");
    return false;
  }
  return true;
}
