// Keeps documents, and turns places of the front end into those of an editor.
#include "frontend/server/Workspace.h"

#include "frontend/Frontend.h"
#include "frontend/check/Beside.h"
#include "frontend/server/Uri.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace quern;
using namespace quern::server;
namespace json = llvm::json;

json::Value server::jsonText(llvm::StringRef text) {
  return json::isUTF8(text) ? json::Value(text.str())
                            : json::Value(json::fixUTF8(text));
}

json::Value server::jsonPosition(Position position) {
  return json::Object{{"line", position.line},
                      {"character", position.character}};
}

json::Value server::jsonRange(Position begin, Position end) {
  return json::Object{{"start", jsonPosition(begin)},
                      {"end", jsonPosition(end)}};
}

void Document::setText(std::string newText) {
  text = std::move(newText);
  lines = LineTable(text);
  analysis = nullptr;
  isPublished = false;
}

Workspace::Workspace(Host theHost)
    : host(std::move(theHost)),
      library(sources, host.library, host.preludeModules) {}

Document *Workspace::find(llvm::StringRef uri) {
  auto found = opened.find(uri);
  return found == opened.end() ? nullptr : found->second.get();
}

std::vector<Document *> Workspace::documents() {
  std::vector<Document *> all;
  for (const auto &entry : opened)
    all.push_back(entry.second.get());
  llvm::sort(all, [](const Document *a, const Document *b) {
    return a->uri < b->uri;
  });
  return all;
}

Document &Workspace::open(llvm::StringRef uri, std::string text,
                          std::int64_t version) {
  std::unique_ptr<Document> &place = opened[uri];
  if (!place)
    place = std::make_unique<Document>();
  place->uri = uri.str();
  place->path = pathOfUri(uri);
  if (place->path.empty())
    place->path = uri.str();
  place->version = version;
  place->setText(std::move(text));
  forgetOthers(*place);
  return *place;
}

void Workspace::close(llvm::StringRef uri) {
  auto found = opened.find(uri);
  if (found == opened.end())
    return;
  std::unique_ptr<Document> closed = std::move(found->second);
  opened.erase(found);
  forgetOthers(*closed);
}

void Workspace::edit(Document &document,
                     std::optional<std::pair<Position, Position>> range,
                     llvm::StringRef text) {
  std::string whole = text.str();
  if (range) {
    std::size_t begin = document.offsetOf(range->first);
    std::size_t end = std::max(begin, document.offsetOf(range->second));
    whole = document.text;
    whole.replace(begin, end - begin, text.str());
  }
  document.setText(std::move(whole));
  forgetOthers(document);
}

/// Whether the module at `path` is one that the text used, or did not find.
static bool mayUse(const Analysis &analysis, llvm::StringRef path) {
  auto isImport = [&](const ast::Decl *decl) {
    llvm::StringRef last = decl->name.text();
    if (std::size_t dot = last.rfind('.'); dot != llvm::StringRef::npos)
      last = last.drop_front(dot + 1);
    return decl->kind == ast::Decl::Kind::Use &&
           last == llvm::sys::path::stem(path);
  };
  return llvm::any_of(
             analysis.library->files(),
             [&](const SourceFile *file) { return file->name() == path; }) ||
         llvm::any_of(analysis.tree->declarations, isImport);
}

void Workspace::forgetOthers(const Document &changed) {
  for (auto &entry : opened) {
    Document &other = *entry.second;
    if (&other == &changed || !other.analysis ||
        !mayUse(*other.analysis, changed.path))
      continue;
    other.analysis = nullptr;
    other.isPublished = false;
  }
}

void Workspace::forgetAll() {
  for (auto &entry : opened) {
    entry.second->analysis = nullptr;
    entry.second->isPublished = false;
  }
}

/// Files in the folder of a text, in the state that their editors show.
ModuleLoader
Workspace::besideLoader(const Document &document,
                        const llvm::StringMap<std::string> *texts) {
  llvm::StringRef folder = llvm::sys::path::parent_path(document.path);
  return
      [this, texts, folder = folder.str(), disk = modulesBeside(document.path)](
          llvm::StringRef name) -> std::optional<ModuleText> {
        llvm::SmallString<128> path(folder);
        for (llvm::StringRef part : llvm::split(name, '.'))
          llvm::sys::path::append(path, part);
        path += ".qn";
        if (texts && texts->contains(path))
          return ModuleText{path.str().str(), texts->find(path)->second};
        for (const auto &entry : opened)
          if (entry.second->path == path)
            return ModuleText{path.str().str(), entry.second->text};
        return disk(name);
      };
}

Analysis *Workspace::analyse(Document &document, std::stop_token stop) {
  if (document.analysis)
    return document.analysis.get();
  document.analysis = Analysis::make(sources, library, besideLoader(document),
                                     document.path, document.text, stop);
  if (document.analysis && document.analysis->isStopped())
    document.analysis = nullptr;
  return document.analysis.get();
}

std::unique_ptr<Analysis>
Workspace::analyseAs(const Document &document,
                     const llvm::StringMap<std::string> &texts) {
  return Analysis::make(sources, library, besideLoader(document, &texts),
                        document.path, texts.find(document.path)->second, {});
}

bool Workspace::isLibrary(const SourceFile &file) const {
  return llvm::is_contained(library.files(), &file);
}

std::string Workspace::uriOf(const SourceFile &file) {
  if (isLibrary(file)) {
    std::string path = host.fileOf(file.name());
    return path.empty() ? "" : uriOfPath(path);
  }
  for (const auto &entry : opened)
    if (entry.second->path == file.name())
      return entry.second->uri;
  return uriOfPath(file.name());
}

json::Value Workspace::range(Span span) const {
  const SourceFile *file = sources.fileOf(span.begin);
  if (!file)
    return jsonRange({}, {});
  LineTable lines(file->text());
  std::size_t base = file->beginOffset();
  return jsonRange(lines.positionOf(file->text(), span.begin - base),
                   lines.positionOf(file->text(), span.end - base));
}

json::Value Workspace::location(Span span) {
  const SourceFile *file = span.valid() ? sources.fileOf(span.begin) : nullptr;
  std::string uri = file ? uriOf(*file) : "";
  if (uri.empty())
    return nullptr;
  return json::Object{{"uri", jsonText(uri)}, {"range", range(span)}};
}

llvm::ArrayRef<const SourceFile *> Workspace::libraryFiles() {
  DiagnosticEngine unheard;
  for (const std::string &name : host.modules)
    library.load(name, unheard);
  return library.files();
}

std::vector<NameUse> Workspace::libraryUses(const SourceFile &file) {
  DiagnosticEngine unheard;
  NameIndex names(file);
  std::unique_ptr<ast::Module> tree = parse(file, unheard);
  library.check(*tree, llvm::sys::path::stem(file.name()), unheard, &names);
  return names.take();
}

std::shared_ptr<const typed::TypedModule>
Workspace::module(llvm::StringRef name, Document &document) {
  DiagnosticEngine unheard;
  Analysis *analysis = analyse(document);
  return analysis ? analysis->library->load(name, unheard) : nullptr;
}
