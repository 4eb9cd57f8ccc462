// Forms of a kernel that calls with small operands and many rows run.
#include "dsl/passes/Staging.h"

#include "dsl/cost/Parameters.h"

using namespace mlir;
using namespace quern;

static qn::ExtentsAttr extentsOf(const KernelModel &model, AxisSet axes,
                                 std::int64_t least, std::int64_t most) {
  SmallVector<StringAttr> names;
  for (unsigned axis = 0; axis < model.declaredAxes(); ++axis)
    if (hasAxis(axes, axis))
      names.push_back(model.nameOf(axis));
  return qn::ExtentsAttr::get(model.kernel.getContext(), names, least, most);
}

void quern::addRepeats(const KernelModel &model, AxisSet small, AxisSet rows,
                       llvm::SmallSetVector<Attribute, 2> &when) {
  when.insert(extentsOf(model, small, 2, cost::repeatedElements));
  when.insert(extentsOf(model, rows & ~small, cost::repeatedRows, -1));
}

void quern::keepOtherForm(qn::RowwiseOp kernel, ArrayRef<Attribute> when) {
  OpBuilder builder(kernel);
  builder.setInsertionPointAfter(kernel);
  builder.clone(*kernel);
  StringRef name = kernel.getSymName();
  kernel.setInsteadOf(name);
  kernel.setWhenAttr(builder.getArrayAttr(when));
  kernel.setSymName((name + ".repeated").str());
}
