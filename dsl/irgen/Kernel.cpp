// The operation around a body: concrete axes, operands, scalars and stores.
#include "dsl/irgen/Generator.h"

#include "frontend/typed/ListAxes.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

StringAttr Generator::freshAxis(StringRef name) {
  llvm::SmallString<16> unique(name.empty() ? "D" : name);
  std::size_t length = unique.size();
  for (unsigned number = 1; !axisNames.insert(unique).second; ++number) {
    unique.resize(length);
    unique += "_";
    unique += std::to_string(number);
  }
  return builder.getStringAttr(unique);
}

/// Every declared axis becomes as many concrete ones as the request says; an
/// `elementwise` has unnamed ones.
void Generator::bindTypesAndAxes(Frame &top) {
  const Specialization &given = request.specialization;
  top.types.assign(given.typeArguments.begin(), given.typeArguments.end());
  for (auto [parameter, argument] : llvm::zip_equal(
           top.declaration.constantParameters, given.constantArguments))
    top.constants.push_back(fromSpecialization(*parameter, argument));

  auto add = [&](SmallVectorImpl<Place> &places, StringRef name) {
    Place place;
    place.name = freshAxis(name);
    places.push_back(place);
    kernelAxes.push_back(place.name);
  };
  for (auto [id, axis] : llvm::enumerate(top.declaration.axes)) {
    if (axis.kind == typed::AxisKind::Local)
      continue;
    unsigned rank = given.axisRanks[id];
    for (unsigned number = 0; number != rank; ++number)
      add(top.axes[id], rank == 1 ? axis.name.str()
                                  : axis.name.str() + std::to_string(number));
  }
  if (top.declaration.kind != typed::DeclarationKind::Elementwise)
    return;
  std::size_t rank = 0;
  for (const OperandLayout &operand : given.operands)
    rank = std::max(rank, operand.strides.size());
  for (unsigned number = 0; number != rank; ++number)
    add(top.lifted, "I" + std::to_string(number));
}

/// Notes the next operand of the Specialization as an argument of the kernel.
void Generator::addTensor(Frame &top, ArrayRef<typed::Dimension> dimensions,
                          ElementType element) {
  const OperandLayout &layout = request.specialization.operands[operandNumber];
  if (!layout.present) {
    ++operandNumber;
    firstArgument.push_back(-1);
    return;
  }
  SmallVector<StringAttr, 4> axes;
  if (top.declaration.kind == typed::DeclarationKind::Elementwise)
    for (const Place &place : top.lifted)
      axes.push_back(place.name);
  for (const typed::Dimension &dimension : dimensions)
    for (AxisId axis : dimension.parts)
      for (const Place &place : top.axes[axis.index])
        axes.push_back(place.name);
  assert(axes.size() == layout.strides.size() && "binder and axes disagree");
  firstArgument.push_back(argumentTypes.size());
  argumentTypes.push_back(qn::OperandType::get(
      builder.getContext(), storageType(builder.getContext(), element), axes,
      layout.strides));
  argumentNumbers.push_back(operandNumber++);
}

/// `a: int` is one scalar, `int[3]` three, `int[*S]` one for each axis of `S`.
void Generator::addScalars(Frame &top, const typed::Parameter &parameter) {
  unsigned count = 1;
  if (parameter.pack.valid())
    count = top.axes[parameter.pack.index].size();
  else if (parameter.count > 0)
    count = parameter.count;
  firstArgument.push_back(argumentTypes.size());
  ElementType element = top.type(parameter.element);
  Type type = storageType(builder.getContext(), componentOf(element));
  if (kindOf(element) == ElementKind::Complex)
    count *= 2;
  for (unsigned number = 0; number != count; ++number) {
    argumentTypes.push_back(type);
    argumentNumbers.push_back(scalarNumber++);
  }
}

void Generator::bindParameters(Frame &top) {
  for (const typed::Parameter &parameter : top.declaration.parameters) {
    for (unsigned left = tensorCount(parameter); left; --left)
      addTensor(top, parameter.dimensions, top.type(parameter.element));
    if (!parameter.isTensor)
      addScalars(top, parameter);
  }
  for (const typed::Result &result : top.declaration.results)
    addTensor(top, result.dimensions, top.type(result.element));
  addParts(top);
}

/// How many operands a parameter is.
unsigned Generator::tensorCount(const typed::Parameter &parameter) const {
  if (!parameter.isList)
    return parameter.isTensor;
  unsigned list = 0;
  for (const typed::Parameter &each : request.declaration.parameters) {
    if (&each == &parameter)
      break;
    list += each.isList;
  }
  return request.specialization.listLengths[list];
}

