// Which axes and packs of a declaration must reach the compiler unmerged.
#include "frontend/typed/ThreadAxes.h"
#include "frontend/typed/Walk.h"
#include "jit/bind/Binding.h"

#include "llvm/ADT/DenseMap.h"

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

namespace {

class Observer {
public:
  /// What was observed of declarations that are called, each once.
  using Known = llvm::DenseMap<const Declaration *, Observed>;

  Observer(const Declaration &declaration, bool isPortable, Known &known)
      : declaration(declaration), isPortable(isPortable), known(known) {
    observed.axes.resize(declaration.axes.size());
    observed.named.resize(declaration.axes.size());
    observed.inOrder.resize(declaration.axes.size());
  }

  Observed run() {
    signature();
    walk(declaration.body, [this](const Expression &e) { look(e); });
    for (const Axis &axis : declaration.axes)
      for (const Expression *bound : {axis.lower, axis.upper})
        walk(bound, [this](const Expression &e) { look(e); });
    return observed;
  }

private:
  void mark(AxisId axis) {
    if (axis.valid() && !isThreads(axis))
      observed.axes[axis.index] = observed.named[axis.index] = true;
  }

  void name(llvm::ArrayRef<AxisId> axes) {
    for (AxisId axis : axes)
      if (axis.valid() && !isThreads(axis))
        observed.named[axis.index] = true;
  }

  void inOrder(llvm::ArrayRef<AxisId> axes) {
    for (AxisId axis : axes)
      if (axis.valid() && !isThreads(axis))
        observed.inOrder[axis.index] = true;
  }

  /// Packs whose number of axes something else must match, and the parts of
  /// split dimensions, which follow each other in memory.
  void signature() {
    for (auto [id, axis] : llvm::enumerate(declaration.axes))
      if (axis.pack && axis.rankOf.valid() && axis.rankOf.index != id) {
        mark(axis.rankOf);
        mark({static_cast<std::uint16_t>(id)});
      }
    for (const Parameter &parameter : declaration.parameters) {
      mark(parameter.pack);
      splits(parameter.dimensions);
    }
    for (const typed::Result &result : declaration.results)
      splits(result.dimensions);
  }

  void splits(llvm::ArrayRef<Dimension> dimensions) {
    for (const Dimension &dimension : dimensions)
      if (dimension.isSplit())
        for (AxisId part : dimension.parts)
          mark(part);
  }

  void positions(const Expression &base, Expressions given) {
    llvm::ArrayRef<AxisId> axes = base.axes();
    for (auto [number, position] : llvm::enumerate(given))
      if (position && number < axes.size())
        mark(axes[number]);
  }

  void look(const Expression &e) {
    if (e.type)
      mark(e.type->pack);
    if (auto *element = llvm::dyn_cast<PackElementExpression>(&e))
      mark(element->pack);
    if (auto *load = llvm::dyn_cast<LoadExpression>(&e))
      positions(*load->base, load->positions);
    if (auto *scatter = llvm::dyn_cast<ScatterExpression>(&e))
      positions(*scatter->into, scatter->positions);
    if (auto *scan = llvm::dyn_cast<ScanExpression>(&e))
      mark(scan->over);
    if (auto *sort = llvm::dyn_cast<SortExpression>(&e))
      mark(sort->over);
    if (auto *concat = llvm::dyn_cast<ConcatExpression>(&e))
      joins(*concat);
    if (auto *reduce = llvm::dyn_cast<ReduceExpression>(&e))
      reduces(*reduce);
    if (auto *scatter = llvm::dyn_cast<ScatterExpression>(&e))
      name(scatter->over);
    if (auto *builtin = llvm::dyn_cast<BuiltinExpression>(&e)) {
      name(builtin->axis);
      if (builtin->builtin == Builtin::Index && !builtin->axis.valid())
        observed.linearIndex = true;
    }
    if (auto *call = llvm::dyn_cast<CallExpression>(&e))
      through(*call);
  }

  void reduces(const ReduceExpression &reduce) {
    name(reduce.over);
    if (isPortable || reduce.monoid->attributes.portable)
      inOrder(reduce.over);
  }

  /// A list alone is joined along the axis that its tensors have.
  void joins(const ConcatExpression &concat) {
    observed.axes[concat.axis.index] = true;
    if (concat.operandAxes.size() == 1 &&
        concat.operandAxes.front() == concat.axis)
      return;
    name(concat.axis);
    name(concat.operandAxes);
  }

  /// A pack that a called declaration looks into.
  void through(const CallExpression &call) {
    auto found = known.find(call.callee);
    if (found == known.end()) {
      Observed made = Observer(*call.callee, isPortable, known).run();
      found = known.try_emplace(call.callee, std::move(made)).first;
    }
    const Observed &inner = found->second;
    observed.linearIndex |= inner.linearIndex;
    for (auto [number, binding] : llvm::enumerate(call.axes)) {
      if (number < inner.axes.size() && inner.axes[number])
        for (AxisId axis : binding.axes)
          mark(axis);
      if (number < inner.named.size() && inner.named[number])
        name(binding.axes);
      if (number < inner.inOrder.size() && inner.inOrder[number])
        inOrder(binding.axes);
    }
  }

  const Declaration &declaration;
  bool isPortable; ///< all that is called belongs to a portable declaration
  Known &known;
  Observed observed;
};

} // namespace

Observed quern::jit::observe(const Declaration &declaration) {
  Observer::Known known;
  bool isPortable = declaration.attributes.portable;
  Observed observed = Observer(declaration, isPortable, known).run();
  observed.own = ownElements(declaration);
  return observed;
}
