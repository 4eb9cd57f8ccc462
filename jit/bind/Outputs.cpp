// Builds the operands: tensors as given, outputs as they must be.
#include "jit/bind/Environment.h"
#include "jit/bind/Numbers.h"
#include "jit/bind/Overlap.h"

#include "llvm/Support/MathExtras.h"

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

bool jit::isAddressable(llvm::ArrayRef<std::int64_t> sizes, ElementType type) {
  std::int64_t bytes = bytesOf(type);
  return llvm::none_of(sizes, [&](std::int64_t size) {
    return size < 0 ||
           llvm::MulOverflow(bytes, std::max<std::int64_t>(size, 1), bytes);
  });
}

bool jit::isDense(llvm::ArrayRef<std::int64_t> sizes,
                  llvm::ArrayRef<std::int64_t> strides) {
  llvm::SmallVector<std::pair<std::int64_t, std::int64_t>, 8> axes;
  for (auto [size, stride] : llvm::zip_equal(sizes, strides))
    if (size != 1)
      axes.emplace_back(stride, size);
  llvm::sort(axes);
  std::int64_t step = 1;
  for (auto [stride, size] : axes) {
    if (stride != step)
      return false;
    step *= size;
  }
  return true;
}

/// The strides of an image, or a volume, whose second axis has its neighbours.
static Extents channelsLast(llvm::ArrayRef<std::int64_t> sizes) {
  Extents strides(sizes.size(), 1);
  std::int64_t step = sizes[1];
  for (std::size_t axis = sizes.size(); --axis > 1;) {
    strides[axis] = step;
    step *= sizes[axis];
  }
  strides[0] = step;
  return strides;
}

namespace {

class OperandBuilder {
public:
  OperandBuilder(const CallRequest &request, Solution &solution,
                 DiagnosticEngine &report)
      : declaration(request.declaration), request(request), solution(solution),
        report(report),
        lifted(declaration.kind == typed::DeclarationKind::Elementwise) {}

  bool run() {
    return broadcast() && parameters() && results() &&
           llvm::all_of(solution.operands,
                        [this](const Operand &o) { return isWritable(o); }) &&
           llvm::all_of(solution.operands,
                        [this](const Operand &o) { return isApart(o); });
  }

private:
  bool broadcast();
  bool parameters();
  bool parameter(const Parameter &parameter, const Argument &argument);
  bool list(const Parameter &parameter, const Argument &argument);
  bool results();
  bool result(const typed::Result &result, std::size_t number,
              const TensorView *&next);
  bool takesChannelsLast(std::size_t rank) const;
  Extents stridesOf(const Operand &operand, std::size_t number) const;
  Extents shapeOf(llvm::ArrayRef<Dimension> dimensions) const;
  bool take(Operand &operand, const TensorView &view);
  bool isWritable(const Operand &operand);
  bool isApart(const Operand &operand);

  const Declaration &declaration;
  const CallRequest &request;
  Solution &solution;
  DiagnosticEngine &report;
  const bool lifted;
};

Extents contiguous(llvm::ArrayRef<std::int64_t> sizes) {
  Extents strides(sizes.size());
  std::int64_t step = 1;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    strides[axis] = step;
    step *= std::max<std::int64_t>(sizes[axis], 1);
  }
  return strides;
}

/// The shape an `elementwise` works on: the operands' shapes, aligned at their
/// last axes, where an extent of 1 fits every other.
bool OperandBuilder::broadcast() {
  if (!lifted)
    return true;
  Extents &shape = solution.lifted.extents;
  for (auto [parameter, argument] :
       llvm::zip_equal(declaration.parameters, request.arguments)) {
    auto *view = std::get_if<TensorView>(&argument);
    if (!view)
      continue;
    if (view->sizes.size() > shape.size())
      shape.insert(shape.begin(), view->sizes.size() - shape.size(), 1);
    std::size_t first = shape.size() - view->sizes.size();
    for (auto [axis, size] : llvm::enumerate(view->sizes)) {
      std::int64_t &known = shape[first + axis];
      if (known == 1)
        known = size;
      if (size == known || size == 1)
        continue;
      report.report(parameter.variable->span, fault::BroadcastMismatch,
                    parameter.variable->name,
                    shapeText({view->sizes.data(), view->sizes.size()}),
                    shapeText(shape));
      return false;
    }
  }
  solution.lifted.solved = true;
  return true;
}

