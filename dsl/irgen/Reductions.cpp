// Reductions and scans: the monoid's parts become regions.
#include "dsl/irgen/Generator.h"

#include "frontend/typed/ThreadAxes.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;
using typed::VariableKind;

/// The state as the text sees it: one value, or a tuple.
static irgen::Value stateOf(const typed::Reduction &reduction, Values states) {
  if (reduction.stateType->isTuple())
    return irgen::Value::list(std::move(states));
  return std::move(states.front());
}

static Values statesOf(irgen::Value value) {
  if (value.kind == irgen::Value::Kind::List)
    return std::move(value.elements);
  return {std::move(value)};
}

Monoid Generator::openMonoid(const Declaration &declaration,
                             ArrayRef<typed::ScalarType> typeArguments,
                             typed::Expressions constants,
                             typed::Expressions parameters) {
  Frame &callee = frames.emplace_back(declaration);
  bindTypes(callee, typeArguments);
  bindConstants(callee, constants);
  for (auto [number, parameter] : llvm::enumerate(declaration.parameters))
    bindArgument(callee, parameter,
                 number < parameters.size() ? parameters[number] : nullptr);
  Monoid monoid{callee, *declaration.reduction, {}, {}};
  return monoid;
}

/// What `step` takes behind the state, in the order it names them, and the
/// initial states.
void Generator::collectInputs(Monoid &monoid, typed::Expressions operands,
                              llvm::function_ref<mlir::Value()> position) {
  const auto *next = operands.begin();
  for (const Variable *variable :
       monoid.reduction.step.variables.drop_front()) {
    if (variable->kind == VariableKind::Position) {
      monoid.inputs.push_back(Scalar{ElementType::I64, position(), nullptr});
      continue;
    }
    Scalar operand = scalar(**next++);
    monoid.inputs.push_back(
        coerce(operand, monoid.frame.type(variable->type->scalar)));
  }
  Frame *outer = std::exchange(frame, &monoid.frame);
  for (const typed::ReductionState &state : monoid.reduction.states)
    monoid.initial.push_back(
        coerce(scalar(*state.initial), frame->type(state.type)));
  frame = outer;
}

/// The body of a part with its variables bound; the value it returns.
irgen::Value Generator::runPart(Monoid &monoid,
                                const typed::ReductionPart &part,
                                Values arguments, const typed::Type &type) {
  Frame *outer = std::exchange(frame, &monoid.frame);
  auto outerConditions = std::exchange(conditions, {});
  auto fastMath =
      std::exchange(b.fastMath, fastMathOf(monoid.frame.declaration));
  monoid.frame.returned = {};
  monoid.frame.partType = &type;
  for (auto [variable, argument] : llvm::zip_equal(part.variables, arguments))
    bind(*variable, std::move(argument));
  execute(part.body);
  Value result = monoid.frame.returned.values.empty()
                     ? zeroOf(type)
                     : std::move(monoid.frame.returned.values.front());
  result = coerce(std::move(result), type);
  b.fastMath = fastMath;
  conditions = std::move(outerConditions);
  frame = outer;
  return result;
}

/// Fills `region` with a part that takes `like` as block arguments; `arrange`
/// turns those into the part's own arguments.
void Generator::fillRegion(Monoid &monoid, Region &region, const Values &like,
                           const typed::ReductionPart &part,
                           llvm::function_ref<Values(Values)> arrange) {
  OpBuilder::InsertionGuard guard(builder);
  Location location = b.location;
  Block &block = region.emplaceBlock();
  for (mlir::Value value : flatten(like))
    block.addArgument(value.getType(), location);
  builder.setInsertionPointToStart(&block);
  Value result =
      runPart(monoid, part, arrange(unflatten(like, block.getArguments())),
              *monoid.reduction.stateType);
  at(part.span);
  b.create<qn::YieldOp>(flatten(statesOf(std::move(result))));
  b.location = location;
}

