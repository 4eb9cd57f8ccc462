// How many processors a container's limits leave to this process (Linux).
#pragma once

#include <string>

namespace quern::jit {

/// The least share of time that a control group above the process grants, as a
/// number of processors rounded up; 0 where there is no limit. `groups` is
/// where the groups lie, `own` the file that says which one the process is in.
int processorQuota(const std::string &groups = "/sys/fs/cgroup",
                   const std::string &own = "/proc/self/cgroup");

} // namespace quern::jit
