// Monoids: reduce, scan and scatter, element after element in source order.
#include "frontend/eval/Evaluator.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace quern::eval {

using namespace typed;

/// A reduction made ready for one use: runs its parts on values.
struct Monoid {
  Evaluator &evaluator;
  Frame frame;
  const Reduction &reduction;
  /// The reduction's own scalar parameters.
  std::vector<Value> parameters;

  Locals locals() const {
    Locals result(frame.declaration.variableCount);
    for (auto [parameter, value] :
         llvm::zip(frame.declaration.parameters, parameters))
      result[parameter.variable->id] =
          value.isAbsent && parameter.defaultValue
              ? evaluator.expression(*parameter.defaultValue,
                                     {frame, scopeOf(result), {}})
              : value;
    return result;
  }

  Value initial() {
    Locals names = locals();
    std::vector<Value> states;
    for (const ReductionState &state : reduction.states)
      states.push_back(cast(
          evaluator.expression(*state.initial, {frame, scopeOf(names), {}}),
          frame.computeType(state.type)));
    return states.size() == 1 ? states.front()
                              : Value::aggregate(std::move(states));
  }

  Value runPart(const ReductionPart &part, std::vector<Value> values) {
    Locals names = locals();
    for (auto [variable, value] : llvm::zip(part.variables, values))
      if (variable)
        names[variable->id] = value;
    std::vector<Value> results;
    evaluator.run(part.body, frame, names, results);
    if (evaluator.failure || results.empty())
      return Value::integer(0);
    return results.size() == 1 ? results.front()
                               : Value::aggregate(std::move(results));
  }

  Value step(const Value &state, const std::vector<Value> &operands,
             std::int64_t position) {
    std::vector<Value> values = {state};
    values.insert(values.end(), operands.begin(), operands.end());
    values.push_back(Value::integer(position));
    return runPart(reduction.step, std::move(values));
  }

  Value merge(const Value &left, const Value &right) {
    return runPart(reduction.merge, {left, right});
  }

  Value finish(const Value &state) {
    return reduction.hasFinish ? runPart(reduction.finish, {state}) : state;
  }
};

void Evaluator::forEach(llvm::ArrayRef<AxisId> axes, const Where &where,
                        const std::function<void(const Point &)> &visit) {
  if (failure)
    return;
  if (axes.empty())
    return visit(where.point);
  AxisId axis = axes.front();
  const Axis &row = where.frame.declaration.axis(axis);
  Positions first, extents = extentOf(axis, where);
  first.assign(extents.size(), 0);
  if (row.lower && !where.frame.extents.count(axis.index))
    first.front() = expression(*row.lower, where).asInteger();
  if (llvm::any_of(extents, [](std::int64_t extent) { return extent <= 0; }))
    return;
  Positions at = first;
  Point point = where.point;
  while (!failure) {
    point[axis.index] = at;
    forEach(axes.drop_front(), where.at(point), visit);
    std::size_t digit = at.size();
    while (digit > 0 &&
           ++at[digit - 1] == first[digit - 1] + extents[digit - 1]) {
      --digit;
      at[digit] = first[digit];
    }
    if (digit == 0)
      return;
  }
}

namespace {

std::vector<Value> evaluateAll(Evaluator &evaluator, Expressions nodes,
                               const Where &where) {
  std::vector<Value> values;
  for (const Expression *node : nodes)
    values.push_back(node ? evaluator.expression(*node, where)
                          : Value::absent());
  return values;
}

} // namespace

/// A portable reduction has 64 states that positions along the last axis take
/// in turn, merged by halves.
constexpr std::int64_t portableStates = 64;

Value Evaluator::reduce(const ReduceExpression &node, const Where &where) {
  Monoid monoid{*this,
                calleeFrame(*node.monoid, node.typeArguments,
                            node.constantArguments, where),
                *node.monoid->reduction,
                evaluateAll(*this, node.parameters, where)};
  bool isPortable = (portable || node.monoid->attributes.portable) &&
                    !node.monoid->keepsOrder();
  std::vector<Value> states(isPortable ? portableStates : 1, monoid.initial());
  std::int64_t position = 0;
  AxisId last = node.over.back();
  for (AxisId axis : node.over) // a pack may have no axes
    if (!where.frame.declaration.axis(axis).pack ||
        !extentOf(axis, where).empty())
      last = axis;
  const Expression *lower = where.frame.declaration.axis(last).lower;
  forEach(node.over, where, [&](const Point &at) {
    std::int64_t here = position++;
    if (node.where && !expression(*node.where, where.at(at)).truth())
      return;
    const Positions &along = at.at(last.index);
    std::int64_t turn = along.empty() ? 0 : along.back();
    if (lower && !where.frame.extents.count(last.index))
      turn -= expression(*lower, where.at(at)).asInteger();
    Value &state = states[isPortable ? turn % portableStates : 0];
    state = monoid.step(state, evaluateAll(*this, node.operands, where.at(at)),
                        here);
  });
  for (std::size_t half = states.size() / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i)
      states[i] = monoid.merge(states[i], states[i + half]);
  return monoid.finish(states.front());
}