void Generator::fillRegions(Monoid &monoid, Region &step, Region &merge) {
  const typed::Reduction &reduction = monoid.reduction;
  std::size_t count = monoid.initial.size();
  Values stepLike = monoid.initial, mergeLike = monoid.initial;
  llvm::append_range(stepLike, monoid.inputs);
  llvm::append_range(mergeLike, monoid.initial);
  fillRegion(monoid, step, stepLike, reduction.step, [&](Values all) {
    Values arguments = {
        stateOf(reduction, Values(all.begin(), all.begin() + count))};
    arguments.insert(arguments.end(), all.begin() + count, all.end());
    return arguments;
  });
  fillRegion(monoid, merge, mergeLike, reduction.merge, [&](Values all) {
    return Values{stateOf(reduction, Values(all.begin(), all.begin() + count)),
                  stateOf(reduction, Values(all.begin() + count, all.end()))};
  });
}

irgen::Value Generator::finishMonoid(Monoid &monoid, ValueRange results) {
  Value state = stateOf(monoid.reduction, unflatten(monoid.initial, results));
  if (!monoid.reduction.hasFinish)
    return state;
  return runPart(monoid, monoid.reduction.finish, {std::move(state)},
                 *monoid.reduction.resultType);
}

/// What a thread contributes to a monoid over threads: one step from the
/// neutral elements.
static Values firstStep(const Monoid &monoid) {
  Values arguments = {stateOf(monoid.reduction, monoid.initial)};
  llvm::append_range(arguments, monoid.inputs);
  return arguments;
}

static Values twice(Values values) {
  Values both = values;
  llvm::append_range(both, values);
  return both;
}

/// The two states `merge` takes.
static Values bothStates(const typed::Reduction &reduction, Values all) {
  auto middle = all.begin() + all.size() / 2;
  return {stateOf(reduction, Values(all.begin(), middle)),
          stateOf(reduction, Values(middle, all.end()))};
}

static qn::Scope scopeOf(AxisId axis) {
  return axis == typed::blockThreads  ? qn::Scope::block
         : axis == typed::warpThreads ? qn::Scope::warp
                                      : qn::Scope::row;
}

/// A thread's number in its block, `x` fastest, or in its warp.
mlir::Value Generator::threadPosition(AxisId axis) {
  Type type = builder.getI64Type();
  if (scopeOf(axis) != qn::Scope::block)
    return b.create<qn::LaneOp>(type);
  mlir::Value number = b.create<qn::ThreadOp>(type, qn::Dimension::z);
  for (qn::Dimension dimension : {qn::Dimension::y, qn::Dimension::x}) {
    mlir::Value size = geometry[3 + static_cast<unsigned>(dimension)];
    number = b.create<arith::MulIOp>(number, size);
    number = b.create<arith::AddIOp>(number,
                                     b.create<qn::ThreadOp>(type, dimension));
  }
  return number;
}

/// The neutral elements where `where` is false.
static void keepWhere(ScalarBuilder &b, mlir::Value where,
                      SmallVectorImpl<mlir::Value> &states,
                      const Values &initial) {
  if (!where)
    return;
  for (auto [state, neutral] : llvm::zip(states, flatten(initial)))
    state = b.create<arith::SelectOp>(where, state, neutral);
}

static qn::CombineOp combine(ScalarBuilder &b,
                             const typed::ReduceExpression &expression,
                             SmallVectorImpl<mlir::Value> &states,
                             mlir::Value where, const Values &initial) {
  keepWhere(b, where, states, initial);
  return b.create<qn::CombineOp>(scopeOf(expression.over.front()), states,
                                 flatten(initial));
}

static ArrayAttr namesOf(OpBuilder &builder, ArrayRef<Place> places) {
  SmallVector<Attribute, 4> names;
  for (const Place &place : places)
    names.push_back(place.name);
  return builder.getArrayAttr(names);
}

/// The substitutions in force without those of the axes that a loop runs along.
const Substitution *Generator::unmoved(ArrayRef<Place> over) {
  const Substitution *inner = substitution;
  for (const Place &place : over)
    if (substitutionOf(place.name, substitution))
      inner = &substitutions.emplace_back(
          Substitution{place.name, nullptr, inner, false, {}});
  return inner;
}

/// The operands along some axes, read where `where` holds; gives its value.
mlir::Value Generator::inputsWhere(Monoid &monoid, typed::Expressions operands,
                                   const typed::Expression *where,
                                   ArrayRef<Place> along,
                                   llvm::function_ref<mlir::Value()> position) {
  auto outer = std::exchange(conditions, conditionsAlong(along));
  if (where)
    conditions.push_back({scalar(*where).value, false});
  collectInputs(monoid, operands, position);
  mlir::Value holds;
  if (where)
    holds = conditions.pop_back_val().value;
  conditions = std::move(outer);
  return holds;
}

