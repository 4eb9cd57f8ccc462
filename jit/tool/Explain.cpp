// `quern explain QN1304`: prints the page of a diagnostic.
#include "frontend/diagnostics/Suggestion.h"
#include "jit/tool/Json.h"
#include "jit/tool/Pages.h"
#include "jit/tool/Tool.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace quern;

static constexpr llvm::StringLiteral help =
    R"(usage: quern explain CODE...

Prints the page of a diagnostic: what causes it, an example, and its fix.
CODE is as in a message, `QN1304`; `qn1304` and `1304` mean the same.

  --json   one JSON object a page: its code, and its text in Markdown
)";

/// "QN0012" of "qn0012" and of "12".
static std::string codeOf(llvm::StringRef word) {
  unsigned number = 0;
  llvm::StringRef digits = word;
  digits.consume_front_insensitive("QN");
  if (digits.getAsInteger(10, number))
    return word.str();
  std::string text = std::to_string(number);
  constexpr std::size_t width = 4;
  return "QN" + std::string(width - std::min(width, text.size()), '0') + text;
}

static void print(const tool::Page &page, bool asJson) {
  if (!asJson) {
    llvm::outs() << page.text;
    return;
  }
  tool::JsonLines(llvm::outs()).line([&](llvm::json::OStream &out) {
    out.attribute("code", llvm::StringRef(page.code));
    out.attribute("text", llvm::StringRef(page.text));
  });
}

int tool::explain(Arguments given) {
  if (llvm::is_contained(given, "--help")) {
    llvm::outs() << help;
    return success;
  }
  bool asJson = llvm::is_contained(given, "--json");
  llvm::SmallVector<llvm::StringRef, 4> arguments(given);
  llvm::erase(arguments, "--json");
  if (arguments.empty())
    return usageError("`explain` needs a code, `QN1304`");
  for (auto [number, argument] : llvm::enumerate(arguments)) {
    if (argument.starts_with("-"))
      return usageError("`explain` does not take `" + argument + "`");
    std::string code = codeOf(argument);
    Suggestion suggestion(code);
    const Page *found = nullptr;
    for (const Page &page : diagnosticPages()) {
      suggestion.consider(page.code);
      if (page.code == code)
        found = &page;
    }
    if (!found) {
      std::string near = suggestion.hint();
      return usageError("no diagnostic `" + argument + "`" +
                        (near.empty() ? "" : "; " + near));
    }
    llvm::outs() << (number && !asJson ? "\n" : "");
    print(*found, asJson);
  }
  return success;
}
