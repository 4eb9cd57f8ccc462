// The `@aten` rows of the embedded library.
#include "jit/session/State.h"

#include "jit/session/EmbeddedModules.h"

using namespace quern;
using namespace quern::jit;

static std::pair<std::string, std::string>
describeBinding(const typed::AtenBinding &binding) {
  return {binding.left.str(), binding.text.str()};
}

static OperatorRow describeRow(const typed::Declaration &declaration,
                               const typed::AtenAttribute &attribute,
                               const SourceManager &sources) {
  DeclarationInfo info = describe(declaration, sources);
  OperatorRow row;
  // `prims::fma` names its own namespace.
  bool isQualified = attribute.overload.contains("::");
  row.overload = (isQualified ? "" : "aten::") + attribute.overload.str();
  row.declaration = std::move(info.name);
  row.module = std::move(info.module);
  row.file = std::move(info.file);
  row.line = info.line;
  row.kind = info.kind;
  row.parameters = std::move(info.parameters);
  row.results = std::move(info.results);
  for (const typed::AtenBinding &binding : attribute.bindings)
    row.bindings.push_back(describeBinding(binding));
  for (const typed::TypeParameter &parameter : declaration.typeParameters)
    row.dtypes.push_back(spelling(parameter.constraint).str());
  if (const typed::BackwardAttribute *backward =
          declaration.attributes.backward)
    row.backward = backward->declaration->name.str();
  return row;
}

Result<std::vector<OperatorRow>> Session::operators() const {
  SessionCore &core = *state->core;
  std::lock_guard lock(core.frontend);
  std::vector<OperatorRow> rows;
  DiagnosticEngine diagnostics;
  for (const EmbeddedModule &embedded : embeddedModules()) {
    std::shared_ptr<const typed::TypedModule> module =
        core.library.load(embedded.name, diagnostics);
    if (!module)
      continue;
    for (const typed::Declaration *declaration : module->declarations())
      for (const typed::AtenAttribute &attribute : declaration->attributes.aten)
        if (!declaration->hasError)
          rows.push_back(describeRow(*declaration, attribute, core.sources));
  }
  if (diagnostics.hasErrors())
    return toError(diagnostics, core.sources);
  return rows;
}
