// Devices over stand-in drivers: results, lifetimes, every error at every call.
#include "jit/device/Device.h"
#include "test/device/StandIn.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <numeric>

using namespace quern;
using namespace quern::jit;

namespace {

constexpr const char *kImage = R"(
.version 8.0
.target sm_90
.visible .entry add(.param .u64 x, .param .u64 y, .param .u32 count) { ret; }
)";

/// The stand-in of a vendor: the driver that the device sees, and the door
/// through which a test looks at it.
struct StandIn {
  explicit StandIn(Vendor vendor)
      : path(vendor == Vendor::Cuda ? STANDIN_CUDA : STANDIN_HIP_PATH),
        library(dlopen(path.c_str(), RTLD_NOW)) {
    auto opened = openDriver(vendor, path);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    driver = *opened;
    call<void()>("standin_reset")();
  }

  template <typename Function> Function *call(const char *name) const {
    return reinterpret_cast<Function *>(dlsym(library, name));
  }
  void reset() const { call<void()>("standin_reset")(); }
  void fail(long number, int code) const {
    call<void(long, int)>("standin_fail")(number, code);
  }
  long calls() const { return call<long()>("standin_calls")(); }
  long live() const { return call<long()>("standin_live")(); }
  std::string violations() const {
    return call<const char *()>("standin_violations")();
  }
  std::string launches() const {
    return call<const char *()>("standin_launches")();
  }

  std::string path;
  void *library;
  std::shared_ptr<const Driver> driver;
};

std::string messageOf(const Error &error) { return error.message; }

#define TRY(name, expression)                                                  \
  auto name = (expression);                                                    \
  if (!name)                                                                   \
    return messageOf(name.error());

/// Everything a kernel's life needs, once; the first error's text, or "".
std::string wholeLife(const std::shared_ptr<const Driver> &driver) {
  TRY(device, Device::open(driver, 1));
  Device &gpu = **device;
  TRY(stream, gpu.makeStream());
  TRY(other, gpu.makeStream());
  TRY(first, gpu.makeEvent(true));
  TRY(last, gpu.makeEvent(true));
  std::vector<float> host(256), back(256);
  std::iota(host.begin(), host.end(), 1.0F);
  std::size_t bytes = host.size() * sizeof(float);
  TRY(memory, gpu.allocate(bytes));
  TRY(result, gpu.allocate(bytes));
  TRY(in, gpu.copyIn(memory->address(), host.data(), bytes, stream->handle()));
  TRY(filled, gpu.fill(result->address(), 0, bytes, nullptr));
  TRY(scratch, gpu.allocateInOrder(64, stream->handle()));
  TRY(released, gpu.releaseInOrder(*scratch, stream->handle()));
  TRY(image, gpu.load(kImage));
  TRY(function, image->function("add"));
  TRY(facts, image->facts(*function));
  TRY(blocks, image->occupancy(*function, 128, 0));
  TRY(marked, first->record(stream->handle()));
  std::uint64_t x = memory->address(), y = result->address();
  std::uint32_t count = 256;
  void *parameters[] = {&x, &y, &count};
  LaunchShape shape{
      .grid = {2, 1, 1}, .block = {128, 1, 1}, .sharedBytes = 65536};
  TRY(launched, image->launch(*function, shape, parameters, stream->handle()));
  TRY(ended, last->record(stream->handle()));
  TRY(ordered, other->waitFor(*last));
  TRY(out, gpu.copyOut(back.data(), x, bytes, stream->handle()));
  TRY(waited, gpu.wait(stream->handle()));
  TRY(eventWaited, last->wait());
  TRY(time, first->until(*last));
  return back == host && *time > 0 ? "" : "wrong numbers";
}

class DeviceTest : public testing::TestWithParam<Vendor> {
protected:
  StandIn standIn{GetParam()};
};

TEST_P(DeviceTest, LivesWithoutMistakes) {
  EXPECT_EQ(wholeLife(standIn.driver), "");
  EXPECT_EQ(standIn.violations(), "");
  EXPECT_EQ(standIn.live(), 0);
}

TEST_P(DeviceTest, SurvivesEveryErrorAtEveryCall) {
  ASSERT_EQ(wholeLife(standIn.driver), "");
  long calls = standIn.calls();
  ASSERT_GT(calls, 40);
  for (int code : {1, 2, 100, 201, 218, 500, 700, 719, 999})
    for (long call = 0; call < calls; ++call) {
      standIn.reset();
      standIn.fail(call, code);
      std::string told = wholeLife(standIn.driver);
      EXPECT_EQ(standIn.violations(), "") << code << " at call " << call;
      EXPECT_EQ(standIn.live(), 0) << code << " at call " << call;
      // Restoring another's context and giving things back have nobody to
      // tell; then all results are there.
      if (!told.empty() && !told.starts_with("there is no"))
        EXPECT_NE(told.find("error " + std::to_string(code) + ")"),
                  std::string::npos)
            << told;
    }
}