/// Copies shape, strides and memory; the strides must be ones that addresses
/// can be computed with.
bool OperandBuilder::take(Operand &operand, const TensorView &view) {
  operand.sizes.assign(view.sizes.begin(), view.sizes.end());
  operand.strides.assign(view.strides.begin(), view.strides.end());
  operand.data = view.data;
  bool fits = isAddressable(operand.sizes, operand.type);
  std::int64_t low = 0, high = 0, width = bytesOf(operand.type);
  for (auto [size, stride] : llvm::zip_equal(operand.sizes, operand.strides)) {
    std::int64_t step;
    std::int64_t &end = stride < 0 ? low : high;
    fits &= size <= 1 || (!llvm::MulOverflow(stride, size - 1, step) &&
                          !llvm::MulOverflow(step, width, step) &&
                          !llvm::AddOverflow(end, step, end));
  }
  std::int64_t reach;
  if (fits && !llvm::SubOverflow(high, low, reach))
    return true;
  report.report(operand.span, fault::TensorTooLarge, operand.name);
  return false;
}

static bool isMissing(const Argument &argument) {
  return std::holds_alternative<std::monostate>(argument);
}

bool OperandBuilder::parameters() {
  for (auto [parameter, argument] :
       llvm::zip_equal(declaration.parameters, request.arguments))
    if (parameter.isTensor &&
        !(parameter.isList ? this->list(parameter, argument)
                           : this->parameter(parameter, argument)))
      return false;
  return true;
}

bool OperandBuilder::list(const Parameter &parameter,
                          const Argument &argument) {
  solution.listLengths.push_back(tensorsOf(argument).size());
  for (auto [number, view] : llvm::enumerate(tensorsOf(argument))) {
    Operand operand;
    operand.name =
        (parameter.variable->name + "[" + llvm::Twine(number) + "]").str();
    operand.span = parameter.variable->span;
    operand.type = parameter.element.substitute(solution.types);
    if (!take(operand, view))
      return false;
    solution.operands.push_back(std::move(operand));
  }
  return true;
}

bool OperandBuilder::parameter(const Parameter &parameter,
                               const Argument &argument) {
  Operand operand;
  operand.name = parameter.variable->name.str();
  operand.span = parameter.variable->span;
  operand.type = parameter.element.substitute(solution.types);
  operand.isWritten = parameter.isMutable;
  auto *view = std::get_if<TensorView>(&argument);
  if (view) {
    if (!take(operand, *view))
      return false;
    if (parameter.isMutable && !view->writable) {
      report.report(operand.span, fault::ReadOnly, operand.name);
      return false;
    }
    if (lifted && parameter.isMutable &&
        operand.sizes != solution.lifted.extents) {
      report.report(operand.span, fault::ParameterShape, operand.name,
                    shapeText(operand.sizes),
                    shapeText(solution.lifted.extents));
      return false;
    }
  } else if (parameter.isOptional && isMissing(argument)) {
    operand.present = false;
  } else {
    operand.isNumber = true;
    std::optional<HostValue> value = hostValueOf(argument);
    std::string problem;
    if (isMissing(argument))
      value = SolutionEnvironment(request, solution)
                  .evaluate(*parameter.defaultValue, 0, problem);
    if (!value || !encodeElement(*value, operand.type, operand.bits)) {
      report.report(operand.span, fault::ScalarExpected, operand.name,
                    spelling(operand.type),
                    value ? misfit(*value) : "value that is not known");
      return false;
    }
  }
  solution.operands.push_back(std::move(operand));
  return true;
}

Extents OperandBuilder::shapeOf(llvm::ArrayRef<Dimension> dimensions) const {
  if (lifted)
    return solution.lifted.extents;
  Extents shape;
  for (const Dimension &dimension : dimensions) {
    if (!dimension.isSplit()) {
      llvm::append_range(shape, solution.axes[dimension.axis().index].extents);
      continue;
    }
    std::int64_t product = 1;
    for (AxisId part : dimension.parts)
      for (std::int64_t extent : solution.axes[part.index].extents)
        if (llvm::MulOverflow(product, extent, product))
          product = std::numeric_limits<std::int64_t>::max();
    shape.push_back(product);
  }
  return shape;
}

