// Runs a server over two streams.
#pragma once

#include "frontend/server/Frames.h"
#include "frontend/server/Server.h"

namespace quern::server {

using ByteWriter = std::function<void(llvm::StringRef bytes)>;

/// Serves until the editor says `exit` or the stream ends. Messages are read on
/// a thread of their own, so that an edit stops the check of the text before
/// it, and a request that was cancelled is not answered. False where the end
/// was not announced by `shutdown`.
bool serve(Host host, ByteReader read, ByteWriter write);

/// The message in a body; nothing, with the reason, where it is none. Brackets
/// may be nested only so deep that reading them needs no large stack.
std::optional<llvm::json::Value> readMessage(llvm::StringRef body,
                                             std::string &problem);

} // namespace quern::server
