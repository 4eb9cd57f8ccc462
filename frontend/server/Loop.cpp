// A thread reads messages, the caller's thread answers them.
#include "frontend/server/Loop.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

using namespace quern;
using namespace quern::server;
namespace json = llvm::json;

namespace {

/// What arrived: a message, or why there is none.
struct Arrival {
  std::optional<json::Value> message;
  ErrorCode code = ErrorCode::None;
  std::string problem;
  bool isCancelled = false;
};

/// Messages between the two threads.
class Inbox {
public:
  void add(Arrival arrival) {
    std::lock_guard guard(lock);
    arrivals.push_back(std::move(arrival));
    idle.request_stop();
    changed.notify_one();
  }
  void cancel(const json::Value &id);
  void end() {
    std::lock_guard guard(lock);
    hasEnded = true;
    changed.notify_one();
  }
  /// The next one; waits where `waits` holds. Else nothing may be there, and
  /// `stop` asks to end what is done meanwhile.
  std::optional<Arrival> next(bool waits, std::stop_token &stop);

private:
  std::mutex lock;
  std::condition_variable changed;
  std::deque<Arrival> arrivals;
  std::stop_source idle;
  bool hasEnded = false;
};

} // namespace

void Inbox::cancel(const json::Value &id) {
  std::lock_guard guard(lock);
  for (Arrival &each : arrivals) {
    const json::Object *object =
        each.message ? each.message->getAsObject() : nullptr;
    const json::Value *other = object ? object->get("id") : nullptr;
    if (other && *other == id && object->get("method"))
      each.isCancelled = true;
  }
}

std::optional<Arrival> Inbox::next(bool waits, std::stop_token &stop) {
  std::unique_lock guard(lock);
  if (waits)
    changed.wait(guard, [&] { return hasEnded || !arrivals.empty(); });
  if (arrivals.empty()) {
    idle = std::stop_source();
    stop = idle.get_token();
    return std::nullopt;
  }
  Arrival first = std::move(arrivals.front());
  arrivals.pop_front();
  return first;
}

/// Whether reading the text as JSON needs more recursion than we allow.
static bool isTooDeep(llvm::StringRef text) {
  constexpr unsigned deepest = 128;
  unsigned depth = 0;
  bool isString = false;
  for (std::size_t i = 0; i != text.size(); ++i) {
    char c = text[i];
    if (isString && c == '\\' && i + 1 != text.size())
      ++i;
    else if (c == '"')
      isString = !isString;
    else if (!isString && (c == '[' || c == '{') && ++depth > deepest)
      return true;
    else if (!isString && (c == ']' || c == '}') && depth != 0)
      --depth;
  }
  return false;
}

std::optional<json::Value> server::readMessage(llvm::StringRef body,
                                               std::string &problem) {
  if (isTooDeep(body)) {
    problem = "the message is nested too deep";
    return std::nullopt;
  }
  // Letters that are no UTF-8 are replaced, so that the document stays the one
  // that the editor shows in all others.
  llvm::Expected<json::Value> value =
      json::isUTF8(body) ? json::parse(body) : json::parse(json::fixUTF8(body));
  if (value)
    return std::move(*value);
  problem = llvm::toString(value.takeError());
  return std::nullopt;
}

/// The `id` that a notification wants to cancel, or null.
static const json::Value *cancelledId(const json::Value &message) {
  const json::Object *object = message.getAsObject();
  if (!object || object->getString("method") != "$/cancelRequest")
    return nullptr;
  const json::Object *params = object->getObject("params");
  return params ? params->get("id") : nullptr;
}

static Arrival arrivalOf(FrameStatus status, llvm::StringRef body) {
  Arrival arrival;
  arrival.code = ErrorCode::ParseError;
  if (status == FrameStatus::Malformed)
    arrival.problem = "a message without `Content-Length`";
  else if (status == FrameStatus::TooLarge)
    arrival.problem = "the message is too large";
  else
    arrival.message = readMessage(body, arrival.problem);
  return arrival;
}

static void readAll(FrameReader &frames, Inbox &inbox) {
  std::string body;
  while (true) {
    FrameStatus status = frames.next(body);
    if (status == FrameStatus::End)
      return inbox.end();
    Arrival arrival = arrivalOf(status, body);
    const json::Value *id =
        arrival.message ? cancelledId(*arrival.message) : nullptr;
    if (id)
      inbox.cancel(*id);
    const json::Object *object =
        arrival.message ? arrival.message->getAsObject() : nullptr;
    bool isLast = object && object->getString("method") == "exit";
    if (!id)
      inbox.add(std::move(arrival));
    // After `exit` nobody reads, and the stream may stay open.
    if (isLast)
      return inbox.end();
  }
}

static void answer(Server &server, const Arrival &arrival) {
  if (!arrival.message)
    return server.refuse(arrival.code, arrival.problem);
  if (arrival.isCancelled)
    return server.cancel(*arrival.message->getAsObject()->get("id"));
  server.handle(*arrival.message);
}

bool server::serve(Host host, ByteReader read, ByteWriter write) {
  Inbox inbox;
  FrameReader frames(std::move(read));
  Server server(std::move(host), [&](json::Value message) {
    std::string body;
    llvm::raw_string_ostream(body) << message;
    write(frame(body));
  });
  std::jthread reader([&] { readAll(frames, inbox); });
  bool waits = false;
  while (!server.hasExited()) {
    std::stop_token stop;
    std::optional<Arrival> arrival = inbox.next(waits, stop);
    if (!arrival && waits)
      break;
    if (arrival)
      answer(server, *arrival);
    else
      server.publish(stop);
    // With nothing left to do it waits; an edit that stopped the work is there.
    waits = !arrival;
  }
  return server.hasExited() && server.hasEndedWell();
}
