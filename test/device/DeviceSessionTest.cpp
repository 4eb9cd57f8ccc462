// Kernels on tensors of a GPU: from text through the driver's calls, with the
// stand-in drivers in the drivers' place.
#include "jit/Jit.h"
#include "jit/device/Device.h"
#include "test/device/StandIn.h"

#include <algorithm>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sstream>

using namespace quern;
using namespace quern::jit;

namespace {

constexpr const char *kText = R"(
from reductions use sum

elementwise add(x: f32, y: f32) -> f32:
    return x + y

rowwise pick(x: f32[N], i: i64[M]) -> f32[M]:
    return x[i]

rowwise centred(x: f32[R, C]) -> f32[R, C]:
    return x - sum(x over C)

op twice(x: f32[N]) -> f32[N]:
    return add(add(x, x), x)

rowwise total(x: f32[N]) -> f32[]:
    return sum(x over N)

elementwise step(p: mut f32, g: f32):
    p = p - g

op steps(ps: list[mut f32[*S]], gs: list[f32[*S]]):
    each (p, g) in zip(ps, gs): step(p, g)

op measured(x: f32[N]) -> f32[N]:
    return add(add(x, host(total(add(x, x)))), full(f32, N, 2))

kernel fill(y: mut f32[N], width: int, rows: int):
    launch grid((N + width - 1) // width, rows) block(width)
    if block.x * width + thread.x < N:
        y[block.x * width + thread.x] = 1

kernel mark(y: mut f32[N], blocks: int, threads: int):
    launch grid(blocks) block(threads)
    if thread.x < N:
        y[thread.x] = 1
)";

class DeviceSession : public testing::Test {
protected:
  void SetUp() override {
    library = dlopen("libcuda.so.1", RTLD_NOW);
    ASSERT_TRUE(library) << dlerror();
    if (!ask<void()>("standin_reset"))
      GTEST_SKIP() << "a real driver is in the stand-in's place";
    ask<void()>("standin_reset")();
    auto driver = openDriver(Vendor::Cuda);
    ASSERT_TRUE(driver);
    device = *Device::open(*driver, 0);
    auto made =
        Session::create({.threads = 1, .cacheDirectory = "-", .target = ""});
    ASSERT_TRUE(made);
    session = *made;
    auto compiled = session->compile(kText, "device.qn");
    ASSERT_TRUE(compiled) << compiled.error().message;
    module = *compiled;
  }

  template <typename Function> Function *ask(const char *name) const {
    return reinterpret_cast<Function *>(dlsym(library, name));
  }
  TensorView view(void *data, DType type, const std::int64_t &size) const {
    static constexpr std::int64_t one = 1;
    return {data, type, {&size, 1}, {&one, 1}, true, {DeviceKind::Cuda, 0}};
  }
  std::string lastLaunch() const {
    std::string line = ask<const char *()>("standin_launches")();
    line.pop_back();
    return line.substr(line.rfind('\n') + 1);
  }
  std::vector<std::uint64_t> lastPacket() const {
    std::string line = lastLaunch();
    std::istringstream words(line.substr(line.find(':') + 1));
    std::vector<std::uint64_t> packet;
    for (std::string word; std::getline(words, word, ':');)
      packet.push_back(std::stoull(word));
    return packet;
  }