bool OperandBuilder::results() {
  std::size_t present = 0;
  for (std::size_t number = 0; number < declaration.results.size(); ++number)
    present += hasResult(request, solution, number);
  if (!request.outs.empty() && request.outs.size() != present) {
    report.report(declaration.nameSpan, fault::OutputCount, declaration.name,
                  present, request.outs.size());
    return false;
  }
  const TensorView *next =
      request.outs.empty() ? nullptr : request.outs.begin();
  for (auto [number, each] : llvm::enumerate(declaration.results))
    if (!result(each, number, next))
      return false;
  return true;
}

/// Images and volumes with neighbours along their second axis.
static bool isChannelsLast(llvm::ArrayRef<std::int64_t> sizes,
                           llvm::ArrayRef<std::int64_t> strides) {
  return (sizes.size() == 4 || sizes.size() == 5) && sizes[1] > 1 &&
         llvm::equal(strides, channelsLast(sizes));
}

bool OperandBuilder::takesChannelsLast(std::size_t rank) const {
  return llvm::any_of(solution.operands, [&](const Operand &operand) {
    return !operand.isResult && operand.sizes.size() == rank &&
           isChannelsLast(operand.sizes, operand.strides);
  });
}

Extents OperandBuilder::stridesOf(const Operand &operand,
                                  std::size_t number) const {
  if (number < request.likes.size())
    if (const TensorView &like = request.likes[number];
        static_cast<ElementType>(like.type) == operand.type &&
        llvm::equal(like.sizes, operand.sizes) &&
        isDense(like.sizes, like.strides))
      return Extents(like.strides.begin(), like.strides.end());
  if (request.keepsImages && takesChannelsLast(operand.sizes.size()))
    return channelsLast(operand.sizes);
  return contiguous(operand.sizes);
}

bool OperandBuilder::result(const typed::Result &result, std::size_t number,
                            const TensorView *&next) {
  Operand operand;
  operand.name = result.name.str();
  if (result.name.empty())
    operand.name = request.declaration.results.size() == 1
                       ? "out"
                       : "output " + std::to_string(number);
  operand.span = result.span;
  operand.type = result.element.substitute(solution.types);
  operand.isResult = operand.isWritten = true;
  operand.present = hasResult(request, solution, number);
  Extents shape = shapeOf(result.dimensions);
  if (!operand.present) {
    solution.operands.push_back(std::move(operand));
    return true;
  }
  if (!isAddressable(shape, operand.type)) {
    report.report(operand.span, fault::TensorTooLarge, operand.name);
    return false;
  }
  if (!next) {
    operand.sizes = shape;
    operand.strides = stridesOf(operand, number);
    solution.operands.push_back(std::move(operand));
    return true;
  }
  const TensorView &view = *next++;
  auto given = static_cast<ElementType>(view.type);
  if (given != operand.type) {
    report.report(operand.span, fault::ElementMismatch, operand.name,
                  spelling(given), spelling(operand.type));
    return false;
  }
  if (!take(operand, view))
    return false;
  if (operand.sizes != shape) {
    report.report(operand.span, fault::OutputShape, operand.name,
                  shapeText(operand.sizes), shapeText(shape));
    return false;
  }
  if (!view.writable) {
    report.report(operand.span, fault::ReadOnly, operand.name);
    return false;
  }
  solution.operands.push_back(std::move(operand));
  return true;
}

bool OperandBuilder::isWritable(const Operand &operand) {
  if (!operand.present || !operand.isWritten || !overlapsItself(operand))
    return true;
  report.report(operand.span, fault::SelfOverlap, operand.name);
  return false;
}

/// What is written shares no memory with anything else; an `elementwise` may
/// write where it reads the same element.
bool OperandBuilder::isApart(const Operand &operand) {
  if (!operand.present || !operand.isWritten || !operand.data)
    return true;
  for (const Operand &other : solution.operands) {
    if (&other == &operand || !other.present || !other.data)
      continue;
    std::int64_t distance = reinterpret_cast<std::intptr_t>(other.data) -
                            reinterpret_cast<std::intptr_t>(operand.data);
    bool sameElement = lifted && !other.isWritten && distance == 0 &&
                       sameLayout(operand, other);
    if (sameElement || !overlaps(operand, other, distance))
      continue;
    report.report(operand.span, fault::Overlap, operand.name, other.name);
    return false;
  }
  return true;
}

} // namespace

bool quern::jit::solveOutputs(const CallRequest &request, Solution &solution,
                              DiagnosticEngine &report) {
  return OperandBuilder(request, solution, report).run();
}
