// What may be written where the cursor stands.
#include "frontend/check/ElementMask.h"
#include "frontend/lex/Keywords.h"
#include "frontend/server/Describe.h"
#include "frontend/server/Scope.h"

#include "llvm/ADT/StringSet.h"

using namespace quern;
using namespace quern::server;
namespace json = llvm::json;

namespace {

/// `CompletionItemKind`.
enum class ItemKind : std::uint8_t {
  Text = 1,
  Method = 2,
  Function = 3,
  Variable = 6,
  Module = 9,
  Property = 10,
  Keyword = 14,
  Constant = 21,
  Operator = 24,
  TypeParameter = 25
};

/// Items, each word once. The rank orders them: what is nearer comes first.
class Items {
public:
  explicit Items(const Request &request) : request(request) {}

  void add(llvm::StringRef word, ItemKind kind, char rank) {
    if (json::Object *item = make(word, kind, rank))
      (void)item;
  }
  void add(const VisibleName &visible, char rank);
  json::Array take() { return std::move(items); }

private:
  json::Object *make(llvm::StringRef word, ItemKind kind, char rank);

  const Request &request;
  llvm::StringSet<> known;
  json::Array items;
};

} // namespace

json::Object *Items::make(llvm::StringRef word, ItemKind kind, char rank) {
  if (word.empty() || !known.insert(word).second)
    return nullptr;
  items.push_back(json::Object{{"label", jsonText(word)},
                               {"kind", static_cast<int>(kind)},
                               {"sortText", jsonText(rank + word.str())}});
  return items.back().getAsObject();
}

static ItemKind itemKind(const NameTarget &target) {
  switch (target.kind) {
  case NameTarget::Kind::Declaration:
    return target.declaration->reduction ? ItemKind::Operator
                                         : ItemKind::Function;
  case NameTarget::Kind::Builtin:
    return ItemKind::Function;
  case NameTarget::Kind::Constant:
  case NameTarget::Kind::ConstantParameter:
    return ItemKind::Constant;
  case NameTarget::Kind::TypeParameter:
    return ItemKind::TypeParameter;
  case NameTarget::Kind::Axis:
    return ItemKind::Property;
  case NameTarget::Kind::Module:
    return ItemKind::Module;
  case NameTarget::Kind::Variable:
  case NameTarget::Kind::Alias:
  case NameTarget::Kind::Unknown:
    return ItemKind::Variable;
  }
  llvm_unreachable("all kinds of target have a kind of item");
}

void Items::add(const VisibleName &visible, char rank) {
  json::Object *item = make(visible.name, itemKind(visible.target), rank);
  if (!item)
    return;
  std::string line = lineFor(visible.target, request.workspace.sources);
  std::string words = documentationOf(visible.target);
  if (!line.empty())
    (*item)["detail"] = jsonText(line);
  if (!words.empty())
    (*item)["documentation"] =
        json::Object{{"kind", "markdown"}, {"value", jsonText(words)}};
}

/// Views of tensors, and the places of threads.
static void addMembers(Items &items) {
#define QN_BUILTIN(enumerator, spelling, group, operands, constraint, result)  \
  if (typed::BuiltinGroup::group == typed::BuiltinGroup::View)                 \
    items.add(spelling, ItemKind::Method, '1');
#include "frontend/typed/Builtins.def"
  for (llvm::StringRef word : {"at", "offset"})
    items.add(word, ItemKind::Method, '1');
  for (llvm::StringRef word : {"x", "y", "z"})
    items.add(word, ItemKind::Property, '2');
}

static void addAttributes(Items &items) {
#define QN_ATTRIBUTE(spelling) items.add(spelling, ItemKind::Keyword, '1');
#include "frontend/check/AttributeNames.def"
}

static void addWords(Items &items) {
#define QN_SPECIAL_FORM(spelling, value)                                       \
  items.add(spelling, ItemKind::Function, '3');
#include "frontend/check/SpecialForms.def"
  for (const keywords::Row &row : keywords::rows)
    items.add(row.spelling, ItemKind::Keyword, '4');
  items.add("int", ItemKind::TypeParameter, '4');
  check::forEachElement(check::allElements, [&](ElementType element) {
    items.add(quern::spelling(element), ItemKind::TypeParameter, '4');
  });
#define QN_CONSTRAINT(enumerator, spelling, booleans, integers, floats,        \
                      complexes)                                               \
  items.add(spelling, ItemKind::TypeParameter, '4');
