// The language server: messages of an editor in, messages to it out.
#pragma once

#include "frontend/server/Features.h"

namespace quern::server {

/// Answers one message after the other, in the order of their arrival.
class Server {
public:
  using Sender = std::function<void(llvm::json::Value message)>;

  Server(Host host, Sender send);

  void handle(const llvm::json::Value &message);
  /// For a message that could not be read.
  void refuse(ErrorCode code, llvm::StringRef text);
  /// For a request that its sender no longer waits for.
  void cancel(const llvm::json::Value &id);
  /// Publishes the diagnostics of texts that have changed, until `stop`.
  void publish(std::stop_token stop);
  bool hasExited() const { return isExited; }
  /// Whether the editor ended the server as the protocol says.
  bool hasEndedWell() const { return isShutDown; }

private:
  void request(const llvm::json::Value &id, llvm::StringRef method,
               const llvm::json::Object &params);
  Reply answer(llvm::StringRef method, const llvm::json::Object &params);
  Reply about(Reply (*function)(const Request &),
              const llvm::json::Object &params);
  Reply initialize();
  void notify(llvm::StringRef method, const llvm::json::Object &params);
  void open(const llvm::json::Object &params);
  void change(const llvm::json::Object &params);
  void close(const llvm::json::Object &params);
  void reply(const llvm::json::Value &id, Reply reply);

  Workspace workspace;
  Sender send;
  bool isInitialized = false, isShutDown = false, isExited = false;
};

} // namespace quern::server
