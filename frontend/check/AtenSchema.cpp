// `@aten` against the overload's arguments: each is bound, or declared
// constant.
#include "frontend/aten/Schemas.h"
#include "frontend/check/AttributeChecker.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

namespace {

/// What is left to be bound on both sides.
struct Matching {
  llvm::SmallVector<aten::Argument, 8> arguments;
  llvm::SmallVector<bool, 8> isBound;  ///< per argument
  llvm::SmallVector<bool, 8> hasValue; ///< per parameter

  bool bind(llvm::StringRef name) {
    for (auto [argument, bound] : llvm::zip(arguments, isBound))
      if (argument.name == name)
        return bound = true;
    return false;
  }
  /// The argument that is meant, or all that there are.
  std::string hintFor(llvm::StringRef name) const {
    Suggestion suggestion(name);
    std::string all;
    for (const aten::Argument &argument : arguments) {
      suggestion.consider(argument.name);
      all += all.empty() ? "the arguments are `" : ", `";
      all += (argument.name + "`").str();
    }
    std::string near = suggestion.hint();
    return near.empty() ? all : near;
  }
  /// The first among the arguments that are left, tensors or others.
  bool bindNext(bool isTensor) {
    for (auto [argument, bound] : llvm::zip(arguments, isBound))
      if (argument.isTensor == isTensor && !bound)
        return bound = true;
    return false;
  }
};

} // namespace

/// Overloads of other namespaces than ATen's are not known, and may be there.
void AttributeChecker::unknownOverload(const AtenAttribute &attribute) {
  if (attribute.overload.contains("::"))
    return;
  Suggestion suggestion(attribute.overload);
  aten::forEachOverload(
      [&](llvm::StringRef name) { suggestion.consider(name); });
  checker.report(attribute.span, diag::UnknownOverload, attribute.overload)
      .hint(suggestion.hint());
}

/// Written bindings first, then equal names, then tensors and last numbers by
/// position. What `keepdim` says is the binder's affair where an axis is
/// selected.
void AttributeChecker::checkSchema(const AtenAttribute &attribute) {
  auto schema = aten::argumentsOf(attribute.overload);
  if (!schema)
    return unknownOverload(attribute);
  Matching matching{*schema, {}, {}};
  matching.isBound.resize(schema->size());
  matching.hasValue.resize(checker.parameters.size());
  for (const AtenBinding &binding : attribute.bindings) {
    for (unsigned number : binding.parameters)
      matching.hasValue[number] = true;
    if (binding.kind == AtenBindingKind::Axis)
      matching.bind("keepdim");
    for (llvm::StringRef name : {binding.argument, binding.alternative})
      if (!name.empty() && !matching.bind(name) &&
          binding.kind != AtenBindingKind::Seed)
        checker
            .report(binding.span, diag::AtenArgumentUnknown, attribute.overload,
                    name)
            .hint(matching.hintFor(name));
  }
  for (auto [parameter, hasValue] :
       llvm::zip(checker.parameters, matching.hasValue))
    hasValue = hasValue || matching.bind(parameter.variable->name);
  for (const ConstantParameter *parameter : checker.constantParameters)
    (void)matching.bind(parameter->name);
  for (bool isTensor : {true, false})
    for (auto [parameter, hasValue] :
         llvm::zip(checker.parameters, matching.hasValue))
      if (!hasValue && parameter.isTensor == isTensor)
        hasValue = matching.bindNext(isTensor);
  for (auto [parameter, hasValue] :
       llvm::zip(checker.parameters, matching.hasValue))
    if (!hasValue && !parameter.defaultValue && !parameter.isOptional)
      checker
          .report(attribute.span, diag::ParameterUnbound, attribute.overload,
                  parameter.variable->name)
          .label(parameter.variable->span, "declared here");
  for (auto [argument, isBound] : llvm::zip(schema.value(), matching.isBound))
    if (!isBound)
      checker
          .report(attribute.span, diag::AtenArgumentUnbound, attribute.overload,
                  argument.name)
          .hint(("write `" + argument.name +
                 " = …` with a parameter or the one value it is for")
                    .str());
}