TEST_P(DeviceTest, KnowsItsFacts) {
  auto device = Device::open(standIn.driver, 0);
  ASSERT_TRUE(device);
  const DeviceFacts &facts = (*device)->facts();
  bool cuda = GetParam() == Vendor::Cuda;
  EXPECT_EQ(facts.name, "Stand-in");
  EXPECT_EQ(facts.target, cuda ? "sm_90" : "gfx942");
  EXPECT_EQ(facts.warpSize, cuda ? 32 : 64);
  EXPECT_EQ(facts.processors, cuda ? 132 : 304);
  EXPECT_EQ(facts.sharedBytes, cuda ? 232448 : 65536);
  EXPECT_EQ(facts.memoryBytes, std::size_t(1) << 30);
}

TEST_P(DeviceTest, LaunchesWithTheParametersInPlace) {
  auto device = Device::open(standIn.driver, 0);
  ASSERT_TRUE(device);
  auto image = (*device)->load(kImage);
  ASSERT_TRUE(image);
  auto function = image->function("add");
  ASSERT_TRUE(function);
  std::uint64_t x = 11, y = 22;
  std::uint32_t count = 33;
  void *parameters[] = {&x, &y, &count};
  LaunchShape shape{.grid = {4, 2, 1}, .block = {32, 4, 1}};
  ASSERT_TRUE(image->launch(*function, shape, parameters, nullptr));
  EXPECT_EQ(standIn.launches(), "add grid 4 2 1 block 32 4 1 shared 0 "
                                "parameters 8:11 8:22 4:33\n");
}

TEST_P(DeviceTest, TellsWhatIsMissing) {
  auto none = Device::open(standIn.driver, 7);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("device 7: this machine has 2"),
            std::string::npos);
  auto device = Device::open(standIn.driver, 0);
  ASSERT_TRUE(device);
  auto image = (*device)->load(kImage);
  ASSERT_TRUE(image);
  auto function = image->function("subtract");
  ASSERT_FALSE(function);
  EXPECT_NE(function.error().message.find("`subtract`"), std::string::npos);
}

TEST_P(DeviceTest, ABadImageIsAnError) {
  auto device = Device::open(standIn.driver, 0);
  ASSERT_TRUE(device);
  auto image = (*device)->load("syntax error");
  ASSERT_FALSE(image);
  EXPECT_NE(image.error().message.find("loading a kernel"), std::string::npos);
  // HIP's driver loads code objects and writes no log.
  if (GetParam() == Vendor::Cuda)
    EXPECT_NE(image.error().message.find("line 3: syntax error"),
              std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Vendors, DeviceTest,
                         testing::Values(Vendor::Cuda, Vendor::Hip),
                         [](const auto &info) {
                           return info.param == Vendor::Cuda ? "Cuda" : "Hip";
                         });

/// Frameworks bring a HIP of their own, from a folder that no loader searches.
TEST(DriverTest, ALibraryThatTheProcessHasIsTaken) {
  StandIn hip(Vendor::Hip);
  auto found = openDriver(Vendor::Hip);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ((*found)->deviceCount, hip.driver->deviceCount);
}

TEST_P(DeviceTest, APoolKeepsALittle) {
  auto device = Device::open(standIn.driver, 0);
  ASSERT_TRUE(device);
  void *pool = nullptr;
  std::uint64_t keeps = 0;
  ASSERT_EQ(standIn.driver->ownPool(&pool, 0), 0);
  ASSERT_EQ(standIn.driver->askPool(pool, 4, &keeps), 0);
  EXPECT_EQ(keeps, std::uint64_t(64) << 20);
}

/// Devices that share themselves among machines have none.
TEST_P(DeviceTest, MemoryOfARunWithoutPools) {
  constexpr int cudaNumber = 115, hipNumber = 88;
  standIn.call<void(int, int)>("standin_attribute")(
      GetParam() == Vendor::Cuda ? cudaNumber : hipNumber, 0);
  EXPECT_EQ(wholeLife(standIn.driver), "");
  EXPECT_EQ(standIn.violations(), "");
  EXPECT_EQ(standIn.live(), 0);
}

TEST_P(DeviceTest, AnImageGoesWhenItsKernelsHaveRun) {
  auto device = Device::open(standIn.driver, 0);
  ASSERT_TRUE(device);
  {
    auto image = (*device)->load(kImage);
    ASSERT_TRUE(image);
    auto function = image->function("add");
    std::uint64_t words[3] = {};
    void *parameters[] = {&words[0], &words[1], &words[2]};
    ASSERT_TRUE(image->launch(*function, {}, parameters, nullptr));
  }
  EXPECT_EQ(standIn.violations(), "");
}

TEST(DriverTest, ALibraryThatIsNotThereIsAnError) {
  auto driver = openDriver(Vendor::Cuda, "libcuda-of-nobody.so.1");
  ASSERT_FALSE(driver);
  EXPECT_TRUE(driver.error().message.starts_with("no CUDA driver: "));
}

TEST(DriverTest, ALibraryOfAnotherKindNamesWhatItLacks) {
  auto driver = openDriver(Vendor::Hip, STANDIN_CUDA);
  ASSERT_FALSE(driver);
  EXPECT_NE(driver.error().message.find("lacks `hip"), std::string::npos);
}

} // namespace
