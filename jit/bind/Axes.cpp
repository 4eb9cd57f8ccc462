// Solves the extents of axes from the shapes of the arguments.
#include "frontend/typed/ListAxes.h"
#include "jit/bind/Environment.h"
#include "jit/bind/Sizes.h"

#include "llvm/Support/MathExtras.h"

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

namespace {

class AxisSolver {
public:
  AxisSolver(const CallRequest &request, Solution &solution,
             DiagnosticEngine &report)
      : declaration(request.declaration), request(request), solution(solution),
        report(report) {
    solution.axes.resize(declaration.axes.size());
  }

  bool run();

private:
  /// A tensor parameter that still has unsolved axes.
  struct Pending {
    const Parameter *parameter;
    const TensorView *tensor;
    int element; ///< of a list, or -1
    bool done = false;
  };

  struct Known {
    std::int64_t axes = 0, openPacks = 0;
  };

  bool byName();
  bool isOfTensor(AxisId axis) const;
  /// How many axes the call says a pack has: `sum_dims(x, C = 2)`. With
  /// `useLists` a list of numbers that aligns with the pack says it as well.
  std::optional<std::size_t> rankOf(AxisId axis, bool useLists) const;
  Known count(llvm::ArrayRef<Dimension> dimensions, bool useLists) const;
  bool hasOpenPack(const Pending &pending);
  bool tensor(Pending &pending, bool &progress);
  bool dimension(const Pending &pending, const Dimension &dimension,
                 unsigned position, bool &complete, bool &progress);
  bool split(const Pending &pending, const Dimension &dimension,
             unsigned position, bool &complete, bool &progress);
  bool set(AxisId axis, llvm::ArrayRef<std::int64_t> extents,
           const Pending &pending);
  bool computed(bool last);
  bool compute(AxisId id, bool last);
  std::string axisText(AxisId axis) const {
    return jit::axisText(declaration, axis);
  }
  /// Reports, and gives what all who report give.
  template <typename... Words> bool fail(Words &&...words) {
    report.report(std::forward<Words>(words)...);
    return false;
  }
  static std::string name(const Pending &pending) {
    std::string name = pending.parameter->variable->name.str();
    return pending.element < 0
               ? name
               : name + "[" + std::to_string(pending.element) + "]";
  }
  std::vector<Pending> tensors() const;
  bool haveForm();
  bool lengthsFit();
  bool openJoined();
  void swapParts(const Pending &pending);
  bool sumJoined();

