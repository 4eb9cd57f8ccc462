// The life of a server, and who answers which message.
#include "frontend/server/Server.h"

#include "llvm/ADT/Twine.h"

using namespace quern;
using namespace quern::server;
namespace json = llvm::json;

Server::Server(Host host, Sender send)
    : workspace(std::move(host)), send(std::move(send)) {}

void Server::reply(const json::Value &id, Reply reply) {
  json::Object message{{"jsonrpc", "2.0"}, {"id", id}};
  if (reply.code == ErrorCode::None)
    message["result"] = std::move(reply.value);
  else
    message["error"] =
        json::Object{{"code", static_cast<std::int64_t>(reply.code)},
                     {"message", jsonText(reply.message)}};
  send(std::move(message));
}

void Server::refuse(ErrorCode code, llvm::StringRef text) {
  reply(nullptr, Reply(code, text.str()));
}

void Server::cancel(const json::Value &id) {
  reply(id, Reply(ErrorCode::RequestCancelled, "the request was cancelled"));
}

void Server::handle(const json::Value &message) {
  const json::Object *object = message.getAsObject();
  if (!object)
    return refuse(ErrorCode::InvalidRequest, "a message is an object");
  const json::Value *id = object->get("id");
  std::optional<llvm::StringRef> method = object->getString("method");
  if (!method) {
    // The answer to a request of ours has no method; we make none.
    if (!object->get("result") && !object->get("error"))
      reply(id ? *id : json::Value(nullptr),
            Reply(ErrorCode::InvalidRequest, "a message has a method"));
    return;
  }
  static const json::Object none;
  const json::Object *params = object->getObject("params");
  if (id)
    request(*id, *method, params ? *params : none);
  else
    notify(*method, params ? *params : none);
}

void Server::request(const json::Value &id, llvm::StringRef method,
                     const json::Object &params) {
  reply(id, answer(method, params));
}

Reply Server::answer(llvm::StringRef method, const json::Object &params) {
  if (method == "initialize")
    return isInitialized
               ? Reply(ErrorCode::InvalidRequest, "initialized already")
               : initialize();
  if (!isInitialized)
    return Reply(ErrorCode::ServerNotInitialized, "`initialize` comes first");
  if (isShutDown)
    return Reply(ErrorCode::InvalidRequest, "the server was shut down");
  if (method == "shutdown") {
    isShutDown = true;
    return Reply(nullptr);
  }
#define QN_REQUEST(name, function)                                             \
  if (method == name)                                                          \
    return about(function, params);
#include "frontend/server/Methods.def"
  return Reply(ErrorCode::MethodNotFound, ("no method `" + method + "`").str());
}

Reply Server::about(Reply (*function)(const Request &),
                    const json::Object &params) {
  const json::Object *identifier = params.getObject("textDocument");
  std::optional<llvm::StringRef> uri =
      identifier ? identifier->getString("uri") : std::nullopt;
  Document *document = uri ? workspace.find(*uri) : nullptr;
  if (!document)
    return Reply(ErrorCode::InvalidParams, "no open document");
  Analysis *analysis = workspace.analyse(*document);
  if (!analysis)
    return Reply(ErrorCode::RequestFailed, "the text is too large");
  Request request{workspace, *document, *analysis, params};
  if (const json::Object *position = params.getObject("position"))
    request.offset = document->offsetOf(positionIn(*position));
  return function(request);
}

Reply Server::initialize() {
  isInitialized = true;
  json::Object capabilities{
      {"positionEncoding", "utf-16"},
      {"textDocumentSync",
       json::Object{{"openClose", true}, {"change", 2}, {"save", true}}},
      {"completionProvider",
       json::Object{{"triggerCharacters", json::Array{".", "@"}}}},
      {"definitionProvider", true},
      {"documentFormattingProvider", true},
      {"documentHighlightProvider", true},
      {"documentSymbolProvider", true},
      {"hoverProvider", true},
      {"inlayHintProvider", true},
      {"referencesProvider", true},
      {"renameProvider", json::Object{{"prepareProvider", true}}},
      {"semanticTokensProvider",
       json::Object{{"legend", semanticTokensLegend()}, {"full", true}}},
      {"signatureHelpProvider",
       json::Object{{"triggerCharacters", json::Array{"(", "[", ","}}}},
      {"codeActionProvider",
       json::Object{{"codeActionKinds",
                     json::Array{"quickfix", "source.fixAll.quern"}}}}};
  return Reply(json::Object{
      {"capabilities", std::move(capabilities)},
      {"serverInfo",
       json::Object{{"name", "quern"}, {"version", workspace.host.version}}}});
}

void Server::notify(llvm::StringRef method, const json::Object &params) {
  if (method == "exit")
    isExited = true;
  if (!isInitialized || isShutDown)
    return;
  if (method == "textDocument/didOpen")
    open(params);
  else if (method == "textDocument/didChange")
    change(params);
  else if (method == "textDocument/didClose")
    close(params);
  else if (method == "textDocument/didSave" ||
           method == "workspace/didChangeWatchedFiles")
    workspace.forgetAll();
}

void Server::open(const json::Object &params) {
  const json::Object *item = params.getObject("textDocument");
  if (!item || !item->getString("uri"))
    return;
  workspace.open(*item->getString("uri"),
                 item->getString("text").value_or("").str(),
                 item->getInteger("version").value_or(0));
}

void Server::change(const json::Object &params) {
  const json::Object *identifier = params.getObject("textDocument");
  const json::Array *changes = params.getArray("contentChanges");
  Document *document =
      identifier ? workspace.find(identifier->getString("uri").value_or(""))
                 : nullptr;
  if (!document || !changes)
    return;
  document->version =
      identifier->getInteger("version").value_or(document->version + 1);
  for (const json::Value &each : *changes) {
    const json::Object *edit = each.getAsObject();
    std::optional<llvm::StringRef> text =
        edit ? edit->getString("text") : std::nullopt;
    if (!text)
      continue;
    std::optional<std::pair<Position, Position>> range;
    if (const json::Object *given = edit->getObject("range"))
      range = rangeIn(*given);
    workspace.edit(*document, range, *text);
  }
}

void Server::close(const json::Object &params) {
  const json::Object *identifier = params.getObject("textDocument");
  llvm::StringRef uri =
      identifier ? identifier->getString("uri").value_or("") : "";
  if (!workspace.find(uri))
    return;
  workspace.close(uri);
  send(json::Object{{"jsonrpc", "2.0"},
                    {"method", "textDocument/publishDiagnostics"},
                    {"params", json::Object{{"uri", jsonText(uri)},
                                            {"diagnostics", json::Array()}}}});
}

void Server::publish(std::stop_token stop) {
  if (!isInitialized || isShutDown)
    return;
  for (Document *document : workspace.documents()) {
    if (document->isPublished)
      continue;
    workspace.analyse(*document, stop);
    if (stop.stop_requested())
      return;
    document->isPublished = true;
    send(json::Object{{"jsonrpc", "2.0"},
                      {"method", "textDocument/publishDiagnostics"},
                      {"params", publishedDiagnostics(workspace, *document)}});
  }
}
