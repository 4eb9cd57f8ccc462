// Random edits of documents, and random requests about them, against the
// language server: `fuzz-server FIRST COUNT [EDITS [MODULE]]`.
#include "test/fuzz/server/Mirror.h"

#include "frontend/server/Loop.h"
#include "jit/session/EmbeddedModules.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace quern;
using namespace quern::fuzz;
namespace json = llvm::json;

static server::Host makeHost() {
  server::Host host;
  host.version = "0";
  host.library = [](llvm::StringRef name) -> std::optional<ModuleText> {
    for (const jit::EmbeddedModule &module : jit::embeddedModules())
      if (llvm::StringRef(module.name) == name)
        return ModuleText{std::string(module.path), module.text};
    return std::nullopt;
  };
  for (const jit::EmbeddedModule &module : jit::embeddedModules()) {
    host.modules.emplace_back(module.name);
    if (module.family == "prelude")
      host.preludeModules.emplace_back(module.name);
  }
  host.fileOf = [](llvm::StringRef name) { return "/library/" + name.str(); };
  return host;
}

static constexpr llvm::StringLiteral uri = "file:///nowhere/fuzz.qn";

static constexpr llvm::StringLiteral methods[] = {
#define QN_REQUEST(method, function) method,
#include "frontend/server/Methods.def"
};

