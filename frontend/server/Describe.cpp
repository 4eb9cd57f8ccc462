// Headers of declarations, and types of names, as text.
#include "frontend/server/Describe.h"

#include "frontend/typed/ThreadAxes.h"

#include "llvm/ADT/StringExtras.h"

using namespace quern;
using namespace quern::server;
using namespace quern::typed;

/// Where the header ends that begins at `text`: at the colon in front of the
/// body, or the line.
static std::size_t headerEnd(llvm::StringRef text) {
  unsigned depth = 0;
  bool isString = false;
  for (std::size_t i = 0; i != text.size(); ++i) {
    char c = text[i];
    if (c == '"')
      isString = !isString;
    if (isString)
      continue;
    if (c == '(' || c == '[' || c == '{')
      ++depth;
    else if ((c == ')' || c == ']' || c == '}') && depth != 0)
      --depth;
    else if (depth == 0 && (c == ':' || c == '\n'))
      return i;
  }
  return text.size();
}

/// The text from the beginning of the line on which a name is made.
static llvm::StringRef lineWith(Span name, const SourceManager &sources) {
  const SourceFile *file = sources.fileOf(name.begin);
  if (!file)
    return {};
  std::size_t offset = name.begin - file->beginOffset();
  std::size_t begin = file->text().take_front(offset).rfind('\n') + 1;
  return file->text().drop_front(begin);
}

std::string server::headerOf(const Declaration &declaration,
                             const SourceManager &sources) {
  llvm::StringRef text = lineWith(declaration.nameSpan, sources);
  constexpr std::size_t longest = 2000;
  return text.take_front(headerEnd(text)).take_front(longest).trim().str();
}

/// A text with an error may have lost the axes that a type names.
static bool hasAxes(const Type &type, const Declaration &declaration) {
  auto isKnown = [&](AxisId axis) {
    return isThreads(axis) || axis.index < declaration.axes.size();
  };
  return llvm::all_of(type.axes, isKnown) &&
         (!type.pack.valid() || isKnown(type.pack)) &&
         llvm::all_of(type.dimensions,
                      [&](const Dimension &dimension) {
                        return llvm::all_of(dimension.parts, isKnown);
                      }) &&
         llvm::all_of(type.elements, [&](const Type *element) {
           return hasAxes(*element, declaration);
         });
}

std::string server::typeOf(const Variable &variable,
                           const Declaration &declaration) {
  const Type *type = variable.type;
  // The extents of an array are expressions, which the text shows.
  if (!type || type->isVoid() || type->isArray() ||
      !hasAxes(*type, declaration))
    return "";
  return spelling(*type, declaration);
}

static std::string variableLine(const Variable &variable,
                                const Declaration &declaration,
                                const SourceManager &sources) {
  for (const Parameter &parameter : declaration.parameters)
    if (parameter.variable->span == variable.span)
      return (variable.name + ": " + parameter.text).str();
  if (variable.kind == VariableKind::Storage)
    return lineWith(variable.span, sources)
        .take_until([](char c) { return c == '\n'; })
        .trim()
        .str();
  std::string type = typeOf(variable, declaration);
  llvm::StringRef word = variable.kind == VariableKind::Let   ? "let "
                         : variable.kind == VariableKind::Var ? "var "
                                                              : "";
  return (word + variable.name + (type.empty() ? "" : ": ") + type).str();
}

static std::string axisLine(unsigned index, const Declaration &declaration) {
  if (index >= declaration.axes.size())
    return "";
  const Axis &axis = declaration.axes[index];
  std::string name = (axis.pack ? "*" : "") + axis.name.str();
  switch (axis.kind) {
  case AxisKind::Named:
    return "axis " + name;
  case AxisKind::Derived:
    return "axis " + name + " of the result";
  case AxisKind::Local:
    return "local axis " + name;
  case AxisKind::Fixed:
    return "";
  }
  llvm_unreachable("all kinds of axis have a line");
}

static std::string genericLine(const NameTarget &target,
                               const SourceManager &sources) {
  const Declaration &declaration = *target.declaration;
  if (target.kind == NameTarget::Kind::TypeParameter) {
    if (target.index >= declaration.typeParameters.size())
      return "";
    const TypeParameter &row = declaration.typeParameters[target.index];
    return (row.name + ": " + spelling(row.constraint)).str();
  }
  if (target.index >= declaration.constantParameters.size())
    return "";
  llvm::StringRef text = sources.text(target.definition);
  return "compile-time parameter " + text.str();
}

std::string server::lineFor(const NameTarget &target,
                            const SourceManager &sources) {
  auto wholeLine = [&] {
    constexpr std::size_t longest = 200;
    return lineWith(target.definition, sources)
        .take_until([](char c) { return c == '\n'; })
        .take_front(longest)
        .trim()
        .str();
  };
  switch (target.kind) {
  case NameTarget::Kind::Variable:
    return variableLine(*target.variable, *target.declaration, sources);
  case NameTarget::Kind::TypeParameter:
  case NameTarget::Kind::ConstantParameter:
    return genericLine(target, sources);
  case NameTarget::Kind::Axis:
    return axisLine(target.index, *target.declaration);
  case NameTarget::Kind::Declaration:
    return headerOf(*target.declaration, sources);
  case NameTarget::Kind::Builtin:
    return headerOf(*target.builtin);
  case NameTarget::Kind::Alias:
  case NameTarget::Kind::Constant:
  case NameTarget::Kind::Unknown:
    return wholeLine();
  case NameTarget::Kind::Module:
    return "module";
  }
  llvm_unreachable("all kinds of target have a line");
}

std::string server::headerOf(Builtin builtin) {
  const BuiltinInfo &info = builtinInfo(builtin);
  std::string text = info.spelling.str() + "(";
  if (info.group == BuiltinGroup::TypeValue)
    return text + "T)";
  if (info.group == BuiltinGroup::Position)
    return text + "AXIS)";
  for (int i = 0; i < info.operands; ++i) {
    text += i == 0 ? "" : ", ";
    text += static_cast<char>('a' + i);
  }
  return text + (info.operands < 0 ? "…)" : ")");
}

/// Where a builtin may stand.
static llvm::StringRef placeOf(BuiltinGroup group) {
  switch (group) {
  case BuiltinGroup::Scalar:
    return "in any text";
  case BuiltinGroup::TypeValue:
    return "in any text, known when compiling";
  case BuiltinGroup::Position:
    return "of an axis";
  case BuiltinGroup::Thread:
  case BuiltinGroup::Atomic:
  case BuiltinGroup::Memory:
    return "in a `kernel`";
  case BuiltinGroup::Host:
  case BuiltinGroup::View:
    return "in an `op`";
  }
  llvm_unreachable("all groups have a place");
}

std::string server::documentationOf(const NameTarget &target) {
  if (target.kind == NameTarget::Kind::Declaration)
    return target.declaration->documentation.str();
  if (target.kind != NameTarget::Kind::Builtin)
    return "";
  const BuiltinInfo &info = builtinInfo(*target.builtin);
  return ("built in, " + placeOf(info.group) + "; element types: `" +
          spelling(info.constraint) + "`")
      .str();
}
