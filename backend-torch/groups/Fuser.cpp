// Greedy fusion: every node joins the groups that feed it, if it may.
#include "backend-torch/groups/Copies.h"
#include "backend-torch/groups/Order.h"
#include "backend-torch/groups/Stores.h"
#include "backend-torch/ops/Attention.h"
#include "backend-torch/ops/Devices.h"
#include "backend-torch/ops/Preferred.h"

#include <algorithm>

namespace quern {

namespace {
class Fuser {
public:
  Fuser(FusionPlan &plan, const FusionOptions &options,
        const MachineInfo &machine)
      : plan(plan), graph(*plan.graph), analysis(*plan.analysis),
        options(options), machine(machine), units(analysis), readers(graph),
        isDone(graph.nodes.size()) {}

  void run();

private:
  void consider(int node);
  bool startWhole(int node, int unit, std::string why);
  bool isClosed(int unit) const;
  void growTowards(int unit, int candidate);
  std::vector<int> siblings(int node) const;
  std::optional<std::string> build(const std::vector<int> &nodes,
                                   Draft &draft) const;
  std::optional<std::string> whyNotOneKernel(const Draft &draft) const;
  bool escapes(ValueId value, const std::vector<int> &nodes) const;
  bool isReadFromMemory(ValueId fill, ValueId value) const;
  void collectGroups();
  void finish(int unit, const Draft &draft);
  void addGroup(int unit, const Draft &draft);
  void addParts(int unit, Group group, int node, const Placement &placement);

