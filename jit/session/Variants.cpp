// A kernel has variants where a launch does not always run, or runs by one of
// several entries.
#include "jit/session/Variants.h"

#include "jit/session/HostSteps.h"

#include <algorithm>

namespace quern::jit {

bool hasVariants(const KernelAbi &abi) {
  return std::ranges::any_of(abi.launches, [](const LaunchEntry &launch) {
    return !launch.when.steps.empty() || launch.grids.size() > 1;
  });
}

bool runs(const LaunchEntry &launch, std::span<const std::uint64_t> packet) {
  return launch.when.steps.empty() || evaluate(launch.when, packet).front();
}

std::string nameOf(const Variant &variant) {
  std::string name = "variant";
  for (int entry : variant)
    name += " " + std::to_string(entry);
  return name;
}

KernelAbi conditionsOf(KernelAbi abi) {
  abi.sites.clear();
  for (LaunchEntry &launch : abi.launches)
    launch.plan = {};
  return abi;
}

} // namespace quern::jit