  void *library = nullptr;
  std::shared_ptr<Device> device;
  std::shared_ptr<Session> session;
  Module module;
};

TEST_F(DeviceSession, LaunchesWithItsPacket) {
  auto x = device->allocate(4000), y = device->allocate(4000),
       out = device->allocate(4000);
  ASSERT_TRUE(x && y && out);
  std::int64_t size = 1000;
  Argument arguments[] = {view(x->handle(), DType::F32, size),
                          view(y->handle(), DType::F32, size)};
  auto bound = module.bind("add", arguments);
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_EQ(bound->device(), (DeviceId{DeviceKind::Cuda, 0}));
  auto stream = device->makeStream();
  ASSERT_TRUE(stream);
  void *pointers[] = {x->handle(), y->handle(), out->handle()};
  auto ran = bound->run(pointers, stream->handle());
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(std::string(ask<const char *()>("standin_violations")()), "");
  std::vector<std::uint64_t> packet = lastPacket();
  for (std::uint64_t address : {x->address(), y->address(), out->address()})
    EXPECT_EQ(std::ranges::count(packet, address), 1);
  EXPECT_EQ(std::ranges::count(packet, std::uint64_t(1000)), 1) << "the extent";
  EXPECT_GE(packet.back(), 1u) << "the number of blocks";
}

/// The host computes the grid from extents and scalar arguments; what exceeds
/// a driver's limit is launched in pieces.
TEST_F(DeviceSession, AnExplicitKernelIsLaunchedAsItsTextSays) {
  auto y = device->allocate(4000);
  ASSERT_TRUE(y);
  std::int64_t size = 1000;
  auto bind = [&](std::int64_t width, std::int64_t rows) {
    Argument arguments[] = {view(y->handle(), DType::F32, size), width, rows};
    return module.bind("fill", arguments);
  };
  auto bound = bind(96, 3);
  ASSERT_TRUE(bound) << bound.error().message;
  void *pointers[] = {y->handle()};
  auto ran = bound->run(pointers);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_NE(lastLaunch().find("grid 11 3 1 block 96 1 1"), std::string::npos)
      << lastLaunch();
  auto many = bind(96, 70000);
  ASSERT_TRUE(many) << many.error().message;
  ran = many->run(pointers);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_NE(lastLaunch().find("grid 11 4465 1 block 96 1 1"), std::string::npos)
      << lastLaunch();
  std::vector<std::uint64_t> packet = lastPacket();
  EXPECT_EQ(packet[packet.size() - 2], 65535u) << "the first block along y";
  auto wide = bind(4096, 1);
  ASSERT_TRUE(wide) << wide.error().message;
  ran = wide->run(pointers);
  ASSERT_FALSE(ran);
  EXPECT_NE(ran.error().message.find("QN2055"), std::string::npos)
      << ran.error().message;
  auto none = bind(96, 0);
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none->run(pointers));
  EXPECT_EQ(std::string(ask<const char *()>("standin_violations")()), "");
}

TEST_F(DeviceSession, ALaunchOfLessThanNothingIsAnError) {
  auto y = device->allocate(4000);
  ASSERT_TRUE(y);
  std::int64_t size = 1000, before = ask<long()>("standin_calls")();
  void *pointers[] = {y->handle()};
  for (auto [blocks, threads] : {std::pair(4, 0), {4, -32}, {-1, 96}}) {
    Argument arguments[] = {view(y->handle(), DType::F32, size),
                            std::int64_t(blocks), std::int64_t(threads)};
    auto bound = module.bind("mark", arguments);
    ASSERT_TRUE(bound) << bound.error().message;
    auto ran = bound->run(pointers);
    ASSERT_FALSE(ran) << blocks << " blocks, " << threads << " threads";
    EXPECT_NE(ran.error().message.find("QN2056"), std::string::npos)
        << ran.error().message;
  }
  EXPECT_GT(ask<long()>("standin_calls")(), before);
  EXPECT_EQ(std::string(ask<const char *()>("standin_launches")()), "");
  EXPECT_EQ(std::string(ask<const char *()>("standin_violations")()), "");
}

/// Blocks have as many threads as a row asks for; of a long one a cluster of
/// blocks has a part each.
TEST_F(DeviceSession, RowsSayHowManyThreadsThereAre) {
  struct Expected {
    std::int64_t columns;
    const char *shape;
  };
  for (auto [columns, shape] : {Expected{1100, "grid 3 1 1 block 64 1 1"},
                                {5000, "grid 3 1 1 block 160 1 1"},
                                {8196, "grid 3 1 1 block 288 1 1"},
                                {20000, "grid 3 1 1 block 512 1 1"},
                                {65536, "grid 3 1 1 block 1024 1 1"},
                                {131072, "grid 12 1 1 block 512 1 1"},
                                {262144, "grid 24 1 1 block 512 1 1"}}) {
    auto x = device->allocate(std::int64_t(12) * columns),
         out = device->allocate(std::int64_t(12) * columns);
    ASSERT_TRUE(x && out);
    const std::int64_t sizes[] = {3, columns}, strides[] = {columns, 1};
    Argument argument = TensorView{
        x->handle(), DType::F32, sizes, strides, true, {DeviceKind::Cuda, 0}};
    auto bound = module.bind("centred", {&argument, 1});
    ASSERT_TRUE(bound) << bound.error().message;
    void *pointers[] = {x->handle(), out->handle()};
    auto ran = bound->run(pointers);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_NE(lastLaunch().find(shape), std::string::npos) << lastLaunch();
  }
  EXPECT_EQ(std::string(ask<const char *()>("standin_violations")()), "");
}

