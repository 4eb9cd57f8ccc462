// Counts as 32-bit numbers, texts with their length before them.
#include "jit/session/AbiText.h"

#include "llvm/ADT/STLExtras.h"

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

void writeTiles(Writer &out, const std::vector<GridEntry::Tile> &tiles) {
  out.number(tiles.size());
  for (const GridEntry::Tile &tile : tiles) {
    out.number(tile.axis);
    out.number(tile.elements);
    out.number(tile.most);
    out.number(tile.least);
  }
}

void writePlan(Writer &out, const HostPlan &plan) {
  out.number(plan.steps.size());
  for (const HostStep &step : plan.steps) {
    out.number(static_cast<std::uint32_t>(step.kind));
    for (std::uint32_t operand : step.operands)
      out.number(operand);
    auto value = static_cast<std::uint64_t>(step.value);
    out.number(static_cast<std::uint32_t>(value));
    out.number(static_cast<std::uint32_t>(value >> 32));
  }
  out.number(plan.results.size());
  for (std::uint32_t result : plan.results)
    out.number(result);
}

void writeGeometry(Writer &out, const GridGeometry &geometry) {
  writePlan(out, geometry.shape);
  out.number(geometry.sharedBytes);
  out.number(geometry.threadsSite);
}

void writeGrids(Writer &out, const LaunchEntry &launch) {
  out.number(launch.grids.size());
  for (const GridEntry &grid : launch.grids) {
    out.text(grid.symbol);
    for (std::int64_t value :
         {grid.mostLanes, std::int64_t{grid.threads},
          std::int64_t{grid.unitsPerBlock}, std::int64_t{grid.resident},
          std::int64_t{grid.cluster}, std::int64_t{grid.isOnce},
          std::int64_t{grid.stepLanes}, std::int64_t{grid.stepThreads},
          std::int64_t{grid.sharedBytes}, std::int64_t{grid.leastUnits}})
      out.number(static_cast<std::uint32_t>(value));
    writeTiles(out, grid.tiles);
  }
  out.number(static_cast<std::uint32_t>(launch.laneAxis));
  out.number(launch.workspace.size());
  for (const WorkspaceTerm &term : launch.workspace) {
    out.number(static_cast<std::uint32_t>(term.bytes));
    writeTiles(out, term.tiles);
  }
  writeGeometry(out, launch.geometry);
}

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

std::vector<GridEntry::Tile> readTiles(Reader &in) {
  std::vector<GridEntry::Tile> tiles;
  for (std::uint32_t left = in.number(); left > 0 && !in.failed; --left) {
    auto axis = static_cast<std::uint16_t>(in.number());
    std::uint32_t elements = in.number(), most = in.number();
    tiles.push_back({axis, elements, most, in.number()});
  }
  return tiles;
}

HostPlan readPlan(Reader &in) {
  HostPlan plan;
  for (std::uint32_t left = in.number(); left > 0 && !in.failed; --left) {
    HostStep step{.kind = static_cast<HostStep::Kind>(in.number())};
    for (std::uint32_t &operand : step.operands)
      operand = in.number();
    std::uint64_t low = in.number(), high = in.number();
    step.value = static_cast<std::int64_t>(low | high << 32);
    plan.steps.push_back(step);
  }
  for (std::uint32_t left = in.number(); left > 0 && !in.failed; --left) {
    plan.results.push_back(in.number());
    in.failed |= plan.results.back() >= plan.steps.size();
  }
  return plan;
}

GridGeometry readGeometry(Reader &in) {
  GridGeometry geometry{.shape = readPlan(in)};
  geometry.sharedBytes = in.number();
  geometry.threadsSite = in.number();
  return geometry;
}

void readGrids(Reader &in, LaunchEntry &launch) {
  for (std::uint32_t left = in.number(); left > 0 && !in.failed; --left) {
    GridEntry grid;
    grid.symbol = in.text();
    grid.mostLanes = static_cast<std::int32_t>(in.number());
    grid.threads = in.number();
    grid.unitsPerBlock = in.number();
    grid.resident = in.number();
    grid.cluster = in.number();
    grid.isOnce = in.number();
    grid.stepLanes = in.number();
    grid.stepThreads = in.number();
    grid.sharedBytes = in.number();
    grid.leastUnits = in.number();
    grid.tiles = readTiles(in);
    launch.grids.push_back(std::move(grid));
  }
  launch.laneAxis = static_cast<std::int32_t>(in.number());
  for (std::uint32_t left = in.number(); left > 0 && !in.failed; --left) {
    WorkspaceTerm term{.bytes = in.number()};
    term.tiles = readTiles(in);
    launch.workspace.push_back(std::move(term));
  }
  launch.geometry = readGeometry(in);
}

/// Whether the steps read no words but those of the packet.
bool areWordsThere(const KernelAbi &abi) {
  auto isThere = [&](const HostPlan &plan) {
    return llvm::all_of(plan.steps, [&](const HostStep &step) {
      return step.kind != HostStep::Kind::Word ||
             std::uint64_t(step.value) < abi.words.size();
    });
  };
  return llvm::all_of(abi.launches, [&](const LaunchEntry &launch) {
    return isThere(launch.when) && isThere(launch.plan) &&
           isThere(launch.geometry.shape);
  });
}

} // namespace

std::string quern::jit::writeAbi(const KernelAbi &abi) {
  Writer out;
  out.number(abi.words.size());
  for (const PacketWord &word : abi.words) {
    out.number(static_cast<std::uint32_t>(word.kind) << 16 ^ word.axis);
    out.number(word.operand);
  }
  out.number(abi.launches.size());
  for (const LaunchEntry &launch : abi.launches) {
    out.text(launch.task);
    writePlan(out, launch.when);
    writePlan(out, launch.plan);
    writeGrids(out, launch);
  }
  out.number(abi.sites.size());
  for (const ErrorSite &site : abi.sites) {
    out.text(site.kernel);
    out.text(site.axis);
    out.text(site.location);
    out.number(static_cast<std::uint32_t>(site.kind));
  }
  return std::move(out.bytes);
}

std::optional<KernelAbi> quern::jit::readAbi(llvm::StringRef bytes) {
  Reader in(bytes);
  KernelAbi abi;
  for (std::uint32_t left = in.number(); left > 0 && !in.failed; --left) {
    std::uint32_t word = in.number();
    abi.words.push_back({.kind = static_cast<PacketWord::Kind>(word >> 16),
                         .operand = static_cast<std::uint16_t>(in.number()),
                         .axis = static_cast<std::uint16_t>(word & 0xffff)});
  }
  for (std::uint32_t left = in.number(); left > 0 && !in.failed; --left) {
    LaunchEntry launch;
    launch.task = in.text();
    launch.when = readPlan(in);
    launch.plan = readPlan(in);
    readGrids(in, launch);
    abi.launches.push_back(std::move(launch));
  }
  for (std::uint32_t left = in.number(); left > 0 && !in.failed; --left) {
    ErrorSite site;
    site.kernel = in.text();
    site.axis = in.text();
    site.location = in.text();
    site.kind = static_cast<ErrorSite::Kind>(in.number());
    abi.sites.push_back(std::move(site));
  }
  if (!in.isDone() || !areWordsThere(abi))
    return std::nullopt;
  return abi;
}
