// What an editor may ask about a document.
#pragma once

#include "frontend/server/Workspace.h"

namespace quern::server {

/// Codes of JSON-RPC and of the protocol.
enum class ErrorCode : std::int32_t {
  None = 0,
  ParseError = -32700,
  InvalidRequest = -32600,
  MethodNotFound = -32601,
  InvalidParams = -32602,
  ServerNotInitialized = -32002,
  RequestFailed = -32803,
  RequestCancelled = -32800
};

/// The answer to a request: a value, or an error with a sentence.
struct Reply {
  llvm::json::Value value = nullptr;
  ErrorCode code = ErrorCode::None;
  std::string message;

  Reply(llvm::json::Value value) : value(std::move(value)) {}
  Reply(ErrorCode code, std::string message)
      : code(code), message(std::move(message)) {}
};

/// A question about a document whose text was analysed.
struct Request {
  Workspace &workspace;
  Document &document;
  Analysis &analysis;
  const llvm::json::Object &params;
  std::size_t offset = 0; ///< of `position`, where the question has one

  /// `range` in bytes; the whole text without one.
  std::pair<std::size_t, std::size_t> range() const;
  llvm::json::Value rangeOf(Span span) const;
  /// A `TextEdit`.
  llvm::json::Value edit(Span span, llvm::StringRef text) const;
  /// A `WorkspaceEdit` of this document alone.
  llvm::json::Value workspaceEdit(llvm::json::Array edits) const;
};

#define QN_REQUEST(method, function) Reply function(const Request &request);
#include "frontend/server/Methods.def"

/// The parameters of `textDocument/publishDiagnostics`.
llvm::json::Value publishedDiagnostics(Workspace &workspace,
                                       Document &document);
/// One `Diagnostic`; code actions name the ones that they fix.
llvm::json::Value jsonDiagnostic(Workspace &workspace, Document &document,
                                 const SourceDiagnostic &diagnostic);

/// The kinds and modifiers of semantic tokens, in the order of their numbers.
llvm::json::Value semanticTokensLegend();

Position positionIn(const llvm::json::Object &object);
std::pair<Position, Position> rangeIn(const llvm::json::Object &object);

} // namespace quern::server
