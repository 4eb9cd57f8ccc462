// Finds declarations that call themselves: bodies are inlined, so none may.
#include "frontend/check/ModuleChecker.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

namespace {
/// Walks the calls of a module without recursion of its own.
class CycleFinder {
public:
  explicit CycleFinder(llvm::ArrayRef<CallEdge> calls) {
    for (const CallEdge &edge : calls)
      edges[edge.caller].push_back(&edge);
  }

  /// The calls of a cycle through `start`, or nothing.
  llvm::SmallVector<const CallEdge *, 8> find(const Declaration *start);

private:
  struct Frame {
    const Declaration *declaration;
    std::size_t next = 0;
  };
  llvm::DenseMap<const Declaration *, llvm::SmallVector<const CallEdge *, 4>>
      edges;
  /// Seen and found to be on no cycle that was not reported.
  llvm::DenseMap<const Declaration *, bool> isDone;
};
} // namespace

llvm::SmallVector<const CallEdge *, 8>
CycleFinder::find(const Declaration *start) {
  llvm::SmallVector<const CallEdge *, 8> path;
  llvm::SmallVector<Frame, 8> stack{{start}};
  while (!stack.empty()) {
    Frame &top = stack.back();
    auto &out = edges[top.declaration];
    if (isDone[top.declaration] || top.next == out.size()) {
      isDone[top.declaration] = true;
      stack.pop_back();
      if (!path.empty())
        path.pop_back();
      continue;
    }
    const CallEdge *edge = out[top.next++];
    auto *onStack = llvm::find_if(stack, [&](const Frame &frame) {
      return frame.declaration == edge->callee;
    });
    path.push_back(edge);
    if (onStack != stack.end()) {
      path.erase(path.begin(), path.begin() + (onStack - stack.begin()));
      for (const Frame &frame : stack)
        isDone[frame.declaration] = true;
      return path;
    }
    stack.push_back({edge->callee});
  }
  return {};
}

void ModuleChecker::findRecursion() {
  CycleFinder finder(calls);
  for (const Declaration *declaration : builder.get().declarations()) {
    auto cycle = finder.find(declaration);
    if (!cycle.empty())
      reportCycle(cycle);
  }
}

void ModuleChecker::reportCycle(llvm::ArrayRef<const CallEdge *> path) {
  std::string names = ("`" + path.front()->caller->name + "`").str();
  for (const CallEdge *edge : path)
    names += (" → `" + edge->callee->name + "`").str();
  auto report = diagnostics.report(path.front()->span, diag::RecursiveCall,
                                   path.front()->caller->name, names);
  report.note("calls are inlined; write a loop with a bound");
  for (const CallEdge *edge : path.drop_front())
    report.label(edge->span, "calls `" + edge->callee->name + "`");
  // Behind the checker a cycle would never end.
  for (const CallEdge *edge : path)
    const_cast<Declaration *>(edge->caller)->hasError = true;
}
