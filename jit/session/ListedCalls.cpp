// Finds which calls can be launched together, and launches them.
#include "jit/session/ListedCalls.h"

#include "jit/session/Keys.h"
#include "jit/session/State.h"

using namespace quern;
using namespace quern::jit;

/// Calls of a kernel that have no partner keep code of their own, and so does
/// an explicit kernel, whose grid is what its text says.
void ListedCalls::announce(std::span<BoundKernel> kernels) {
  auto keyOf = [](const CompileRequest &request) {
    return std::pair(request.declaration, keyText(request.specialization));
  };
  std::map<std::pair<const typed::Declaration *, std::string>, unsigned> counts;
  for (const BoundKernel &kernel : kernels)
    ++counts[keyOf(kernel.state->request)];
  for (BoundKernel &kernel : kernels) {
    CompileRequest &request = kernel.state->request;
    bool isListed =
        request.declaration->kind != typed::DeclarationKind::Kernel &&
        counts[keyOf(request)] > 1;
    request.specialization.listed = isListed;
    kernel.state->binding.specialization.listed = isListed;
  }
}

Result<std::monostate> ListedCalls::run(std::span<const BoundKernel> kernels,
                                        std::span<void *const> pointers,
                                        void *stream) {
  struct Group {
    BoundKernel::State *first;
    std::vector<GridKernel::Call> calls;
  };
  std::vector<Group> groups;
  for (const BoundKernel &kernel : kernels) {
    BoundKernel::State &state = *kernel.state;
    auto own = pointers.first(kernel.pointerCount());
    pointers = pointers.subspan(own.size());
    if (auto problem = state.check(own))
      return std::move(*problem);
    if (auto made = state.ready(); !made)
      return made.error();
    if (state.binding.isEmpty)
      continue;
    GridKernel::Call call = state.callOf(own);
    auto group = std::ranges::find_if(groups, [&](const Group &each) {
      return each.calls.front().kernel->sharesLaunches(*call.kernel);
    });
    if (group == groups.end())
      group = groups.insert(group, Group{&state, {}});
    group->calls.push_back(std::move(call));
  }
  for (Group &group : groups)
    if (auto done = group.first->launch(group.calls, stream); !done)
      return done;
  return std::monostate();
}
