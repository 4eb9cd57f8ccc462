// The `quern` command: finds the verb and runs it.
#include "frontend/diagnostics/Suggestion.h"
#include "jit/tool/Tool.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

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
  constexpr std::size_t longest =
      std::ranges::max(verbs, {}, [](const Verb &verb) {
        return verb.word.size();
      }).word.size();
  for (const Verb &verb : verbs)
    out << "  " << llvm::left_justify(verb.word, longest + 1) << verb.help
        << '\n';
  out << "\n`quern help VERB` lists the options of a verb\n";
}

static bool asksForHelp(llvm::StringRef word) {
  return word == "help" || word == "--help" || word == "-h";
}

/// Runs the verb `arguments[0]`.
static int runVerb(tool::Arguments arguments) {
  llvm::StringRef word = arguments[0];
  llvm::SmallVector<llvm::StringRef, 16> rest(arguments.drop_front());
  // Behind `--` stand words of another program.
  std::replace(rest.begin(), llvm::find(rest, "--"), llvm::StringRef("-h"),
               llvm::StringRef("--help"));
  for (const Verb &verb : verbs)
    if (verb.word == word)
      return verb.handler(rest);
  Suggestion suggestion(word);
  for (const Verb &verb : verbs)
    suggestion.consider(verb.word);
  std::string meant = suggestion.hint();
  return tool::usageError("no verb `" + word + "`" +
                          (meant.empty() ? "" : "; " + meant));
}

static int dispatch(tool::Arguments arguments) {
  if (arguments.empty()) {
    printHelp(llvm::errs());
    return tool::usage;
  }
  llvm::StringRef word = arguments[0];
  if (asksForHelp(word) && arguments.size() > 1)
    return runVerb({arguments[1], "--help"});
  if (asksForHelp(word)) {
    printHelp(llvm::outs());
    return tool::success;
  }
  if (word == "version" || word == "--version") {
    llvm::outs() << "quern " QUERN_VERSION "\n";
    return tool::success;
  }
  return runVerb(arguments);
}

int main(int count, char **words) {
  llvm::SmallVector<llvm::StringRef, 16> arguments(words + 1, words + count);
  return tool::closeOutput(dispatch(arguments));
}
