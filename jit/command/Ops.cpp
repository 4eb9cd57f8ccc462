// `quern ops`: the operators of the library, one to a line.
#include "jit/command/Command.h"

#include "llvm/Support/raw_ostream.h"

using namespace quern;
using namespace quern::command;

int command::ops(Words words) {
  auto line = CommandLine::read(words, {"help"});
  if (!line)
    return usage;
  if (line->options.count("help") || !line->plain.empty()) {
    llvm::outs() << "usage: quern ops\n";
    return line->plain.empty() ? success : usage;
  }
  auto session = Session::create({});
  if (!session)
    return complain(session.error());
  auto rows = (*session)->operators();
  if (!rows)
    return complain(rows.error());
  for (const OperatorRow &row : *rows) {
    llvm::outs() << row.overload << '\t' << row.module << '.'
                 << row.declaration;
    for (const auto &[left, right] : row.bindings)
      llvm::outs() << '\t' << left << " = " << right;
    llvm::outs() << '\n';
  }
  return success;
}
