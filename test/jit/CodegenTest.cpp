// LLVM IR text becomes code for named targets, and runs in this process.
#include "jit/codegen/Codegen.h"
#include "jit/codegen/StoppedPasses.h"
#include "jit/orc/Engine.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Pass.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>

using namespace quern;
using namespace quern::jit;

namespace {

constexpr const char *doubling = R"(
define void @double_task(ptr %packet, i64 %begin, i64 %end, i64 %worker) {
entry:
  %slot = getelementptr i64, ptr %packet, i64 2
  %data = load ptr, ptr %slot
  br label %loop
loop:
  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]
  %at = getelementptr <8 x float>, ptr %data, i64 %i
  %x = load <8 x float>, ptr %at, align 4
  %m = fmul <8 x float> %x, splat (float 2.0)
  %y = fadd <8 x float> %m, %x
  store <8 x float> %y, ptr %at, align 4
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %done
done:
  ret void
}
)";

std::string emit(const char *text, const TargetInfo &target, Image image) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(text, problem, context);
  EXPECT_TRUE(module) << problem.getMessage().str();
  auto generator = CodeGenerator::create(target);
  EXPECT_TRUE(generator) << generator.error().message;
  (*generator)->optimise(*module);
  auto bytes = (*generator)->emit(*module, image);
  EXPECT_TRUE(bytes);
  return *bytes;
}

/// Counts the functions it sees, and does something at each.
struct Counting final : llvm::FunctionPass {
  Counting(int &count, std::function<void()> then = {})
      : FunctionPass(id), count(count), then(std::move(then)) {}
  bool runOnFunction(llvm::Function &) override {
    ++count;
    if (then)
      then();
    return false;
  }
  static char id;
  int &count;
  std::function<void()> then;
};
char Counting::id = 0;

TEST(Codegen, NoPassBeginsAfterAStop) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString("define void @a() {\n  ret void\n}\n"
                                          "define void @b() {\n  ret void\n}\n",
                                          problem, context);
  ASSERT_TRUE(module);
  for (bool stops : {false, true}) {
    std::stop_source stop;
    int before = 0, behind = 0;
    StopWatch watch(stop.get_token());
    StoppablePasses passes(watch);
    passes.add(new Counting(before, [&] {
      if (stops)
        stop.request_stop();
    }));
    passes.add(new Counting(behind));
    passes.run(*module);
    EXPECT_EQ(before, 2);
    EXPECT_EQ(behind, stops ? 0 : 2);
  }
}

TEST(Codegen, CodeThatNobodyWaitsForIsNotMade) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(doubling, problem, context);
  ASSERT_TRUE(module);
  auto generator = CodeGenerator::create(hostTarget());
  ASSERT_TRUE(generator);
  std::stop_source stop;
  (*generator)->optimise(*module, stop.get_token());
  stop.request_stop();
  auto bytes = (*generator)->emit(*module, Image::Object, stop.get_token());
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().message, "interrupted");
}

TEST(Codegen, AnObjectRunsInThisProcess) {
  std::string object = emit(doubling, hostTarget(), Image::Object);
  auto engine = Engine::create({});
  ASSERT_TRUE(engine);
  auto code = (*engine)->load(object, {"double_task"});
  ASSERT_TRUE(code) << code.error().message;
  float data[24];
  for (int i = 0; i < 24; ++i)
    data[i] = static_cast<float>(i);
  std::uint64_t packet[3] = {0, 0, reinterpret_cast<std::uint64_t>(data)};
  using Task =
      void (*)(const std::uint64_t *, std::int64_t, std::int64_t, std::int64_t);
  reinterpret_cast<Task>((*code)->addresses[0])(packet, 0, 2, 0);
  for (int i = 0; i < 24; ++i)
    EXPECT_EQ(data[i], i < 16 ? 3.0f * i : i);
}

TEST(Codegen, CodeOutlivesTheEngineHandle) {
  std::string object = emit(doubling, hostTarget(), Image::Object);
  std::shared_ptr<LoadedObject> code;
  {
    auto engine = Engine::create({});
    ASSERT_TRUE(engine);
    code = *(*engine)->load(object, {"double_task"});
    // The same symbol names again: every object has its own.
    auto second = (*engine)->load(object, {"double_task"});
    ASSERT_TRUE(second);
    EXPECT_NE((*second)->addresses[0], code->addresses[0]);
  }
  EXPECT_NE(code->addresses[0], nullptr);
}

TEST(Codegen, NamedTargetsUseTheirRegistersAndNeverContract) {
  struct Case {
    const char *target, *present, *absent;
  };
  for (Case c : {Case{"x86-64-v2", "xmm0", "ymm"},
                 {"x86-64-v3", "ymm0", "zmm"},
                 {"x86-64-v4", "ymm0", "%xmm20"},
                 {"aarch64", "fadd\tv", "ymm"}}) {
    auto target = findTarget(c.target);
    ASSERT_TRUE(target) << c.target;
    std::string text = emit(doubling, *target, Image::Assembly);
    EXPECT_NE(text.find(c.present), std::string::npos) << c.target << text;
    EXPECT_EQ(text.find(c.absent), std::string::npos) << c.target << text;
    EXPECT_EQ(text.find("fmadd"), std::string::npos) << c.target;
    EXPECT_EQ(text.find("fmla"), std::string::npos) << c.target;
  }
}

TEST(Codegen, AnUnknownTargetIsAnError) {
  auto target = findTarget("z80");
  ASSERT_FALSE(target);
  EXPECT_NE(target.error().message.find("x86-64-v3"), std::string::npos);
}

TEST(Codegen, ACallOfAForeignFunctionIsRefused) {
  std::string object = emit(R"(
declare double @sin(double)
define double @f(double %x) {
  %y = call double @sin(double %x)
  ret double %y
})",
                            hostTarget(), Image::Object);
  auto engine = Engine::create({});
  ASSERT_TRUE(engine);
  auto code = (*engine)->load(object, {"f"});
  ASSERT_FALSE(code);
  EXPECT_NE(code.error().message.find("sin"), std::string::npos);
}

TEST(Codegen, ADamagedObjectIsAnError) {
  auto engine = Engine::create({});
  ASSERT_TRUE(engine);
  EXPECT_FALSE((*engine)->load("no object at all", {"f"}));
}

/// The last cache decides which stores go past it; the C library's number for
/// it is that of a whole socket.
TEST(Codegen, CachesAreAsLargeAsOneCoreSeesThem) {
  const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index";
  TargetInfo target = hostTarget();
  std::int64_t sizes[] = {0, target.l1Bytes, target.l2Bytes, target.l3Bytes};
  for (int number = 0;; ++number) {
    std::ifstream kind(folder + std::to_string(number) + "/type");
    std::ifstream level(folder + std::to_string(number) + "/level");
    std::ifstream size(folder + std::to_string(number) + "/size");
    std::string text;
    int found = 0;
    std::int64_t kibibytes = 0;
    if (!(kind >> text) || !(level >> found) || !(size >> kibibytes))
      break;
    if (text != "Instruction" && found <= 3)
      EXPECT_EQ(sizes[found], kibibytes << 10) << "level " << found;
  }
}

} // namespace
