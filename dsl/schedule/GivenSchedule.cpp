// The text is read and verified like any other. The kernel that takes its
// schedule keeps the places of its own text.
#include "dsl/schedule/GivenSchedule.h"
#include "dsl/dialect/ScheduleOps.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace quern;

static std::string printed(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream);
  return text;
}

/// Maps what the operations of one kernel define to the same of another one.
static IRMapping mapped(Operation *from, Operation *to) {
  SmallVector<Operation *> sources, targets;
  from->walk<WalkOrder::PreOrder>(
      [&](Operation *op) { sources.push_back(op); });
  to->walk<WalkOrder::PreOrder>([&](Operation *op) { targets.push_back(op); });
  IRMapping map;
  for (auto [source, target] : llvm::zip_equal(sources, targets)) {
    map.map(source->getResults(), target->getResults());
    for (auto [region, other] :
         llvm::zip_equal(source->getRegions(), target->getRegions()))
      for (auto [block, otherBlock] : llvm::zip_equal(region, other))
        map.map(block.getArguments(), otherBlock.getArguments());
  }
  return map;
}

LogicalResult quern::takeGivenSchedule(qn::RowwiseOp kernel, StringRef text,
                                       StringRef name) {
  auto own = cast<qn::ScheduleOp>(kernel.block().back());
  std::string target = own.getTarget().str();
  auto place = FileLineColLoc::get(kernel.getContext(), name, 1, 1);
  auto written = parseSourceString<ModuleOp>(text, kernel.getContext(), name);
  if (!written)
    return failure();
  auto kernels = written->getOps<qn::RowwiseOp>();
  if (kernels.empty())
    return emitError(place) << "the text has no kernel with a schedule";
  auto found = llvm::find_if(kernels, [&](qn::RowwiseOp each) {
    return each.getSymName() == kernel.getSymName();
  });
  if (found == kernels.end())
    return success();
  qn::RowwiseOp other = *found;
  auto given = dyn_cast<qn::ScheduleOp>(other.block().back());
  if (!given || given.getTarget() != target)
    return emitError(place) << "the text has no schedule for " << target;
  own.erase();
  given->remove();
  bool isSame = printed(kernel) == printed(other);
  if (isSame) {
    IRMapping map = mapped(other, kernel);
    OpBuilder::atBlockEnd(&kernel.block()).clone(*given, map);
  }
  given->destroy();
  if (!isSame)
    return emitError(place)
           << "the text differs in more than its schedule from `"
           << kernel.getSymName()
           << "` as this call compiles it; it may be of other types, strides "
              "or constants";
  return success();
}
