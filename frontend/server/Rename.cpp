// Gives a name another spelling everywhere, where that changes no meaning.
#include "frontend/check/CheckerTypes.h"
#include "frontend/lex/Keywords.h"
#include "frontend/server/Features.h"

#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace quern;
using namespace quern::server;
namespace json = llvm::json;

namespace {

/// What is renamed: the uses, by document in the order of their URIs.
struct Renaming {
  std::string name;
  std::map<std::string, std::vector<std::size_t>> places; ///< by URI
};

} // namespace

/// Why what stands there is not renamed, or "".
static std::string refusal(const NameUse *use) {
  if (!use || !use->target.definition.valid())
    return use && use->target.builtin
               ? "a builtin is not renamed"
               : "there is no name here that can be renamed";
  if (use->target.kind == NameTarget::Kind::Module)
    return "a module has the name of its file";
  return "";
}

/// A name that `as` gives is this document's own.
static bool isAlias(const Request &request, const NameUse &use) {
  return request.workspace.sources.text(use.target.definition) !=
         request.analysis.file->text(use.span);
}

static Document *documentWith(Workspace &workspace, Span place) {
  const SourceFile *file = workspace.sources.fileOf(place.begin);
  if (file && !workspace.isLibrary(*file))
    for (Document *document : workspace.documents())
      if (document->path == file->name())
        return document;
  return nullptr;
}

static void collect(const Request &request, const NameUse &use,
                    Document &document, Renaming &renaming) {
  Analysis *analysis = request.workspace.analyse(document);
  const SourceFile *defining =
      request.workspace.sources.fileOf(use.target.definition.begin);
  std::size_t offset = use.target.definition.begin - defining->beginOffset();
  if (!analysis)
    return;
  for (const NameUse &other : analysis->uses) {
    Span definition = other.target.definition;
    const SourceFile *file =
        definition.valid() ? request.workspace.sources.fileOf(definition.begin)
                           : nullptr;
    bool isSame = file && file->name() == defining->name() &&
                  definition.begin - file->beginOffset() == offset &&
                  analysis->file->text(other.span) == renaming.name;
    if (isSame)
      renaming.places[document.uri].push_back(
          analysis->offset(other.span.begin));
  }
}

/// Nothing, with the reason, where the name has to stay.
static std::optional<Renaming> renamingAt(const Request &request,
                                          std::string &problem) {
  const NameUse *use = request.analysis.useAt(request.offset);
  problem = refusal(use);
  if (!problem.empty())
    return std::nullopt;
  Renaming renaming;
  renaming.name = request.analysis.file->text(use->span).str();
  if (isAlias(request, *use)) {
    collect(request, *use, request.document, renaming);
    return renaming;
  }
  if (!documentWith(request.workspace, use->target.definition)) {
    const SourceFile *file =
        request.workspace.sources.fileOf(use->target.definition.begin);
    problem =
        request.workspace.isLibrary(*file)
            ? "`" + renaming.name + "` is a name of the library"
            : "open `" + file->name().str() + "` first, where the name is made";
    return std::nullopt;
  }
  for (Document *document : request.workspace.documents())
    collect(request, *use, *document, renaming);
  return renaming;
}

Reply server::prepareRename(const Request &request) {
  std::string problem;
  if (!renamingAt(request, problem))
    return Reply(ErrorCode::RequestFailed, problem);
  const NameUse *use = request.analysis.useAt(request.offset);
  return Reply(json::Object{
      {"range", request.rangeOf(use->span)},
      {"placeholder", jsonText(request.analysis.file->text(use->span))}});
}

/// Why a name cannot be spelled so, or "".
static std::string spellingProblem(llvm::StringRef name) {
  bool isWord =
      !name.empty() && !llvm::isDigit(name.front()) &&
      llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (!isWord || name == "_")
    return "`" + name.str() + "` is not a name";
  if (keywords::lookUp(name) != TokenKind::Identifier)
    return "`" + name.str() + "` is a keyword";
  if (check::isTypeName(name))
    return "`" + name.str() + "` is a type";
  return "";
}

static std::string replaced(llvm::StringRef text, const Renaming &renaming,
                            llvm::ArrayRef<std::size_t> places,
                            llvm::StringRef name) {
  std::string made;
  std::size_t done = 0;
  for (std::size_t place : places) {
    made += text.slice(done, place);
    made += name;
    done = place + renaming.name.size();
  }
  return made + text.drop_front(done).str();
}

/// Whether the changed text means the same: no new errors, and each changed
/// name is a use of the one definition, and there is no other use.
static bool meansTheSame(const Request &request, Document &document,
                         const Renaming &renaming,
                         const llvm::StringMap<std::string> &texts,
                         llvm::StringRef name) {
  Analysis *before = request.workspace.analyse(document);
  std::unique_ptr<Analysis> after =
      request.workspace.analyseAs(document, texts);
  if (!before || !after ||
      after->diagnostics.errorCount() > before->diagnostics.errorCount())
    return false;
  std::vector<std::size_t> expected = renaming.places.at(document.uri);
  std::size_t moved = 0;
  for (std::size_t &place : expected)
    place += moved++ * (name.size() - renaming.name.size());
  Span definition;
  for (const NameUse &use : after->uses)
    if (after->offset(use.span.begin) == expected.front())
      definition = use.target.definition;
  std::vector<std::size_t> found;
  for (const NameUse &use : after->uses)
    if (definition.valid() && use.target.definition == definition &&
        after->file->text(use.span) == name)
      found.push_back(after->offset(use.span.begin));
  return found == expected;
}

Reply server::rename(const Request &request) {
  std::string name =
      request.params.getString("newName").value_or("").trim().str();
  std::string problem = spellingProblem(name);
  std::optional<Renaming> renaming;
  if (problem.empty())
    renaming = renamingAt(request, problem);
  if (!renaming)
    return Reply(ErrorCode::RequestFailed, problem);
  llvm::StringMap<std::string> texts;
  for (const auto &[uri, places] : renaming->places) {
    Document *document = request.workspace.find(uri);
    texts[document->path] = replaced(document->text, *renaming, places, name);
  }
  json::Object changes;
  for (const auto &[uri, places] : renaming->places) {
    Document *document = request.workspace.find(uri);
    if (!meansTheSame(request, *document, *renaming, texts, name))
      return Reply(ErrorCode::RequestFailed,
                   "`" + name + "` would mean something else in `" +
                       document->path + "`");
    json::Array edits;
    for (std::size_t place : places)
      edits.push_back(json::Object{
          {"range",
           jsonRange(document->lines.positionOf(document->text, place),
                     document->lines.positionOf(
                         document->text, place + renaming->name.size()))},
          {"newText", name}});
    changes[json::ObjectKey(uri)] = std::move(edits);
  }
  return Reply(json::Object{{"changes", std::move(changes)}});
}
