// Solves axes from the shapes of the arguments, then fills the results.
#include "frontend/eval/Eval.h"

#include "frontend/eval/Evaluator.h"
#include "frontend/typed/Arithmetic.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>

namespace quern::eval {

using namespace typed;

namespace {

using Shape = std::vector<std::int64_t>;

/// One call: frame, scope and the meaning of every result.
class Activation {
public:
  explicit Activation(const Invocation &invocation)
      : invocation(invocation), declaration(*invocation.declaration),
        frame{declaration,
              invocation.typeArguments,
              invocation.constantArguments,
              {},
              {},
              {}} {
    evaluator.portable = declaration.attributes.portable;
    evaluator.limits.steps = invocation.steps;
    if (declaration.kind == DeclarationKind::Elementwise)
      broadcast();
    else
      solve();
    defineParameters();
    deriveExtents();
  }

  std::optional<std::string> failure() const { return evaluator.failure; }
  Shape shapeOf(const Result &result);
  void store();

private:
  void fail(const llvm::Twine &message) {
    if (!evaluator.failure)
      evaluator.failure = message.str();
  }
  void broadcast();
  void solve();
  void solveTensor(const Parameter &parameter, const Tensor &tensor);
  void solveDimension(const Dimension &dimension, std::int64_t size,
                      llvm::StringRef name);
  void bindExtent(AxisId axis, Positions extents, llvm::StringRef name);
  void defineParameters();
  Lifted meaningOf(const Parameter &parameter, const Argument &argument);
  std::int64_t offsetOf(const Parameter &parameter, const Tensor &tensor,
                        const Point &point) const;
  void deriveExtents();
  void storeElementwise();
  void storeResult(llvm::ArrayRef<Dimension> dimensions, const Tensor &tensor,
                   const Lifted &meaning);

