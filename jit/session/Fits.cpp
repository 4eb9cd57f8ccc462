// Compares counts and kinds with what the declaration has.
#include "jit/session/Fits.h"

#include "llvm/ADT/STLExtras.h"

using namespace quern;
using namespace quern::typed;

namespace {

bool fitsType(const TypeParameter &parameter, ElementType type) {
  return admits(parameter.constraint, type);
}

bool fitsConstant(const ConstantParameter *parameter,
                  const ConstantArgument &given) {
  const auto *text = std::get_if<std::string>(&given);
  if (std::holds_alternative<std::monostate>(given))
    return parameter->hasElse;
  switch (parameter->kind) {
  case ConstantParameterKind::Integer:
    return std::holds_alternative<std::int64_t>(given);
  case ConstantParameterKind::Boolean:
    return std::holds_alternative<bool>(given);
  case ConstantParameterKind::Float:
    return std::holds_alternative<double>(given) ||
           std::holds_alternative<std::int64_t>(given);
  case ConstantParameterKind::Booleans:
    return text && text->size() == static_cast<std::size_t>(parameter->count);
  case ConstantParameterKind::String:
  case ConstantParameterKind::Function:
    break;
  }
  return text;
}

/// Takes the operands of a specialization one by one.
class Operands {
public:
  Operands(const Specialization &given, const Declaration &declaration)
      : given(given) {
    if (declaration.kind == DeclarationKind::Elementwise)
      for (const OperandLayout &operand : given.operands)
        lifted = std::max(lifted, operand.strides.size());
  }

  bool take(llvm::ArrayRef<Dimension> dimensions, bool isOptional) {
    if (next == given.operands.size())
      return false;
    const OperandLayout &operand = given.operands[next++];
    std::size_t rank = lifted;
    for (const Dimension &dimension : dimensions)
      for (AxisId axis : dimension.parts)
        rank += given.axisRanks[axis.index];
    return operand.present ? operand.strides.size() == rank : isOptional;
  }
  bool take(const Parameter &parameter) {
    unsigned count = parameter.isTensor;
    if (parameter.isList) {
      if (nextList == given.listLengths.size())
        return false;
      count = given.listLengths[nextList++];
    }
    for (; count; --count)
      if (!take(parameter.dimensions, parameter.isOptional))
        return false;
    return true;
  }
  bool areTaken() const {
    return next == given.operands.size() &&
           nextList == given.listLengths.size();
  }

private:
  const Specialization &given;
  std::size_t lifted = 0, next = 0, nextList = 0;
};

bool fitRanks(const Specialization &given, const Declaration &declaration) {
  for (auto [number, axis] : llvm::enumerate(declaration.axes)) {
    bool isFree = axis.pack || declaration.kind == DeclarationKind::Elementwise;
    if (axis.kind != AxisKind::Local &&
        (number >= given.axisRanks.size() ||
         (!isFree && given.axisRanks[number] != 1)))
      return false;
  }
  return true;
}

} // namespace

bool jit::fits(const Specialization &given, const Declaration &declaration) {
  Operands operands(given, declaration);
  auto takes = [&](const auto &each) { return operands.take(each); };
  auto takesResult = [&](const Result &each) {
    return operands.take(each.dimensions, each.isOptional);
  };
  return declaration.isCompiled() &&
         given.typeArguments.size() == declaration.typeParameters.size() &&
         llvm::all_of_zip(declaration.typeParameters, given.typeArguments,
                          fitsType) &&
         given.constantArguments.size() ==
             declaration.constantParameters.size() &&
         llvm::all_of_zip(declaration.constantParameters,
                          given.constantArguments, fitsConstant) &&
         fitRanks(given, declaration) &&
         llvm::all_of(declaration.parameters, takes) &&
         llvm::all_of(declaration.results, takesResult) && operands.areTaken();
}
