// Reading expectations and matching them.
#include "frontend/diagnostics/Verify.h"
#include "frontend/diagnostics/Render.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace quern;

namespace {

struct Message {
  unsigned line = 0;
  Severity severity = Severity::Error;
  std::string text;
  bool used = false;
};

class Verifier {
public:
  Verifier(const SourceManager &sources, const SourceFile &file,
           llvm::raw_ostream &out)
      : sources(sources), file(file), out(out) {}
  void collectActual(const DiagnosticEngine &diagnostics);
  void collectExpected();
  bool match();

private:
  void parseExpectation(llvm::StringRef rest, unsigned line);
  bool matches(Message &expected);
  unsigned lineOf(Span span) const {
    return span.valid() ? sources.locate(span.begin).line : 1;
  }
  void complain(const Message &message, llvm::StringRef what);

  const SourceManager &sources;
  const SourceFile &file;
  llvm::raw_ostream &out;
  std::vector<Message> actual, expected;
  bool good = true;
};

} // namespace

void Verifier::collectActual(const DiagnosticEngine &diagnostics) {
  for (const SourceDiagnostic &each : diagnostics.diagnostics()) {
    unsigned line = lineOf(each.span);
    actual.push_back(
        {line, each.info->severity, each.code() + ": " + each.message, false});
    for (const DiagnosticLabel &label : each.labels)
      actual.push_back({lineOf(label.span), Severity::Note, label.text, false});
    for (const std::string &note : each.notes)
      actual.push_back({line, Severity::Note, note, false});
    if (!each.hint.empty())
      actual.push_back({line, Severity::Note, each.hint, false});
  }
}

void Verifier::complain(const Message &message, llvm::StringRef what) {
  good = false;
  out << file.name() << ':' << message.line << ": " << what << ' '
      << nameOf(message.severity) << ": " << message.text << '\n';
}

/// Reads what stands behind `expected-`.
void Verifier::parseExpectation(llvm::StringRef rest, unsigned line) {
  Message message{line, Severity::Error, "", false};
  if (rest.consume_front("warning"))
    message.severity = Severity::Warning;
  else if (rest.consume_front("note"))
    message.severity = Severity::Note;
  else if (!rest.consume_front("error"))
    return complain({line, Severity::Error, rest.take_front(20).str(), false},
                    "cannot read expectation");
  int distance = 0;
  if (rest.consume_front("@")) {
    rest.consume_front("+");
    if (rest.consumeInteger(10, distance))
      return complain(message, "cannot read the line of");
  }
  message.line = line + distance;
  rest = rest.ltrim();
  std::size_t end = rest.find("}}");
  if (!rest.consume_front("{{") || end == llvm::StringRef::npos)
    return complain(message, "no {{text}} in expected");
  message.text = rest.take_front(end - 2).str();
  expected.push_back(std::move(message));
}

void Verifier::collectExpected() {
  constexpr llvm::StringLiteral word = "expected-";
  llvm::StringRef text = file.text();
  for (std::size_t at = text.find(word); at != llvm::StringRef::npos;
       at = text.find(word, at + 1)) {
    // Only in comments: the line has a `#` before the word.
    std::size_t lineStart = text.take_front(at).rfind('\n') + 1;
    llvm::StringRef before = text.slice(lineStart, at);
    if (!before.contains('#'))
      continue;
    auto offset = file.beginOffset() + static_cast<std::uint32_t>(at);
    parseExpectation(text.substr(at + word.size()),
                     sources.locate(offset).line);
  }
}

bool Verifier::matches(Message &wanted) {
  for (Message &message : actual) {
    bool fits = !message.used && message.line == wanted.line &&
                message.severity == wanted.severity &&
                llvm::StringRef(message.text).contains(wanted.text);
    if (!fits)
      continue;
    message.used = true;
    return true;
  }
  return false;
}

bool Verifier::match() {
  for (Message &wanted : expected)
    if (!matches(wanted))
      complain(wanted, "expected but not seen:");
  for (const Message &message : actual)
    if (!message.used && message.severity != Severity::Note)
      complain(message, "seen but not expected:");
  return good;
}

bool quern::verifyDiagnostics(const DiagnosticEngine &diagnostics,
                              const SourceManager &sources,
                              const SourceFile &file, llvm::raw_ostream &out) {
  Verifier verifier(sources, file, out);
  verifier.collectActual(diagnostics);
  verifier.collectExpected();
  return verifier.match();
}