TEST_F(DeviceSession, ACheckedIndexIsReadBack) {
  auto x = device->allocate(400), i = device->allocate(80),
       out = device->allocate(40);
  ASSERT_TRUE(x && i && out);
  std::int64_t sizes[] = {100, 10};
  Argument arguments[] = {view(x->handle(), DType::F32, sizes[0]),
                          view(i->handle(), DType::I64, sizes[1])};
  auto bound = module.bind("pick", arguments);
  ASSERT_TRUE(bound) << bound.error().message;
  void *pointers[] = {x->handle(), i->handle(), out->handle()};
  long before = ask<long()>("standin_live")();
  auto ran = bound->run(pointers);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_NE(lastPacket().front(), 0u) << "the record's address";
  EXPECT_EQ(std::string(ask<const char *()>("standin_violations")()), "");
  EXPECT_EQ(ask<long()>("standin_live")(), before + 1)
      << "the image stays, the record goes";
  ask<void(int, int)>("standin_attribute")(0, 1);
  auto recorded = bound->run(pointers);
  ask<void(int, int)>("standin_attribute")(0, 0);
  ASSERT_TRUE(recorded) << recorded.error().message;
  EXPECT_EQ(std::string(ask<const char *()>("standin_violations")()), "")
      << "what is only recorded has nothing to tell yet";
}

/// A driver compiles what it loads: it gets the entry that is launched, once.
TEST_F(DeviceSession, AnEntryIsLoadedByItself) {
  auto x = device->allocate(4000), out = device->allocate(4000);
  ASSERT_TRUE(x && out);
  auto liveBehind = [&](std::int64_t columns) {
    std::int64_t sizes[] = {2, columns}, strides[] = {columns, 1};
    Argument y = TensorView{x->handle(), DType::F32, sizes,
                            strides,     true,       {DeviceKind::Cuda, 0}};
    auto bound = module.bind("centred", {&y, 1});
    void *pointers[] = {x->handle(), out->handle()};
    EXPECT_TRUE(bound && bound->run(pointers));
    return ask<long()>("standin_live")();
  };
  long one = liveBehind(4);
  EXPECT_EQ(liveBehind(5), one);
  EXPECT_EQ(liveBehind(100), one + 1) << "a warp's";
  EXPECT_EQ(liveBehind(6), one + 1);
  EXPECT_EQ(std::string(ask<const char *()>("standin_violations")()), "");
}

/// Drivers have 4096 bytes for parameters.
TEST_F(DeviceSession, ManyWordsLieInMemory) {
  std::string names, sum;
  for (int number = 0; number < 600; ++number) {
    std::string name = "x" + std::to_string(number);
    names += (number ? ", " : "") + name + ": f32";
    const char *before = number % 100 ? " + " : number ? ") + (" : "(";
    sum += before + name;
  }
  auto many = session->compile("elementwise many(" + names +
                                   ") -> f32:\n    return " + sum + ")\n",
                               "many.qn");
  ASSERT_TRUE(many) << many.error().message;
  auto memory = device->allocate(400);
  ASSERT_TRUE(memory);
  std::int64_t size = 100;
  std::vector<Argument> arguments(
      600, Argument(view(memory->handle(), DType::F32, size)));
  std::vector<void *> pointers(601, memory->handle());
  auto bound = many->bind("many", arguments);
  ASSERT_TRUE(bound) << bound.error().message;
  long live = 0;
  for (int round = 0; round < 2; ++round) {
    auto ran = bound->run(pointers);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_NE(lastLaunch().find("parameters 8:"), std::string::npos)
        << lastLaunch();
    EXPECT_TRUE(!live || live == ask<long()>("standin_live")());
    live = ask<long()>("standin_live")();
  }
  ask<void(int, int)>("standin_attribute")(0, 1);
  auto captured = bound->run(pointers);
  ASSERT_FALSE(captured);
  EXPECT_NE(captured.error().message.find("words cannot be captured"),
            std::string::npos);
  EXPECT_EQ(std::string(ask<const char *()>("standin_violations")()), "");
}

