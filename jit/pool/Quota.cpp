// Reads `cpu.max` of control groups, and of older systems `cpu.cfs_quota_us`.
#include "jit/pool/Quota.h"

#include <algorithm>
#include <cstdio>
#include <limits>

using namespace quern::jit;

namespace {

/// The first bytes of a file of the system's; empty where it cannot be read.
std::string readText(const std::string &path) {
  char bytes[4096];
  std::FILE *file = std::fopen(path.c_str(), "re");
  if (!file)
    return "";
  std::size_t size = std::fread(bytes, 1, sizeof bytes, file);
  std::fclose(file);
  return std::string(bytes, size);
}

/// What a group says of itself alone.
int quotaOf(const std::string &folder) {
  long long quota = 0, period = 0;
  std::string both = readText(folder + "/cpu.max");
  if (std::sscanf(both.c_str(), "%lld %lld", &quota, &period) != 2) {
    std::string one = readText(folder + "/cpu.cfs_quota_us");
    std::string other = readText(folder + "/cpu.cfs_period_us");
    if (std::sscanf(one.c_str(), "%lld", &quota) != 1 ||
        std::sscanf(other.c_str(), "%lld", &period) != 1)
      return 0;
  }
  if (quota <= 0 || period <= 0)
    return 0;
  return static_cast<int>(std::min<long long>((quota - 1) / period + 1,
                                              std::numeric_limits<int>::max()));
}

/// Of a group and all above it. In a container the path may be that of another
/// view of the groups: what is not there limits nothing.
int quotaAlong(const std::string &root, std::string path) {
  int least = 0;
  for (;;) {
    int quota = quotaOf(root + path);
    if (quota > 0 && (least == 0 || quota < least))
      least = quota;
    std::size_t slash = path.rfind('/');
    if (slash == std::string::npos)
      return least;
    path.resize(slash);
  }
}

} // namespace

int quern::jit::processorQuota(const std::string &groups,
                               const std::string &own) {
  std::string text = readText(own);
  int least = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    // "0::/path" of the one hierarchy, or "4:cpu,cpuacct:/path" of several.
    std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    bool isWhole = names == ",,";
    if (!isWhole && names.find(",cpu,") == std::string::npos)
      continue;
    std::string path = line.substr(second + 1);
    if (path == "/")
      path.clear();
    int quota = quotaAlong(groups + (isWhole ? "" : "/cpu"), path);
    if (quota > 0 && (least == 0 || quota < least))
      least = quota;
  }
  return least;
}