mlir::Value ScalarBuilder::total(mlir::Value value, mlir::Value where,
                                 ArrayRef<Attribute> axes) {
  Type type = value.getType();
  mlir::Value zero = create<arith::ConstantOp>(builder.getZeroAttr(type));
  auto op = create<qn::ReduceOp>(value, zero, where, builder.getArrayAttr(axes),
                                 /*portable=*/false, /*ordered=*/false);
  for (Region *region : {&op.getStep(), &op.getMerge()}) {
    OpBuilder::InsertionGuard guard(builder);
    Block &block = region->emplaceBlock();
    block.addArguments({type, type}, {location, location});
    builder.setInsertionPointToStart(&block);
    mlir::Value left = block.getArgument(0), right = block.getArgument(1);
    mlir::Value both = type.isInteger(1)
                           ? create<arith::OrIOp>(left, right).getResult()
                           : create<arith::AddIOp>(left, right).getResult();
    create<qn::YieldOp>(ValueRange(both));
  }
  return op->getResult(0);
}

/// Such a value cannot be stored in front of the loops.
static bool hasLocalAxis(ArrayRef<Place> places) {
  return llvm::any_of(places,
                      [](const Place &place) { return bool(place.position); });
}

irgen::Value Generator::visit(const typed::ReduceExpression &expression) {
  bool overThreads = isThreadText();
  for (AxisId axis : expression.over)
    if (!overThreads &&
        frame->declaration.axis(axis).kind == typed::AxisKind::Local &&
        !frame->axesOfCalls.contains(axis.index))
      openLocalAxis(axis);
  SmallVector<Place, 4> over =
      overThreads ? SmallVector<Place, 4>() : placesOf(expression.over);
  const Substitution *moved = substitution;
  if (captures(over)) {
    if (!hasLocalAxis(placesOf(*expression.type)))
      return staged(expression);
    for (Place &place : over)
      place = standIn(place);
  }
  Monoid monoid =
      openMonoid(*expression.monoid, expression.typeArguments,
                 expression.constantArguments, expression.parameters);
  substitution = unmoved(over);
  mlir::Value where =
      inputsWhere(monoid, expression.operands, expression.where, over, [&] {
        return overThreads ? threadPosition(expression.over.front())
                           : linearPosition(over, /*fromLower=*/true);
      });
  substitution = moved;
  Location location = at(expression.span);
  const typed::Reduction &rules = monoid.reduction;
  if (overThreads) {
    auto states = flatten(statesOf(
        runPart(monoid, rules.step, firstStep(monoid), *rules.stateType)));
    b.location = location;
    auto op = combine(b, expression, states, where, monoid.initial);
    fillRegion(monoid, op.getMerge(), twice(monoid.initial), rules.merge,
               [&](Values all) { return bothStates(rules, std::move(all)); });
    b.location = location;
    return finishMonoid(monoid, op.getResults());
  }
  if (over.empty()) // a pack of no axes: one element
    return reduceOne(monoid, where);
  bool portable = request.declaration.attributes.portable ||
                  monoid.frame.declaration.attributes.portable;
  auto op = b.create<qn::ReduceOp>(
      flatten(monoid.inputs), flatten(monoid.initial), where,
      namesOf(builder, over), portable, expression.monoid->keepsOrder());
  fillRegions(monoid, op.getStep(), op.getMerge());
  b.location = location;
  return finishMonoid(monoid, op.getResults());
}

/// A reduction over no axis is one step.
irgen::Value Generator::reduceOne(Monoid &monoid, mlir::Value where) {
  Values arguments = {stateOf(monoid.reduction, monoid.initial)};
  llvm::append_range(arguments, monoid.inputs);
  Value state = runPart(monoid, monoid.reduction.step, std::move(arguments),
                        *monoid.reduction.stateType);
  SmallVector<mlir::Value, 8> results = flatten(statesOf(std::move(state)));
  keepWhere(b, where, results, monoid.initial);
  return finishMonoid(monoid, results);
}

