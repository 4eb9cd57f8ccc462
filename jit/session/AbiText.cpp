// Counts as 32-bit numbers, texts with their length before them.
#include "jit/session/AbiText.h"

#include <cstring>

using namespace quern;
using namespace quern::jit;

namespace {

class Writer {
public:
  void number(std::uint32_t value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  void text(llvm::StringRef value) {
    number(value.size());
    bytes += value;
  }
  std::string bytes;
};

class Reader {
public:
  explicit Reader(llvm::StringRef bytes) : bytes(bytes) {}

  std::uint32_t number() {
    std::uint32_t value = 0;
    if (bytes.size() < sizeof value) {
      failed = true;
      return 0;
    }
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes = bytes.drop_front(sizeof value);
    return value;
  }
  std::string text() {
    std::uint32_t size = number();
    if (size > bytes.size()) {
      failed = true;
      return "";
    }
    std::string value = bytes.take_front(size).str();
    bytes = bytes.drop_front(size);
    return value;
  }
  bool isDone() const { return !failed && bytes.empty(); }
  bool failed = false;

private:
  llvm::StringRef bytes;
};

} // namespace

std::string quern::jit::writeAbi(const KernelAbi &abi) {
  Writer out;
  out.number(abi.words.size());
  for (const PacketWord &word : abi.words)
    out.number(static_cast<std::uint32_t>(word.kind) << 24 ^
               static_cast<std::uint32_t>(word.axis) << 12 ^ word.operand);
  out.number(abi.launches.size());
  for (const LaunchEntry &launch : abi.launches) {
    out.text(launch.plan);
    out.text(launch.task);
  }
  out.number(abi.sites.size());
  for (const ErrorSite &site : abi.sites) {
    out.text(site.kernel);
    out.text(site.axis);
    out.text(site.location);
  }
  return std::move(out.bytes);
}

std::optional<KernelAbi> quern::jit::readAbi(llvm::StringRef bytes) {
  Reader in(bytes);
  KernelAbi abi;
  for (std::uint32_t left = in.number(); left > 0 && !in.failed; --left) {
    std::uint32_t word = in.number();
    abi.words.push_back(
        {.kind = static_cast<PacketWord::Kind>(word >> 24),
         .operand = static_cast<std::uint16_t>(word & 0xfff),
         .axis = static_cast<std::uint16_t>(word >> 12 & 0xfff)});
  }
  for (std::uint32_t left = in.number(); left > 0 && !in.failed; --left) {
    LaunchEntry launch;
    launch.plan = in.text();
    launch.task = in.text();
    abi.launches.push_back(std::move(launch));
  }
  for (std::uint32_t left = in.number(); left > 0 && !in.failed; --left) {
    ErrorSite site;
    site.kernel = in.text();
    site.axis = in.text();
    site.location = in.text();
    abi.sites.push_back(std::move(site));
  }
  if (!in.isDone())
    return std::nullopt;
  return abi;
}
