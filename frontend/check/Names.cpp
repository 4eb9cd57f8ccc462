// Scopes, and names used as values.
#include "frontend/check/DeclarationChecker.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

/// One name means one thing in a declaration: an inner block does not redefine
/// what an outer one defined.
bool DeclarationChecker::define(llvm::StringRef name, const Binding &binding) {
  if (name == "_")
    return true;
  module.noteName(name, binding, declaration, axes);
  auto [place, isNew] = names.try_emplace(name, binding);
  if (isNew) {
    shadowed.emplace_back(name, std::nullopt);
    return true;
  }
  bool wasPoison = place->second.kind == Binding::Kind::Poison;
  if (!wasPoison && binding.kind != Binding::Kind::Poison)
    report(binding.span, diag::Redefinition, name)
        .label(place->second.span, "first defined here");
  shadowed.emplace_back(name, place->second);
  place->second = binding;
  return wasPoison;
}

void DeclarationChecker::closeScope(std::size_t mark) {
  while (shadowed.size() > mark) {
    auto &[name, previous] = shadowed.back();
    warnUnused(names[name], name);
    if (previous)
      names[name] = *previous;
    else
      names.erase(name);
    shadowed.pop_back();
  }
}

void DeclarationChecker::warnUnused(const Binding &binding,
                                    llvm::StringRef name) {
  bool isLocal = binding.kind == Binding::Kind::Alias ||
                 (binding.kind == Binding::Kind::Variable &&
                  (binding.variable->kind == VariableKind::Let ||
                   binding.variable->kind == VariableKind::Storage));
  if (isSilent)
    return;
  if (binding.kind == Binding::Kind::Variable)
    endedNames[name] = binding.span;
  if (isLocal && !binding.isUsed && !hasFailed && !name.starts_with("_"))
    unusedNames.push_back({name, binding.span});
}

/// "`y` (line 3) ends with its block", where a block before had that name.
std::string DeclarationChecker::endedHint(llvm::StringRef name) {
  auto ended = endedNames.find(name);
  if (ended == endedNames.end())
    return "";
  llvm::erase_if(unusedNames,
                 [&](const auto &unused) { return unused.first == name; });
  unsigned line = module.lineOf(ended->second);
  return ("`" + name + "` (line " + llvm::Twine(line) +
          ") ends with its block; write `var " + name +
          " = …` before the block, and assign it there")
      .str();
}

void DeclarationChecker::warnUnusedNames() {
  for (const auto &[name, span] : unusedNames)
    report(span, diag::UnusedVariable, name);
  unusedNames.clear();
}

Binding *DeclarationChecker::lookup(llvm::StringRef name) {
  auto found = names.find(name);
  if (found == names.end())
    return nullptr;
  found->second.isUsed = true;
  module.noteName(name, found->second, declaration, axes);
  return &found->second;
}

bool check::isVectorType(llvm::StringRef name) {
  name.consume_front("make_");
  llvm::StringRef element = name.rtrim("0123456789");
  if (element.size() == name.size() || elementTypeNamed(name))
    return false;
  return elementTypeNamed(element.rtrim('x')) || element == "float" ||
         element == "double" || element == "int" || element == "uint" ||
         element == "half";
}

llvm::StringRef check::foreignName(llvm::StringRef name) {
#define QN_FOREIGN_NAME(foreign, text)                                         \
  if (name == foreign)                                                         \
    return text;
#include "frontend/check/ForeignNames.def"
#define QN_FOREIGN_SCALAR(foreign, spelling)                                   \
  if (name == foreign)                                                         \
    return "write `" spelling "(x)`";
#include "frontend/check/ForeignTypes.def"
  return isVectorType(name) ? llvm::StringRef(noVectors) : llvm::StringRef();
}

void DeclarationChecker::reportUnknown(const ast::Identifier &name,
                                       llvm::StringRef hint) {
  llvm::StringRef foreign = foreignName(name.text());
  Suggestion suggestion(name.text());
  for (const auto &[candidate, binding] : names)
    suggestion.consider(candidate);
  module.suggest(suggestion);
  std::string near = endedHint(name.text());
  if (near.empty())
    near = suggestion.hint();
  if (!foreign.empty())
    hint = foreign;
  else if (!near.empty())
    hint = near;
  report(name.span, diag::UnknownName, name.text()).hint(hint);
  // One mistake, one error: further uses of the name are not blamed.
  if (!isSilent)
    names.try_emplace(name.text(), Binding{});
}

Variable *DeclarationChecker::newVariable(llvm::StringRef name, Span span,
                                          VariableKind kind, const Type *type) {
  Variable *variable = builder.make<Variable>();
  variable->name = name;
  variable->span = span;
  variable->kind = kind;
  variable->id = declaration.variableCount++;
  variable->type = type;
  Binding binding;
  binding.kind = Binding::Kind::Variable;
  binding.span = span;
  binding.variable = variable;
  define(name, binding);
  return variable;
}

