// The pass form of the choice of schedules.
#include "dsl/passes/Passes.h"
#include "dsl/schedule/Schedule.h"

namespace quern {
#define GEN_PASS_DEF_QNSCHEDULE
#include "dsl/passes/Passes.h.inc"
} // namespace quern

using namespace mlir;
using namespace quern;

namespace {
struct QnSchedulePass : quern::impl::QnScheduleBase<QnSchedulePass> {
  using QnScheduleBase::QnScheduleBase;

  void runOnOperation() override {
    std::optional<TargetInfo> target = targetNamed(targetName);
    if (!target) {
      getOperation().emitError() << "no target '" << targetName << "'";
      return signalPassFailure();
    }
    for (qn::RowwiseOp kernel : getOperation().getOps<qn::RowwiseOp>())
      if (failed(scheduleKernel(kernel, *target)))
        return signalPassFailure();
  }
};
} // namespace
