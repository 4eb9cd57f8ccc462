// Graphs of tensors on a GPU: what is a kernel there, in whose memory results
// lie, in which stream's order. The host's memory stands in for a GPU's.
#include "backend-torch/run/Executor.h"
#include "test/backend-torch/GraphMaker.h"

#include <ATen/ATen.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <gtest/gtest.h>
#include <torch/library.h>

using namespace quern;
using namespace quern::testing;

namespace {

int streamMark;

/// Two devices, each with one stream.
struct StandInGuard : c10::impl::DeviceGuardImplInterface {
  StandInGuard() = default;
  explicit StandInGuard(c10::DeviceType) {}
  c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
  c10::Device exchangeDevice(c10::Device device) const override {
    return device;
  }
  c10::Device getDevice() const override { return {type(), 0}; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return stream;
  }
  void *getStreamNativeHandle(const c10::Stream) const override {
    return &streamMark;
  }
  c10::DeviceIndex deviceCount() const noexcept override { return 2; }
};
C10_REGISTER_GUARD_IMPL(CUDA, StandInGuard)

at::Tensor standInMemory(at::IntArrayRef sizes, at::IntArrayRef strides,
                         c10::Device device) {
  at::Tensor host = at::empty_strided(sizes, strides, at::kFloat);
  std::size_t bytes = host.storage().nbytes();
  auto *keep = new at::Tensor(host);
  c10::Storage storage(
      c10::Storage::use_byte_size_t(), bytes,
      c10::DataPtr(
          host.mutable_data_ptr(), keep,
          [](void *kept) { delete static_cast<at::Tensor *>(kept); }, device));
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CUDA),
      caffe2::TypeMeta::Make<float>());
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return tensor;
}

at::Tensor emptyStrided(at::IntArrayRef sizes, at::IntArrayRef strides,
                        std::optional<at::ScalarType>,
                        std::optional<at::Layout>,
                        std::optional<at::Device> device, std::optional<bool>) {
  return standInMemory(sizes, strides, device.value());
}

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("empty_strided", emptyStrided);
}

/// What kernels were bound and run with.
struct Seen {
  std::vector<DeviceId> devices;
  std::vector<void *> streams;
};

class SeeingHandle : public LaunchHandle {
public:
  explicit SeeingHandle(Seen &seen) : seen(seen) {}
  Result<std::monostate> ready(std::stop_token) override {
    return std::monostate();
  }
  Result<std::monostate> run(std::span<void *const> pointers,
                             void *stream) override {
    seen.streams.push_back(stream);
    *static_cast<float *>(pointers.back()) =
        *static_cast<const float *>(pointers.front()) + 1;
    return std::monostate();
  }

private:
  Seen &seen;
};

class SeeingModule : public CompiledModule {
public:
  explicit SeeingModule(Seen &seen) : seen(seen) {}
  Result<std::unique_ptr<LaunchHandle>>
  bind(std::string_view, std::span<const Argument> arguments,
       std::span<const TensorView> outputs,
       std::span<const std::pair<std::string, Argument>>) const override {
    for (const Argument &argument : arguments)
      seen.devices.push_back(std::get<TensorView>(argument).device);
    for (const TensorView &output : outputs)
      seen.devices.push_back(output.device);
    return std::unique_ptr<LaunchHandle>(std::make_unique<SeeingHandle>(seen));
  }

private:
  Seen &seen;
};

class SeeingCompiler : public Compiler {
public:
  Result<std::shared_ptr<const CompiledModule>>
  compile(const std::string &, const std::string &, std::stop_token) override {
    std::shared_ptr<const CompiledModule> module =
        std::make_shared<SeeingModule>(seen);
    return module;
  }
  Result<std::shared_ptr<const CompiledModule>>
  library(const std::string &) override {
    return Error{"none", {}};
  }
  Result<std::vector<OperatorRow>> operators() const override {
    return std::vector<OperatorRow>();
  }
  mutable Seen seen;
};

class Devices : public ::testing::Test {
protected:
  void moveTo(const std::string &device, std::optional<DeviceId> memory) {
    maker.device = device;
    maker.memory = memory;
  }
  ValueId silu(ValueId x) {
    return maker.call("aten::silu", {maker.tensor("self", x)}, sizes);
  }
  FusionPlan plan(const std::vector<ValueId> &outputs) {
    static const OperatorTable table = smallLibrary();
    return planFusion(maker.finish(outputs), table, {});
  }

  static constexpr DeviceId second = {DeviceKind::Cuda, 1};
  GraphMaker maker;
  std::vector<Size> sizes = {maker.size(3), maker.size(5)};
};

TEST_F(Devices, KernelsAreMadeForWhereTheirTensorsAre) {
  moveTo("cuda:1", second);
  FusionPlan made = plan({silu(silu(maker.input(sizes)))});
  ASSERT_EQ(made.groups.size(), 1u);
  EXPECT_EQ(writeProgram(made).kernels[0].device, second);
}

TEST_F(Devices, TensorsInTwoMemoriesHaveNoKernel) {
  ValueId near = maker.input({});
  moveTo("cuda:1", second);
  ValueId far = maker.input(sizes);
  FusionPlan made = plan({maker.call(
      "aten::mul.Tensor",
      {maker.tensor("self", far), maker.tensor("other", near)}, sizes)});
  ASSERT_EQ(made.opaque.size(), 1u);
  EXPECT_EQ(made.opaque[0].second.reason,
            "its tensors lie on cuda:1 and on cpu");
}

TEST_F(Devices, WhereNoKernelRunsAtenDoes) {
  moveTo("xpu:0", std::nullopt);
  FusionPlan made = plan({silu(maker.input(sizes))});
  ASSERT_EQ(made.opaque.size(), 1u);
  EXPECT_EQ(made.opaque[0].second.reason, "it runs on xpu:0");
}

TEST_F(Devices, WhatSortsIsAtensOnAGpuOnly) {
  auto sorted = [&](ValueId x) {
    return maker.call("aten::msort", {maker.tensor("self", x)}, sizes);
  };
  ValueId near = sorted(maker.input(sizes));
  moveTo("cuda:1", second);
  FusionPlan made = plan({near, sorted(maker.input(sizes))});
  EXPECT_EQ(made.groups.size(), 1u);
  ASSERT_EQ(made.opaque.size(), 1u);
  EXPECT_EQ(made.opaque[0].second.kind, OpaqueKind::Preferred);
}

TEST_F(Devices, ResultsLieInTheirMemoryAndFollowTheStream) {
  moveTo("cuda:1", second);
  SeeingCompiler compiler;
  Recorder recorder;
  CompiledProgram program =
      compileGraph(maker.finish({silu(maker.input(sizes))}),
                   std::make_shared<OperatorTable>(smallLibrary()), &compiler,
                   {}, /*codeNow=*/true);
  Executor executor(std::move(program), {}, recorder, {});
  c10::Device device(c10::kCUDA, 1);
  at::Tensor given = standInMemory({3, 5}, {5, 1}, device);
  *static_cast<float *>(given.mutable_data_ptr()) = 41;
  at::Tensor result = executor.run({given})[0].toTensor();
  EXPECT_EQ(result.device(), device);
  EXPECT_EQ(*static_cast<const float *>(result.const_data_ptr()), 42);
  EXPECT_EQ(compiler.seen.devices, (std::vector<DeviceId>{second, second}));
  EXPECT_EQ(compiler.seen.streams, std::vector<void *>{&streamMark});
}

} // namespace
