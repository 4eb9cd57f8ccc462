// Drawing from the generator that `torch.manual_seed` sets.
#include "backend-torch/run/Seed.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>

#include <mutex>

namespace quern {

at::Tensor drawnSeed() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  at::Tensor seed = at::detail::empty_cpu({}, at::kLong);
  std::lock_guard lock(generator.mutex());
  auto *bits = at::check_generator<at::CPUGeneratorImpl>(generator);
  *seed.mutable_data_ptr<std::int64_t>() =
      static_cast<std::int64_t>(bits->random64() >> 1);
  return seed;
}

} // namespace quern
