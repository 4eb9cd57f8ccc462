// Runs kernels for AMD's GPUs on this machine: their code, compiled for it, as
// one fiber for each thread of a block. Lanes meet at what they do together;
// those furthest behind go first.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <ucontext.h>
#include <vector>

namespace {

enum class State : std::uint8_t { Ready, Meeting, AtBarrier, Done };

/// One thread, and what it waits for.
struct Lane {
  ucontext_t context;
  std::vector<char> stack;
  State state = State::Ready;
  unsigned number = 0;
  unsigned thread[3] = {};
  const void *site = nullptr;
  std::string_view name;
  void *result = nullptr;
  void **operands = nullptr;
  unsigned bytes = 0;
};

struct Block {
  void (*entry)(void *);
  void *packet;
  unsigned number[3];
  unsigned warp;
  bool backwards;
  std::vector<Lane> lanes;
  ucontext_t main;
  Lane *now = nullptr;
  std::string error;

  void begin(const unsigned shape[3]);
  bool run();
  bool meet(unsigned first);
  void operate(const std::vector<Lane *> &group, unsigned first);
  void matrices(const std::vector<Lane *> &group, bool isWave64);
  void doubleMatrices(const std::vector<Lane *> &group);
};

Block *current = nullptr;

template <typename T> T operand(const Lane &lane, unsigned number) {
  T value;
  std::memcpy(&value, lane.operands[number], sizeof value);
  return value;
}

template <typename T> void give(const Lane &lane, T value) {
  std::memcpy(lane.result, &value, lane.bytes);
}

void trampoline() {
  current->entry(current->packet);
  current->now->state = State::Done;
  swapcontext(&current->now->context, &current->main);
}

void Block::begin(const unsigned shape[3]) {
  lanes.resize(shape[0] * shape[1] * shape[2]);
  for (unsigned number = 0; number < lanes.size(); ++number) {
    Lane &lane = lanes[number];
    lane.number = number;
    lane.thread[0] = number % shape[0];
    lane.thread[1] = number / shape[0] % shape[1];
    lane.thread[2] = number / shape[0] / shape[1];
    lane.stack.resize(128 << 10);
    getcontext(&lane.context);
    lane.context.uc_stack.ss_sp = lane.stack.data();
    lane.context.uc_stack.ss_size = lane.stack.size();
    lane.context.uc_link = &main;
    makecontext(&lane.context, trampoline, 0);
  }
}

/// A row of a factor, or a column, as far as a lane holds it.
float element(const Lane &lane, unsigned number, unsigned place, bool isBf16) {
  std::uint16_t bits;
  std::memcpy(&bits, static_cast<char *>(lane.operands[number]) + 2 * place, 2);
  if (isBf16) {
    std::uint32_t wide = std::uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &wide, 4);
    return value;
  }
  _Float16 half;
  std::memcpy(&half, &bits, 2);
  return float(half);
}

/// 16 by 16 by 16, as the manuals spread it: a lane holds a part of row or
/// column `lane % 16` of the factors, and several rows of one column of the
/// sum.
void Block::matrices(const std::vector<Lane *> &group, bool isWave64) {
  bool isBf16 = group[0]->name.find("bf16") != std::string_view::npos;
  bool isWhole = group[0]->name.find("v16") != std::string_view::npos;
  unsigned run = isWave64 ? 4 : isWhole ? 16 : 8;
  unsigned sums = group[0]->bytes / 4;
  float factors[2][16][16];
  for (unsigned l = 0; l < group.size(); ++l)
    for (unsigned side = 0; side < 2; ++side)
      for (unsigned j = 0; j < run; ++j) {
        unsigned depth = isWhole ? j : l / 16 * run + j;
        float value = element(*group[l], side, j, isBf16);
        if (isWhole && l >= 16 && factors[side][l % 16][depth] != value &&
            value == value)
          error = "both halves of a warp hold the same factor";
        factors[side][l % 16][depth] = value;
      }
  for (unsigned l = 0; l < group.size(); ++l) {
    float made[8];
    std::memcpy(made, group[l]->operands[2], 4 * sums);
    for (unsigned e = 0; e < sums; ++e) {
      unsigned row = isWave64  ? l / 16 * 4 + e
                     : isWhole ? 2 * e + l / 16
                               : l / 16 * 8 + e;
      double sum = made[e];
      for (unsigned k = 0; k < 16; ++k)
        sum += double(factors[0][row][k]) * factors[1][l % 16][k];
      made[e] = float(sum);
    }
    std::memcpy(group[l]->result, made, 4 * sums);
  }
}

/// 16 by 16 by 4 of doubles: rows of a lane's sums are four apart.
void Block::doubleMatrices(const std::vector<Lane *> &group) {
  double factors[2][16][4];
  for (unsigned l = 0; l < group.size(); ++l)
    for (unsigned side = 0; side < 2; ++side)
      factors[side][l % 16][l / 16] = operand<double>(*group[l], side);
  for (unsigned l = 0; l < group.size(); ++l) {
    double made[4];
    std::memcpy(made, group[l]->operands[2], sizeof made);
    for (unsigned e = 0; e < 4; ++e)
      for (unsigned k = 0; k < 4; ++k)
        made[e] = std::fma(factors[0][4 * e + l / 16][k], factors[1][l % 16][k],
                           made[e]);
    std::memcpy(group[l]->result, made, sizeof made);
  }
}

