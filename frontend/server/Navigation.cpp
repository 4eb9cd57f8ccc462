// Where a name is made and used, and what a text declares.
#include "frontend/server/Describe.h"
#include "frontend/server/Features.h"

using namespace quern;
using namespace quern::server;
namespace json = llvm::json;

/// A definition by its place in a file: texts are read again with every edit,
/// and each reading has offsets of its own.
namespace {
struct Place {
  std::string file;
  std::size_t offset = 0;
  bool operator==(const Place &) const = default;
};
} // namespace

static std::optional<Place> placeOf(Workspace &workspace, Span definition) {
  const SourceFile *file =
      definition.valid() ? workspace.sources.fileOf(definition.begin) : nullptr;
  if (!file)
    return std::nullopt;
  return Place{file->name().str(), definition.begin - file->beginOffset()};
}

Reply server::definition(const Request &request) {
  const NameUse *use = request.analysis.useAt(request.offset);
  return use ? request.workspace.location(use->target.definition) : nullptr;
}

Reply server::hover(const Request &request) {
  const NameUse *use = request.analysis.useAt(request.offset);
  if (!use)
    return Reply(nullptr);
  std::string line = lineFor(use->target, request.workspace.sources);
  std::string text = line.empty() ? "" : "```quern\n" + line + "\n```\n";
  std::string words = documentationOf(use->target);
  if (use->target.kind == NameTarget::Kind::Module)
    if (auto module = request.workspace.module(
            request.analysis.file->text(use->span), request.document))
      words = module->documentation().str();
  text += (words.empty() ? "" : "\n") + words;
  return Reply(
      json::Object{{"contents", json::Object{{"kind", "markdown"},
                                             {"value", jsonText(text)}}},
                   {"range", request.rangeOf(use->span)}});
}

static void addUses(Workspace &workspace, llvm::ArrayRef<NameUse> uses,
                    const Place &wanted, bool withDefinition,
                    json::Array &found) {
  for (const NameUse &use : uses) {
    std::optional<Place> place = placeOf(workspace, use.target.definition);
    if (place != wanted || (use.isDefinition() && !withDefinition))
      continue;
    json::Value location = workspace.location(use.span);
    if (location.getAsObject())
      found.push_back(std::move(location));
  }
}

/// In the open documents; of a name of the library in its texts as well.
Reply server::references(const Request &request) {
  Workspace &workspace = request.workspace;
  const NameUse *use = request.analysis.useAt(request.offset);
  std::optional<Place> wanted =
      use ? placeOf(workspace, use->target.definition) : std::nullopt;
  if (!wanted)
    return Reply(json::Array());
  const json::Object *context = request.params.getObject("context");
  bool withDefinition =
      context && context->getBoolean("includeDeclaration").value_or(false);
  Span definition = use->target.definition;
  std::string name = workspace.sources.text(definition).str();
  json::Array found;
  for (Document *document : workspace.documents())
    if (Analysis *analysis = workspace.analyse(*document))
      addUses(workspace, analysis->uses, *wanted, withDefinition, found);
  if (!workspace.isLibrary(*workspace.sources.fileOf(definition.begin)))
    return Reply(std::move(found));
  std::vector<const SourceFile *> files = workspace.libraryFiles().vec();
  for (const SourceFile *file : files)
    if (file->text().contains(name))
      addUses(workspace, workspace.libraryUses(*file), *wanted, withDefinition,
              found);
  return Reply(std::move(found));
}

Reply server::highlights(const Request &request) {
  const NameUse *use = request.analysis.useAt(request.offset);
  json::Array found;
  if (use && use->target.definition.valid())
    for (const NameUse &other : request.analysis.uses)
      if (other.target.definition == use->target.definition)
        found.push_back(json::Object{{"range", request.rangeOf(other.span)}});
  return Reply(std::move(found));
}

/// `SymbolKind`.
static int symbolKind(ast::Decl::Kind kind) {
  constexpr int function = 12, constant = 14, operation = 25;
  if (kind == ast::Decl::Kind::Const)
    return constant;
  return kind == ast::Decl::Kind::Reduction ? operation : function;
}

Reply server::documentSymbols(const Request &request) {
  json::Array symbols;
  for (const ast::Decl *decl : request.analysis.tree->declarations) {
    if (decl->kind == ast::Decl::Kind::Use || !decl->name)
      continue;
    // A broken text may end a declaration before its name does.
    Span whole = join(decl->span, decl->name.span);
    symbols.push_back(
        json::Object{{"name", jsonText(decl->name.text())},
                     {"detail", jsonText(keyword(decl->kind))},
                     {"kind", symbolKind(decl->kind)},
                     {"range", request.rangeOf(whole)},
                     {"selectionRange", request.rangeOf(decl->name.span)}});
  }
  return Reply(std::move(symbols));
}
