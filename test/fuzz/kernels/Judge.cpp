// Compares the two sides.
#include "test/fuzz/kernels/Judge.h"

#include <cstring>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace quern::fuzz {

/// The checker folds constants and refuses a division by a zero it sees.
static bool isKnownRefusal(const std::string &message) {
  for (const char *code : {"QN1114", "QN1113", "QN1328"})
    if (message.find(code) != std::string::npos)
      return true;
  return false;
}

static std::string codeOf(const std::string &message) {
  std::size_t at = message.find("QN");
  return at == std::string::npos ? "" : message.substr(at, 6);
}

/// The evaluator asks for a value only where somebody reads it; compiled code
/// makes a scatter whole, and so sees every bad index.
static bool isUnasked(const Program &program, const Outcome &got) {
  return codeOf(got.error) == "QN2050" &&
         program.text.find("scatter(") != std::string::npos;
}

Verdict Judge::judge(const Program &program) {
  Outcome got = compiled.run(program);
  if (got.isRejected)
    return {isKnownRefusal(got.error) ? "" : "refused " + codeOf(got.error),
            got.error, true};
  Outcome wanted = oracle.run(program);
  if (wanted.isRejected)
    return {"refused by the checker alone", wanted.error, true};
  if (wanted.error == "it takes too many steps")
    return {"", wanted.error, true};
  if (wanted.error.empty() && isUnasked(program, got))
    return {"", got.error, true};
  if (got.error.empty() != wanted.error.empty())
    return {"error on one side",
            "compiled: " + got.error + "\nevaluated: " + wanted.error};
  if (!got.error.empty())
    return {};
  if (got.results.size() != wanted.results.size())
    return {"number of results", ""};
  // The order of a free maximum decides which of two zeros it yields.
  bool isFree = program.text.find("rowwise k") != std::string::npos &&
                program.text.find("@portable") == std::string::npos;
  for (std::size_t i = 0; i < got.results.size(); ++i)
    if (auto text = difference(got.results[i], wanted.results[i], isFree);
        !text.empty())
      return {text.rfind("a byte", 0) == 0 ? "outside" : "values",
              "result " + std::to_string(i) + ": " + text};
  return {};
}

void limitSeconds(unsigned seconds) {
  itimerval limit{};
  limit.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &limit, nullptr);
}

void writeAll(int end, std::string_view text) {
  while (!text.empty()) {
    ssize_t now = write(end, text.data(), text.size());
    if (now <= 0)
      return;
    text.remove_prefix(static_cast<std::size_t>(now));
  }
}

std::string apart(const std::function<void(int end)> &work, int &status) {
  int ends[2];
  if (pipe(ends) != 0)
    return "";
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    work(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  close(ends[0]);
  waitpid(child, &status, 0);
  return text;
}

Verdict endOf(int status) {
  if (!WIFSIGNALED(status))
    return {"crash", "exit status " + std::to_string(WEXITSTATUS(status))};
  return {WTERMSIG(status) == SIGPROF ? "no end" : "crash",
          strsignal(WTERMSIG(status))};
}

Verdict judgeApart(const Program &program) {
  int status = 0;
  std::string text = apart(
      [&](int end) {
        limitSeconds(60);
        Verdict verdict = Judge().judge(program);
        writeAll(end, verdict.kind + '\0' + verdict.details);
      },
      status);
  if (status != 0)
    return endOf(status);
  return {text.substr(0, text.find('\0')),
          text.substr(std::min(text.size(), text.find('\0') + 1))};
}

std::string described(const Program &program) {
  std::string text = program.text;
  for (const Operand &operand : program.operands) {
    text += "# " + operand.name + ": layout " +
            std::to_string(static_cast<int>(operand.layout)) + ", content " +
            std::to_string(static_cast<int>(operand.content)) + ", seed " +
            std::to_string(operand.seed) + ", sizes";
    for (std::int64_t size : operand.sizes)
      text += " " + std::to_string(size);
    text += operand.isTensor ? "\n" : " (a number)\n";
  }
  for (const auto &[name, value] : program.numbers)
    text += "# " + name + " = " + std::to_string(value) + "\n";
  for (const auto &[name, value] : program.functions)
    text += "# " + name + " = " + value + "\n";
  return text + "# target \"" + program.target + "\", outputs " +
         std::to_string(static_cast<int>(program.outputs)) + "\n";
}

} // namespace quern::fuzz
