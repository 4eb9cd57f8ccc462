// The table of stages as data.
#include "dsl/Stages.h"

#include <algorithm>
#include <iterator>

using namespace quern;

namespace {

enum class Targets : std::uint8_t {
  All,
  Cpus,
  Gpus,
  Nvidia,
  Amd,
  AllButNvidia
};
enum class Form : std::uint8_t { Text, Binary };
enum class Role : std::uint8_t { Step, View };

struct Row {
  std::string_view spelling;
  StageMaker maker;
  Targets targets;
  Form form;
  Role role;
};

constexpr Row rows[] = {
#define QN_STAGE(name, spelling, maker, targets, form, role)                   \
  {spelling, StageMaker::maker, Targets::targets, Form::form, Role::role},
#include "dsl/Stages.def"
};

constexpr Stage stages[] = {
#define QN_STAGE(name, ...) Stage::name,
#include "dsl/Stages.def"
};

const Row &rowOf(Stage stage) { return rows[static_cast<unsigned>(stage)]; }

} // namespace

std::span<const Stage> quern::allStages() { return stages; }

std::string_view quern::spelling(Stage stage) { return rowOf(stage).spelling; }

std::optional<Stage> quern::stageNamed(std::string_view name) {
  const auto *found =
      std::find_if(std::begin(stages), std::end(stages),
                   [&](Stage stage) { return spelling(stage) == name; });
  return found == std::end(stages) ? std::nullopt : std::optional(*found);
}

StageMaker quern::makerOf(Stage stage) { return rowOf(stage).maker; }

bool quern::isBinary(Stage stage) { return rowOf(stage).form == Form::Binary; }

bool StageObserver::isStep(Stage stage) {
  return rowOf(stage).role == Role::Step;
}

bool quern::hasStage(const TargetInfo &target, Stage stage) {
  switch (rowOf(stage).targets) {
  case Targets::All:
    return true;
  case Targets::Cpus:
    return !target.isGpu();
  case Targets::Gpus:
    return target.isGpu();
  case Targets::Nvidia:
    return target.kind == TargetKind::Nvptx;
  case Targets::Amd:
    return target.kind == TargetKind::Amdgpu;
  case Targets::AllButNvidia:
    return target.kind != TargetKind::Nvptx;
  }
  return false;
}

Stage quern::imageStage(const TargetInfo &target) {
  switch (target.kind) {
  case TargetKind::Nvptx:
    return Stage::Ptx;
  case TargetKind::Amdgpu:
    return Stage::Hsaco;
  case TargetKind::Cpu:
    return Stage::Obj;
  }
  return Stage::Obj;
}
