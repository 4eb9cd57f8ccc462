// `quern reduce`: makes a file smaller that still fails a command.
#include "frontend/reduce/Reduce.h"
#include "jit/tool/Json.h"
#include "jit/tool/Output.h"
#include "jit/tool/Tool.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace quern;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr llvm::StringLiteral help =
    R"(usage: quern reduce [options] FILE -- COMMAND {}...

Makes FILE smaller while COMMAND, with the file's name for `{}`, ends as it
does for FILE: with the same exit status, by the same signal, or by the limit
of time. A text that can be read stays one, and is formatted. To look for a
message, let the command do so:

  quern reduce bad.qn -- sh -c 'quern check {} 2>&1 | grep -q QN1102'

  --output=FILE, -o FILE   instead of standard output
  --keep=NAME,...          declarations whose signatures stay
  --seconds=N              limit of time of one run of the command (60)
  --trials=N               runs of the command at most (100000)
  --json                   say how it went as JSON, on standard error

The smaller text lies in a folder with links to the files in FILE's folder, so
`quern run {}` finds the recorded tensors of a graph's program. Of a
compilation that QUERN_REPRODUCE kept the text becomes smaller:

  quern reduce kept.json -- quern build --replay={} --emit=llvm
)";

namespace {

struct ReduceWords {
  llvm::StringRef file, output = "-";
  ReduceOptions options;
  unsigned seconds = 60;
  bool asJson = false;
  llvm::SmallVector<llvm::StringRef, 8> command;
};

/// What becomes smaller: a file, or the text in a kept compilation.
class Subject {
public:
  Subject(llvm::StringRef file, ReduceOptions &options);
  /// The file with this text.
  std::string around(llvm::StringRef text) const;

  std::string text;

private:
  std::optional<llvm::json::Object> compilation;
};

/// How the command ended.
struct Ending {
  int status = 0;
  std::string reason; ///< the signal, or that it took too long

  bool operator==(const Ending &) const = default;
};

/// A folder with a text in place of a file, and links to the other files of its
/// folder.
class Stage {
public:
  explicit Stage(llvm::StringRef file);
  ~Stage();
  Stage(const Stage &) = delete;
  Stage &operator=(const Stage &) = delete;

  llvm::StringRef place() const { return text; }
  std::string problem;

private:
  llvm::SmallString<128> folder, text;
};

/// Runs the command on texts.
class Command {
public:
  Command(const ReduceWords &words, const Stage &stage);
  /// Nothing after a message.
  std::optional<Ending> end(llvm::StringRef text);

private:
  const Stage &stage;
  unsigned seconds;
  std::vector<std::string> words;
  std::string program;
};

} // namespace

/// The kernel of a compilation keeps its signature: the rest of the file is
/// about it.
Subject::Subject(llvm::StringRef file, ReduceOptions &options)
    : text(file.str()) {
  llvm::Expected<llvm::json::Value> read = llvm::json::parse(file);
  if (!read) {
    llvm::consumeError(read.takeError());
    return;
  }
  const llvm::json::Object *object = read->getAsObject();
  std::optional<llvm::StringRef> kernel, inner;
  if (object) {
    kernel = object->getString("kernel");
    inner = object->getString("text");
  }
  if (!kernel || !inner)
    return;
  options.kept.push_back(kernel->str());
  text = inner->str();
  compilation = *object;
}

std::string Subject::around(llvm::StringRef smaller) const {
  if (!compilation)
    return smaller.str();
  llvm::json::Object whole = *compilation;
  whole["text"] = smaller.str();
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(whole))).str();
}

Stage::Stage(llvm::StringRef file) {
  if (std::error_code error = fs::createUniqueDirectory("quern-reduce", folder))
    problem = "cannot make a folder: " + error.message();
  llvm::SmallString<128> beside(file);
  if (std::error_code error = fs::make_absolute(beside))
    problem = error.message();
  text = folder;
  path::append(text, path::filename(file));
  std::error_code error;
  for (fs::directory_iterator entry(path::parent_path(beside), error), end;
       entry != end && !error; entry.increment(error)) {
    llvm::SmallString<128> link(folder);
    path::append(link, path::filename(entry->path()));
    if (link != text)
      (void)fs::create_link(entry->path(), link);
  }
}

/// Only what stands in the folder itself: what links lead to is not ours.
Stage::~Stage() {
  std::error_code error;
  llvm::SmallVector<std::string, 16> inside;
  for (fs::directory_iterator entry(folder, error, false), end;
       entry != end && !error; entry.increment(error))
    inside.push_back(entry->path());
  for (const std::string &each : inside)
    (void)fs::remove(each);
  (void)fs::remove(folder);
}

