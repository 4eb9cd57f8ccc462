// The stages of a compilation: one table for running, printing, timing,
// keeping and help; std only.
#pragma once

#include "dsl/target/TargetInfo.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace quern {

enum class Stage : std::uint8_t {
#define QN_STAGE(name, ...) name,
#include "dsl/Stages.def"
};

/// The room that makes a stage.
enum class StageMaker : std::uint8_t { Frontend, Lowering, CodeGeneration };

/// All stages, in the order of the table.
std::span<const Stage> allStages();
std::string_view spelling(Stage stage);
std::optional<Stage> stageNamed(std::string_view name);
StageMaker makerOf(Stage stage);
/// Whether the stage is bytes: a file holds those of one declaration.
bool isBinary(Stage stage);
bool hasStage(const TargetInfo &target, Stage stage);
/// The stage that a compilation for `target` ends with: what is loaded.
Stage imageStage(const TargetInfo &target);

/// Watches one compilation. Every member may be left out.
struct StageObserver {
  /// Whether the text of a stage is to be made.
  std::function<bool(Stage)> wants = {};
  /// Takes the texts that are wanted.
  std::function<void(Stage, std::string)> take = {};
  /// Called when a step is done, with its spelling.
  std::function<void(std::string_view)> reached = {};
  /// The compilation stops after this stage.
  std::optional<Stage> last = {};

  /// `stage` is done; `print` makes its text.
  template <typename Print> void leave(Stage stage, Print print) const {
    if (reached && isStep(stage))
      reached(spelling(stage));
    if (wants && wants(stage))
      take(stage, print());
  }

private:
  static bool isStep(Stage stage);
};

} // namespace quern
