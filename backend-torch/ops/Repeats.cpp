// Calls are compared by all that decides their results, written as one text.
#include "backend-torch/ops/Repeats.h"
#include "backend-torch/graph/Readers.h"
#include "backend-torch/ops/Operation.h"

#include <bit>
#include <numeric>
#include <set>

namespace quern {

namespace {
using Kind = GraphArgument::Kind;

class Repeats {
public:
  explicit Repeats(Graph given) : graph(std::move(given)) {
    same.resize(graph.values.size());
    std::iota(same.begin(), same.end(), 0);
    alike = same;
  }

  /// Whether any call was left out.
  bool run();
  Graph take() { return std::move(graph); }

private:
  void noteOwn();
  bool mayRepeat(const Node &node) const;
  std::string keyOf(const Node &node) const;
  void write(const GraphArgument &argument, std::string &key) const;
  void substitute(GraphArgument &argument) const;
  void leaveOut(const Node &node, const Node &earlier);
  void moveStorages();
  void dropUnread();

  Graph graph;
  std::vector<ValueId> same;  ///< what is read instead of each value
  std::vector<ValueId> alike; ///< the first value that is equal to each
  /// Memory that is given out or written to: whoever made it keeps it.
  std::set<int> own;
  std::map<int, int> storages; ///< memory that is another's now
  int writes = 0;              ///< so far: what is read may have changed
};
} // namespace

static void add(std::int64_t number, std::string &key) {
  key += std::to_string(number) + ",";
}

static const TensorFacts *tensorOf(const Graph &graph, ValueId id) {
  return graph.values[id].tensor();
}

/// Outputs are memory of their own, and so is what anybody writes to.
void Repeats::noteOwn() {
  auto note = [&](ValueId id) {
    if (const TensorFacts *facts = tensorOf(graph, id))
      own.insert(facts->storage);
  };
  for (const GraphOutput &output : graph.outputs)
    if (output.kind == Kind::Value)
      note(static_cast<ValueId>(output.integer));
  for (const Node &node : graph.nodes)
    if (node.mutates)
      for (ValueId id : graph.operands(node))
        note(id);
}

/// Of operators that are not torch's nobody knows what they do besides.
bool Repeats::mayRepeat(const Node &node) const {
  bool isKnown = node.overload.starts_with("aten::") ||
                 node.overload.starts_with("prims::");
  if (node.kind != NodeKind::Call || !isKnown || node.mutates ||
      node.isRandom || node.results.empty() || isAllocation(node.overload))
    return false;
  for (ValueId id : node.results) {
    const Facts &facts = graph.values[id].facts;
    auto *tensor = std::get_if<TensorFacts>(&facts);
    bool isAbsent = std::holds_alternative<std::monostate>(facts);
    if (tensor ? own.contains(tensor->storage) : !isAbsent)
      return false;
  }
  return true;
}

void Repeats::write(const GraphArgument &argument, std::string &key) const {
  add(static_cast<std::int64_t>(argument.kind), key);
  bool isValue = argument.kind == Kind::Value;
  add(isValue ? alike[argument.integer] : argument.integer, key);
  for (double real : {argument.real, argument.imaginary})
    add(std::bit_cast<std::int64_t>(real), key);
  add(static_cast<std::int64_t>(argument.text.size()), key);
  key += argument.text;
  add(static_cast<std::int64_t>(argument.list.size()), key);
  for (const GraphArgument &element : argument.list)
    write(element, key);
}

std::string Repeats::keyOf(const Node &node) const {
  std::string key = node.overload + "/";
  add(writes, key);
  for (const NamedArgument &argument : node.arguments)
    write(argument.value, key);
  for (ValueId id : node.results) {
    const TensorFacts *facts = tensorOf(graph, id);
    key += facts ? "tensor " + facts->device + " " : "nothing";
    if (!facts)
      continue;
    add(facts->scalarType, key);
    add(facts->offset, key);
    for (const std::vector<Size> *list : {&facts->sizes, &facts->strides})
      for (Size size : *list)
        add(size, key);
  }
  return key;
}

void Repeats::substitute(GraphArgument &argument) const {
  if (argument.kind == Kind::Value)
    argument.integer = same[argument.integer];
  for (GraphArgument &element : argument.list)
    substitute(element);
}

/// A number that fills a tensor costs less to write again than to keep, but
/// what is made of it is the same.
void Repeats::leaveOut(const Node &node, const Node &earlier) {
  bool isFill = primitiveOf(node.overload) == Primitive::Fill;
  for (std::size_t i = 0; i != node.results.size(); ++i) {
    ValueId left = node.results[i], kept = earlier.results[i];
    alike[left] = kept;
    if (isFill)
      continue;
    same[left] = kept;
    const TensorFacts *from = tensorOf(graph, left);
    const TensorFacts *to = tensorOf(graph, kept);
    if (from && to && from->storage != to->storage)
      storages[from->storage] = to->storage;
  }
}

void Repeats::moveStorages() {
  for (Value &value : graph.values)
    if (auto *facts = std::get_if<TensorFacts>(&value.facts))
      if (auto found = storages.find(facts->storage); found != storages.end())
        facts->storage = found->second;
}

/// Fills of which only repeats were made.
void Repeats::dropUnread() {
  noteRead(graph);
  std::erase_if(graph.nodes, [&](const Node &node) {
    if (node.results.size() != 1)
      return false;
    ValueId id = node.results[0];
    if (alike[id] == id || graph.values[id].isRead)
      return false;
    same[id] = alike[id];
    return true;
  });
}

bool Repeats::run() {
  noteOwn();
  std::map<std::string, std::size_t> seen;
  std::vector<Node> nodes;
  std::size_t before = graph.nodes.size();
  for (Node &node : graph.nodes) {
    for (NamedArgument &argument : node.arguments)
      substitute(argument.value);
    if (mayRepeat(node)) {
      auto [place, isNew] = seen.try_emplace(keyOf(node), nodes.size());
      if (!isNew) {
        leaveOut(node, nodes[place->second]);
        nodes[place->second].isRecomputed |= node.isRecomputed;
        if (same[node.results[0]] != node.results[0])
          continue;
      }
    }
    writes += node.mutates;
    nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
  if (graph.nodes.size() == before)
    return false;
  moveStorages();
  dropUnread();
  for (std::size_t id = 0; id != same.size(); ++id)
    graph.values[id] = graph.values[same[id]];
  renumber(graph);
  noteRead(graph);
  return true;
}

std::shared_ptr<const Graph>
withoutRepeats(std::shared_ptr<const Graph> graph) {
  Repeats repeats(*graph);
  if (!repeats.run())
    return graph;
  return std::make_shared<const Graph>(repeats.take());
}

} // namespace quern
