// The types and axes that the checker found for names without one.
#include "frontend/server/Describe.h"
#include "frontend/server/Features.h"

using namespace quern;
using namespace quern::server;
namespace json = llvm::json;

/// Whether the text that follows the name says its type.
static bool isAnnotated(const Analysis &analysis, const NameUse &use) {
  std::size_t token = analysis.tokenBefore(analysis.offset(use.span.begin)) + 1;
  return token < analysis.tokens->size() &&
         analysis.tokens->kind(token) == TokenKind::Colon;
}

Reply server::inlayHints(const Request &request) {
  const Analysis &analysis = request.analysis;
  auto [begin, end] = request.range();
  json::Array hints;
  for (const NameUse &use : analysis.uses) {
    const typed::Variable *variable = use.target.variable;
    bool isInferred = use.isDefinition() &&
                      use.target.kind == NameTarget::Kind::Variable &&
                      (variable->kind == typed::VariableKind::Let ||
                       variable->kind == typed::VariableKind::Var);
    std::size_t place = analysis.offset(use.span.end);
    if (!isInferred || place < begin || place > end ||
        isAnnotated(analysis, use))
      continue;
    std::string type = typeOf(*variable, *use.target.declaration);
    if (type.empty())
      continue;
    constexpr int typeKind = 1; // `InlayHintKind.Type`
    hints.push_back(json::Object{
        {"position", jsonPosition(request.document.lines.positionOf(
                         request.document.text, place))},
        {"label", jsonText(": " + type)},
        {"kind", typeKind},
        {"paddingLeft", false}});
  }
  return Reply(std::move(hints));
}