  const Invocation &invocation;
  const Declaration &declaration;
  Frame frame;
  Scope scope;
  Evaluator evaluator;
};

void Activation::broadcast() {
  std::size_t rank = 0;
  for (const Argument &argument : invocation.arguments)
    if (const auto *tensor = std::get_if<Tensor>(&argument))
      rank = std::max(rank, tensor->sizes.size());
  frame.elementSizes.assign(rank, 1);
  for (const Argument &argument : invocation.arguments) {
    const auto *tensor = std::get_if<Tensor>(&argument);
    if (!tensor)
      continue;
    std::size_t shift = rank - tensor->sizes.size();
    for (auto [axis, size] : llvm::enumerate(tensor->sizes)) {
      std::int64_t &common = frame.elementSizes[shift + axis];
      if (common != 1 && size != 1 && common != size)
        return fail("extents " + llvm::Twine(common) + " and " +
                    llvm::Twine(size) + " do not broadcast");
      if (common == 1)
        common = size;
    }
  }
  frame.element.assign(rank, 0);
}

void Activation::bindExtent(AxisId axis, Positions extents,
                            llvm::StringRef name) {
  auto [entry, isNew] = frame.extents.try_emplace(axis.index, extents);
  if (!isNew && entry->second != extents)
    fail("axis `" + declaration.axis(axis).name + "` has another extent in `" +
         name + "`");
}

void Activation::solveDimension(const Dimension &dimension, std::int64_t size,
                                llvm::StringRef name) {
  AxisId unknown;
  for (AxisId part : dimension.parts) {
    auto known = frame.extents.find(part.index);
    if (known == frame.extents.end()) {
      unknown = part;
      continue;
    }
    std::int64_t extent = known->second.front();
    if (!dimension.isSplit() && extent != size)
      return bindExtent(part, {size}, name);
    if (extent == 0 || size % extent != 0)
      return extent == size ? void() : fail("an extent does not divide");
    size /= extent;
  }
  if (unknown.valid())
    bindExtent(unknown, {size}, name);
}

void Activation::solveTensor(const Parameter &parameter, const Tensor &tensor) {
  std::size_t packs = llvm::count_if(parameter.dimensions, [&](auto &d) {
    return declaration.axis(d.axis()).pack;
  });
  std::size_t plain = parameter.dimensions.size() - packs;
  if (tensor.sizes.size() < plain ||
      (packs == 0 && tensor.sizes.size() != plain))
    return fail("`" + parameter.variable->name + "` has " +
                llvm::Twine(tensor.sizes.size()) + " axes, its type has " +
                llvm::Twine(plain));
  std::size_t rest = tensor.sizes.size() - plain, next = 0;
  for (const Dimension &dimension : parameter.dimensions) {
    const Axis &axis = declaration.axis(dimension.axis());
    if (!axis.pack) {
      solveDimension(dimension, tensor.sizes[next++], parameter.variable->name);
      continue;
    }
    // With several packs all but the last must be known already.
    auto known = frame.extents.find(dimension.axis().index);
    std::size_t rank =
        known != frame.extents.end() ? known->second.size() : rest;
    auto first = tensor.sizes.begin() + next;
    bindExtent(dimension.axis(), Positions(first, first + rank),
               parameter.variable->name);
    next += rank;
    rest -= rank;
  }
}

void Activation::solve() {
  for (auto [parameter, argument] :
       llvm::zip_equal(declaration.parameters, invocation.arguments))
    if (const auto *tensor = std::get_if<Tensor>(&argument))
      solveTensor(parameter, *tensor);
}

std::int64_t Activation::offsetOf(const Parameter &parameter,
                                  const Tensor &tensor,
                                  const Point &point) const {
  std::int64_t offset = 0;
  if (declaration.kind == DeclarationKind::Elementwise) {
    std::size_t shift = frame.element.size() - tensor.sizes.size();
    for (auto [axis, size] : llvm::enumerate(tensor.sizes))
      if (size != 1)
        offset += frame.element[shift + axis] * tensor.strides[axis];
    return offset;
  }
  std::size_t next = 0;
  for (const Dimension &dimension : parameter.dimensions) {
    if (dimension.isSplit()) {
      std::int64_t position = 0;
      for (AxisId part : dimension.parts)
        position = position * frame.extents.at(part.index).front() +
                   point.at(part.index).front();
      offset += position * tensor.strides[next++];
      continue;
    }
    for (std::int64_t position : point.at(dimension.axis().index))
      offset += position * tensor.strides[next++];
  }
  return offset;
}

Lifted Activation::meaningOf(const Parameter &parameter,
                             const Argument &argument) {
  if (std::holds_alternative<std::monostate>(argument))
    return nullptr;
  if (const auto *scalar = std::get_if<Constant>(&argument)) {
    ElementType type = parameter.element.substitute(frame.types);
    Value value = cast(Value::of(type, convertLiteral(*scalar, type)),
                       computeTypeOf(type));
    return [value](const Point &) { return value; };
  }
  const Tensor &tensor = std::get<Tensor>(argument);
  return [this, &parameter, &tensor](const Point &point) {
    Value value = readElement(tensor, offsetOf(parameter, tensor, point));
    return cast(value, computeTypeOf(tensor.type));
  };
}

void Activation::defineParameters() {
  for (auto [parameter, argument] :
       llvm::zip_equal(declaration.parameters, invocation.arguments))
    scope = define(scope, *parameter.variable, meaningOf(parameter, argument));
}

void Activation::deriveExtents() {
  for (auto [index, axis] : llvm::enumerate(declaration.axes)) {
    auto number = static_cast<std::uint16_t>(index);
    if (!axis.extent || evaluator.failure || frame.extents.count(number))
      continue;
    Value extent = evaluator.expression(*axis.extent, {frame, scope, {}});
    Positions extents;
    if (!extent.isAggregate)
      extents.push_back(extent.asInteger());
    for (const Value &element : extent.elements)
      extents.push_back(element.asInteger());
    frame.extents[number] = extents;
  }
}

Shape Activation::shapeOf(const Result &result) {
  if (declaration.kind == DeclarationKind::Elementwise)
    return frame.elementSizes;
  Shape shape;
  for (const Dimension &dimension : result.dimensions) {
    std::int64_t product = 1;
    for (AxisId part : dimension.parts)
      for (std::int64_t extent : frame.extents[part.index]) {
        if (!dimension.isSplit())
          shape.push_back(extent);
        product *= extent;
      }
    if (dimension.isSplit())
      shape.push_back(product);
  }
  return shape;
}

void Activation::storeElementwise() {
  std::int64_t count = 1;
  for (std::int64_t size : frame.elementSizes)
    count *= size;
  for (std::int64_t n = 0; n < count && !evaluator.failure; ++n) {
    std::int64_t rest = n;
    for (std::size_t axis = frame.element.size(); axis-- > 0;) {
      frame.element[axis] = rest % frame.elementSizes[axis];
      rest /= frame.elementSizes[axis];
    }
    // Made anew: what a meaning remembers belongs to one element.
    for (auto [meaning, tensor] :
         llvm::zip(evaluator.liftedBody(frame, scope), invocation.results)) {
      std::int64_t offset = 0;
      for (auto [position, stride] :
           llvm::zip_equal(frame.element, tensor.strides))
        offset += position * stride;
      if (meaning)
        writeElement(tensor, offset, meaning({}));
    }
  }
}

void Activation::storeResult(llvm::ArrayRef<Dimension> dimensions,
                             const Tensor &tensor, const Lifted &meaning) {
  std::vector<AxisId> axes;
  for (const Dimension &dimension : dimensions)
    axes.insert(axes.end(), dimension.parts.begin(), dimension.parts.end());
  Parameter place;
  place.dimensions = dimensions;
  evaluator.forEach(axes, {frame, scope, {}}, [&](const Point &point) {
    writeElement(tensor, offsetOf(place, tensor, point), meaning(point));
  });
}

void Activation::store() {
  if (declaration.kind == DeclarationKind::Elementwise)
    return storeElementwise();
  std::vector<Lifted> meanings = evaluator.liftedBody(frame, scope);
  for (auto [result, tensor, meaning] :
       llvm::zip(declaration.results, invocation.results, meanings))
    if (meaning && !evaluator.failure)
      storeResult(result.dimensions, tensor, meaning);
  // What `mut` parameters become stands behind the results.
  std::size_t next = declaration.results.size();
  for (const Parameter &parameter : declaration.parameters) {
    if (!parameter.isMutable || next == meanings.size())
      continue;
    const Lifted &meaning = meanings[next];
    if (meaning && !evaluator.failure)
      storeResult(parameter.dimensions, invocation.results[next], meaning);
    ++next;
  }
}

} // namespace

std::variant<std::vector<Shape>, std::string>
resultShapes(const Invocation &invocation) {
  Activation activation(invocation);
  std::vector<Shape> shapes;
  for (const Result &result : invocation.declaration->results)
    shapes.push_back(activation.shapeOf(result));
  if (auto failure = activation.failure())
    return *failure;
  return shapes;
}

std::optional<std::string> evaluate(const Invocation &invocation) {
  Activation activation(invocation);
  if (!activation.failure())
    activation.store();
  return activation.failure();
}

} // namespace quern::eval
