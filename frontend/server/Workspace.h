// The open documents, what is known about each, and the library.
#pragma once

#include "frontend/ast/Decl.h"
#include "frontend/check/Check.h"
#include "frontend/check/NameIndex.h"
#include "frontend/diagnostics/Engine.h"
#include "frontend/lex/TokenBuffer.h"
#include "frontend/server/Lines.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <optional>

namespace quern::server {

/// What the program around the server knows.
struct Host {
  std::string version;
  ModuleLoader library;
  std::vector<std::string> preludeModules;
  std::vector<std::string> modules; ///< every module of the library
  /// A file with a text of the library ("prelude/math.qn") or the page of a
  /// diagnostic ("QN1304.md"), to be opened by an editor; "" where there is
  /// none.
  std::function<std::string(llvm::StringRef name)> fileOf;
};

/// All that the front end finds out about one version of a text.
class Analysis {
public:
  /// Null where the text is too large to be placed.
  static std::unique_ptr<Analysis>
  make(SourceManager &sources, ModuleLibrary &library, ModuleLoader loader,
       llvm::StringRef path, llvm::StringRef text, std::stop_token stop);
  ~Analysis();

  /// What stands at a byte of the text: a name, or null.
  const NameUse *useAt(std::size_t offset) const;
  /// The token at a byte, or the last that begins before it.
  std::size_t tokenBefore(std::size_t offset) const;
  bool isStopped() const { return diagnostics.isStopped(); }
  Span span(std::size_t begin, std::size_t end) const {
    return file->span(begin, end);
  }
  std::size_t offset(std::uint32_t place) const {
    return place - file->beginOffset();
  }
  bool contains(Span span) const {
    return span.valid() && file->contains(span.begin) &&
           file->contains(span.end);
  }

  const SourceFile *file;
  DiagnosticEngine diagnostics;
  std::optional<TokenBuffer> tokens;
  std::unique_ptr<ast::Module> tree;
  std::unique_ptr<ModuleLibrary>
      library; ///< with the modules in the folder of the text
  std::shared_ptr<const typed::TypedModule> module;
  std::vector<NameUse> uses;

private:
  Analysis(SourceManager &sources, const SourceFile &file)
      : file(&file), sources(sources) {}
  SourceManager &sources;
};

struct Document {
  std::string uri;
  std::string path; ///< or the URI, where it is no file
  std::string text;
  std::int64_t version = 0;
  LineTable lines;
  std::unique_ptr<Analysis> analysis; ///< null: not made since the last edit
  bool isPublished = false;           ///< its diagnostics were sent

  void setText(std::string newText);
  std::size_t offsetOf(Position position) const {
    return lines.offsetOf(text, position);
  }
};

class Workspace {
public:
  explicit Workspace(Host host);

  Document *find(llvm::StringRef uri);
  Document &open(llvm::StringRef uri, std::string text, std::int64_t version);
  void close(llvm::StringRef uri);
  void edit(Document &document, std::optional<std::pair<Position, Position>>,
            llvm::StringRef text);
  /// Files on the disk have changed, which texts may use.
  void forgetAll();
  /// Null where the text is too large, or the stop came first.
  Analysis *analyse(Document &document, std::stop_token stop = {});
  /// The document as it would be with these texts, by their paths.
  std::unique_ptr<Analysis>
  analyseAs(const Document &document,
            const llvm::StringMap<std::string> &texts);
  /// In the order of their URIs.
  std::vector<Document *> documents();

  /// The URI of the text that `file` was read from; "" where it has none.
  std::string uriOf(const SourceFile &file);
  /// `Location` of the protocol; null where an editor cannot open the place.
  llvm::json::Value location(Span span);
  llvm::json::Value range(Span span) const;
  bool isLibrary(const SourceFile &file) const;
  /// What a file of the library says, and where; read again for its names.
  std::vector<NameUse> libraryUses(const SourceFile &file);
  /// Every text of the library, loaded.
  llvm::ArrayRef<const SourceFile *> libraryFiles();
  /// The module of that name, as a text at `path` sees it.
  std::shared_ptr<const typed::TypedModule> module(llvm::StringRef name,
                                                   Document &document);

  SourceManager sources;
  const Host host;

private:
  ModuleLoader
  besideLoader(const Document &document,
               const llvm::StringMap<std::string> *texts = nullptr);
  /// Modules that use this one were checked against its old text.
  void forgetOthers(const Document &changed);

  ModuleLibrary library;
  llvm::StringMap<std::unique_ptr<Document>> opened;
};

/// A string of the protocol is UTF-8, whatever a file holds.
llvm::json::Value jsonText(llvm::StringRef text);
llvm::json::Value jsonPosition(Position position);
llvm::json::Value jsonRange(Position begin, Position end);

} // namespace quern::server