/// The ends of the parts of joined axes are arguments behind all others.
void Generator::addParts(Frame &top) {
  firstPart = argumentTypes.size();
  for (AxisId axis : typed::joinedAxes(top.declaration)) {
    const auto *list =
        llvm::find_if(top.declaration.parameters, [&](const auto &each) {
          return each.isList && typed::hasAxis(each, axis);
        });
    auto &parts = top.parts[axis.index];
    parts.resize(tensorCount(*list));
    argumentTypes.append(parts.size(), builder.getI64Type());
    for (unsigned left = parts.size(); left; --left)
      argumentNumbers.push_back(scalarNumber++);
  }
}

/// The numbers of a parameter from argument `first` on; a complex one is two.
std::vector<irgen::Value> Generator::scalarsFrom(int first, unsigned count,
                                                 unsigned &scalar,
                                                 ElementType element) {
  const std::vector<bool> &units = request.specialization.unitScalars;
  auto take = [&] {
    bool isOne = scalar < units.size() && units[scalar];
    ++scalar;
    mlir::Value word = body->getArgument(first++);
    return isOne ? b.integer(element, 1)
                 : b.fromStorage(word, componentOf(element));
  };
  std::vector<irgen::Value> scalars;
  for (unsigned left = count; left; --left) {
    Scalar taken = take();
    if (kindOf(element) == ElementKind::Complex)
      taken = {element, taken.value, take().value};
    scalars.push_back(taken);
  }
  return scalars;
}

/// Ties the variables of the parameters to the arguments of the kernel.
void Generator::attachArguments(Frame &top) {
  unsigned number = 0, scalar = 0;
  for (const typed::Parameter &parameter : top.declaration.parameters) {
    Binding &binding = top.binding(*parameter.variable);
    int first = firstArgument[number];
    number += parameter.isTensor ? tensorCount(parameter) : 1;
    ElementType element = top.type(parameter.element);
    if (first < 0) {
      binding.kind = Binding::Kind::Value;
      binding.made.push_back({});
      continue;
    }
    if (parameter.isTensor) {
      binding.kind = Binding::Kind::Tensor;
      binding.tensor = body->getArgument(first);
      if (parameter.isList)
        for (unsigned each = 0; each != tensorCount(parameter); ++each)
          binding.tensors.push_back(body->getArgument(first + each));
      binding.element = element;
      binding.places = top.lifted;
      for (const typed::Dimension &dimension : parameter.dimensions)
        for (AxisId axis : dimension.parts)
          llvm::append_range(binding.places, top.axes[axis.index]);
      continue;
    }
    bool isList = parameter.pack.valid() || parameter.count > 0;
    unsigned count = parameter.pack.valid()
                         ? top.axes[parameter.pack.index].size()
                         : std::max<std::int64_t>(parameter.count, 1);
    std::vector<irgen::Value> scalars =
        scalarsFrom(first, count, scalar, element);
    bind(*parameter.variable, isList ? irgen::Value::list(std::move(scalars))
                                     : std::move(scalars.front()));
  }
  unsigned part = firstPart;
  for (AxisId axis : typed::joinedAxes(top.declaration))
    for (mlir::Value &end : top.parts[axis.index])
      end = body->getArgument(part++);
}

/// Writes `value` to the operand `tensor`.
void Generator::storeAt(mlir::Value tensor, const irgen::Value &value,
                        ElementType element) {
  Scalar scalar = value.scalar;
  if (value.kind == irgen::Value::Kind::Scatter) {
    Frame *outer = std::exchange(frame, value.scatterFrame);
    // Sums are rounded once, not each of them to what the result has.
    bool isSame = !value.scatter->monoid ||
                  frame->type(value.scatter->scalar()) == element;
    bool isWhole = isSame && writesWhole(*value.scatter, tensor);
    if (isWhole)
      scatter(*value.scatter, tensor, element);
    frame = outer;
    if (isWhole)
      return;
    scalar = stagedScatter(*value.scatter, value.scatterFrame);
  }
  scalar = coerce(scalar, element);
  if (!scalar.isComplex()) {
    b.create<qn::StoreOp>(b.toStorage(scalar), tensor, IntegerAttr());
    return;
  }
  b.create<qn::StoreOp>(scalar.value, tensor, builder.getI64IntegerAttr(0));
  b.create<qn::StoreOp>(scalar.imaginary, tensor, builder.getI64IntegerAttr(1));
}

void Generator::storeResults(Frame &top) {
  unsigned number = 0;
  for (const typed::Parameter &parameter : top.declaration.parameters) {
    int argument = firstArgument[number];
    number += parameter.isTensor ? tensorCount(parameter) : 1;
    Binding &binding = top.binding(*parameter.variable);
    if (argument >= 0 && parameter.isTensor && binding.isAssigned)
      storeAt(body->getArgument(argument), binding.stored, binding.element);
  }
  for (auto [result, value] :
       llvm::zip(top.declaration.results, top.returned.values)) {
    int argument = firstArgument[number++];
    if (argument < 0)
      continue;
    if (value.isAbsent())
      complain(result.span,
               "whether this result is there cannot be told before compiling",
               "QN2060");
    else
      storeAt(body->getArgument(argument), value, top.type(result.element));
  }
}