/// `thread`, which has a place for each dimension of a launch.
static bool standsForPlaces(llvm::StringRef name) {
  return name == "thread" || name == "block" || name == "block_size" ||
         name == "grid_size";
}

/// How a builtin stands that was named alone.
static std::string calledHint(llvm::StringRef name) {
  if (standsForPlaces(name))
    return ("write `" + name + ".x`").str();
  std::optional<Builtin> builtin = builtinNamed(name);
  bool isThreads =
      builtin && builtinInfo(*builtin).group == BuiltinGroup::Thread;
  return isThreads && builtinInfo(*builtin).operands == 0
             ? ("write `" + name + "()`").str()
             : "";
}

const Expression *DeclarationChecker::nameValue(const ast::Identifier &name) {
  if (Binding *binding = lookup(name.text()))
    return bindingValue(*binding, name.span);
  const Symbol *symbol = module.lookup(name.text());
  bool isBuiltin = symbol ? symbol->builtin.has_value()
                          : builtinNamed(name.text()).has_value();
  if (symbol && !isBuiltin)
    return symbolValue(*symbol, name);
  if (isTypeName(name.text()))
    report(name.span, diag::TypeAsValue, name.text());
  else if (isBuiltin)
    report(name.span, diag::NotAValue, "function", name.text())
        .hint(calledHint(name.text()));
  else
    reportUnknown(name);
  return nullptr;
}

const Expression *DeclarationChecker::bindingValue(const Binding &binding,
                                                   Span span) {
  switch (binding.kind) {
  case Binding::Kind::Poison:
    hasFailed = true;
    return nullptr;
  case Binding::Kind::Variable:
    return variableValue(*binding.variable, span);
  case Binding::Kind::Alias:
    return binding.alias;
  case Binding::Kind::TypeParameter:
    report(span, diag::TypeAsValue, typeParameters[binding.index].name);
    return nullptr;
  case Binding::Kind::ConstantParameter:
    return constantParameterValue(binding.index, span);
  case Binding::Kind::Axis:
    return axisValue(AxisId{static_cast<std::uint16_t>(binding.index)}, span);
  }
  llvm_unreachable("all kinds of binding have a value or an error");
}

const Expression *DeclarationChecker::variableValue(const Variable &variable,
                                                    Span span) {
  bool isHostText = place == Place::Extent && !variable.type->isScalar();
  bool isLiftedTensor =
      place == Place::Extent &&
      declaration.kind == DeclarationKind::Elementwise &&
      llvm::any_of(parameters, [&](const Parameter &parameter) {
        return parameter.variable == &variable && parameter.isTensor;
      });
  bool isOfThreads = place == Place::Extent &&
                     declaration.kind == DeclarationKind::Kernel &&
                     (variable.kind == VariableKind::Let ||
                      variable.kind == VariableKind::Var) &&
                     !extentNames.contains(&variable);
  if (isHostText || isLiftedTensor || isOfThreads ||
      (place == Place::Extent && !variable.type->axes.empty())) {
    report(span, diag::HostOnly, variable.name)
        .hint("what decides it is a parameter, `n: int`, or an axis");
    return nullptr;
  }
  auto *node = make<VariableExpression>(span, variable.type);
  node->variable = &variable;
  return node;
}

/// In lifted text an axis is the position along it, elsewhere its extent.
const Expression *DeclarationChecker::axisValue(AxisId axis, Span span) {
  if (axes[axis.index].pack) {
    report(span, diag::NotAValue, "pack", spell(axis))
        .hint("write `*" + axes[axis.index].name +
              "` where one value per axis is wanted, or `size(*" +
              axes[axis.index].name + ")`");
    return nullptr;
  }
  if (place != Place::Lifted)
    return axisBuiltin(Builtin::Size, axis, span);
  bool isExtent = axisUse == AxisUse::Extent && !variableAxes.count(axis.index);
  const Expression *value =
      axisBuiltin(isExtent ? Builtin::Size : Builtin::Index, axis, span);
  if (!variableAxes.count(axis.index)) {
    reportBareAxis(axes[axis.index].name, "", span);
    bareAxes.insert(value);
  }
  return value;
}

/// `index(C)` or `size(C)`.
const Expression *DeclarationChecker::axisBuiltin(Builtin builtin, AxisId axis,
                                                  Span span) {
  bool isIndex = builtin == Builtin::Index;
  auto *node = make<BuiltinExpression>(
      span,
      types.scalar(ScalarType::integer(),
                   isIndex ? builder.list(llvm::ArrayRef(axis)) : AxisList()));
  node->builtin = builtin;
  node->axis = axis;
  return node;
}