/// Of other architectures the nearest one before is taken, whose code the
/// driver compiles.
TEST_F(DeviceSession, ArchitecturesWithoutATargetOfTheirOwn) {
  constexpr int major = 75, minor = 76;
  auto x = device->allocate(4000);
  ASSERT_TRUE(x);
  auto setTo = [&](int high, int low) {
    ask<void(int, int)>("standin_attribute")(major, high);
    ask<void(int, int)>("standin_attribute")(minor, low);
    session =
        *Session::create({.threads = 1, .cacheDirectory = "-", .target = ""});
    module = *session->compile(kText, "device.qn");
    std::int64_t size = 1000;
    Argument arguments[] = {view(x->handle(), DType::F32, size),
                            view(x->handle(), DType::F32, size)};
    auto bound = module.bind("add", arguments);
    auto ready = bound->ready();
    return ready ? std::string() : ready.error().message;
  };
  EXPECT_EQ(setTo(8, 7), "");
  EXPECT_EQ(setTo(12, 1), "");
  EXPECT_NE(setTo(7, 5).find("`Stand-in`: no target `sm_75`; known are"),
            std::string::npos);
  x = device->allocate(1); // the first is given back
  EXPECT_EQ(std::string(ask<const char *()>("standin_violations")()), "");
}

/// Large tiles where there are enough of them, with the memory they ask for.
TEST_F(DeviceSession, ProductsAskForSharedMemory) {
  auto mm = session->compile("from reductions use sum\n\n"
                             "rowwise mm(a: bf16[M, K], b: bf16[K, N]) -> "
                             "bf16[M, N]:\n    return sum(a * b over K)\n",
                             "mm.qn");
  ASSERT_TRUE(mm) << mm.error().message;
  for (auto [size, shape] :
       {std::pair(4096, "_large grid 512 1 1 block 256 1 1 shared 196608"),
        {1024, "_block grid 64 1 1 block 128 1 1 shared 0"}}) {
    std::size_t bytes = std::size_t(2) * size * size;
    auto memory = device->allocate(bytes), out = device->allocate(bytes);
    ASSERT_TRUE(memory && out);
    const std::int64_t sizes[] = {size, size}, strides[] = {size, 1};
    Argument square =
        TensorView{memory->handle(), DType::BF16, sizes,
                   strides,          true,        {DeviceKind::Cuda, 0}};
    Argument arguments[] = {square, square};
    auto bound = mm->bind("mm", arguments);
    ASSERT_TRUE(bound) << bound.error().message;
    void *pointers[] = {memory->handle(), memory->handle(), out->handle()};
    auto ran = bound->run(pointers);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_NE(lastLaunch().find(shape), std::string::npos) << lastLaunch();
  }
  EXPECT_EQ(std::string(ask<const char *()>("standin_violations")()), "");
}

TEST_F(DeviceSession, TensorsOfTwoDevicesAreAnError) {
  std::int64_t size = 8;
  std::vector<float> host(8);
  TensorView onHost = view(host.data(), DType::F32, size);
  onHost.device = {};
  Argument arguments[] = {view(nullptr, DType::F32, size), onHost};
  auto bound = module.bind("add", arguments);
  ASSERT_FALSE(bound);
  EXPECT_NE(bound.error().message.find(
                "error[QN2037]: `y` is on the CPU, `x` is on CUDA device 0"),
            std::string::npos)
      << bound.error().message;
}

/// Its launches are in the stream's order, and so is the memory between them.
TEST_F(DeviceSession, AnOpIsAPlanOfLaunches) {
  auto x = device->allocate(4000), out = device->allocate(4000);
  ASSERT_TRUE(x && out);
  std::int64_t size = 1000;
  Argument arguments[] = {view(x->handle(), DType::F32, size)};
  auto bound = module.bind("twice", arguments);
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_EQ(bound->device(), (DeviceId{DeviceKind::Cuda, 0}));
  auto stream = device->makeStream();
  ASSERT_TRUE(stream);
  void *pointers[] = {x->handle(), out->handle()};
  ASSERT_TRUE(bound->run(pointers, stream->handle()));
  long live = ask<long()>("standin_live")();
  std::string before = ask<const char *()>("standin_launches")();
  ASSERT_TRUE(bound->run(pointers, stream->handle()));
  std::string after = ask<const char *()>("standin_launches")();
  std::string added = after.substr(before.size());
  EXPECT_EQ(std::ranges::count(added, '\n'), 2);
  std::vector<std::uint64_t> packet = lastPacket();
  EXPECT_EQ(std::ranges::count(packet, out->address()), 1);
  EXPECT_EQ(ask<long()>("standin_live")(), live) << "the temporary goes";
  EXPECT_EQ(std::string(ask<const char *()>("standin_violations")()), "");
}

