// Units as the graph has them, and then each as late as saves memory.
#include "backend-torch/groups/Order.h"

#include <algorithm>
#include <numeric>

namespace quern {

namespace {
/// The graph's order, with what a group's later members read before it.
class Emitter {
public:
  Emitter(FusionPlan &plan, const UnitGraph &units,
          const std::map<int, std::vector<int>> &groupsOf,
          std::vector<bool> isDone)
      : plan(plan), graph(*plan.graph), units(units), groupsOf(groupsOf),
        isDone(std::move(isDone)) {}

  void emit(int node);

private:
  void emitOperands(int node, int ownUnit = -1);

  FusionPlan &plan;
  const Graph &graph;
  const UnitGraph &units;
  const std::map<int, std::vector<int>> &groupsOf;
  std::vector<bool> isDone;
};

/// Goes from the last unit to the first, and moves each towards its readers.
class Sinker {
public:
  Sinker(FusionPlan &plan, const UnitGraph &units);
  void run();

private:
  /// A unit by its place in the order that the graph has.
  struct Step {
    std::vector<ValueId> writes, reads; ///< what owns the memory
    std::set<int> followers;            ///< steps that cannot come before it
    bool isView = false;
    bool isFixed = false;
  };

  void describe(int step, const Unit &unit);
  void addNode(int step, int node);
  void findFollowers();
  std::int64_t bytesOf(ValueId value) const;
  bool isWorthIt(const Step &step, std::size_t place) const;