/// In lifted text the name of an axis is no value. The check goes on as if the
/// likelier of the two were written, so that each mistake of a text is found at
/// once.
void DeclarationChecker::reportBareAxis(llvm::StringRef axis,
                                        llvm::StringRef star, Span span) {
  std::string position = (star + "index(" + axis + ")").str();
  std::string extent = (star + "size(" + axis + ")").str();
  if (isSilent)
    return;
  auto report =
      module.diagnostics.report(span, diag::BareAxis, (star + axis).str());
  if (axisUse == AxisUse::Position)
    report.hint("the position is `" + position + "`").fix(span, position);
  else if (axisUse == AxisUse::Extent)
    report.hint("its extent is `" + extent + "`").fix(span, extent);
  else
    report.hint("the position is `" + position + "`, the extent `" + extent +
                "`");
}

const Expression *DeclarationChecker::packValue(const ast::PackExpr &text) {
  // `*k` of a parameter `k: int[*S]` is its value for each axis, as `k` is.
  Binding *binding = lookup(text.name.text());
  if (binding && binding->kind == Binding::Kind::Variable && !text.function &&
      binding->variable->type->pack.valid())
    return variableValue(*binding->variable, text.span);
  if (binding && binding->kind == Binding::Kind::Variable) {
    report(text.span, diag::UnknownAxis, text.name.text())
        .hint("there are no pointers: an element is `x[i]`");
    return nullptr;
  }
  AxisId axis = axisNamed(text.name);
  if (!axis.valid())
    return nullptr;
  if (!axes[axis.index].pack) {
    report(text.span, diag::PackMismatch, text.name.text(), "a pack",
           "an axis");
    return nullptr;
  }
  bool isLifted = place == Place::Lifted;
  llvm::StringRef function = text.function.text();
  if (!isLifted && function == "index") {
    report(text.span, diag::IndexOutsideLifted, keyword(declaration.kind));
    return nullptr;
  }
  bool isIndex = isLifted && function != "size";
  AxisList over = isIndex ? builder.list(llvm::ArrayRef(axis)) : AxisList();
  auto *node = make<PackElementExpression>(
      text.span, types.scalar(ScalarType::integer(), over, rankRoot(axis)));
  node->pack = axis;
  node->isIndex = isIndex;
  if (isLifted && !text.function && !variableAxes.count(axis.index)) {
    reportBareAxis(text.name.text(), "*", text.span);
    bareAxes.insert(node);
  }
  return node;
}

const Expression *DeclarationChecker::symbolValue(const Symbol &symbol,
                                                  const ast::Identifier &name) {
  symbol.isUsed = true;
  if (symbol.isBeingMade) {
    report(name.span, diag::ConstantCycle, name.text())
        .label(symbol.span, "defined here");
    return nullptr;
  }
  if (symbol.isPoisoned) {
    hasFailed = true;
    return nullptr;
  }
  const ConstantTable *constant = symbol.constant;
  if (!constant) {
    const Declaration *found =
        symbol.callable ? symbol.callable : symbol.reduction;
    report(name.span, diag::NotAValue, keyword(found->kind), name.text());
    return nullptr;
  }
  ScalarType element = ScalarType::concrete(constant->element);
  if (constant->isTable) {
    auto *node =
        make<ConstantTableExpression>(name.span, types.array(element, {}));
    node->table = constant;
    return node;
  }
  auto *node = make<ConstantExpression>(name.span, types.scalar(element));
  node->value = constant->values.front();
  return node;
}

const Expression *DeclarationChecker::constantParameterValue(unsigned index,
                                                             Span span) {
  const ConstantParameter &parameter = *constantParameters[index];
  auto *node = make<ConstantParameterExpression>(span, parameter.type);
  node->parameter = &parameter;
  return node;
}

/// "the axes are `R` and `C`".
std::string DeclarationChecker::axesHint() const {
  std::string list;
  for (const Axis &axis : axes) {
    if (axis.name.empty())
      continue;
    list += list.empty() ? "the axes here are `" : ", `";
    list += (axis.name + "`").str();
  }
  return list;
}

/// The axis of that name; reports when there is none.
AxisId DeclarationChecker::axisNamed(const ast::Identifier &name) {
  Binding *binding = lookup(name.text());
  if (binding && binding->kind == Binding::Kind::Axis)
    return AxisId{static_cast<std::uint16_t>(binding->index)};
  hasFailed = true;
  if (binding && binding->kind == Binding::Kind::Poison)
    return {};
  Suggestion suggestion(name.text());
  for (const auto &[candidate, other] : names)
    if (other.kind == Binding::Kind::Axis)
      suggestion.consider(candidate);
  std::string near = suggestion.hint();
  report(name.span, diag::UnknownAxis, name.text())
      .hint(near.empty() ? axesHint() : near);
  return {};
}
