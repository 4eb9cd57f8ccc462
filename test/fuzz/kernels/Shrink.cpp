// Makes a finding smaller by shortening the tape of its choices.
#include "test/fuzz/kernels/Judge.h"

#include <sstream>

namespace quern::fuzz {

namespace {

using Tape = std::vector<std::uint32_t>;

class Shrinker {
public:
  Shrinker(Tape tape, std::string kind, int end)
      : best(std::move(tape)), kind(std::move(kind)),
        isApart(this->kind == "crash" || this->kind == "no end"), end(end) {}

  void run() {
    for (bool changed = true; changed && trials < 600;) {
      changed = cut();
      changed |= lower();
    }
  }

private:
  bool shows(const Tape &tape) {
    if (tape == best || ++trials > 600)
      return false;
    Choices choices(tape);
    Program program = generate(choices);
    Verdict verdict = isApart ? judgeApart(program) : judge.judge(program);
    if (verdict.kind != kind)
      return false;
    // Choices that were never asked for are no part of it.
    best = tape;
    best.resize(std::min(best.size(), choices.tape().size()));
    std::string line;
    for (std::uint32_t choice : best)
      line += std::to_string(choice) + " ";
    writeAll(end, line + "\n");
    return true;
  }

  /// Without a stretch of choices.
  bool cut() {
    bool changed = false;
    for (std::size_t width = best.size() / 2; width > 0; width /= 2)
      for (std::size_t at = 0; at + width <= best.size();) {
        Tape shorter = best;
        shorter.erase(shorter.begin() + at, shorter.begin() + at + width);
        if (shows(shorter))
          changed = true;
        else
          at += width;
      }
    return changed;
  }

  /// With plainer alternatives.
  bool lower() {
    bool changed = false;
    for (std::size_t at = 0; at < best.size(); ++at)
      for (std::uint32_t value : {0u, best[at] / 2, best[at] - 1}) {
        if (at >= best.size() || best[at] == 0 || value >= best[at])
          continue;
        Tape plainer = best;
        plainer[at] = value;
        changed |= shows(plainer);
      }
    return changed;
  }

  Judge judge;
  Tape best;
  std::string kind;
  bool isApart;
  int end; ///< where every smaller tape is written
  unsigned trials = 0;
};

} // namespace

/// A trial may crash where the finding does not: what was found until then
/// counts.
Tape shrunk(const Tape &tape, const std::string &kind) {
  int status = 0;
  std::string text =
      apart([&](int end) { Shrinker(tape, kind, end).run(); }, status);
  std::size_t last = text.rfind('\n');
  if (last == std::string::npos)
    return tape;
  std::size_t before = last == 0 ? last : text.rfind('\n', last - 1);
  std::istringstream line(
      text.substr(before == std::string::npos ? 0 : before, last));
  Tape best;
  for (std::uint32_t choice; line >> choice;)
    best.push_back(choice);
  return best;
}

} // namespace quern::fuzz
