// The `quern` command: finds the verb and runs it.
#include "jit/tool/Tool.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace quern;

namespace {
struct Verb {
  llvm::StringLiteral word;
  int (*handler)(tool::Arguments);
  llvm::StringLiteral help;
};
} // namespace

static constexpr Verb verbs[] = {
#define QN_VERB(word, handler, help) {word, tool::handler, help},
#include "jit/tool/Verbs.def"
};

static void printHelp(llvm::raw_ostream &out) {
  out << "usage: quern VERB [options] FILE...\n\nverbs:\n";
  for (const Verb &verb : verbs) {
    out << "  " << verb.word;
    out.indent(8 - verb.word.size()) << verb.help << '\n';
  }
  out << "\n`quern VERB --help` lists the options of a verb\n";
}

static int dispatch(llvm::ArrayRef<llvm::StringRef> arguments) {
  if (arguments.empty()) {
    printHelp(llvm::errs());
    return tool::usage;
  }
  llvm::StringRef word = arguments[0];
  if (word == "help" || word == "--help" || word == "-h") {
    printHelp(llvm::outs());
    return tool::success;
  }
  if (word == "version" || word == "--version") {
    llvm::outs() << "quern " QUERN_VERSION "\n";
    return tool::success;
  }
  for (const Verb &verb : verbs)
    if (verb.word == word)
      return verb.handler(arguments.drop_front());
  return tool::usageError("no verb `" + word + "`");
}

int main(int count, char **words) {
  llvm::SmallVector<llvm::StringRef, 16> arguments(words + 1, words + count);
  int code = dispatch(arguments);
  llvm::outs().flush();
  // A closed pipe is the reader's choice, not worth an abort.
  if (llvm::outs().has_error()) {
    llvm::outs().clear_error();
    return tool::failure;
  }
  return code;
}
