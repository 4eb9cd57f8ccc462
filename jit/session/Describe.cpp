// Declarations as the interface shows them.
#include "jit/session/State.h"

using namespace quern;

static ParameterInfo
describeConstant(const typed::ConstantParameter &parameter) {
  ParameterInfo info;
  info.name = parameter.name.str();
  info.compileTime = true;
  if (parameter.subject) {
    info.type = "match " + parameter.subject->name.str();
    return info;
  }
  switch (parameter.kind) {
  case typed::ConstantParameterKind::Integer:
    info.type = "int";
    break;
  case typed::ConstantParameterKind::Boolean:
    info.type = "bool";
    break;
  case typed::ConstantParameterKind::Booleans:
    info.type = "bool[" + std::to_string(parameter.count) + "]";
    break;
  case typed::ConstantParameterKind::String:
    info.type = "str";
    break;
  case typed::ConstantParameterKind::Float:
    info.type = "float";
    break;
  case typed::ConstantParameterKind::Function:
    info.type = "fn";
    break;
  }
  return info;
}

DeclarationInfo quern::describe(const typed::Declaration &declaration,
                                const SourceManager &sources) {
  DeclarationInfo info;
  info.name = declaration.name.str();
  info.module = declaration.module.str();
  if (declaration.nameSpan.valid()) {
    SourceLocation place = sources.locate(declaration.nameSpan.begin);
    info.file = place.file->name().str();
    info.line = static_cast<int>(place.line);
  }
  info.kind = static_cast<DeclarationKind>(declaration.kind);
  info.documentation = declaration.documentation.str();
  for (const typed::Parameter &parameter : declaration.parameters)
    info.parameters.push_back(
        {.name = parameter.variable->name.str(),
         .type = parameter.text.str(),
         .isTensor = parameter.isTensor,
         .isList = parameter.isList,
         .optional = parameter.isOptional || parameter.defaultValue,
         .isMutable = parameter.isMutable});
  for (const typed::TypeParameter &parameter : declaration.typeParameters)
    info.parameters.push_back({.name = parameter.name.str(),
                               .type = spelling(parameter.constraint).str(),
                               .compileTime = true});
  for (const typed::ConstantParameter *parameter :
       declaration.constantParameters)
    info.parameters.push_back(describeConstant(*parameter));
  for (const typed::Result &result : declaration.results) {
    info.results.push_back(result.text.str());
    info.resultNames.push_back(result.name.str());
    info.resultIsList.push_back(result.isList);
  }
  if (const auto *backward = declaration.attributes.backward;
      backward && backward->declaration) {
    info.backward = backward->declaration->name.str();
    for (llvm::StringRef name : backward->saves)
      info.saves.push_back(name.str());
  }
  return info;
}
