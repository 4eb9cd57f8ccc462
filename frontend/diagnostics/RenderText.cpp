// Diagnostics for people: the line, carets under it, labels and hints.
#include "frontend/diagnostics/Render.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace quern;
using llvm::raw_ostream;

llvm::StringRef quern::nameOf(Severity severity) {
  switch (severity) {
  case Severity::Note:
    return "note";
  case Severity::Warning:
    return "warning";
  case Severity::Error:
    return "error";
  }
  return "error";
}

namespace {

/// A stretch of one line to be underlined.
struct Mark {
  unsigned line = 0;
  std::size_t begin = 0, end = 0; ///< bytes from the line's begin
  bool primary = false;
  llvm::StringRef text;
};

class TextRenderer {
public:
  TextRenderer(const SourceManager &sources, raw_ostream &out, bool color)
      : sources(sources), out(out), color(color) {}
  void render(const SourceDiagnostic &diagnostic);

private:
  raw_ostream &paint(raw_ostream::Colors paint, bool bold = true);
  void plain();
  void header(const SourceDiagnostic &diagnostic);
  Mark mark(const SourceFile &file, Span span, bool primary,
            llvm::StringRef text) const;
  void excerpt(const SourceFile &file, llvm::ArrayRef<Mark> marks);
  void sourceLine(llvm::StringRef text, unsigned number);
  void underline(llvm::StringRef line, const Mark &mark);
  void gutter();

  const SourceManager &sources;
  raw_ostream &out;
  bool color;
  unsigned gutterWidth = 1;
  std::size_t shift = 0; ///< bytes cut off at the left of long lines
};

constexpr std::size_t widest = 160;
constexpr unsigned tabWidth = 4;

} // namespace

raw_ostream &TextRenderer::paint(raw_ostream::Colors paint, bool bold) {
  if (color)
    out.changeColor(paint, bold);
  return out;
}

void TextRenderer::plain() {
  if (color)
    out.resetColor();
}

void TextRenderer::header(const SourceDiagnostic &diagnostic) {
  SourceLocation place = sources.locate(diagnostic.span.begin);
  if (diagnostic.span.valid() && place.file)
    out << place.file->name() << ':' << place.line << ':' << place.column
        << ": ";
  Severity severity = diagnostic.info->severity;
  paint(severity == Severity::Error ? raw_ostream::RED : raw_ostream::YELLOW);
  out << nameOf(severity) << '[' << diagnostic.code() << "]";
  plain();
  out << ": ";
  paint(raw_ostream::SAVEDCOLOR);
  out << diagnostic.message;
  plain();
  out << '\n';
}

/// The part of `span` on its first line.
Mark TextRenderer::mark(const SourceFile &file, Span span, bool primary,
                        llvm::StringRef text) const {
  SourceLocation begin = sources.locate(span.begin);
  std::size_t length = sources.lineText(file, begin.line).size();
  std::size_t first = std::min<std::size_t>(begin.column - 1, length);
  std::size_t last = std::min<std::size_t>(first + span.size(), length);
  return {begin.line, first, std::max(last, first + 1), primary, text};
}

void TextRenderer::gutter() {
  paint(raw_ostream::BLUE);
  out.indent(gutterWidth) << " | ";
  plain();
}

/// Prints what a terminal shows safely: tabs widened, controls replaced.
static void printVisible(raw_ostream &out, llvm::StringRef text) {
  std::string whole;
  if (!llvm::json::isUTF8(text)) // a line cut within a character
    text = whole = llvm::json::fixUTF8(text);
  for (char c : text) {
    if (c == '\t')
      out.indent(tabWidth);
    else
      out << (static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c);
  }
}

/// Columns that `printVisible` takes.
static unsigned widthOf(llvm::StringRef text) {
  unsigned width = 0;
  while (!text.empty()) {
    llvm::StringRef plain = text.take_until([](char c) { return c == '\t'; });
    int columns = llvm::sys::unicode::columnWidthUTF8(plain);
    width += columns < 0 ? plain.size() : columns;
    text = text.drop_front(plain.size());
    width += text.empty() ? 0 : tabWidth;
    text = text.drop_front(text.empty() ? 0 : 1);
  }
  return width;
}

