// `quern ops`: the operators of the library, one to a line.
#include "jit/command/Command.h"
#include "jit/tool/Json.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace quern;
using namespace quern::command;

static constexpr llvm::StringLiteral help =
    "usage: quern ops [TEXT…]\n\n"
    "Lists the operators whose name holds one of the texts, or all of them: "
    "name,\ndeclaration, element types, fixed arguments, file and line.\n\n"
    "  --json   one JSON object an operator\n";

static bool isWanted(const OperatorRow &row,
                     llvm::ArrayRef<std::string> texts) {
  return texts.empty() || llvm::any_of(texts, [&](const std::string &text) {
           return llvm::StringRef(row.overload).contains(text);
         });
}

static void printRow(const OperatorRow &row) {
  std::vector<std::string> bindings;
  for (const auto &[left, right] : row.bindings)
    bindings.push_back(left + " = " + right);
  llvm::outs() << row.overload << '\t' << row.module << '.' << row.declaration
               << '\t' << llvm::join(row.dtypes, ", ") << '\t'
               << llvm::join(bindings, ", ") << '\t' << row.file << ':'
               << row.line << '\n';
}

static void printJson(const OperatorRow &row) {
  tool::JsonLines(llvm::outs()).line([&](llvm::json::OStream &out) {
    out.attributeObject("bindings", [&] {
      for (const auto &[left, right] : row.bindings)
        out.attribute(left, right);
    });
    out.attribute("declaration", row.module + "." + row.declaration);
    out.attribute("file", row.file);
    out.attribute("line", row.line);
    out.attribute("overload", row.overload);
    out.attributeArray("types", [&] {
      for (const std::string &type : row.dtypes)
        out.value(type);
    });
  });
}

int command::ops(Words words) {
  auto line = CommandLine::read(words, {"help", "json"});
  if (!line)
    return usage;
  if (line->options.count("help")) {
    llvm::outs() << help;
    return success;
  }
  auto session = Session::create({});
  if (!session)
    return complain(session.error());
  auto rows = (*session)->operators();
  if (!rows)
    return complain(rows.error());
  bool any = false;
  for (const OperatorRow &row : *rows)
    if (isWanted(row, line->plain)) {
      line->options.count("json") ? printJson(row) : printRow(row);
      any = true;
    }
  return any ? success
             : complain(failure, "no operator holds `" +
                                     llvm::join(line->plain, "` or `") + "`");
}