/// A scan that no loop along an axis can carry, over a pack or while local axes
/// are open: at each position a reduction over those before it.
irgen::Value Generator::prefix(const typed::ScanExpression &expression,
                               ArrayRef<Place> along) {
  mlir::Value here = linearPosition(along), one = index(1);
  mlir::Value next = b.create<arith::AddIOp>(here, one);
  mlir::Value edge = expression.exclusive == expression.reverse ? next : here;
  mlir::Value lower = expression.reverse ? edge : index(0);
  mlir::Value upper = expression.reverse ? linearSize(along) : edge;
  StringAttr name = freshAxis("prefix");
  mlir::Value position =
      b.create<qn::AxisOp>(builder.getI64Type(), name, lower, upper);
  Monoid monoid =
      openMonoid(*expression.monoid, expression.typeArguments,
                 expression.constantArguments, expression.parameters);
  bool ordered = expression.monoid->keepsOrder();
  if (ordered && expression.reverse) {
    mlir::Value last = b.create<arith::SubIOp>(upper, one);
    mlir::Value done = b.create<arith::SubIOp>(position, lower);
    position = b.create<arith::SubIOp>(last, done);
  }
  const Substitution *outer = substitution;
  for (const Place &place : llvm::reverse(along)) {
    mlir::Value digit = position;
    if (along.size() > 1) {
      mlir::Value size = sizeOf(place);
      digit = b.create<arith::RemUIOp>(position, size);
      position = b.create<arith::DivUIOp>(position, size);
    }
    substitution = &substitutions.emplace_back(
        Substitution{place.name, digit, substitution, true, {}});
  }
  mlir::Value where =
      inputsWhere(monoid, expression.operands, expression.where, along,
                  [&] { return linearPosition(along, /*fromLower=*/true); });
  substitution = outer;
  Location location = at(expression.span);
  auto op = b.create<qn::ReduceOp>(
      flatten(monoid.inputs), flatten(monoid.initial), where,
      builder.getArrayAttr({Attribute(name)}), false, ordered);
  fillRegions(monoid, op.getStep(), op.getMerge());
  b.location = location;
  return finishMonoid(monoid, op.getResults());
}

irgen::Value Generator::visit(const typed::ScanExpression &expression) {
  bool overThreads = isThreadText();
  SmallVector<Place, 4> over =
      overThreads ? SmallVector<Place, 4>() : placesOf({expression.over});
  const typed::Type &type = *expression.type;
  SmallVector<Place, 4> places =
      overThreads ? SmallVector<Place, 4>() : placesOf(type);
  bool isMoved = llvm::any_of(places, [&](const Place &place) {
    return substitutionOf(place.name, substitution);
  });
  if (!overThreads && (hasLocalAxis(places) || over.size() != 1))
    return prefix(expression, over);
  if (isMoved || captures(over))
    return staged(expression);
  Monoid monoid =
      openMonoid(*expression.monoid, expression.typeArguments,
                 expression.constantArguments, expression.parameters);
  mlir::Value where =
      inputsWhere(monoid, expression.operands, expression.where, over, [&] {
        return overThreads ? threadPosition(expression.over)
                           : linearPosition(over, /*fromLower=*/true);
      });
  Location location = at(expression.span);
  if (overThreads) {
    const typed::Reduction &rules = monoid.reduction;
    auto states = flatten(statesOf(
        runPart(monoid, rules.step, firstStep(monoid), *rules.stateType)));
    b.location = location;
    keepWhere(b, where, states, monoid.initial);
    auto op = b.create<qn::PrefixOp>(scopeOf(expression.over), states,
                                     flatten(monoid.initial),
                                     expression.reverse, expression.exclusive);
    fillRegion(monoid, op.getMerge(), twice(monoid.initial), rules.merge,
               [&](Values all) { return bothStates(rules, std::move(all)); });
    b.location = location;
    return finishMonoid(monoid, op.getResults());
  }
  auto op = b.create<qn::ScanOp>(
      flatten(monoid.inputs), flatten(monoid.initial), where, over.front().name,
      expression.reverse, expression.exclusive);
  scans.emplace_back(op, std::move(places));
  fillRegions(monoid, op.getStep(), op.getMerge());
  b.location = location;
  return finishMonoid(monoid, op.getResults());
}
