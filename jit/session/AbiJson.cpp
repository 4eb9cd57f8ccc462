// KernelAbi as JSON: `quern build --emit=abi`.
#include "jit/session/AbiText.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace quern;
using llvm::json::OStream;

static llvm::StringRef spelling(PacketWord::Kind kind) {
  switch (kind) {
  case PacketWord::Kind::ErrorRecord:
    return "error-record";
  case PacketWord::Kind::Workspace:
    return "workspace";
  case PacketWord::Kind::Pointer:
    return "pointer";
  case PacketWord::Kind::Extent:
    return "extent";
  case PacketWord::Kind::Stride:
    return "stride";
  case PacketWord::Kind::Scalar:
    return "scalar";
  }
  return "";
}

static void print(OStream &out, const PacketWord &word) {
  out.object([&] {
    out.attribute("kind", spelling(word.kind));
    out.attribute("operand", word.operand);
    out.attribute("axis", word.axis);
  });
}

static void print(OStream &out, const GridEntry::Tile &tile) {
  out.object([&] {
    out.attribute("axis", tile.axis);
    out.attribute("elements", tile.elements);
    if (tile.most)
      out.attribute("most", tile.most);
    if (tile.least)
      out.attribute("least", tile.least);
  });
}

static llvm::StringRef spelling(HostStep::Kind kind) {
  switch (kind) {
#define QN_HOST_STEP(kind, name, operands)                                     \
  case HostStep::Kind::kind:                                                   \
    return name;
#include "dsl/HostSteps.def"
  }
  return "";
}

static unsigned operandsOf(HostStep::Kind kind) {
  switch (kind) {
#define QN_HOST_STEP(kind, name, operands)                                     \
  case HostStep::Kind::kind:                                                   \
    return operands;
#include "dsl/HostSteps.def"
  }
  return 0;
}

static void print(OStream &out, const HostStep &step) {
  out.object([&] {
    out.attribute("step", spelling(step.kind));
    if (unsigned count = operandsOf(step.kind))
      out.attributeArray("of", [&] {
        for (unsigned number = 0; number < count; ++number)
          out.value(std::int64_t(step.operands[number]));
      });
    if (operandsOf(step.kind) < 2)
      out.attribute("value", step.value);
  });
}

static void print(OStream &out, const WorkspaceTerm &term);
static void print(OStream &out, const GridEntry &grid);
static void print(OStream &out, const LaunchEntry &launch);
static void print(OStream &out, const ErrorSite &site);

template <typename T>
static void printAll(OStream &out, llvm::StringRef name,
                     const std::vector<T> &all) {
  out.attributeArray(name, [&] {
    for (const T &each : all)
      print(out, each);
  });
}

static void print(OStream &out, const WorkspaceTerm &term) {
  out.object([&] {
    out.attribute("bytes", std::int64_t(term.bytes));
    printAll(out, "tiles", term.tiles);
  });
}

static void print(OStream &out, const GridEntry &grid) {
  out.object([&] {
    out.attribute("symbol", grid.symbol);
    out.attribute("most_lanes", grid.mostLanes);
    out.attribute("threads", grid.threads);
    out.attribute("units_per_block", grid.unitsPerBlock);
    if (grid.resident)
      out.attribute("resident", grid.resident);
    if (grid.cluster > 1)
      out.attribute("cluster", grid.cluster);
    if (grid.isOnce)
      out.attribute("once", true);
    if (grid.stepLanes) {
      out.attribute("step_lanes", grid.stepLanes);
      out.attribute("step_threads", grid.stepThreads);
    }
    if (grid.sharedBytes)
      out.attribute("shared_bytes", grid.sharedBytes);
    if (grid.leastUnits)
      out.attribute("least_units", grid.leastUnits);
    printAll(out, "tiles", grid.tiles);
  });
}

static void printInside(OStream &out, const HostPlan &plan) {
  printAll(out, "steps", plan.steps);
  out.attributeArray("results", [&] {
    for (std::uint32_t result : plan.results)
      out.value(std::int64_t(result));
  });
}

static void printPlan(OStream &out, llvm::StringRef name,
                      const HostPlan &plan) {
  if (!plan.steps.empty())
    out.attributeObject(name, [&] { printInside(out, plan); });
}

static void print(OStream &out, const GridGeometry &geometry) {
  out.object([&] {
    printInside(out, geometry.shape);
    out.attribute("shared_bytes", std::int64_t(geometry.sharedBytes));
    out.attribute("threads_site", std::int64_t(geometry.threadsSite));
  });
}

static void print(OStream &out, const LaunchEntry &launch) {
  out.object([&] {
    printPlan(out, "when", launch.when);
    if (launch.grids.empty()) {
      out.attribute("task", launch.task);
      printPlan(out, "plan", launch.plan);
      return;
    }
    out.attribute("lane_axis", launch.laneAxis);
    printAll(out, "workspace", launch.workspace);
    printAll(out, "entries", launch.grids);
    if (!launch.geometry.shape.steps.empty()) {
      out.attributeBegin("geometry");
      print(out, launch.geometry);
      out.attributeEnd();
    }
  });
}

static void print(OStream &out, const ErrorSite &site) {
  out.object([&] {
    out.attribute("kernel", site.kernel);
    out.attribute("axis", site.axis);
    out.attribute("location", site.location);
  });
}

std::string quern::jit::printAbi(const KernelAbi &abi) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OStream out(stream, 2);
  out.object([&] {
    printAll(out, "words", abi.words);
    if (abi.words.size() > mostWordsByValue)
      out.attribute("words_in_memory", true);
    printAll(out, "launches", abi.launches);
    printAll(out, "sites", abi.sites);
  });
  stream << '\n';
  return text;
}
