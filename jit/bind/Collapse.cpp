// Brings axes to the form that the fewest kinds of code serve.
#include "jit/bind/Binding.h"
#include "jit/bind/Sizes.h"

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

namespace {

using Strides = llvm::SmallVector<std::int64_t, 4>;

/// Axes that may be merged with each other, and how every walker, an operand
/// at one of its occurrences of these axes, moves along them.
struct Group {
  Extents extents;
  std::vector<Strides> walkers;

  std::size_t size() const { return extents.size(); }
  void erase(std::size_t axis) {
    extents.erase(extents.begin() + axis);
    for (Strides &strides : walkers)
      strides.erase(strides.begin() + axis);
  }
  void swap(std::size_t a, std::size_t b) {
    std::swap(extents[a], extents[b]);
    for (Strides &strides : walkers)
      std::swap(strides[a], strides[b]);
  }
};

/// Axes of extent 1 go, but one stays: a shape with one axis and a shape
/// with none are then served by one code.
void dropOnes(Group &group) {
  for (std::size_t axis = group.size(); axis-- > 0 && group.size() > 1;)
    if (group.extents[axis] == 1)
      group.erase(axis);
  if (group.size() != 0)
    return;
  group.extents.push_back(1);
  for (Strides &strides : group.walkers)
    strides.push_back(0);
}

/// Whether `outer` is `inner * extent`, in numbers without an end.
bool isMultiple(std::int64_t outer, std::int64_t inner, std::int64_t extent) {
  std::int64_t product = 0;
  return !llvm::MulOverflow(inner, extent, product) && product == outer;
}

/// Neighbours become one axis where everybody walks them with one stride.
void mergeNeighbours(Group &group) {
  for (std::size_t axis = group.size(); axis-- > 1;) {
    std::int64_t extent = group.extents[axis], merged = 0;
    bool fits = llvm::all_of(group.walkers, [&](const Strides &strides) {
      return isMultiple(strides[axis - 1], strides[axis], extent);
    });
    if (!fits || llvm::MulOverflow(group.extents[axis - 1], extent, merged))
      continue;
    for (Strides &strides : group.walkers)
      strides[axis - 1] = strides[axis];
    group.extents[axis - 1] = merged;
    group.erase(axis);
  }
}

/// Whether axis `a` should lie inside axis `b`: the first walker that moves
/// along both with different strides says so.
bool isInner(const Group &group, std::size_t a, std::size_t b) {
  for (const Strides &strides : group.walkers) {
    std::uint64_t one = llvm::AbsoluteValue(strides[a]);
    std::uint64_t other = llvm::AbsoluteValue(strides[b]);
    if (one != 0 && other != 0 && one != other)
      return one < other;
  }
  return false;
}

/// Memory order: insertion sort, since the comparison is not transitive and the
/// written order must stay where nobody says otherwise.
void sortByMemory(Group &group) {
  for (std::size_t axis = 1; axis < group.size(); ++axis)
    for (std::size_t at = axis; at > 0 && isInner(group, at - 1, at); --at)
      group.swap(at - 1, at);
}

class Collapser {
public:
  Collapser(const Declaration &declaration, const Observed &observed,
            Solution &solution)
      : declaration(declaration), observed(observed), solution(solution) {}

  Binding run();

private:
  void lifted();
  void rowwise();
  void occurrences(llvm::ArrayRef<Dimension> dimensions, std::size_t operand,
                   int element = -1);
  llvm::ArrayRef<std::int64_t> extentsOf(AxisId axis, int element) const;
  /// Strides of an operand along two axes, and its extent along the first.
  struct RowWalk {
    std::int64_t *row = nullptr, *column = nullptr, extent = 0;
  };
  std::vector<RowWalk> wholeRows(const JoinedAxis &joined, unsigned inner);
  void joinWhole();
  void layAlike();
  void finish();
  StrideClass classOf(std::int64_t stride, std::int64_t extent,
                      bool isLast) const;
  bool isNarrow() const;
  std::vector<bool> unitScalars() const;