#include "frontend/typed/Constraints.def"
}

/// Of a declaration whose signature says too little, its words.
static void addWordsAround(const Request &request, std::size_t skipped,
                           Items &items) {
  const TokenBuffer &tokens = *request.analysis.tokens;
  auto [first, last] = tokensAround(request.analysis, request.offset);
  for (std::size_t i = first; i < last; ++i)
    if (tokens.kind(i) == TokenKind::Identifier && i != skipped)
      items.add(tokens.text(i), ItemKind::Text, '5');
}

/// `from |` and `from module use |`; false elsewhere.
static bool addImports(const Request &request, std::size_t token,
                       Items &items) {
  const TokenBuffer &tokens = *request.analysis.tokens;
  std::size_t begin = token, use = 0;
  while (begin != 0 && !isLayout(tokens.kind(begin - 1)))
    --begin;
  if (tokens.kind(begin) != TokenKind::KwFrom)
    return false;
  for (std::size_t i = begin; i <= token; ++i)
    if (tokens.kind(i) == TokenKind::KwUse)
      use = i;
  if (use == 0) {
    for (const std::string &name : request.workspace.host.modules)
      items.add(name, ItemKind::Module, '1');
    return true;
  }
  Span name{tokens.span(begin + 1).begin, tokens.span(use).begin};
  auto module = request.workspace.module(
      request.analysis.file->text(name).trim(), request.document);
  if (!module)
    return true;
  for (const typed::Declaration *declaration : module->declarations()) {
    NameTarget target;
    target.kind = NameTarget::Kind::Declaration;
    target.definition = declaration->nameSpan;
    target.declaration = declaration;
    items.add(VisibleName{declaration->name, target}, '1');
  }
  for (const typed::ConstantTable *table : module->constants())
    items.add(table->name, ItemKind::Constant, '1');
  return true;
}

/// A name that follows one of these words is new.
static bool makesName(TokenKind kind) {
  switch (kind) {
  case TokenKind::KwLet:
  case TokenKind::KwVar:
  case TokenKind::KwFn:
  case TokenKind::KwElementwise:
  case TokenKind::KwReduction:
  case TokenKind::KwRowwise:
  case TokenKind::KwKernel:
  case TokenKind::KwOp:
  case TokenKind::KwAs:
    return true;
  default:
    return false;
  }
}

static void addNames(const Request &request, std::size_t prefix, Items &items) {
  for (const VisibleName &each : localNames(request.analysis, request.offset))
    items.add(each, '1');
  for (const VisibleName &each : moduleNames(request)) {
    bool isOwn = request.analysis.contains(each.target.definition);
    bool isBuiltin = each.target.kind == NameTarget::Kind::Builtin;
    items.add(each, isOwn ? '1' : isBuiltin ? '3' : '2');
  }
  addWords(items);
  addWordsAround(request, prefix, items);
}

Reply server::completion(const Request &request) {
  const Analysis &analysis = request.analysis;
  Items items(request);
  if (isInWords(analysis, request.offset))
    return Reply(items.take());
  const TokenBuffer &tokens = *analysis.tokens;
  std::optional<std::size_t> token = tokenInFront(analysis, request.offset);
  std::size_t prefix = tokens.size();
  bool isWord = token && (tokens.kind(*token) == TokenKind::Identifier ||
                          isKeyword(tokens.kind(*token)));
  if (isWord && analysis.offset(tokens.span(*token).end) >= request.offset) {
    prefix = *token;
    token = tokenInFront(analysis, analysis.offset(tokens.span(prefix).begin));
  }
  TokenKind before = token ? tokens.kind(*token) : TokenKind::EndOfFile;
  if (before == TokenKind::Dot)
    addMembers(items);
  else if (before == TokenKind::At)
    addAttributes(items);
  else if (!makesName(before) && !(token && addImports(request, *token, items)))
    addNames(request, prefix, items);
  return Reply(items.take());
}