Value Evaluator::scan(const ScanExpression &node, const Where &where) {
  Monoid monoid{*this,
                calleeFrame(*node.monoid, node.typeArguments,
                            node.constantArguments, where),
                *node.monoid->reduction,
                evaluateAll(*this, node.parameters, where)};
  std::int64_t extent = extentOf(node.over, where).front();
  std::int64_t here = where.point.at(node.over.index).front();
  Value state = monoid.initial();
  for (std::int64_t count = 0; count < extent && !failure; ++count) {
    std::int64_t position = node.reverse ? extent - 1 - count : count;
    if (node.exclusive && position == here)
      break;
    Point at = where.point;
    at[node.over.index] = {position};
    if (!node.where || expression(*node.where, where.at(at)).truth())
      state = monoid.step(
          state, evaluateAll(*this, node.operands, where.at(at)), position);
    if (position == here)
      break;
  }
  return monoid.finish(state);
}

namespace {

/// NaN is above every number.
bool before(const Value &a, const Value &b) {
  double x = a.asDouble(), y = b.asDouble();
  if (std::isnan(x) || std::isnan(y))
    return !std::isnan(x) && std::isnan(y);
  if (kindOf(a.type) == ElementKind::Unsigned)
    return static_cast<std::uint64_t>(a.real.integer) <
           static_cast<std::uint64_t>(b.real.integer);
  if (kindOf(a.type) == ElementKind::Signed)
    return a.real.integer < b.real.integer;
  return x < y;
}

} // namespace

Value Evaluator::sort(const SortExpression &node, const Where &where) {
  std::int64_t extent = extentOf(node.over, where).front();
  auto at = [&](std::int64_t position) {
    Point place = where.point;
    place[node.over.index] = {position};
    return place;
  };
  std::vector<Value> keys;
  keys.reserve(static_cast<std::size_t>(extent));
  for (std::int64_t i = 0; i < extent; ++i)
    keys.push_back(expression(*node.operands.front(), where.at(at(i))));
  bool descending =
      node.descending && expression(*node.descending, where.at({})).truth();
  std::vector<std::int64_t> order(static_cast<std::size_t>(extent));
  std::iota(order.begin(), order.end(), 0);
  // Equal keys stay in order: the position decides between them.
  std::ranges::sort(order, [&](std::int64_t a, std::int64_t b) {
    const Value &first = descending ? keys[b] : keys[a];
    const Value &second = descending ? keys[a] : keys[b];
    return before(first, second) || (!before(second, first) && a < b);
  });
  std::int64_t source = order[where.point.at(node.over.index).front()];
  std::vector<Value> sorted =
      evaluateAll(*this, node.operands, where.at(at(source)));
  return sorted.size() == 1 ? sorted.front()
                            : Value::aggregate(std::move(sorted));
}

Value Evaluator::scatter(const ScatterExpression &node, const Where &where) {
  bool includeSelf =
      !node.includeSelf || expression(*node.includeSelf, where).truth();
  Value result = expression(*node.into, where);
  std::optional<Monoid> monoid;
  if (node.monoid)
    monoid.emplace(
        Monoid{*this,
               calleeFrame(*node.monoid, node.typeArguments, {}, where),
               *node.monoid->reduction,
               {}});
  std::optional<Value> state;
  if (monoid && includeSelf)
    state = monoid->step(monoid->initial(), {result}, 0);
  forEach(node.over, where, [&](const Point &at) {
    if (node.where && !expression(*node.where, where.at(at)).truth())
      return;
    for (auto [axis, position] :
         llvm::zip_equal(node.into->axes(), node.positions)) {
      if (!position)
        continue;
      std::int64_t place = expression(*position, where.at(at)).asInteger();
      std::int64_t extent = extentOf(axis, where).front();
      if (place < 0 || place >= extent) {
        fail("scatter index " + std::to_string(place) + " of extent " +
             std::to_string(extent));
        return;
      }
      if (place != where.point.at(axis.index).front())
        return;
    }
    Value value = expression(*node.value, where.at(at));
    if (!monoid)
      result = value;
    else
      state = monoid->step(state ? *state : monoid->initial(), {value}, 0);
  });
  return state ? monoid->finish(*state) : result;
}

} // namespace quern::eval