  FusionPlan &plan;
  const Graph &graph;
  const UnitGraph &units;
  std::vector<Step> steps;
  std::vector<int> stepOf;                ///< by node, -1: none
  std::vector<std::vector<int>> touching; ///< steps, by value
  std::set<ValueId> kept;                 ///< whose memory outlives the call
  std::vector<std::size_t> places;        ///< of the steps in the new order
};
} // namespace

/// What a node reads comes first, but for views of its own group's results.
void Emitter::emitOperands(int node, int ownUnit) {
  for (ValueId operand : graph.operands(graph.nodes[node])) {
    int base = graph.values[plan.analysis->baseOf(operand)].node;
    if (ownUnit < 0 || units.unitOf(base) != ownUnit)
      emit(graph.values[operand].node);
  }
  for (int other : units.walls(node))
    emit(other);
}

void Emitter::emit(int node) {
  if (isDone[node])
    return;
  isDone[node] = true;
  int unit = units.unitOf(node);
  auto groups = unit < 0 ? groupsOf.end() : groupsOf.find(unit);
  if (groups == groupsOf.end()) {
    emitOperands(node);
    plan.order.push_back({.group = -1, .node = node});
    return;
  }
  for (int member : units.members(unit))
    isDone[member] = true;
  for (int member : units.members(unit))
    emitOperands(member, unit);
  for (int group : groups->second)
    plan.order.push_back({.group = group, .node = -1});
}

Sinker::Sinker(FusionPlan &plan, const UnitGraph &units)
    : plan(plan), graph(*plan.graph), units(units), steps(plan.order.size()),
      stepOf(graph.nodes.size(), -1), touching(graph.values.size()),
      places(plan.order.size()) {
  for (const GraphOutput &output : graph.outputs)
    if (output.kind == GraphArgument::Kind::Value)
      kept.insert(plan.analysis->baseOf(ValueId(output.integer)));
  // AOTAutograd's name for what the caller gave the forward graph.
  for (int input : graph.inputs)
    if (graph.nodes[input].name.starts_with("primals_"))
      kept.insert(graph.nodes[input].results.front());
  std::iota(places.begin(), places.end(), 0);
  for (std::size_t i = 0; i != steps.size(); ++i)
    describe(static_cast<int>(i), plan.order[i]);
  findFollowers();
}

void Sinker::addNode(int index, int node) {
  Step &step = steps[index];
  if (stepOf[node] < 0) // parts of one node are several steps
    stepOf[node] = index;
  for (ValueId operand : graph.operands(graph.nodes[node])) {
    touching[operand].push_back(index);
    step.reads.push_back(plan.analysis->baseOf(operand));
  }
  step.isFixed |= graph.nodes[node].mutates || graph.nodes[node].isRandom ||
                  graph.nodes[node].kind == NodeKind::Host;
}

void Sinker::describe(int index, const Unit &unit) {
  Step &step = steps[index];
  if (unit.group < 0) {
    addNode(index, unit.node);
    step.writes = graph.nodes[unit.node].results;
    step.isView =
        std::holds_alternative<ViewOf>(plan.analysis->operations[unit.node]);
  } else {
    const Group &group = plan.groups[unit.group];
    for (int node : group.draft.nodes())
      addNode(index, node);
    step.writes = group.outputs;
    for (const auto &[value, place] : group.placed)
      step.writes.push_back(graph.nodes[place.node].results.front());
    // Whoever writes a part comes when the others do.
    step.isFixed |= group.part >= 0 || !group.placed.empty();
  }
  std::ranges::sort(step.reads);
  step.reads.erase(std::ranges::unique(step.reads).begin(), step.reads.end());
  for (const std::vector<ValueId> *values : {&step.reads, &step.writes})
    for (ValueId value : *values)
      touching[value].push_back(index);
}

/// Who reads what a step writes, or writes to it as well, and whom effects keep
/// behind it.
void Sinker::findFollowers() {
  for (std::size_t i = 0; i != steps.size(); ++i)
    for (ValueId value : steps[i].writes)
      for (int other : touching[value])
        if (other > static_cast<int>(i))
          steps[i].followers.insert(other);
  for (std::size_t node = 0; node != stepOf.size(); ++node)
    for (int wall : units.walls(static_cast<int>(node)))
      if (stepOf[wall] >= 0 && stepOf[node] > stepOf[wall])
        steps[stepOf[wall]].followers.insert(stepOf[node]);
}

/// As of the sizes that were traced.
std::int64_t Sinker::bytesOf(ValueId value) const {
  const TensorFacts *facts = graph.values[value].tensor();
  if (!facts)
    return 0;
  const SizeTable &sizes = *plan.sizes;
  return std::accumulate(
      facts->sizes.begin(), facts->sizes.end(), std::int64_t(facts->bytes),
      [&](std::int64_t bytes, Size size) {
        return bytes * sizes.evaluate(size, sizes.hints()).asInt();
      });
}

/// Whether no more memory is held where a step runs just before that at a
/// place: what it makes is held until then, or what nobody else reads from
/// there on.
bool Sinker::isWorthIt(const Step &step, std::size_t place) const {
  constexpr std::int64_t least = 64 << 10;
  std::int64_t made = 0, let = 0;
  for (ValueId value : step.writes)
    made += bytesOf(value);
  if (made < least)
    return false;
  for (ValueId value : step.reads)
    if (!kept.contains(value) &&
        std::ranges::none_of(touching[value],
                             [&](int other) { return places[other] >= place; }))
      let += bytesOf(value);
  return made >= let;
}

void Sinker::run() {
  std::vector<std::size_t> order(places); // steps by place
  for (std::size_t i = order.size(); i != 0; --i) {
    const Step &step = steps[i - 1];
    std::size_t first = order.size();
    for (int follower : step.followers)
      first = std::min(first, places[follower]);
    if (step.isFixed || first == order.size() || first == i ||
        !(step.isView || isWorthIt(step, first)))
      continue;
    auto at = [&](std::size_t place) {
      return order.begin() + static_cast<std::ptrdiff_t>(place);
    };
    std::rotate(at(i - 1), at(i), at(first));
    for (std::size_t place = i - 1; place != first; ++place)
      places[order[place]] = place;
  }
  std::vector<Unit> graphOrder = std::move(plan.order);
  plan.order.clear();
  for (std::size_t step : order)
    plan.order.push_back(graphOrder[step]);
}

void orderUnits(FusionPlan &plan, const UnitGraph &units,
                const std::map<int, std::vector<int>> &groupsOf,
                std::vector<bool> isDone) {
  const Graph &graph = *plan.graph;
  auto isStep = [&](int node) {
    return graph.nodes[node].kind == NodeKind::Call ||
           graph.nodes[node].kind == NodeKind::Host;
  };
  Emitter emitter(plan, units, groupsOf, std::move(isDone));
  for (std::size_t i = 0; i != graph.nodes.size(); ++i)
    if (isStep(static_cast<int>(i)))
      emitter.emit(static_cast<int>(i));
  std::erase_if(plan.order, [&](const Unit &unit) {
    return unit.node >= 0 && !isStep(unit.node);
  });
  Sinker(plan, units).run();
}

} // namespace quern
