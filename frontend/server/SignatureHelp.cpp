// The header of what is being called, with the argument at hand.
#include "frontend/server/Describe.h"
#include "frontend/server/Scope.h"

#include "llvm/ADT/StringExtras.h"

using namespace quern;
using namespace quern::server;
using namespace quern::typed;
namespace json = llvm::json;

namespace {

/// A call around the cursor, as its tokens show it: the text may be broken.
struct OpenCall {
  std::size_t name = 0; ///< the token of the callee
  bool hasBrackets = false;
  unsigned arguments = 0;       ///< in front of the one at hand
  llvm::StringRef argumentName; ///< of the one at hand, where it is written
};

} // namespace

static bool opens(TokenKind kind) {
  return kind == TokenKind::LeftParen || kind == TokenKind::LeftBracket ||
         kind == TokenKind::LeftBrace;
}

static bool closes(TokenKind kind) {
  return kind == TokenKind::RightParen || kind == TokenKind::RightBracket ||
         kind == TokenKind::RightBrace;
}

/// The bracket that is open at the cursor; counts the commas that follow it.
static std::optional<std::size_t>
openBracket(const TokenBuffer &tokens, std::size_t token, OpenCall &call) {
  unsigned depth = 0;
  std::size_t argument = token + 1;
  for (std::size_t i = token + 1; i-- != 0;) {
    TokenKind kind = tokens.kind(i);
    if (isLayout(kind) && tokens.kind(i) != TokenKind::EndOfFile)
      return std::nullopt;
    if (closes(kind) && tokens.span(i).size() != 0) {
      ++depth;
    } else if (opens(kind) && depth != 0) {
      --depth;
    } else if (depth == 0 && (opens(kind) || kind == TokenKind::Comma)) {
      if (argument == token + 1)
        argument = i + 1;
      if (kind != TokenKind::Comma) {
        bool isNamed = argument + 1 < tokens.size() &&
                       tokens.kind(argument) == TokenKind::Identifier &&
                       tokens.kind(argument + 1) == TokenKind::Assign;
        call.argumentName = isNamed ? tokens.text(argument) : llvm::StringRef();
        return i;
      }
      ++call.arguments;
    }
  }
  return std::nullopt;
}

static std::optional<OpenCall> openCall(const Request &request) {
  const TokenBuffer &tokens = *request.analysis.tokens;
  std::optional<std::size_t> token =
      tokenInFront(request.analysis, request.offset);
  // Brackets within the call's argument are not calls: go on outside them.
  while (token) {
    OpenCall call;
    std::optional<std::size_t> bracket = openBracket(tokens, *token, call);
    if (!bracket || *bracket == 0)
      return std::nullopt;
    std::size_t name = *bracket - 1;
    // `f[T](x`: the name stands in front of the brackets.
    if (tokens.kind(name) == TokenKind::RightBracket) {
      OpenCall inner;
      std::optional<std::size_t> first =
          name == 0 ? std::nullopt : openBracket(tokens, name - 1, inner);
      name = first && *first != 0 ? *first - 1 : 0;
    }
    call.name = name;
    call.hasBrackets = tokens.kind(*bracket) == TokenKind::LeftBracket;
    if (tokens.kind(name) == TokenKind::Identifier)
      return call;
    token = *bracket - 1;
  }
  return std::nullopt;
}

static std::optional<NameTarget> calleeOf(const Request &request,
                                          const OpenCall &call) {
  const Analysis &analysis = request.analysis;
  Span name = analysis.tokens->span(call.name);
  const NameUse *use = analysis.useAt(analysis.offset(name.begin));
  bool isCallable = use && use->span == name &&
                    (use->target.kind == NameTarget::Kind::Declaration ||
                     use->target.kind == NameTarget::Kind::Builtin);
  if (isCallable && !use->isDefinition())
    return use->target;
  llvm::StringRef text = analysis.file->text(name);
  for (const VisibleName &visible : moduleNames(request))
    if (visible.name == text)
      return visible.target;
  return std::nullopt;
}

/// The parts of the header that the argument may be: names with their types.
static std::vector<std::string> partsOf(const Declaration &callee,
                                        bool hasBrackets) {
  std::vector<std::string> parts;
  if (hasBrackets) {
    for (GenericOrder order : callee.generics)
      parts.push_back(order.isType
                          ? callee.typeParameters[order.index].name.str()
                          : callee.constantParameters[order.index]->name.str());
    return parts;
  }
  if (callee.reduction)
    for (const Variable *operand :
         llvm::drop_begin(callee.reduction->step.variables,
                          callee.reduction->step.variables.empty() ? 0 : 1))
      if (operand->kind == VariableKind::Operand)
        parts.push_back(operand->name.str() + ": " + typeOf(*operand, callee));
  for (const Parameter &parameter : callee.parameters)
    parts.push_back((parameter.variable->name + ": " + parameter.text).str());
  return parts;
}

static unsigned activePart(const OpenCall &call,
                           llvm::ArrayRef<std::string> parts) {
  for (auto [number, part] : llvm::enumerate(parts))
    if (!call.argumentName.empty() &&
        llvm::StringRef(part).split(':').first == call.argumentName)
      return static_cast<unsigned>(number);
  return call.arguments;
}

static json::Object signatureOf(const Request &request,
                                const NameTarget &target,
                                llvm::ArrayRef<std::string> parts) {
  std::string label = lineFor(target, request.workspace.sources);
  // The operands of a reduction stand in its `step`, not in its header.
  if (target.kind == NameTarget::Kind::Declaration &&
      target.declaration->reduction)
    label = label + "(" + llvm::join(parts, ", ") + " over …)";
  json::Array parameters;
  for (const std::string &part : parts) {
    bool isThere = llvm::StringRef(label).contains(part);
    llvm::StringRef name = llvm::StringRef(part).split(':').first;
    parameters.push_back(
        json::Object{{"label", jsonText(isThere ? part : name)}});
  }
  json::Object signature{{"label", jsonText(label)},
                         {"parameters", std::move(parameters)}};
  std::string words = documentationOf(target);
  if (!words.empty())
    signature["documentation"] =
        json::Object{{"kind", "markdown"}, {"value", jsonText(words)}};
  return signature;
}

Reply server::signatureHelp(const Request &request) {
  std::optional<OpenCall> call;
  if (!isInWords(request.analysis, request.offset))
    call = openCall(request);
  std::optional<NameTarget> target =
      call ? calleeOf(request, *call) : std::nullopt;
  if (!target)
    return Reply(nullptr);
  std::vector<std::string> parts;
  if (target->kind == NameTarget::Kind::Declaration)
    parts = partsOf(*target->declaration, call->hasBrackets);
  for (int i = 0; target->builtin && i < builtinInfo(*target->builtin).operands;
       ++i)
    parts.emplace_back(1, static_cast<char>('a' + i));
  return Reply(json::Object{
      {"signatures", json::Array{signatureOf(request, *target, parts)}},
      {"activeSignature", 0},
      {"activeParameter", activePart(*call, parts)}});
}
