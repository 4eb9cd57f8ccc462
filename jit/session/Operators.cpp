// The `@aten` rows of added modules and of the embedded library.
#include "jit/session/Guard.h"
#include "jit/session/State.h"

#include "frontend/typed/Walk.h"
#include "jit/session/EmbeddedModules.h"

using namespace quern;
using namespace quern::jit;

static std::pair<std::string, std::string>
describeBinding(const typed::AtenBinding &binding) {
  return {binding.left.str(), binding.text.str()};
}

/// Whether it, or what it calls, sorts or scatters.
static bool isSerial(const typed::Declaration &declaration) {
  bool found = false;
  typed::walk(declaration.body, [&](const typed::Expression &expression) {
    auto *call = llvm::dyn_cast<typed::CallExpression>(&expression);
    found |= llvm::isa<typed::SortExpression, typed::ScatterExpression>(
                 expression) ||
             (call && call->callee != &declaration && isSerial(*call->callee));
  });
  return found;
}

static OperatorRow describeRow(const typed::Declaration &declaration,
                               std::string overload,
                               const SourceManager &sources) {
  DeclarationInfo info = describe(declaration, sources);
  OperatorRow row;
  row.overload = std::move(overload);
  row.declaration = std::move(info.name);
  row.module = std::move(info.module);
  row.file = std::move(info.file);
  row.line = info.line;
  row.kind = info.kind;
  row.parameters = std::move(info.parameters);
  row.results = std::move(info.results);
  for (const typed::TypeParameter &parameter : declaration.typeParameters)
    row.dtypes.push_back(spelling(parameter.constraint).str());
  row.backward = std::move(info.backward);
  row.isSerial = isSerial(declaration);
  return row;
}

static OperatorRow describeRow(const typed::Declaration &declaration,
                               const typed::AtenAttribute &attribute,
                               const SourceManager &sources) {
  // `prims::fma` names its own namespace.
  std::string overload = attribute.overload.str();
  if (!attribute.overload.contains("::"))
    overload = "aten::" + overload;
  OperatorRow row = describeRow(declaration, std::move(overload), sources);
  for (const typed::AtenBinding &binding : attribute.bindings)
    row.bindings.push_back(describeBinding(binding));
  return row;
}

static void addRows(const typed::TypedModule &module,
                    llvm::ArrayRef<OperatorBinding> more,
                    const SourceManager &sources,
                    std::vector<OperatorRow> &rows) {
  for (const typed::Declaration *declaration : module.declarations()) {
    if (declaration->hasError)
      continue;
    for (const typed::AtenAttribute &attribute : declaration->attributes.aten)
      rows.push_back(describeRow(*declaration, attribute, sources));
    for (const OperatorBinding &binding : more)
      if (binding.declaration == declaration->name)
        rows.push_back(describeRow(*declaration, binding.overload, sources));
  }
}

Result<std::vector<OperatorRow>> Session::operators() const {
  return guarded([&]() -> Result<std::vector<OperatorRow>> {
    SessionCore &core = *state->core;
    std::lock_guard lock(core.frontend);
    std::vector<OperatorRow> rows;
    DiagnosticEngine diagnostics;
    auto add = [&](llvm::StringRef name, llvm::ArrayRef<OperatorBinding> more) {
      if (auto module = core.library.load(name, diagnostics))
        addRows(*module, more, core.sources, rows);
    };
    for (const SessionCore::Added &added : core.added)
      add(added.name, added.operators);
    for (const EmbeddedModule &embedded : embeddedModules())
      add(embedded.name, {});
    if (diagnostics.hasErrors())
      return toError(diagnostics, core.sources);
    return rows;
  });
}
