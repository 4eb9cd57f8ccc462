// `//` and `%` on floats, as Python has them; the exact remainder is the
// prelude's `fmod`.
#include "dsl/irgen/Generator.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

/// The prelude's function of that name, among the modules in use.
static const Declaration *preludeFunction(const typed::TypedModule &module,
                                          StringRef name) {
  for (const auto &used : module.uses()) {
    const Declaration *found = used->find(name);
    if (found && found->kind == typed::DeclarationKind::Function)
      return found;
    if (!found)
      found = preludeFunction(*used, name);
    if (found)
      return found;
  }
  return nullptr;
}

Scalar Generator::truncatedModulo(Scalar left, Scalar right) {
  const Declaration *fmod = preludeFunction(request.module, "fmod");
  if (!fmod || fmod->parameters.size() != 2) {
    Span span = request.declaration.nameSpan;
    return unsupported(span, "`//` and `%` on floats need the prelude's "
                             "`fmod`")
        .scalar;
  }
  const Scalar operands[] = {left, right};
  Frame &callee = frames.emplace_back(*fmod);
  callee.types.assign(fmod->typeParameters.size(), computeTypeOf(left.type));
  for (auto [parameter, value] : llvm::zip(fmod->parameters, operands))
    bindIn(callee, *parameter.variable,
           coerce(value, callee.type(parameter.element)));
  return coerce(inlineBody(callee).scalar, left.type);
}

/// The remainder has the sign of the divisor; a zero keeps that sign too.
Scalar Generator::floatModulo(Scalar left, Scalar right) {
  Scalar zero = b.number(left.type, 0);
  Scalar rest = truncatedModulo(left, right);
  Scalar differ = b.bitXor(b.less(rest, zero), b.less(right, zero));
  Scalar adjust = b.bitAnd(b.notEqual(rest, zero), differ);
  Scalar signedZero{
      left.type, b.create<math::CopySignOp>(zero.value, right.value), nullptr};
  rest = b.select(b.equal(rest, zero), signedZero, rest);
  return b.select(adjust, b.add(rest, right), rest);
}

/// The quotient of what the remainder leaves, which is whole but for rounding.
Scalar Generator::floatFloorDivide(Scalar left, Scalar right) {
  ElementType type = left.type;
  Scalar zero = b.number(type, 0), one = b.number(type, 1);
  Scalar rest = truncatedModulo(left, right);
  Scalar quotient = b.divide(b.subtract(left, rest), right);
  Scalar differ = b.bitXor(b.less(rest, zero), b.less(right, zero));
  Scalar adjust = b.bitAnd(b.notEqual(rest, zero), differ);
  quotient = b.select(adjust, b.subtract(quotient, one), quotient);
  Scalar whole{type, b.create<math::FloorOp>(quotient.value), nullptr};
  Scalar below = b.less(b.number(type, 0.5), b.subtract(quotient, whole));
  whole = b.select(below, b.add(whole, one), whole);
  Scalar plain = b.divide(left, right);
  Scalar signedZero{type, b.create<math::CopySignOp>(zero.value, plain.value),
                    nullptr};
  whole = b.select(b.equal(quotient, zero), signedZero, whole);
  return b.select(b.equal(right, zero), plain, whole);
}
