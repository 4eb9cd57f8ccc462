// `./dev bench calls`: what a C++ program waits for besides its kernels: the
// session, a kernel's code from the cache on disk, and the call itself.
#include "jit/Jit.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

using namespace quern;

namespace {

constexpr int processes = 15;
constexpr int kernels = 30;

double microseconds(const std::function<void()> &body) {
  auto start = std::chrono::steady_clock::now();
  body();
  std::chrono::duration<double, std::micro> spent =
      std::chrono::steady_clock::now() - start;
  return spent.count();
}

template <typename T> T require(Result<T> result) {
  if (result)
    return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

struct Times {
  double median, worst;
};

Times sorted(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.back()};
}

/// Kernels that differ in a constant: one source, `kernels` entries on disk.
std::string text() {
  std::string source;
  for (int number = 0; number < kernels; ++number) {
    std::string constant = std::to_string(number) + ".5";
    source += "elementwise chain" + std::to_string(number) +
              "[T: Float](x: T, y: T, z: T) -> T:\n    return x * y * " +
              constant + " + z\n\nrowwise product" + std::to_string(number) +
              "[T: Float](a: T[M, K], b: T[K, N]) -> T[M, N]:\n"
              "    return sum(a * b over K) * " +
              constant + "\n\n";
  }
  return source;
}

std::shared_ptr<Session> newSession(const std::string &cache) {
  SessionOptions options;
  options.cacheDirectory = cache;
  return require(Session::create(options));
}

/// A kernel of `count` contiguous operands of one shape, not yet compiled.
BoundKernel bound(const Module &module, const std::string &name,
                  std::span<const std::int64_t> sizes, int count) {
  std::int64_t strides[2] = {sizes.size() > 1 ? sizes[1] : 1, 1};
  std::vector<Argument> arguments;
  for (int operand = 0; operand < count; ++operand)
    arguments.emplace_back(
        TensorView{.sizes = sizes, .strides = {strides, sizes.size()}});
  return require(module.bind(name, arguments));
}

/// Milliseconds a fresh process spends on its session, on the first kernel from
/// the disk, and on each of the others.
struct Start {
  double session, text, first, chain, product;
};

Start measuredStart(const std::string &cache, const std::string &source) {
  Start start;
  std::shared_ptr<Session> session;
  start.session = microseconds([&] { session = newSession(cache); }) / 1e3;
  Module module;
  start.text = microseconds([&] {
                 module = require(session->compile(source, "calls.qn"));
               }) /
               1e3;
  std::int64_t row[] = {16}, square[] = {24, 24};
  std::vector<double> chains, products;
  for (int number = 0; number < kernels; ++number) {
    std::string suffix = std::to_string(number);
    auto load = [&](const std::string &name,
                    std::span<const std::int64_t> sizes, int count) {
      BoundKernel kernel = bound(module, name + suffix, sizes, count);
      return microseconds([&] { require(kernel.ready()); }) / 1e3;
    };
    chains.push_back(load("chain", row, 3));
    products.push_back(load("product", square, 2));
  }
  start.first = chains.front();
  start.chain = sorted(chains).median;
  start.product = sorted(products).median;
  return start;
}

/// Measured in a process of its own, as a program meets it.
Start startApart(const std::string &cache, const std::string &source) {
  int ends[2];
  if (pipe(ends) != 0)
    std::exit(1);
  pid_t child = fork();
  if (child == 0) {
    Start start = measuredStart(cache, source);
    _exit(write(ends[1], &start, sizeof start) != sizeof start);
  }
  Start start{};
  bool isWhole = read(ends[0], &start, sizeof start) == sizeof start;
  close(ends[0]);
  close(ends[1]);
  waitpid(child, nullptr, 0);
  if (!isWhole)
    std::exit(1);
  return start;
}

void reportStarts(const std::string &cache) {
  std::string source = text();
  Start cold = startApart(cache, source);
  std::vector<Start> starts;
  for (int number = 0; number < processes; ++number)
    starts.push_back(startApart(cache, source));
  auto report = [&](const char *label, double Start::*part) {
    std::vector<double> times;
    for (const Start &start : starts)
      times.push_back(start.*part);
    Times found = sorted(times);
    std::printf("%-34s %8.3f ms, worst %.3f; without the cache %.3f\n", label,
                found.median, found.worst, cold.*part);
  };
  report("session", &Start::session);
  report("text of 60 kernels checked", &Start::text);
  report("first kernel from the cache", &Start::first);
  report("elementwise from the cache", &Start::chain);
  report("product from the cache", &Start::product);
}

/// Nanoseconds of a call with three operands and the output given.
void reportCall(const std::string &cache, std::int64_t extent) {
  auto session = newSession(cache);
  Module module = require(session->compile(text(), "calls.qn"));
  BoundKernel kernel = bound(module, "chain0", {&extent, 1}, 3);
  std::vector<float> memory(4 * extent, 1);
  void *pointers[4];
  for (int operand = 0; operand < 4; ++operand)
    pointers[operand] = memory.data() + operand * extent;
  constexpr int calls = 20000;
  std::vector<double> times;
  for (int round = 0; round < 25; ++round)
    times.push_back(microseconds([&] {
                      for (int call = 0; call < calls; ++call)
                        require(kernel.run(pointers));
                    }) *
                    1e3 / calls);
  Times found = sorted(times);
  std::printf("call, 3 operands of %-13lld %8.1f ns, worst round %.1f\n",
              static_cast<long long>(extent), found.median, found.worst);
}

} // namespace

int main() {
  std::string cache = std::filesystem::temp_directory_path() /
                      ("quern-bench-calls-" + std::to_string(getpid()));
  std::filesystem::create_directory(cache);
  std::filesystem::permissions(cache, std::filesystem::perms::owner_all);
  reportStarts(cache);
  reportCall(cache, 16);
  reportCall(cache, 1024);
  std::filesystem::remove_all(cache);
}