  const Declaration &declaration;
  const Observed &observed;
  Solution &solution;
  Binding binding;
  /// Per operand its own concrete axes: numbers into binding.extents.
  std::vector<llvm::SmallVector<unsigned, 6>> operandAxes;
  std::vector<Group> groups; ///< rowwise: by AxisId
  struct Occurrence {
    std::size_t operand;
    unsigned axis;
    std::size_t walker;
    int element; ///< of a list, or -1
  };
  std::vector<Occurrence> found; ///< in the operands' order of dimensions
};

/// All operands get all axes of the broadcast shape, stride 0 where they do not
/// move. Outputs come first: their order in memory counts most.
void Collapser::lifted() {
  const Extents &shape = solution.lifted.extents;
  Group group{shape, {}};
  std::vector<std::size_t> order;
  for (bool results : {true, false})
    for (auto [number, operand] : llvm::enumerate(solution.operands))
      if (operand.present && operand.isWritten == results)
        order.push_back(number);
  for (std::size_t number : order) {
    const Operand &operand = solution.operands[number];
    Strides strides(shape.size(), 0);
    std::size_t first = shape.size() - operand.sizes.size();
    for (auto [axis, size] : llvm::enumerate(operand.sizes))
      strides[first + axis] = size == 1 ? 0 : operand.strides[axis];
    group.walkers.push_back(std::move(strides));
  }
  dropOnes(group);
  if (!observed.linearIndex)
    sortByMemory(group);
  mergeNeighbours(group);
  binding.extents = group.extents;
  binding.strides.resize(solution.operands.size());
  for (auto [walker, number] : llvm::zip_equal(group.walkers, order))
    binding.strides[number] = walker;
}

/// Of an axis as the operand has it: in tensor `element` of a list, or -1.
llvm::ArrayRef<std::int64_t> Collapser::extentsOf(AxisId axis,
                                                  int element) const {
  if (element >= 0)
    for (const JoinedAxis &joined : solution.joined)
      if (joined.axis == axis)
        return joined.parts[element].extents;
  return groups[axis.index].extents;
}

/// Splits an operand's strides over the occurrences of axes in its shape.
void Collapser::occurrences(llvm::ArrayRef<Dimension> dimensions,
                            std::size_t number, int element) {
  const Operand &operand = solution.operands[number];
  if (!operand.present)
    return;
  std::size_t position = 0;
  for (const Dimension &dimension : dimensions) {
    // Parts of a split axis follow each other in memory.
    std::int64_t inner = dimension.isSplit() ? operand.strides[position++] : 0;
    std::vector<Strides> parts(dimension.parts.size());
    for (std::size_t part = dimension.parts.size(); part-- > 0;) {
      llvm::ArrayRef<std::int64_t> extents =
          extentsOf(dimension.parts[part], element);
      parts[part].resize(extents.size());
      for (std::size_t axis = extents.size(); axis-- > 0;) {
        if (!dimension.isSplit()) {
          parts[part][axis] = operand.strides[position + axis];
          continue;
        }
        parts[part][axis] = inner;
        // Only of a tensor without elements can it be too large.
        if (llvm::MulOverflow(inner, extents[axis], inner))
          inner = 0;
      }
    }
    if (!dimension.isSplit())
      position += groups[dimension.axis().index].size();
    for (auto [axis, strides] : llvm::zip_equal(dimension.parts, parts)) {
      std::vector<Strides> &walkers = groups[axis.index].walkers;
      found.push_back({number, axis.index, walkers.size(), element});
      walkers.push_back(std::move(strides));
    }
  }
}

void Collapser::rowwise() {
  for (const AxisGroup &axis : solution.axes)
    groups.push_back({axis.extents, {}});
  std::size_t number = 0, list = 0;
  for (const Parameter &parameter : declaration.parameters) {
    if (parameter.isTensor && !parameter.isList)
      occurrences(parameter.dimensions, number++);
    if (parameter.isList)
      for (int element = 0; element < solution.listLengths[list]; ++element)
        occurrences(parameter.dimensions, number++, element);
    list += parameter.isList;
  }
  for (const typed::Result &result : declaration.results)
    occurrences(result.dimensions, number++);
  for (auto [id, axis] : llvm::enumerate(declaration.axes))
    if (axis.pack && axis.kind != AxisKind::Local && !observed.axes[id]) {
      dropOnes(groups[id]);
      if (!observed.inOrder[id])
        mergeNeighbours(groups[id]);
    }
  joinWhole();
  for (auto [id, axis] : llvm::enumerate(declaration.axes)) {
    if (axis.kind == AxisKind::Local) {
      binding.specialization.axisRanks.push_back(0);
      continue;
    }
    const Group &group = groups[id];
    binding.specialization.axisRanks.push_back(group.size());
    llvm::append_range(binding.extents, group.extents);
  }
  binding.strides.resize(solution.operands.size());
  for (const Occurrence &each : found)
    llvm::append_range(binding.strides[each.operand],
                       groups[each.axis].walkers[each.walker]);
}

/// How operands walk along the axis `joined` and the last of the pack `inner`,
/// where whoever has one has the other as well, and what belongs to a position
/// of the first lies in one piece; none where that is not so.
std::vector<Collapser::RowWalk> Collapser::wholeRows(const JoinedAxis &joined,
                                                     unsigned inner) {
  unsigned outer = joined.axis.index;
  Group &rows = groups[outer], &columns = groups[inner];
  if (observed.named[outer] || observed.named[inner] || columns.size() == 0 ||
      columns.extents.back() == 1)
    return {};
  std::vector<RowWalk> walks(solution.operands.size());
  for (const Occurrence &each : found) {
    if (each.axis != outer && each.axis != inner)
      continue;
    RowWalk &walk = walks[each.operand];
    std::int64_t *&step = each.axis == outer ? walk.row : walk.column;
    if (step)
      return {};
    step = &groups[each.axis].walkers[each.walker].back();
    if (each.axis == outer)
      walk.extent = each.element < 0
                        ? rows.extents.front()
                        : joined.parts[each.element].extents.front();
  }
  for (const RowWalk &walk : walks) {
    bool isBoth = walk.row && walk.column;
    if ((walk.row || walk.column) && !isBoth)
      return {};
    if (isBoth && walk.extent > 1 &&
        !isMultiple(*walk.row, *walk.column, columns.extents.back()))
      return {};
  }
  return walks;
}

/// Axes that lists are joined along take in what lies whole within each of
/// their positions: what is copied is then as long as can be.
void Collapser::joinWhole() {
  std::size_t ends = solution.scalars.size();
  for (const JoinedAxis &joined : solution.joined)
    ends -= joined.parts.size();
  for (const JoinedAxis &joined : solution.joined) {
    for (auto [inner, axis] : llvm::enumerate(declaration.axes)) {
      std::vector<RowWalk> walks;
      // No end of a part lies beyond the end of the whole axis.
      std::int64_t whole = 0;
      if (axis.pack && groups[inner].size() != 0 &&
          !llvm::MulOverflow(groups[joined.axis.index].extents.front(),
                             groups[inner].extents.back(), whole))
        walks = wholeRows(joined, inner);
      if (walks.empty())
        continue;
      for (const RowWalk &walk : walks)
        if (walk.row)
          *walk.row = *walk.column;
      std::int64_t extent = groups[inner].extents.back();
      groups[joined.axis.index].extents.front() = whole;
      groups[inner].erase(groups[inner].size() - 1);
      for (std::size_t part = 0; part < joined.parts.size(); ++part)
        solution.scalars[ends + part] *= extent;
    }
    ends += joined.parts.size();
  }
}

StrideClass Collapser::classOf(std::int64_t stride, std::int64_t extent,
                               bool isLast) const {
  // Along an axis of one element any stride will do: take the one that most
  // other calls have. Where an axis has none there is no memory, and a read
  // that is the same everywhere would be made in front of the loop without
  // turns.
  if (extent <= 1)
    return isLast ? StrideClass::One : StrideClass::Dynamic;
  if (stride == 0)
    return StrideClass::Zero;
  return stride == 1 ? StrideClass::One : StrideClass::Dynamic;
}

/// Every extent, every offset and every count of an operand's elements fits 31
/// bits. (Extents of axes that are summed multiply to more than anything that
/// is counted.)
bool Collapser::isNarrow() const {
  constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max();
  if (llvm::any_of(binding.extents,
                   [](std::int64_t extent) { return extent > limit; }))
    return false;
  for (const Operand &operand : solution.operands) {
    // Some of an empty tensor's extents are multiplied, too.
    if (countOf(operand.sizes) > limit)
      return false;
    std::uint64_t width = bytesOf(operand.type), reach = width;
    for (auto [size, stride] : llvm::zip_equal(operand.sizes, operand.strides))
      if (size > 1)
        reach = llvm::SaturatingMultiplyAdd<std::uint64_t>(
            llvm::SaturatingMultiply<std::uint64_t>(llvm::AbsoluteValue(stride),
                                                    size - 1),
            width, reach);
    if (reach > limit)
      return false;
  }
  return true;
}

/// Windows step by scalars of the call, mostly by one.
std::vector<bool> Collapser::unitScalars() const {
  std::vector<bool> units;
  if (declaration.kind != typed::DeclarationKind::Rowwise)
    return units;
  for (const typed::Parameter &parameter : declaration.parameters) {
    if (parameter.isTensor)
      continue;
    std::size_t count = std::max<std::int64_t>(parameter.count, 1);
    if (parameter.pack.valid())
      count = solution.axes[parameter.pack.index].extents.size();
    ElementType type = parameter.element.substitute(solution.types);
    bool isInt = type == ElementType::I64;
    if (kindOf(type) == ElementKind::Complex)
      count *= 2;
    for (std::size_t left = count; left; --left)
      units.push_back(isInt && solution.scalars[units.size()] == 1);
  }
  if (!llvm::is_contained(units, true))
    units.clear();
  return units;
}

/// Gives the tensors of a list one layout, with which they are one operand for
/// the compiler: where some have neighbours along an axis and others do not,
/// all have a stride there. A short list whose tensors have no axis of
/// neighbours in common is read faster tensor by tensor.
void Collapser::layAlike() {
  constexpr std::size_t longList = 8;
  std::size_t number = 0, list = 0;
  for (const Parameter &parameter : declaration.parameters) {
    if (!parameter.isTensor)
      continue;
    std::size_t count = parameter.isList ? solution.listLengths[list++] : 1;
    auto layouts = llvm::MutableArrayRef(binding.specialization.operands)
                       .slice(number, count);
    number += count;
    if (count < 2)
      continue;
    std::vector<StrideClass> common = layouts.front().strides;
    for (const OperandLayout &layout : layouts)
      for (auto [all, own] : llvm::zip_equal(common, layout.strides))
        if (all != own)
          all = StrideClass::Dynamic;
    if (count >= longList || llvm::is_contained(common, StrideClass::One))
      for (OperandLayout &layout : layouts)
        layout.strides = common;
  }
}

void Collapser::finish() {
  bool isLifted = declaration.kind == typed::DeclarationKind::Elementwise;
  std::vector<Extents> extents(solution.operands.size());
  for (const Occurrence &each : found)
    llvm::append_range(extents[each.operand], groups[each.axis].extents);
  for (auto [number, operand] : llvm::enumerate(solution.operands)) {
    OperandLayout layout;
    layout.present = operand.present;
    if (operand.present) {
      if (isLifted)
        extents[number] = binding.extents;
      const Extents &own = extents[number];
      for (auto [axis, stride] : llvm::enumerate(binding.strides[number])) {
        bool isLast = axis + 1 == own.size();
        // A number, or a tensor of one element, is the same everywhere.
        bool isFixed = isLifted && stride == 0 && own[axis] != 1;
        layout.strides.push_back(isFixed ? StrideClass::Zero
                                         : classOf(stride, own[axis], isLast));
      }
    }
    binding.specialization.operands.push_back(std::move(layout));
    if (operand.present && operand.isResult)
      binding.outputs.push_back({static_cast<DType>(operand.type),
                                 {operand.sizes.begin(), operand.sizes.end()}});
  }
  layAlike();
  binding.isEmpty = isLifted && llvm::is_contained(binding.extents, 0);
  binding.specialization.narrowOffsets = isNarrow();
  binding.specialization.unitScalars = unitScalars();
}

Binding Collapser::run() {
  if (declaration.kind == typed::DeclarationKind::Elementwise) {
    lifted();
    binding.specialization.axisRanks.assign(declaration.axes.size(), 0);
  } else {
    rowwise();
  }
  finish();
  binding.specialization.typeArguments = std::move(solution.types);
  binding.specialization.listLengths = std::move(solution.listLengths);
  binding.specialization.constantArguments = std::move(solution.constants);
  binding.scalars = std::move(solution.scalars);
  binding.operands = std::move(solution.operands);
  return std::move(binding);
}

} // namespace

Binding quern::jit::collapse(const Declaration &declaration,
                             const Observed &observed, Solution solution) {
  return Collapser(declaration, observed, solution).run();
}
