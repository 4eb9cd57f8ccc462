// Reads the parameters of requests, and makes edits.
#include "frontend/server/Features.h"

#include <algorithm>

using namespace quern;
using namespace quern::server;
namespace json = llvm::json;

/// A number of the protocol; what is none, or out of range, is near one.
static std::uint32_t number(const json::Object &object, llvm::StringRef key) {
  std::int64_t value = object.getInteger(key).value_or(0);
  constexpr std::int64_t largest = UINT32_MAX;
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(value, 0, largest));
}

Position server::positionIn(const json::Object &object) {
  return {number(object, "line"), number(object, "character")};
}

std::pair<Position, Position> server::rangeIn(const json::Object &object) {
  const json::Object *begin = object.getObject("start");
  const json::Object *end = object.getObject("end");
  return {begin ? positionIn(*begin) : Position(),
          end ? positionIn(*end) : Position()};
}

std::pair<std::size_t, std::size_t> Request::range() const {
  const json::Object *given = params.getObject("range");
  if (!given)
    return {0, document.text.size()};
  auto [begin, end] = rangeIn(*given);
  std::size_t first = document.offsetOf(begin);
  return {first, std::max(first, document.offsetOf(end))};
}

json::Value Request::rangeOf(Span span) const {
  const LineTable &lines = document.lines;
  return jsonRange(lines.positionOf(document.text, analysis.offset(span.begin)),
                   lines.positionOf(document.text, analysis.offset(span.end)));
}

json::Value Request::edit(Span span, llvm::StringRef text) const {
  return json::Object{{"range", rangeOf(span)}, {"newText", jsonText(text)}};
}

json::Value Request::workspaceEdit(json::Array edits) const {
  json::Object changes;
  changes[json::ObjectKey(document.uri)] = std::move(edits);
  return json::Object{{"changes", std::move(changes)}};
}