  FusionPlan &plan;
  const Graph &graph;
  const Analysis &analysis;
  const FusionOptions &options;
  const MachineInfo &machine;
  UnitGraph units;
  const Readers readers;
  std::map<int, Draft> drafts; ///< by unit
  std::map<int, std::string> stopped;
  std::map<int, std::vector<int>> groupsOf; ///< by unit
  std::vector<bool> isDone;                 ///< nodes that need no step
};
} // namespace

/// Whether a value, or a view of it, is read by a node not among `nodes`.
bool Fuser::escapes(ValueId value, const std::vector<int> &nodes) const {
  if (readers.isOutput[value])
    return true;
  for (int user : readers.nodes[value]) {
    if (std::holds_alternative<ViewOf>(analysis.operations[user])) {
      for (ValueId view : graph.nodes[user].results)
        if (escapes(view, nodes))
          return true;
      continue;
    }
    if (std::find(nodes.begin(), nodes.end(), user) == nodes.end())
      return true;
  }
  return false;
}

/// Every result must lie on all axes, or on all but the reduced ones, and every
/// axis must be one of a tensor that is read.
std::optional<std::string> Fuser::whyNotOneKernel(const Draft &draft) const {
  std::vector<Atom> order = draft.space();
  std::set<Atom> read, all = draft.resultSpace(/*rows=*/false),
                       rows = draft.resultSpace(/*rows=*/true);
  for (ValueId input : draft.inputs())
    read.merge(draft.variation(input));
  if (read != std::set<Atom>(order.begin(), order.end()))
    return "no tensor that it reads has all of its axes";
  for (int node : draft.nodes())
    for (ValueId value : graph.nodes[node].results) {
      if (draft.isRefilled(node) || !escapes(value, draft.nodes()))
        continue;
      std::set<Atom> own;
      for (const Dimension &dimension : draft.dimensionsOf(value))
        own.insert(dimension.begin(), dimension.end());
      if (own != all && !(draft.hasReduction() && own == rows))
        return "a result on fewer axes is needed elsewhere";
    }
  return std::nullopt;
}

std::optional<std::string> Fuser::build(const std::vector<int> &nodes,
                                        Draft &draft) const {
  std::optional<std::string> why;
  for (bool takesFills : {true, false}) {
    draft = Draft(analysis, takesFills);
    why.reset();
    for (std::size_t i = 0; i != nodes.size() && !why; ++i)
      why = draft.add(nodes[i]);
    if (!why)
      why = whyNotOneKernel(draft);
    if (!why || !draft.hasRefilled())
      break;
  }
  return why;
}

void Fuser::growTowards(int unit, int candidate) {
  if (candidate == unit || !drafts.contains(candidate) ||
      !drafts.contains(unit) || isClosed(unit) || isClosed(candidate) ||
      analysis.fills[units.members(candidate).front()])
    return;
  std::vector<int> nodes = units.members(candidate);
  const std::vector<int> &own = units.members(unit);
  nodes.insert(nodes.end(), own.begin(), own.end());
  std::sort(nodes.begin(), nodes.end());
  std::string next = graph.nodes[own.back()].name + ": ";
  if (nodes.size() > options.limit) {
    stopped[candidate] = next + "the group is full";
    return;
  }
  if (!units.canMerge({unit, candidate})) {
    stopped[candidate] = next + "another step lies between";
    return;
  }
  Draft draft(analysis);
  if (std::optional<std::string> why = build(nodes, draft)) {
    stopped[candidate] = next + *why;
    return;
  }
  units.merge(unit, candidate);
  drafts.erase(candidate);
  stopped.erase(candidate);
  drafts.insert_or_assign(unit, std::move(draft));
}

/// Groups that read what the node reads, or the same view of it, the latest
/// few.
std::vector<int> Fuser::siblings(int node) const {
  std::vector<int> result;
  for (ValueId operand : graph.operands(graph.nodes[node]))
    for (ValueId value : {operand, analysis.baseOf(operand)})
      for (int user : readers.nodes[value]) {
        int unit = units.unitOf(user);
        if (user < node && unit >= 0 && drafts.contains(unit))
          result.push_back(unit);
      }
  std::sort(result.rbegin(), result.rend());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  if (result.size() > 4)
    result.resize(4);
  return result;
}

/// A node that no group can take: its declaration as it is, or ATen. True for
/// the former.
bool Fuser::startWhole(int node, int unit, std::string why) {
  auto *call = std::get_if<LibraryCall>(&analysis.operations[node]);
  if (call && call->whole && options.preferAten &&
      isAtensOnDevice(graph, graph.nodes[node])) {
    why += "; ATen is preferred for what is launched by itself on a GPU";
    plan.opaque.emplace_back(node,
                             Opaque{std::move(why), OpaqueKind::Preferred});
    return false;
  }
  if (!call || !call->whole) {
    if (call)
      why += "; launched by itself: " + call->whyNotWhole;
    plan.opaque.emplace_back(node, Opaque{std::move(why), {}});
    return false;
  }
  Draft draft(analysis);
  draft.addWhole(node, *call->whole);
  drafts.insert_or_assign(unit, std::move(draft));
  stopped[unit] = std::move(why);
  return true;
}

void Fuser::consider(int node) {
  int unit = units.add(node);
  if (unit < 0)
    return;
  if (auto *opaque = std::get_if<Opaque>(&analysis.operations[node])) {
    plan.opaque.emplace_back(node, *opaque);
    return;
  }
  if (auto *placement = std::get_if<Placement>(&analysis.operations[node])) {
    Draft draft(analysis);
    draft.addPlacement(node, *placement);
    drafts.insert_or_assign(unit, std::move(draft));
    return;
  }
  auto restricted = options.restricted.find(node);
  bool isRestricted = restricted != options.restricted.end();
  Draft draft(analysis);
  std::optional<std::string> why;
  if (isRestricted && restricted->second.level == Restriction::Level::Whole)
    why = restricted->second.reason;
  else
    why = draft.add(node);
  if (why) {
    startWhole(node, unit, std::move(*why));
    return;
  }
  drafts.insert_or_assign(unit, std::move(draft));
  if (!options.fuse)
    return;
  if (isRestricted) {
    stopped[unit] = restricted->second.reason;
    return;
  }
  // Whoever reads a fill computes it.
  if (analysis.fills[node])
    return;
  Draft refilled(analysis);
  if (!build({node}, refilled))
    drafts.insert_or_assign(unit, std::move(refilled));
  for (int candidate : units.producers(node))
    growTowards(unit, candidate);
  // The scores of an attention join when its last product is there: before, a
  // result would lie on other axes than the rows.
  if (analysis.attention[node] >= 0)
    for (int member : std::vector<int>(units.members(unit)))
      for (int candidate : units.producers(member))
        growTowards(unit, candidate);
  for (int candidate : siblings(node))
    growTowards(unit, candidate);
}

/// Whether a unit is closed to others, for the compiler's or its own reasons.
bool Fuser::isClosed(int unit) const {
  return drafts.at(unit).isWhole() ||
         options.restricted.contains(units.members(unit).front());
}

static bool callsLibrary(const Analysis &analysis, const Draft &draft) {
  return std::any_of(draft.nodes().begin(), draft.nodes().end(), [&](int node) {
    return std::holds_alternative<LibraryCall>(analysis.operations[node]) &&
           !draft.isRefilled(node);
  });
}

/// Whether somebody reads a fill, or a view of it, who does not compute it.
bool Fuser::isReadFromMemory(ValueId fill, ValueId value) const {
  return readers.isOutput[value] ||
         std::ranges::any_of(readers.nodes[value], [&](int user) {
           if (std::holds_alternative<ViewOf>(analysis.operations[user]))
             return std::ranges::any_of(
                 graph.nodes[user].results,
                 [&](ValueId view) { return isReadFromMemory(fill, view); });
           auto draft = drafts.find(units.unitOf(user));
           return draft == drafts.end() || !draft->second.computes(fill);
         });
}

/// What becomes of a draft that nothing more joins: a group, or ATen steps.
void Fuser::finish(int unit, const Draft &draft) {
  int first = draft.nodes().front();
  if (analysis.fills[first] && draft.nodes().size() == 1) {
    ValueId fill = graph.nodes[first].results.front();
    if (!isReadFromMemory(fill, fill)) {
      isDone[first] = true;
      return;
    }
  }
  std::optional<std::string> why;
  OpaqueKind kind = OpaqueKind::Fallback;
  if (!draft.isWhole()) {
    why = whyNotOneKernel(draft);
    if (!callsLibrary(analysis, draft) &&
        (why || (options.preferAten && !isOursToCopy(analysis, draft)))) {
      why = "it only copies or fills";
      kind = OpaqueKind::Preferred;
    }
    if (!why && options.preferAten && draft.nodes().size() == 1) {
      why = whyAtenAlone(graph, graph.nodes[draft.nodes().front()], machine);
      kind = why ? OpaqueKind::Preferred : kind;
    }
  }
  if (why && kind == OpaqueKind::Fallback && draft.nodes().size() == 1) {
    int node = draft.nodes().front();
    if (startWhole(node, unit, std::move(*why)))
      addGroup(unit, drafts.at(unit));
    return;
  }
  if (why) {
    for (int node : draft.nodes())
      plan.opaque.emplace_back(node, Opaque{*why, kind});
    return;
  }
  addGroup(unit, draft);
}

/// A copy for each part that is not stored in its place as it is made.
void Fuser::addParts(int unit, Group group, int node,
                     const Placement &placement) {
  std::vector<int> &groups = groupsOf[unit];
  for (std::size_t i = 0; i != placement.parts.size(); ++i) {
    group.part = static_cast<int>(i);
    group.inputs = {placement.parts[i]};
    std::optional<std::string> why = "every node is a kernel of its own";
    if (options.fuse)
      why = storeInPlace(plan, readers, node, group.part);
    if (!why)
      continue;
    group.stopped = *why;
    groups.push_back(static_cast<int>(plan.groups.size()));
    plan.groups.push_back(group);
  }
}

/// In the order in which the group's nodes read them, which groups that compute
/// the same share.
static std::vector<ValueId> inputsInOrder(const Graph &graph,
                                          const Draft &draft) {
  std::vector<ValueId> inputs;
  for (int node : draft.nodes())
    for (ValueId operand : graph.operands(graph.nodes[node]))
      if (draft.inputs().contains(operand) &&
          std::ranges::find(inputs, operand) == inputs.end())
        inputs.push_back(operand);
  return inputs;
}

void Fuser::addGroup(int unit, const Draft &draft) {
  Group group{.draft = draft,
              .inputs = inputsInOrder(graph, draft),
              .outputs = {},
              .stopped = stopped[unit],
              .part = -1,
              .placed = {}};
  int first = draft.nodes().front();
  if (auto *placement = std::get_if<Placement>(&analysis.operations[first])) {
    group.outputs = {placement->target};
    addParts(unit, std::move(group), first, *placement);
    return;
  }
  for (int node : draft.nodes()) {
    if (draft.isRefilled(node))
      continue;
    for (ValueId value : graph.nodes[node].results)
      if (draft.isWhole() ? draft.computes(value)
                          : escapes(value, draft.nodes()))
        group.outputs.push_back(value);
  }
  groupsOf[unit].push_back(static_cast<int>(plan.groups.size()));
  plan.groups.push_back(std::move(group));
}

void Fuser::collectGroups() {
  std::vector<int> all;
  all.reserve(drafts.size());
  for (const auto &[unit, draft] : drafts)
    all.push_back(unit);
  // What computes the parts of a placement comes first.
  for (bool isPlacement : {false, true})
    for (int unit : all) {
      Draft draft = drafts.at(unit);
      if (std::holds_alternative<Placement>(
              analysis.operations[draft.nodes().front()]) == isPlacement)
        finish(unit, draft);
    }
  std::sort(plan.opaque.begin(), plan.opaque.end(),
            [](const auto &a, const auto &b) { return a.first < b.first; });
}

void Fuser::run() {
  for (std::size_t i = 0; i != graph.nodes.size(); ++i)
    consider(static_cast<int>(i));
  collectGroups();
  orderUnits(plan, units, groupsOf, std::move(isDone));
}

/// What a node is, as far as the restrictions on it let it.
static Operation classifyNode(const Graph &graph, int index,
                              const OperatorTable &table, bool preferAten,
                              const FusionOptions &options) {
  auto found = options.restricted.find(index);
  const Restriction *restricted =
      found == options.restricted.end() ? nullptr : &found->second;
  Operation operation = Opaque{"", OpaqueKind::Fallback};
  if (!restricted || restricted->level != Restriction::Level::Aten)
    operation = classify(graph, graph.nodes[index], table, preferAten,
                         restricted ? restricted->rows : 0);
  // No row is left: the compiler's words about the last one stay.
  if (auto *opaque = std::get_if<Opaque>(&operation);
      opaque && opaque->reason.empty())
    opaque->reason = restricted ? restricted->reason : "no row takes it";
  return operation;
}

/// ATen's products are not preferred within an attention that can be one
/// kernel.
static void classifyAll(Analysis &analysis, const OperatorTable &table,
                        const FusionOptions &options) {
  const Graph &graph = *analysis.graph;
  int count = static_cast<int>(graph.nodes.size());
  for (int i = 0; i != count; ++i)
    analysis.operations.push_back(
        classifyNode(graph, i, table, options.preferAten, options));
  for (int i = 0; i != count; ++i)
    analysis.fills.push_back(
        options.fuse && !options.restricted.contains(i)
            ? fillOf(graph, graph.nodes[i], analysis.operations[i])
            : std::nullopt);
  analysis.attention = findAttention(graph, analysis.operations, table);
  if (!options.fuse || !options.preferAten)
    return;
  for (int i = 0; i != count; ++i)
    if (analysis.attention[i] >= 0 && isOnHost(graph, graph.nodes[i]))
      analysis.operations[i] = classifyNode(graph, i, table, false, options);
}

FusionPlan planFusion(std::shared_ptr<const Graph> graph,
                      const OperatorTable &table,
                      const FusionOptions &options) {
  FusionPlan plan;
  plan.graph = std::move(graph);
  plan.sizes = std::make_unique<SizeTable>(plan.graph->sizes);
  plan.analysis = std::make_unique<Analysis>();
  plan.analysis->graph = plan.graph.get();
  plan.analysis->sizes = plan.sizes.get();
  static const OperatorTable none({});
  classifyAll(*plan.analysis, options.kernels ? table : none, options);
  Fuser(plan, options, table.machine()).run();
  return plan;
}

/// What a group is, and the declaration that one of a single node launches.
static std::string kindOf(const FusionPlan &plan, const Group &group) {
  if (group.part >= 0)
    return "part";
  if (!group.draft.isWhole())
    return group.draft.hasReduction() ? "rowwise" : "elementwise";
  int node = group.draft.nodes().front();
  const auto &call = std::get<LibraryCall>(plan.analysis->operations[node]);
  return "whole " + call.row->declaration;
}

std::string print(const FusionPlan &plan) {
  std::string text;
  for (std::size_t i = 0; i != plan.groups.size(); ++i) {
    const Group &group = plan.groups[i];
    text += "group " + std::to_string(i) + " " + kindOf(plan, group) + ":";
    for (int node : group.draft.nodes())
      text += " " + plan.graph->nodes[node].name;
    for (const auto &[value, place] : group.placed)
      text += "\n  stores: " + plan.graph->producer(value).name +
              " in its place in " + plan.graph->nodes[place.node].name;
    text += "\n  stopped: " +
            (group.stopped.empty() ? "nothing more reads it" : group.stopped) +
            "\n";
  }
  for (const auto &[node, opaque] : plan.opaque)
    text += "aten " + plan.graph->nodes[node].name + " (" +
            plan.graph->nodes[node].overload + "): " + opaque.reason + "\n";
  return text;
}

} // namespace quern