/// What the lanes of `group`, of the warp that begins at `first`, do together.
void Block::operate(const std::vector<Lane *> &group, unsigned first) {
  std::string_view name = group[0]->name;
  auto is = [&](std::string_view stem) {
    return name.substr(0, stem.size()) == stem;
  };
  if (is("ballot")) {
    std::uint64_t all = 0;
    for (Lane *lane : group)
      all |= std::uint64_t(operand<std::uint8_t>(*lane, 0) & 1)
             << (lane->number - first);
    for (Lane *lane : group)
      give(*lane, all);
  } else if (is("readfirstlane")) {
    std::uint64_t value = 0;
    std::memcpy(&value, group[0]->operands[0], group[0]->bytes);
    for (Lane *lane : group)
      give(*lane, value);
  } else if (is("readlane")) {
    std::uint64_t value = 0;
    unsigned from = operand<std::uint32_t>(*group[0], 1) % warp;
    for (Lane *lane : group)
      if (lane->number - first == from)
        std::memcpy(&value, lane->operands[0], lane->bytes);
    for (Lane *lane : group)
      give(*lane, value);
  } else if (is("ds.bpermute")) {
    std::vector<std::uint32_t> held(warp);
    for (Lane *lane : group)
      held[lane->number - first] = operand<std::uint32_t>(*lane, 1);
    for (Lane *lane : group)
      give(*lane, held[operand<std::uint32_t>(*lane, 0) / 4 % warp]);
  } else if (is("exp2.f32")) {
    for (Lane *lane : group)
      give(*lane, std::exp2(operand<float>(*lane, 0)));
  } else if (is("mfma.") || is("wmma.f32.16x16x16")) {
    if (group.size() != warp)
      error = "not all lanes of a warp multiply";
    else if (is("mfma.f64.16x16x4f64"))
      doubleMatrices(group);
    else if (is("wmma") || is("mfma.f32.16x16x16"))
      matrices(group, is("mfma"));
    else
      error = "'" + std::string(name) + "' is not executed here";
  } else if (!is("wave.barrier")) {
    error = "'" + std::string(name) + "' is not executed here";
  }
}

/// Lets the lanes of a warp go on that wait at the first place.
bool Block::meet(unsigned first) {
  const void *site = nullptr;
  unsigned end = std::min<std::size_t>(first + warp, lanes.size());
  for (unsigned number = first; number < end; ++number)
    if (lanes[number].state == State::Meeting &&
        (!site || lanes[number].site < site))
      site = lanes[number].site;
  std::vector<Lane *> group;
  for (unsigned number = first; site && number < end; ++number)
    if (lanes[number].state == State::Meeting && lanes[number].site == site)
      group.push_back(&lanes[number]);
  if (group.empty())
    return false;
  operate(group, first);
  for (Lane *lane : group)
    lane->state = State::Ready;
  return true;
}

bool Block::run() {
  while (error.empty()) {
    bool moved = false, alive = false, all = true;
    for (unsigned count = 0; count < lanes.size(); ++count) {
      Lane &lane = lanes[backwards ? lanes.size() - 1 - count : count];
      if (lane.state != State::Ready)
        continue;
      now = &lane;
      swapcontext(&main, &lane.context);
      moved = true;
    }
    for (unsigned first = 0; first < lanes.size(); first += warp)
      moved |= meet(first);
    if (moved)
      continue;
    for (Lane &lane : lanes) {
      alive |= lane.state != State::Done;
      all &= lane.state == State::Done || lane.state == State::AtBarrier;
    }
    if (!alive)
      return true;
    if (!all)
      error = "threads wait for ever";
    for (Lane &lane : lanes)
      if (lane.state == State::AtBarrier)
        lane.state = State::Ready;
  }
  return false;
}

float flushed(float number) {
  return std::fpclassify(number) == FP_SUBNORMAL ? std::copysign(0.0F, number)
                                                 : number;
}

/// What one lane computes by itself, rounded once; numbers below the normal
/// range are zeros.
bool estimates(const Lane &lane) {
  if (lane.name != "exp2.f32" && lane.name != "log.f32" &&
      lane.name != "rcp.f32")
    return false;
  double number = flushed(operand<float>(lane, 0));
  double exact = lane.name == "exp2.f32"  ? std::exp2(number)
                 : lane.name == "log.f32" ? std::log2(number)
                                          : 1 / number;
  give(lane, flushed(float(exact)));
  return true;
}

} // namespace

/// What a kernel calls for each of the vendor's operations.
extern "C" void quern_lanes(const char *name, void *result, void **operands,
                            unsigned bytes) {
  Lane &lane = *current->now;
  std::string_view text = name;
  lane.result = result;
  lane.bytes = bytes;
  if (text.substr(0, 12) == "workitem.id.")
    return give(lane, lane.thread[text[12] - 'x']);
  if (text.substr(0, 13) == "workgroup.id.")
    return give(lane, current->number[text[13] - 'x']);
  lane.name = text;
  lane.operands = operands;
  if (estimates(lane))
    return;
  lane.site = __builtin_return_address(0);
  lane.state = text == "s.barrier" ? State::AtBarrier : State::Meeting;
  swapcontext(&lane.context, &current->main);
}

/// Runs the blocks of a grid one after the other; gives what went wrong.
extern "C" const char *quern_run(void (*entry)(void *), void *packet,
                                 const unsigned *grid, const unsigned *shape,
                                 unsigned warp, int backwards) {
  static std::string error;
  unsigned total = grid[0] * grid[1] * grid[2];
  for (unsigned count = 0; count < total; ++count) {
    unsigned at = backwards ? total - 1 - count : count;
    Block block{entry,
                packet,
                {at % grid[0], at / grid[0] % grid[1], at / grid[0] / grid[1]},
                warp,
                backwards != 0,
                {},
                {},
                nullptr,
                {}};
    current = &block;
    block.begin(shape);
    if (!block.run()) {
      error = block.error;
      return error.c_str();
    }
  }
  return nullptr;
}