void TextRenderer::sourceLine(llvm::StringRef text, unsigned number) {
  paint(raw_ostream::BLUE);
  std::string digits = llvm::utostr(number);
  out.indent(gutterWidth - digits.size()) << digits << " | ";
  plain();
  printVisible(out, text.substr(shift, widest));
  out << '\n';
}

void TextRenderer::underline(llvm::StringRef line, const Mark &mark) {
  gutter();
  std::size_t begin = mark.begin - std::min(mark.begin, shift);
  llvm::StringRef shown = line.substr(shift, widest);
  out.indent(widthOf(shown.take_front(begin)));
  unsigned length =
      widthOf(shown.substr(begin, mark.end - std::max(mark.begin, shift)));
  paint(mark.primary ? raw_ostream::RED : raw_ostream::BLUE);
  std::string carets(std::max(1u, length), mark.primary ? '^' : '-');
  out << carets;
  if (!mark.text.empty())
    out << ' ' << mark.text;
  plain();
  out << '\n';
}

void TextRenderer::excerpt(const SourceFile &file, llvm::ArrayRef<Mark> marks) {
  unsigned last = 0;
  for (const Mark &mark : marks) {
    llvm::StringRef line = sources.lineText(file, mark.line);
    if (mark.line != last) {
      // A very long line is shown around its first mark.
      shift = mark.end > widest - 20
                  ? mark.begin - std::min<std::size_t>(mark.begin, 40)
                  : 0;
      if (last && mark.line != last + 1) {
        paint(raw_ostream::BLUE);
        out.indent(gutterWidth) << " ...\n";
        plain();
      }
      sourceLine(line, mark.line);
    }
    underline(line, mark);
    last = mark.line;
  }
}

void TextRenderer::render(const SourceDiagnostic &diagnostic) {
  header(diagnostic);
  const SourceFile *file = sources.fileOf(diagnostic.span.begin);
  if (file && diagnostic.span.valid()) {
    llvm::SmallVector<Mark, 4> marks;
    marks.push_back(mark(*file, diagnostic.span, true, {}));
    for (const DiagnosticLabel &label : diagnostic.labels)
      if (file->contains(label.span.begin))
        marks.push_back(mark(*file, label.span, false, label.text));
    llvm::sort(marks, [](const Mark &a, const Mark &b) {
      return std::tuple(a.line, !a.primary, a.begin) <
             std::tuple(b.line, !b.primary, b.begin);
    });
    gutterWidth = llvm::utostr(marks.back().line).size();
    excerpt(*file, marks);
  }
  for (const DiagnosticLabel &label : diagnostic.labels) {
    if (file && file->contains(label.span.begin))
      continue;
    SourceLocation place = sources.locate(label.span.begin);
    if (place.file)
      out << place.file->name() << ':' << place.line << ':' << place.column
          << ": note: " << label.text << '\n';
  }
  for (const std::string &note : diagnostic.notes)
    out.indent(gutterWidth) << " = note: " << note << '\n';
  if (!diagnostic.hint.empty())
    out.indent(gutterWidth) << " = hint: " << diagnostic.hint << '\n';
}

void quern::renderText(const SourceDiagnostic &diagnostic,
                       const SourceManager &sources, raw_ostream &out,
                       bool color) {
  TextRenderer(sources, out, color).render(diagnostic);
}

void quern::renderText(const DiagnosticEngine &diagnostics,
                       const SourceManager &sources, raw_ostream &out,
                       bool color) {
  for (const SourceDiagnostic &diagnostic : diagnostics.diagnostics())
    renderText(diagnostic, sources, out, color);
  unsigned errors = diagnostics.errorCount();
  unsigned warnings = diagnostics.warningCount();
  auto count = [&](unsigned number, llvm::StringRef word) {
    out << number << ' ' << word << (number == 1 ? "" : "s");
  };
  if (errors)
    count(errors, "error");
  if (errors && warnings)
    out << ", ";
  if (warnings)
    count(warnings, "warning");
  if (diagnostics.limitReached())
    out << "; stopped at the limit";
  if (errors || warnings)
    out << '\n';
}
