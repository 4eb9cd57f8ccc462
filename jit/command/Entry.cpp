// Where the `quern` command enters the library, and what its verbs share.
#include "jit/command/Command.h"

#include "dsl/irgen/Wishes.h"
#include "frontend/check/Beside.h"
#include "frontend/diagnostics/Render.h"
#include "frontend/diagnostics/Suggestion.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace quern;
using namespace quern::command;

extern "C" QUERN_API int quern_tool(const char *verb, int count,
                                    const char *const *given);

int quern_tool(const char *verb, int count, const char *const *given) {
  llvm::SmallVector<llvm::StringRef, 16> words(given, given + count);
  llvm::StringRef name = verb;
  int code = usage;
#define QN_COMMAND(word, handler)                                              \
  if (name == word)                                                            \
    code = (handler)(words);
#include "jit/command/Commands.def"
  return tool::closeOutput(code);
}

/// A hint at the end of a message.
static std::string behind(const std::string &hint) {
  return hint.empty() ? "" : "; " + hint;
}

std::string command::meant(const LoadedFile &file, const std::string &missing) {
  return behind(file.module->hintFor(missing));
}

int command::complain(int code, const llvm::Twine &message) {
  llvm::errs() << "quern: " << message << '\n';
  return code;
}

int command::complain(const Error &error) {
  // What is about a text begins with its file.
  llvm::errs() << (error.diagnostics.empty() ? "quern: " : "") << error.message
               << '\n';
  return failure;
}

/// Which of the options a misspelt one may mean, as it is to be written.
static std::string nearOption(llvm::StringRef misspelt,
                              llvm::ArrayRef<llvm::StringLiteral> known) {
  std::vector<std::string> options;
  for (llvm::StringRef name : known)
    options.push_back("--" + name.str());
  Suggestion suggestion(misspelt);
  for (const std::string &option : options)
    suggestion.consider(option);
  return suggestion.hint();
}

std::optional<CommandLine>
CommandLine::read(Words words, llvm::ArrayRef<llvm::StringLiteral> known) {
  CommandLine line;
  for (std::size_t i = 0; i < words.size(); ++i) {
    llvm::StringRef word = words[i];
    bool isOutput = llvm::is_contained(known, "output") && word == "-o";
    if (isOutput) {
      if (++i == words.size()) {
        complain(usage, "`-o` needs a file");
        return std::nullopt;
      }
      line.options["output"] = words[i].str();
      continue;
    }
    if (word == "-" || !word.starts_with("-")) {
      line.plain.push_back(word.str());
      continue;
    }
    auto [name, value] = word.ltrim('-').split('=');
    if (!word.starts_with("--") || !llvm::is_contained(known, name)) {
      llvm::StringRef given = word.split('=').first;
      complain(usage, "there is no option `" + given + "`" +
                          behind(nearOption(given, known)));
      return std::nullopt;
    }
    line.options[name.str()] = value.str();
  }
  return line;
}

std::string CommandLine::option(llvm::StringRef name,
                                llvm::StringRef otherwise) const {
  auto found = options.find(name.str());
  return found == options.end() ? otherwise.str() : found->second;
}

std::optional<std::int64_t> CommandLine::number(llvm::StringRef name,
                                                std::int64_t least,
                                                std::int64_t otherwise) const {
  auto found = options.find(name.str());
  if (found == options.end())
    return otherwise;
  std::int64_t value = 0;
  if (!llvm::StringRef(found->second).getAsInteger(10, value) && value >= least)
    return value;
  complain(usage, "`--" + name + "` takes an integer from " +
                      llvm::Twine(least) + " on, not `" + found->second + "`");
  return std::nullopt;
}

std::optional<Wishes> CommandLine::wishes(llvm::StringRef name) const {
  auto split = splitWishes(option(name));
  if (!split)
    complain(usage, "`--" + name + "` takes `name=value`, separated by commas");
  return split;
}

Result<LoadedFile> command::loadFile(const std::string &path,
                                     const SessionOptions &options) {
  auto made = SessionCore::create(options);
  if (!made)
    return made.error();
  LoadedFile loaded;
  loaded.core = std::move(*made);
  SessionCore &core = *loaded.core;
  std::lock_guard lock(core.frontend);
  DiagnosticEngine diagnostics;
  const SourceFile *file = loadSource(core.sources, path, diagnostics);
  auto checked =
      checkSource(loaded.core, file, diagnostics, modulesBeside(path));
  if (!checked)
    return checked.error();
  diagnostics.sort();
  renderText(diagnostics, core.sources, llvm::errs(), /*color=*/false);
  loaded.module = std::move(*checked);
  loaded.text = keyOfTexts(*loaded.module, file->text());
  return loaded;
}

const typed::Declaration *command::findKernel(const LoadedFile &file,
                                              llvm::StringRef name) {
  const typed::Declaration *found = nullptr;
  unsigned callable = 0;
  for (const typed::Declaration *each : file.module->declarations()) {
    callable += each->isCompiled();
    if (name.empty() ? each->isCompiled()
                     : each->name == name && (!found || each->isCompiled()))
      found = each;
  }
  return name.empty() && callable > 1 ? nullptr : found;
}
