// Compiles a kernel from a string and runs it on plain arrays.
#include <jit/Jit.h>

#include <cstdio>
#include <vector>

namespace {
constexpr const char *Source = R"(
elementwise scaled[T: Float](x: T, y: T) -> T:
    return x * 2 + y
)";

int fail(const quern::Error &error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

int run() {
  auto session = quern::Session::create({});
  if (!session)
    return fail(session.error());
  auto module = (*session)->compile(Source, "embedded.qn");
  if (!module)
    return fail(module.error());

  std::vector<float> x(1000), y(1000), out(1000);
  for (int i = 0; i < 1000; ++i) {
    x[i] = static_cast<float>(i);
    y[i] = 0.5f;
  }
  const std::int64_t sizes[] = {1000}, strides[] = {1};
  auto view = [&](std::vector<float> &data) {
    return quern::TensorView{data.data(), quern::DType::F32, sizes, strides};
  };
  const quern::Argument arguments[] = {view(x), view(y)};
  auto kernel = module->bind("scaled", arguments);
  if (!kernel)
    return fail(kernel.error());
  void *const pointers[] = {x.data(), y.data(), out.data()};
  if (auto done = kernel->run(pointers); !done)
    return fail(done.error());

  for (int i = 0; i < 1000; ++i)
    if (out[i] != 2.0f * static_cast<float>(i) + 0.5f)
      return 1;
  std::printf("scaled[999] = %g\n", static_cast<double>(out[999]));
  return 0;
}
} // namespace

int main() { return run(); }
