// `quern options`: what torch.compile and the environment may say.
#include "jit/tool/Json.h"
#include "jit/tool/Tool.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace quern;

namespace {
struct Row {
  llvm::StringLiteral name, value, choices, text;
};
} // namespace

static constexpr Row options[] = {
#define QN_OPTION(name, value, choices, text) {name, value, choices, text},
#include "jit/Options.def"
};
static constexpr Row variables[] = {
#define QN_VARIABLE(name, choices, text) {name, "", choices, text},
#include "jit/Options.def"
};

static void printJson(const Row &row, llvm::StringRef kind) {
  tool::JsonLines(llvm::outs()).line([&](llvm::json::OStream &out) {
    out.attribute("choices", row.choices);
    if (!row.value.empty())
      out.attribute("default", row.value);
    out.attribute("kind", kind);
    out.attribute("name", row.name);
    out.attribute("text", row.text);
  });
}

int tool::listOptions(Arguments arguments) {
  bool asJson = arguments.size() == 1 && arguments[0] == "--json";
  if (!arguments.empty() && !asJson && arguments[0] != "--help")
    return usageError("`options` takes no arguments but `--json`");
  if (asJson) {
    for (const Row &row : options)
      printJson(row, "option");
    for (const Row &row : variables)
      printJson(row, "variable");
    return success;
  }
  llvm::outs() << "options of torch.compile(…, backend=\"quern\"), with their "
                  "defaults:\n";
  for (const Row &row : options)
    llvm::outs() << "  " << row.name << " = " << row.value << "\t" << row.text
                 << " (" << row.choices << ")\n";
  llvm::outs() << "\nvariables of the environment:\n";
  for (const Row &row : variables)
    llvm::outs() << "  " << row.name << "\t" << row.text << '\n';
  return success;
}
