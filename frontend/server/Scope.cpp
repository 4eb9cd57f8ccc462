// Collects names for completion and signature help.
#include "frontend/server/Scope.h"

using namespace quern;
using namespace quern::server;

bool server::isLayout(TokenKind kind) {
  return kind == TokenKind::Newline || kind == TokenKind::Indent ||
         kind == TokenKind::Dedent || kind == TokenKind::EndOfFile;
}

std::optional<std::size_t> server::tokenInFront(const Analysis &analysis,
                                                std::size_t offset) {
  if (offset == 0)
    return std::nullopt;
  const TokenBuffer &tokens = *analysis.tokens;
  std::size_t token = analysis.tokenBefore(offset - 1);
  // What the lexer added has no text.
  auto isThere = [&](std::size_t i) {
    return !isLayout(tokens.kind(i)) && tokens.span(i).size() != 0 &&
           analysis.offset(tokens.span(i).begin) < offset;
  };
  while (!isThere(token)) {
    if (token == 0)
      return std::nullopt;
    --token;
  }
  return token;
}

bool server::isInWords(const Analysis &analysis, std::size_t offset) {
  std::uint32_t place = analysis.span(offset, offset).begin;
  for (Span comment : analysis.tokens->comments())
    if (comment.begin < place && place <= comment.end)
      return true;
  std::optional<std::size_t> token = tokenInFront(analysis, offset);
  if (!token)
    return false;
  TokenKind kind = analysis.tokens->kind(*token);
  return (kind == TokenKind::String || kind == TokenKind::Docstring) &&
         place < analysis.tokens->span(*token).end;
}

/// From the first token of the declaration that begins last in front of the
/// place to the first of the next one.
std::pair<std::size_t, std::size_t>
server::tokensAround(const Analysis &analysis, std::size_t offset) {
  std::uint32_t place = analysis.span(offset, offset).begin;
  std::uint32_t first = analysis.file->beginOffset();
  std::uint32_t last = analysis.file->endOffset();
  for (const ast::Decl *decl : analysis.tree->declarations) {
    if (decl->span.begin <= place)
      first = std::max(first, decl->span.begin);
    else
      last = std::min(last, decl->span.begin);
  }
  return {analysis.tokenBefore(analysis.offset(first)),
          analysis.tokenBefore(analysis.offset(last))};
}

std::vector<VisibleName> server::localNames(const Analysis &analysis,
                                            std::size_t offset) {
  auto [first, last] = tokensAround(analysis, offset);
  Span begin = analysis.tokens->span(first), end = analysis.tokens->span(last);
  std::uint32_t place = analysis.span(offset, offset).begin;
  std::vector<VisibleName> names;
  for (const NameUse &use : analysis.uses) {
    bool isLocal = use.target.kind != NameTarget::Kind::Declaration &&
                   use.target.kind != NameTarget::Kind::Constant &&
                   use.target.kind != NameTarget::Kind::Module;
    if (use.isDefinition() && isLocal && use.span.begin >= begin.begin &&
        use.span.begin < end.end && use.span.end < place)
      names.push_back({analysis.file->text(use.span), use.target});
  }
  return names;
}

static void addDeclarations(const typed::TypedModule &module,
                            std::vector<VisibleName> &names) {
  for (const typed::Declaration *declaration : module.declarations()) {
    NameTarget target;
    target.kind = NameTarget::Kind::Declaration;
    target.definition = declaration->nameSpan;
    target.declaration = declaration;
    names.push_back({declaration->name, target});
  }
  for (const typed::ConstantTable *table : module.constants()) {
    NameTarget target;
    target.kind = NameTarget::Kind::Constant;
    target.definition = table->span;
    target.constant = table;
    names.push_back({table->name, target});
  }
}

/// The names that `from … use` brings, by their own spelling here.
static void addImports(const Analysis &analysis,
                       std::vector<VisibleName> &names) {
  for (const ast::Decl *decl : analysis.tree->declarations) {
    const auto *use = llvm::dyn_cast<ast::UseDecl>(decl);
    if (!use)
      continue;
    for (const ast::ImportedName &imported : use->names) {
      const ast::Identifier &local =
          imported.alias ? imported.alias : imported.name;
      if (!local)
        continue;
      const NameUse *known = analysis.useAt(analysis.offset(local.span.begin));
      if (known && known->span == local.span)
        names.push_back({local.text(), known->target});
    }
  }
}

static void addBuiltins(std::vector<VisibleName> &names) {
  static constexpr llvm::StringLiteral spellings[] = {
#define QN_BUILTIN(enumerator, spelling, group, operands, constraint, result)  \
  spelling,
#include "frontend/typed/Builtins.def"
  };
  for (llvm::StringRef spelling : spellings) {
    std::optional<typed::Builtin> builtin = typed::builtinNamed(spelling);
    if (!builtin)
      continue;
    NameTarget target;
    target.kind = NameTarget::Kind::Builtin;
    target.builtin = builtin;
    names.push_back({spelling, target});
  }
}

std::vector<VisibleName> server::moduleNames(const Request &request) {
  std::vector<VisibleName> names;
  addDeclarations(*request.analysis.module, names);
  addImports(request.analysis, names);
  for (const std::string &name : request.workspace.host.preludeModules)
    if (auto module = request.workspace.module(name, request.document))
      addDeclarations(*module, names);
  addBuiltins(names);
  return names;
}