/// Whatever call of the driver fails, the error comes to the caller, and
/// nothing stays that was made on the way.
TEST_F(DeviceSession, AnOpWhoseDriverFails) {
  auto x = device->allocate(4000), out = device->allocate(4000);
  ASSERT_TRUE(x && out);
  std::int64_t size = 1000;
  Argument arguments[] = {view(x->handle(), DType::F32, size)};
  auto once = [&](const char *name) {
    auto bound = module.bind(name, arguments);
    if (!bound)
      return bound.error().message;
    void *pointers[] = {x->handle(), out->handle()};
    auto ran = bound->run(pointers);
    return ran ? std::string() : ran.error().message;
  };
  for (const char *name : {"twice", "measured"}) {
    ASSERT_EQ(once(name), "");
    long live = ask<long()>("standin_live")();
    long first = ask<long()>("standin_calls")();
    ASSERT_EQ(once(name), "");
    long count = ask<long()>("standin_calls")() - first;
    ASSERT_GT(count, 4);
    long told = 0;
    for (long call = 0; call < count; ++call) {
      ask<void(long, int)>("standin_fail")(
          ask<long()>("standin_calls")() + call, 2);
      told += !once(name).empty();
      ask<void(long, int)>("standin_fail")(-1, 0);
      EXPECT_EQ(ask<long()>("standin_live")(), live) << name << ", " << call;
    }
    EXPECT_GT(told, count / 2);
    EXPECT_EQ(once(name), "");
  }
  EXPECT_EQ(std::string(ask<const char *()>("standin_violations")()), "");
}

/// A long list's table goes the way of the packet; while a stream is captured
/// nothing is copied that a graph would read again.
TEST_F(DeviceSession, AListIsLaunchedWithATable) {
  constexpr std::size_t count = 100;
  std::int64_t size = 50;
  auto memory = device->allocate(2 * count * 256);
  ASSERT_TRUE(memory);
  std::vector<TensorView> ps, gs;
  std::vector<void *> pointers;
  for (std::size_t number = 0; number < 2 * count; ++number) {
    pointers.push_back(static_cast<char *>(memory->handle()) + number * 256);
    (number < count ? ps : gs)
        .push_back(view(pointers.back(), DType::F32, size));
  }
  Argument arguments[] = {ps, gs};
  auto bound = module.bind("steps", arguments);
  ASSERT_TRUE(bound) << bound.error().message;
  auto run = [&](bool isCaptured) {
    ask<void(int, int)>("standin_attribute")(0, isCaptured);
    std::string before = ask<const char *()>("standin_launches")();
    auto ran = bound->run(pointers);
    EXPECT_TRUE(ran) << ran.error().message;
    std::string after = ask<const char *()>("standin_launches")();
    return std::ranges::count(after.substr(before.size()), '\n');
  };
  EXPECT_EQ(run(false), 1);
  EXPECT_NE(lastPacket().front(), 0u) << "the table's address";
  long live = ask<long()>("standin_live")();
  EXPECT_EQ(run(false), 1);
  EXPECT_EQ(ask<long()>("standin_live")(), live) << "the table goes";
  long first = ask<long()>("standin_calls")();
  EXPECT_EQ(run(false), 1);
  long calls = ask<long()>("standin_calls")() - first, told = 0;
  for (long call = 0; call < calls; ++call) {
    ask<void(long, int)>("standin_fail")(ask<long()>("standin_calls")() + call,
                                         2);
    told += !bound->run(pointers);
    ask<void(long, int)>("standin_fail")(-1, 0);
    EXPECT_EQ(ask<long()>("standin_live")(), live) << call;
  }
  EXPECT_GT(told, calls / 2);
  EXPECT_EQ(run(true), 2);
  EXPECT_EQ(lastPacket().front(), 0u) << "the table is in the parameter";
  EXPECT_EQ(std::string(ask<const char *()>("standin_violations")()), "");
}

TEST_F(DeviceSession, ADeviceThatIsNotThereIsAnError) {
  std::int64_t size = 8;
  TensorView far = view(nullptr, DType::F32, size);
  far.device.number = 5;
  Argument arguments[] = {far, far};
  auto bound = module.bind("add", arguments);
  ASSERT_TRUE(bound) << bound.error().message;
  auto ready = bound->ready();
  ASSERT_FALSE(ready);
  EXPECT_NE(ready.error().message.find("no CUDA device 5"), std::string::npos)
      << ready.error().message;
}

} // namespace