Command::Command(const ReduceWords &given, const Stage &stage)
    : stage(stage), seconds(given.seconds) {
  for (llvm::StringRef word : given.command) {
    std::string whole;
    auto [head, rest] = word.split("{}");
    for (whole = head.str(); head.size() != word.size();) {
      word = rest;
      std::tie(head, rest) = word.split("{}");
      whole += (stage.place() + head).str();
    }
    words.push_back(std::move(whole));
  }
  if (auto found = llvm::sys::findProgramByName(words.front()))
    program = *found;
}

std::optional<Ending> Command::end(llvm::StringRef text) {
  if (program.empty()) {
    llvm::errs() << "quern: there is no program `" << words.front() << "`\n";
    return std::nullopt;
  }
  if (std::string problem = tool::writeOutput(stage.place(), text);
      !problem.empty()) {
    llvm::errs() << "quern: " << problem << '\n';
    return std::nullopt;
  }
  llvm::SmallVector<llvm::StringRef, 8> arguments(words.begin(), words.end());
  const std::optional<llvm::StringRef> nowhere[] = {"", "", ""};
  Ending ending;
  ending.status = llvm::sys::ExecuteAndWait(
      program, arguments, std::nullopt, nowhere, seconds, 0, &ending.reason);
  return ending;
}

static bool readOption(llvm::StringRef argument, ReduceWords &words) {
  llvm::StringRef value;
  if (argument == "--json") {
    words.asJson = true;
    return true;
  }
  if (tool::takeOption(argument, "--output", words.output))
    return true;
  if (tool::takeOption(argument, "--keep", value)) {
    for (llvm::StringRef name : llvm::split(value, ','))
      words.options.kept.push_back(name.str());
    return true;
  }
  if (tool::takeOption(argument, "--seconds", value))
    return !value.getAsInteger(10, words.seconds) && words.seconds > 0;
  if (tool::takeOption(argument, "--trials", value))
    return !value.getAsInteger(10, words.options.mostTrials);
  return false;
}

/// `success` when the words are complete.
static int readWords(tool::Arguments arguments, ReduceWords &words) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    llvm::StringRef argument = arguments[i];
    if (argument == "--") {
      words.command.assign(arguments.begin() + i + 1, arguments.end());
      break;
    }
    if (argument == "-o" && i + 1 < arguments.size())
      words.output = arguments[++i];
    else if (!argument.starts_with("-") && words.file.empty())
      words.file = argument;
    else if (!readOption(argument, words))
      return tool::usageError("`reduce` does not take `" + argument + "`");
  }
  if (words.file.empty() || words.command.empty())
    return tool::usageError("`reduce` needs a file, `--` and a command");
  bool isNamed = llvm::any_of(
      words.command, [](llvm::StringRef word) { return word.contains("{}"); });
  return isNamed ? tool::success
                 : tool::usageError("the command of `reduce` names the file "
                                    "as `{}`");
}

static void tell(const ReduceWords &words, llvm::StringRef before,
                 const Reduced &after, const Ending &ending) {
  auto linesOf = [](llvm::StringRef text) {
    return static_cast<std::int64_t>(text.count('\n'));
  };
  if (!words.asJson) {
    llvm::errs() << "quern: from " << linesOf(before) << " lines to "
                 << linesOf(after.text) << ", " << after.trials
                 << " runs of the command\n";
    return;
  }
  tool::JsonLines json(llvm::errs());
  json.line([&](llvm::json::OStream &out) {
    out.attribute("ending", ending.reason);
    out.attribute("linesAfter", linesOf(after.text));
    out.attribute("linesBefore", linesOf(before));
    out.attribute("status", ending.status);
    out.attribute("trials", after.trials);
  });
}

int tool::reduce(Arguments arguments) {
  if (!arguments.empty() && arguments[0] == "--help") {
    llvm::outs() << help;
    return success;
  }
  ReduceWords words;
  if (int code = readWords(arguments, words); code != success)
    return code;
  auto buffer = llvm::MemoryBuffer::getFile(words.file);
  if (!buffer) {
    llvm::errs() << "quern: cannot read `" << words.file
                 << "`: " << buffer.getError().message() << '\n';
    return failure;
  }
  Subject subject((*buffer)->getBuffer(), words.options);
  Stage stage(words.file);
  if (!stage.problem.empty()) {
    llvm::errs() << "quern: " << stage.problem << '\n';
    return failure;
  }
  Command command(words, stage);
  std::optional<Ending> wanted = command.end(subject.around(subject.text));
  if (!wanted)
    return failure;
  Reduced reduced = reduceText(
      subject.text,
      [&](llvm::StringRef smaller) {
        return command.end(subject.around(smaller)) == wanted;
      },
      words.options);
  tell(words, subject.text, reduced, *wanted);
  std::string problem = writeOutput(words.output, subject.around(reduced.text));
  if (!problem.empty())
    llvm::errs() << "quern: " << problem << '\n';
  return problem.empty() ? success : failure;
}
