// What each word of a text is, for its colours.
#include "frontend/check/CheckerTypes.h"
#include "frontend/server/Features.h"

using namespace quern;
using namespace quern::server;
namespace json = llvm::json;

namespace {

/// In the order of the legend.
enum class Category : std::uint8_t {
  Namespace,
  Type,
  TypeParameter,
  Parameter,
  Variable,
  Property,
  Function,
  Macro,
  Keyword,
  Comment,
  String,
  Number,
  Decorator
};
constexpr llvm::StringLiteral categories[] = {
    "namespace", "type",     "typeParameter", "parameter", "variable",
    "property",  "function", "macro",         "keyword",   "comment",
    "string",    "number",   "decorator"};

enum Modifier : std::uint8_t { declared = 1, readOnly = 2, ofLibrary = 4 };
constexpr llvm::StringLiteral modifiers[] = {"declaration", "readonly",
                                             "defaultLibrary"};

struct Colour {
  Span span;
  Category category;
  unsigned modifiers = 0;
};

} // namespace

json::Value server::semanticTokensLegend() {
  json::Array types, flags;
  for (llvm::StringRef name : categories)
    types.push_back(name);
  for (llvm::StringRef name : modifiers)
    flags.push_back(name);
  return json::Object{{"tokenTypes", std::move(types)},
                      {"tokenModifiers", std::move(flags)}};
}

static Category categoryOf(const NameTarget &target) {
  switch (target.kind) {
  case NameTarget::Kind::Declaration:
    return Category::Function;
  case NameTarget::Kind::Builtin:
    return Category::Function;
  case NameTarget::Kind::TypeParameter:
    return Category::TypeParameter;
  case NameTarget::Kind::Axis:
    return Category::Property;
  case NameTarget::Kind::Module:
    return Category::Namespace;
  case NameTarget::Kind::Variable:
    return target.variable->kind == typed::VariableKind::Parameter
               ? Category::Parameter
               : Category::Variable;
  case NameTarget::Kind::ConstantParameter:
    return Category::Parameter;
  case NameTarget::Kind::Alias:
  case NameTarget::Kind::Constant:
  case NameTarget::Kind::Unknown:
    return Category::Variable;
  }
  llvm_unreachable("all kinds of target have a category");
}

static Colour colourOf(const Request &request, const NameUse &use) {
  Colour colour{use.span, categoryOf(use.target)};
  if (use.isDefinition())
    colour.modifiers |= declared;
  if (use.target.kind == NameTarget::Kind::Constant ||
      use.target.kind == NameTarget::Kind::Alias ||
      use.target.kind == NameTarget::Kind::ConstantParameter)
    colour.modifiers |= readOnly;
  const SourceFile *file =
      use.target.definition.valid()
          ? request.workspace.sources.fileOf(use.target.definition.begin)
          : nullptr;
  if (use.target.builtin || (file && request.workspace.isLibrary(*file)))
    colour.modifiers |= ofLibrary;
  return colour;
}

/// A word without a use: a type, or a name that nothing is known of.
static std::optional<Category> wordCategory(const TokenBuffer &tokens,
                                            std::size_t token) {
  switch (tokens.kind(token)) {
  case TokenKind::Integer:
  case TokenKind::Float:
    return Category::Number;
  case TokenKind::String:
  case TokenKind::Docstring:
    return Category::String;
  case TokenKind::Identifier:
    if (token != 0 && tokens.kind(token - 1) == TokenKind::At)
      return Category::Decorator;
    if (check::isTypeName(tokens.text(token)))
      return Category::Type;
    return std::nullopt;
  default:
    return isKeyword(tokens.kind(token)) ? std::optional(Category::Keyword)
                                         : std::nullopt;
  }
}

static std::vector<Colour> coloursOf(const Request &request) {
  const Analysis &analysis = request.analysis;
  const TokenBuffer &tokens = *analysis.tokens;
  std::vector<Colour> colours;
  for (Span comment : tokens.comments())
    colours.push_back({comment, Category::Comment});
  const auto *use = analysis.uses.begin().base();
  const auto *end = analysis.uses.end().base();
  for (std::size_t i = 0; i != tokens.size(); ++i) {
    Span span = tokens.span(i);
    while (use != end && use->span.begin < span.begin)
      ++use;
    bool isName = use != end && use->span == span;
    if (isName)
      colours.push_back(colourOf(request, *use));
    else if (auto category = wordCategory(tokens, i))
      colours.push_back({span, *category});
  }
  llvm::sort(colours, [](const Colour &a, const Colour &b) {
    return a.span.begin < b.span.begin;
  });
  return colours;
}

Reply server::semanticTokens(const Request &request) {
  const Document &document = request.document;
  llvm::StringRef text = document.text;
  json::Array data;
  Position last;
  auto add = [&](std::size_t begin, std::size_t end, const Colour &colour) {
    Position at = document.lines.positionOf(text, begin);
    Position stop = document.lines.positionOf(text, end);
    if (begin == end)
      return;
    bool isSameLine = at.line == last.line;
    data.push_back(at.line - last.line);
    data.push_back(at.character - (isSameLine ? last.character : 0));
    data.push_back(stop.character - at.character);
    data.push_back(static_cast<int>(colour.category));
    data.push_back(colour.modifiers);
    last = at;
  };
  for (const Colour &colour : coloursOf(request)) {
    // An editor expects each line of a docstring by itself.
    std::size_t begin = request.analysis.offset(colour.span.begin);
    std::size_t end = request.analysis.offset(colour.span.end);
    while (begin < end) {
      std::size_t line = std::min(text.find_first_of("\r\n", begin), end);
      add(begin, line, colour);
      begin = line + 1;
    }
  }
  return Reply(json::Object{{"data", std::move(data)}});
}