namespace {

/// A server with the messages that it sent.
class Session {
public:
  Session()
      : server(makeHost(), [this](json::Value message) {
          sent.push_back(std::move(message));
        }) {
    request("initialize", json::Object());
  }
  json::Value request(llvm::StringRef method, json::Value params) {
    sent.clear();
    server.handle(json::Object{{"jsonrpc", "2.0"},
                               {"id", ++last},
                               {"method", method},
                               {"params", std::move(params)}});
    return sent.size() == 1 ? sent.front() : json::Value(nullptr);
  }
  void notify(llvm::StringRef method, json::Value params) {
    server.handle(json::Object{
        {"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
  }
  void open(llvm::StringRef text) {
    notify("textDocument/didOpen",
           json::Object{
               {"textDocument",
                json::Object{{"uri", uri}, {"version", 1}, {"text", text}}}});
  }
  void change(json::Value edit) {
    notify("textDocument/didChange",
           json::Object{{"textDocument", json::Object{{"uri", uri}}},
                        {"contentChanges", json::Array{std::move(edit)}}});
  }
  /// The diagnostics of the document as it is now.
  json::Value publish() {
    sent.clear();
    server.publish({});
    const json::Object *message =
        sent.size() == 1 ? sent.front().getAsObject() : nullptr;
    const json::Object *params =
        message ? message->getObject("params") : nullptr;
    const json::Value *list = params ? params->get("diagnostics") : nullptr;
    return list ? *list : json::Value(nullptr);
  }

private:
  std::vector<json::Value> sent;
  server::Server server;
  std::int64_t last = 0;
};

struct Totals {
  std::uint64_t edits = 0, requests = 0, findings = 0;
  std::vector<unsigned> microseconds; ///< of each edit

  void report() {
    llvm::sort(microseconds);
    auto share = [&](double part) {
      auto place = static_cast<std::size_t>(part * double(microseconds.size()));
      return microseconds.empty()
                 ? 0.0
                 : microseconds[std::min(place, microseconds.size() - 1)] / 1e3;
    };
    llvm::outs() << edits << " edits, " << requests << " requests, " << findings
                 << " findings; an edit, in ms: median "
                 << llvm::format("%.2f", share(0.5)) << ", 99 of 100 within "
                 << llvm::format("%.2f", share(0.99)) << ", longest "
                 << llvm::format("%.2f", share(1)) << '\n';
  }
};

} // namespace

/// Whether every `line` in an answer about the document is one of its lines.
static bool staysWithin(const json::Value &value, std::size_t lines) {
  if (const json::Array *array = value.getAsArray())
    return llvm::all_of(*array, [&](const json::Value &each) {
      return staysWithin(each, lines);
    });
  const json::Object *object = value.getAsObject();
  if (!object)
    return true;
  std::optional<std::int64_t> line = object->getInteger("line");
  if (line && (*line < 0 || *line >= static_cast<std::int64_t>(lines)))
    return false;
  // Places in other files have lines of their own.
  std::optional<llvm::StringRef> other = object->getString("uri");
  if (other && *other != uri)
    return true;
  return llvm::all_of(*object, [&](const auto &entry) {
    return staysWithin(entry.second, lines);
  });
}

static bool ask(Session &session, const Mirror &mirror, Random &random) {
  llvm::StringRef method = methods[pick(random, std::size(methods))];
  // It reads the library, which takes longer than all others.
  if (method == "textDocument/references" && random() % 64 != 0)
    method = "textDocument/hover";
  std::size_t begin = mirror.place(random), end = mirror.place(random);
  json::Object params{
      {"textDocument", json::Object{{"uri", uri}}},
      {"position", mirror.position(begin)},
      {"range", json::Object{{"start", mirror.position(std::min(begin, end))},
                             {"end", mirror.position(std::max(begin, end))}}},
      {"context", json::Object{{"includeDeclaration", true}}},
      {"newName", "name" + llvm::utostr(random() % 4)}};
  json::Value answer = session.request(method, std::move(params));
  const json::Object *object = answer.getAsObject();
  bool isGood = object && (object->get("result") || object->get("error")) &&
                staysWithin(answer, mirror.lineCount());
  if (!isGood)
    llvm::outs() << method << " at " << mirror.position(begin) << ": " << answer
                 << '\n';
  return isGood;
}

/// The text of a module; of any where none is named.
static llvm::StringRef textOf(llvm::StringRef module, Random &random) {
  auto modules = jit::embeddedModules();
  for (const jit::EmbeddedModule &each : modules)
    if (llvm::StringRef(each.name) == module)
      return each.text;
  return modules[pick(random, modules.size())].text;
}

/// One document of the library with many edits. In the end a server that has
/// seen only the last text must say the same.
static bool editText(std::uint64_t seed, unsigned edits, llvm::StringRef module,
                     Totals &totals) {
  Random random(seed);
  Mirror mirror(textOf(module, random));
  Session session;
  session.open(mirror.text());
  json::Value known = session.publish();
  bool isGood = true;
  for (unsigned i = 0; i != edits && isGood; ++i) {
    constexpr unsigned mostEdits = 24; // then the text says little any more
    json::Value edit =
        i % mostEdits == mostEdits - 1 ? mirror.restore() : mirror.edit(random);
    auto begin = std::chrono::steady_clock::now();
    session.change(std::move(edit));
    known = session.publish();
    auto time = std::chrono::steady_clock::now() - begin;
    totals.microseconds.push_back(static_cast<unsigned>(
        std::chrono::duration_cast<std::chrono::microseconds>(time).count()));
    ++totals.edits;
    isGood &= staysWithin(known, mirror.lineCount());
    if (random() % 4 == 0 && ++totals.requests)
      isGood &= ask(session, mirror, random);
  }
  Session fresh;
  fresh.open(mirror.text());
  isGood &= fresh.publish() == known;
  return isGood;
}

/// Damaged messages: the server ends with the stream, whatever came.
static bool damageMessages(std::uint64_t seed) {
  Random random(seed);
  std::string bytes;
  auto add = [&](llvm::StringRef method, json::Value params) {
    std::string body;
    llvm::raw_string_ostream(body)
        << json::Value(json::Object{{"jsonrpc", "2.0"},
                                    {"id", 1},
                                    {"method", method},
                                    {"params", std::move(params)}});
    bytes += server::frame(body);
  };
  json::Object item{{"uri", uri}, {"version", 1}, {"text", "fn f("}};
  add("initialize", json::Object());
  add("textDocument/didOpen", json::Object{{"textDocument", std::move(item)}});
  for (llvm::StringRef method : methods)
    add(method, json::Object{{"textDocument", json::Object{{"uri", uri}}}});
  for (unsigned i = 0; i != 8; ++i) {
    std::size_t place = pick(random, bytes.size());
    if (random() % 2)
      bytes[place] = static_cast<char>(random());
    else
      bytes.insert(place, randomWord(random));
  }
  std::size_t done = 0;
  server::serve(
      makeHost(),
      [&](char *to, std::size_t size) {
        std::size_t part =
            std::min({size, bytes.size() - done, 1 + pick(random, 200)});
        std::copy_n(bytes.begin() + done, part, to);
        done += part;
        return part;
      },
      [](llvm::StringRef) {});
  return done == bytes.size();
}

int main(int count, char **words) {
  std::uint64_t first = 0, seeds = 0;
  unsigned edits = 96;
  if (count < 3 || llvm::StringRef(words[1]).getAsInteger(10, first) ||
      llvm::StringRef(words[2]).getAsInteger(10, seeds) ||
      (count > 3 && llvm::StringRef(words[3]).getAsInteger(10, edits))) {
    llvm::errs() << "usage: fuzz-server FIRST COUNT [EDITS [MODULE]]\n";
    return 2;
  }
  llvm::StringRef module = count > 4 ? words[4] : "";
  Totals totals;
  for (std::uint64_t seed = first; seed != first + seeds; ++seed) {
    bool isGood = editText(seed, edits, module, totals) && damageMessages(seed);
    totals.findings += !isGood;
    if (!isGood)
      llvm::outs() << "seed " << seed << " is a finding\n";
  }
  totals.report();
  return totals.findings ? 1 : 0;
}