  const Declaration &declaration;
  const CallRequest &request;
  Solution &solution;
  DiagnosticEngine &report;
  bool moved = false; ///< this round solved an axis
};

/// `int` parameters and compile-time integers named like an axis give its
/// extent. A pack that no tensor has is as long as the list of numbers that
/// aligns with it.
bool AxisSolver::byName() {
  for (auto [parameter, argument] :
       llvm::zip_equal(declaration.parameters, request.arguments))
    if (auto *given = std::get_if<std::vector<std::int64_t>>(&argument);
        given && parameter.pack.valid() && !isOfTensor(parameter.pack))
      solution.axes[parameter.pack.index] = {Extents(given->size(), 1), true,
                                             parameter.variable->name.str()};
  for (auto [axis, group] : llvm::zip_equal(declaration.axes, solution.axes)) {
    if (axis.kind != AxisKind::Named || axis.pack)
      continue;
    for (auto [parameter, argument] :
         llvm::zip_equal(declaration.parameters, request.arguments)) {
      auto *given = std::get_if<std::int64_t>(&argument);
      if (given && !parameter.isTensor && parameter.variable->name == axis.name)
        group = {{*given}, true, axis.name.str()};
    }
    for (const ConstantParameter *parameter : declaration.constantParameters) {
      auto *given =
          std::get_if<std::int64_t>(&solution.constants[parameter->index]);
      if (given && parameter->name == axis.name)
        group = {{*given}, true, axis.name.str()};
    }
    if (group.solved && group.extents.front() < 0)
      return fail(axis.span, fault::NegativeExtent, axis.name,
                  group.extents.front());
  }
  return true;
}

bool AxisSolver::isOfTensor(AxisId axis) const {
  return llvm::any_of(declaration.parameters, [axis](const Parameter &each) {
    return each.isTensor &&
           llvm::any_of(each.dimensions, [axis](const Dimension &dimension) {
             return llvm::is_contained(dimension.parts, axis);
           });
  });
}

std::optional<std::size_t> AxisSolver::rankOf(AxisId axis,
                                              bool useLists) const {
  for (const auto &[name, value] : request.constants)
    if (declaration.axis(axis).name == llvm::StringRef(name))
      if (auto *rank = std::get_if<std::int64_t>(&value); rank && *rank >= 0)
        return *rank;
  for (auto [parameter, argument] :
       llvm::zip_equal(declaration.parameters, request.arguments))
    if (auto *given = std::get_if<std::vector<std::int64_t>>(&argument);
        useLists && given && parameter.pack == axis)
      return given->size();
  return std::nullopt;
}

/// A tensor whose shape nothing says how to share out between its packs.
bool AxisSolver::hasOpenPack(const Pending &pending) {
  if (pending.done)
    return false;
  for (const Dimension &dimension : pending.parameter->dimensions)
    for (AxisId axis : dimension.parts)
      if (declaration.axis(axis).pack && !solution.axes[axis.index].solved) {
        report.report(pending.parameter->variable->span, fault::AxisUnknown,
                      axisText(axis));
        return true;
      }
  return false;
}

bool AxisSolver::run() {
  if (!byName() || !openJoined())
    return false;
  std::vector<Pending> pending = tensors();
  for (bool progress = true; progress;) {
    progress = false;
    moved = false;
    for (Pending &one : pending) {
      if (one.done)
        continue;
      swapParts(one);
      bool isGood = tensor(one, progress);
      swapParts(one);
      if (!isGood)
        return false;
    }
    if (!sumJoined() || !computed(/*last=*/false))
      return false;
    progress |= moved;
  }
  for (const Pending &one : pending)
    if (hasOpenPack(one))
      return false;
  return haveForm() && lengthsFit() && computed(/*last=*/true);
}

/// The tensors that an `op` looks at one by one have the rank and the extents
/// that the text says; its other axes are each tensor's own.
bool AxisSolver::haveForm() {
  if (declaration.kind != typed::DeclarationKind::Op)
    return true;
  for (auto [parameter, argument] :
       llvm::zip_equal(declaration.parameters, request.arguments)) {
    if (!parameter.isList)
      continue;
    for (auto [number, view] : llvm::enumerate(tensorsOf(argument))) {
      Pending one{&parameter, &view, static_cast<int>(number)};
      auto known = solution.axes;
      bool progress = false;
      bool isGood = tensor(one, progress);
      solution.axes = std::move(known);
      if (!isGood)
        return false;
    }
  }
  return true;
}

/// Before extents are computed from them: numbers for the axes of a pack.
bool AxisSolver::lengthsFit() {
  for (auto [parameter, argument] :
       llvm::zip_equal(declaration.parameters, request.arguments)) {
    const auto *given = std::get_if<std::vector<std::int64_t>>(&argument);
    if (!given || !parameter.pack.valid())
      continue;
    const AxisGroup &group = solution.axes[parameter.pack.index];
    if (!group.solved || group.extents.size() == given->size())
      continue;
    return fail(parameter.variable->span, fault::ScalarCount,
                parameter.variable->name, given->size(), group.extents.size());
  }
  return true;
}

std::vector<AxisSolver::Pending> AxisSolver::tensors() const {
  std::vector<Pending> pending;
  // An `elementwise` names no axes: its operands broadcast. An `op` looks at
  // the tensors of a list one by one.
  if (declaration.kind == typed::DeclarationKind::Elementwise)
    return pending;
  bool readsLists = declaration.kind == typed::DeclarationKind::Rowwise;
  for (auto [parameter, argument] :
       llvm::zip_equal(declaration.parameters, request.arguments)) {
    if (!parameter.isTensor || (parameter.isList && !readsLists))
      continue;
    for (auto [number, view] : llvm::enumerate(tensorsOf(argument)))
      pending.push_back({&parameter, &view,
                         parameter.isList ? static_cast<int>(number) : -1});
  }
  return pending;
}

/// Lists that share an axis which is joined go together tensor by tensor.
bool AxisSolver::openJoined() {
  if (declaration.kind != typed::DeclarationKind::Rowwise)
    return true;
  for (AxisId axis : joinedAxes(declaration)) {
    JoinedAxis &joined = solution.joined.emplace_back(JoinedAxis{axis, {}});
    for (auto [parameter, argument] :
         llvm::zip_equal(declaration.parameters, request.arguments)) {
      std::size_t count = tensorsOf(argument).size();
      if (!parameter.isList || !hasAxis(parameter, axis))
        continue;
      if (joined.parts.empty())
        joined.parts.resize(count);
      if (joined.parts.size() == count)
        continue;
      return fail(parameter.variable->span, fault::ListLengths,
                  declaration.name, joined.parts.size(), count);
    }
  }
  return true;
}

/// While a tensor of a list is looked at, joined axes have its extents.
void AxisSolver::swapParts(const Pending &pending) {
  if (pending.element < 0)
    return;
  for (JoinedAxis &joined : solution.joined)
    if (hasAxis(*pending.parameter, joined.axis))
      std::swap(solution.axes[joined.axis.index],
                joined.parts[pending.element]);
}

/// A joined axis is as long as its parts together.
bool AxisSolver::sumJoined() {
  for (const JoinedAxis &joined : solution.joined) {
    std::int64_t sum = 0;
    bool isTooLong = false;
    bool isKnown = llvm::all_of(joined.parts, [&](const AxisGroup &part) {
      if (part.solved)
        isTooLong |= llvm::AddOverflow(sum, part.extents.front(), sum);
      return part.solved;
    });
    if (isKnown && isTooLong)
      return fail(declaration.axis(joined.axis).span, fault::ExtentFailed,
                  axisText(joined.axis), "an integer overflows");
    AxisGroup &group = solution.axes[joined.axis.index];
    if (!isKnown || (group.solved && group.extents.front() == sum))
      continue;
    if (group.solved) {
      return fail(declaration.axis(joined.axis).span, fault::ExtentMismatch,
                  axisText(joined.axis), sum, "the list", group.extents.front(),
                  group.origin);
    }
    group = {{sum}, true, "the list"};
    moved = true;
  }
  return true;
}

bool AxisSolver::set(AxisId axis, llvm::ArrayRef<std::int64_t> extents,
                     const Pending &pending) {
  AxisGroup &group = solution.axes[axis.index];
  if (!group.solved) {
    group = {Extents(extents), true, name(pending)};
    moved = true;
    return true;
  }
  Span span = pending.parameter->variable->span;
  if (group.extents.size() != extents.size()) {
    return fail(span, fault::PackRankMismatch, declaration.axis(axis).name,
                group.extents.size(), group.origin, extents.size(),
                name(pending));
  }
  for (auto [known, given] : llvm::zip_equal(group.extents, extents)) {
    if (known == given)
      continue;
    return fail(span, fault::ExtentMismatch, axisText(axis), known,
                group.origin, given, name(pending));
  }
  return true;
}

/// How many axes of a shape are spoken for, and how many packs are open.
AxisSolver::Known AxisSolver::count(llvm::ArrayRef<Dimension> dimensions,
                                    bool useLists) const {
  Known known;
  for (const Dimension &dimension : dimensions) {
    const AxisGroup &group = solution.axes[dimension.axis().index];
    if (dimension.isSplit() || !declaration.axis(dimension.axis()).pack)
      ++known.axes;
    else if (group.solved)
      known.axes += group.extents.size();
    else if (auto rank = rankOf(dimension.axis(), useLists))
      known.axes += *rank;
    else
      ++known.openPacks;
  }
  return known;
}

/// Matches a shape with its dimensions as far as the packs are known.
bool AxisSolver::tensor(Pending &pending, bool &progress) {
  llvm::ArrayRef<Dimension> dimensions = pending.parameter->dimensions;
  llvm::ArrayRef<std::int64_t> sizes(pending.tensor->sizes.data(),
                                     pending.tensor->sizes.size());
  // Where one pack takes what the others leave, a list that is too long is
  // what is wrong.
  bool useLists = count(dimensions, false).openPacks > 1;
  Known known = count(dimensions, useLists);
  std::int64_t rank = sizes.size();
  if (rank < known.axes || (known.openPacks == 0 && rank != known.axes)) {
    Span span = pending.parameter->variable->span;
    llvm::StringRef text = pending.parameter->text;
    if (known.openPacks)
      return fail(span, fault::RankTooSmall, name(pending), rank, text,
                  known.axes);
    return fail(span, fault::RankMismatch, name(pending), rank, text,
                known.axes);
  }
  // Two packs of unknown rank: another argument has to say.
  if (known.openPacks > 1)
    return true;
  bool complete = true;
  std::size_t position = 0;
  for (const Dimension &each : dimensions) {
    AxisId axis = each.axis();
    if (!each.isSplit() && declaration.axis(axis).pack) {
      const AxisGroup &group = solution.axes[axis.index];
      std::size_t taken =
          group.solved ? group.extents.size()
                       : rankOf(axis, useLists).value_or(rank - known.axes);
      if (!set(axis, sizes.slice(position, taken), pending))
        return false;
      position += taken;
      continue;
    }
    if (!dimension(pending, each, position++, complete, progress))
      return false;
  }
  pending.done = complete;
  progress |= complete;
  return true;
}

bool AxisSolver::dimension(const Pending &pending, const Dimension &dimension,
                           unsigned position, bool &complete, bool &progress) {
  if (dimension.isSplit())
    return split(pending, dimension, position, complete, progress);
  AxisId axis = dimension.axis();
  std::int64_t given = pending.tensor->sizes[position];
  if (declaration.axis(axis).kind == AxisKind::Named)
    return set(axis, given, pending);
  const AxisGroup &group = solution.axes[axis.index];
  if (!group.solved) {
    complete = false;
    return true;
  }
  if (group.extents.front() == given)
    return true;
  return fail(pending.parameter->variable->span, fault::FixedExtent, position,
              name(pending), given, group.extents.front());
}

/// `(G C)`: at most one part may be unknown; the others divide the extent.
bool AxisSolver::split(const Pending &pending, const Dimension &dimension,
                       unsigned position, bool &complete, bool &progress) {
  std::int64_t given = pending.tensor->sizes[position];
  Extents factors;
  AxisId unknown;
  for (AxisId part : dimension.parts) {
    const AxisGroup &group = solution.axes[part.index];
    if (group.solved) {
      llvm::append_range(factors, group.extents);
    } else if (unknown.valid()) {
      complete = false;
      return true;
    } else {
      unknown = part;
    }
  }
  Span span = pending.parameter->variable->span;
  auto known = checkedProduct(factors);
  if (!known)
    return fail(span, fault::ExtentFailed, joinedText(declaration, dimension),
                "an integer overflows");
  // Where a part has no element, any extent of the last one fits.
  complete &= !unknown.valid() || *known != 0;
  if (*known == given && (!unknown.valid() || given == 0))
    return true;
  if (!unknown.valid() || *known == 0)
    return fail(span, fault::FixedExtent, position, name(pending), given,
                *known);
  if (given % *known != 0)
    return fail(span, fault::NotDivisible, position, name(pending), given,
                *known);
  progress = true;
  return set(unknown, given / *known, pending);
}

/// Computes extents; those that cannot be computed yet wait for the last round.
bool AxisSolver::computed(bool last) {
  for (auto [number, axis] : llvm::enumerate(declaration.axes)) {
    AxisId id{static_cast<std::uint16_t>(number)};
    if (axis.kind == AxisKind::Local || solution.axes[number].solved)
      continue;
    if (axis.extent) {
      if (!compute(id, last))
        return false;
      continue;
    }
    if (!last)
      continue;
    // A pack that only absent operands have stands for no axis.
    if (axis.pack) {
      solution.axes[number].solved = true;
      continue;
    }
    // What an `op` returns has the extents that it computes.
    if (declaration.kind == typed::DeclarationKind::Op)
      continue;
    report.report(axis.span, fault::AxisUnknown, axisText(id))
        .hint("a parameter `" + axisText(id) + ": int` says how long it is");
    return false;
  }
  return true;
}

bool AxisSolver::compute(AxisId id, bool last) {
  const Axis &axis = declaration.axis(id);
  AxisGroup &group = solution.axes[id.index];
  std::size_t count = 1;
  if (axis.pack && axis.rankOf.valid() && !(axis.rankOf == id)) {
    const AxisGroup &model = solution.axes[axis.rankOf.index];
    if (!model.solved) {
      if (last)
        report.report(axis.span, fault::AxisUnknown, axisText(id));
      return !last;
    }
    count = model.extents.size();
  }
  SolutionEnvironment environment(request, solution);
  Extents extents;
  for (unsigned element = 0; element < count; ++element) {
    std::string problem;
    auto value = environment.evaluate(*axis.extent, element, problem);
    if (!value || value->isFloat) {
      if (last)
        report.report(axis.span, fault::ExtentFailed, axisText(id),
                      value ? "it is a float" : problem);
      return !last;
    }
    if (value->integer < 0) {
      return fail(axis.span, fault::NegativeExtent, axisText(id),
                  value->integer);
    }
    extents.push_back(value->integer);
  }
  group = {std::move(extents), true, "its expression"};
  moved = true;
  return true;
}

} // namespace

bool quern::jit::solveAxes(const CallRequest &request, Solution &solution,
                           DiagnosticEngine &report) {
  return AxisSolver(request, solution, report).run();
}
