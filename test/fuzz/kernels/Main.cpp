// Runs random programs on both sides: `fuzz-kernels FIRST COUNT [PROCESSES]`,
// or one of them, `fuzz-kernels --seed N`, with the options
//   --write FILE   only writes the program's text
//   --text FILE    takes that text instead, for the same operands
//   --kind KIND    fails on findings of that kind alone, as `quern reduce` asks
#include "test/fuzz/kernels/Judge.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace quern::fuzz;

namespace {

/// What the processes tell each other.
struct Board {
  std::uint64_t current[64]; ///< the seed that each process works on
  std::uint64_t agreed, refused, found;
};

void report(std::uint64_t seed, const Verdict &verdict) {
  Choices choices(seed);
  Program program = generate(choices);
  Verdict now = judgeApart(program);
  std::string text = "=== seed " + std::to_string(seed) + ": " + verdict.kind +
                     "\n" + described(program) + now.details + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void work(Board &board, unsigned self, std::uint64_t first,
          std::uint64_t behind, unsigned processes) {
  Judge judge;
  for (std::uint64_t seed = first; seed < behind; seed += processes) {
    __atomic_store_n(&board.current[self], seed, __ATOMIC_RELAXED);
    limitSeconds(120);
    Choices choices(seed);
    Verdict verdict = judge.judge(generate(choices));
    limitSeconds(0);
    bool isFinding = !verdict.kind.empty();
    std::uint64_t &count = isFinding           ? board.found
                           : verdict.isRefused ? board.refused
                                               : board.agreed;
    __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    if (isFinding)
      report(seed, verdict);
  }
  _exit(0);
}

/// Starts process `self` again behind the seed that ended it.
int runAll(std::uint64_t first, std::uint64_t count, unsigned processes) {
  void *shared = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Board &board = *static_cast<Board *>(shared);
  std::vector<pid_t> children(processes);
  auto start = [&](unsigned self, std::uint64_t seed) {
    if ((children[self] = fork()) == 0)
      work(board, self, seed, first + count, processes);
  };
  for (unsigned self = 0; self < processes; ++self)
    start(self, first + self);
  int status = 0;
  for (pid_t ended; (ended = wait(&status)) > 0;) {
    if (status == 0)
      continue;
    for (unsigned self = 0; self < processes; ++self) {
      if (children[self] != ended)
        continue;
      std::uint64_t seed = board.current[self];
      ++board.found;
      report(seed, endOf(status));
      start(self, seed + processes);
    }
  }
  std::printf("%llu programs: %llu agree, %llu refused, %llu findings\n",
              static_cast<unsigned long long>(board.agreed + board.refused +
                                              board.found),
              static_cast<unsigned long long>(board.agreed),
              static_cast<unsigned long long>(board.refused),
              static_cast<unsigned long long>(board.found));
  return board.found == 0 ? 0 : 1;
}

struct OneProgram {
  std::uint64_t seed = 0;
  const char *write = nullptr, *text = nullptr, *kind = nullptr;
};

/// False where a word is none of the options.
bool readOptions(int count, char **words, OneProgram &one) {
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::strcmp(words[i], "--seed") == 0)
      one.seed = std::strtoull(words[i + 1], nullptr, 10);
    else if (std::strcmp(words[i], "--write") == 0)
      one.write = words[i + 1];
    else if (std::strcmp(words[i], "--text") == 0)
      one.text = words[i + 1];
    else if (std::strcmp(words[i], "--kind") == 0)
      one.kind = words[i + 1];
    else
      return false;
  }
  return count % 2 == 1;
}

int runOne(const OneProgram &one) {
  Choices choices(one.seed);
  Program program = generate(choices);
  if (one.write) {
    std::ofstream(one.write) << program.text;
    return 0;
  }
  if (one.text) {
    std::ifstream file(one.text);
    program.text.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::printf("%s", described(program).c_str());
  std::fflush(stdout);
  Verdict verdict = judgeApart(program);
  std::printf("%s\n%s\n",
              verdict.kind.empty() ? "agrees" : verdict.kind.c_str(),
              verdict.details.c_str());
  bool isWanted = one.kind ? verdict.kind == one.kind : !verdict.kind.empty();
  return isWanted ? 1 : 0;
}

} // namespace

int main(int count, char **words) {
  OneProgram one;
  if (count > 1 && std::strcmp(words[1], "--seed") == 0 &&
      readOptions(count, words, one))
    return runOne(one);
  if ((count != 3 && count != 4) || words[1][0] == '-') {
    std::fprintf(stderr, "usage: fuzz-kernels FIRST COUNT [PROCESSES] | "
                         "--seed N [--write FILE] [--text FILE] "
                         "[--kind KIND]\n");
    return 2;
  }
  unsigned processes =
      count == 4 ? static_cast<unsigned>(std::atoi(words[3])) : 1;
  return runAll(std::strtoull(words[1], nullptr, 10),
                std::strtoull(words[2], nullptr, 10),
                std::min(std::max(processes, 1u), 64u));
}
