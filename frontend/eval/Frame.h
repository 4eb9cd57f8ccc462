// What an expression is evaluated in: types, extents, positions and names.
#pragma once

#include "frontend/eval/Eval.h"

#include <functional>
#include <map>
#include <memory>

namespace quern::eval {

using typed::AxisId;
using typed::Declaration;
using typed::Expression;
using typed::Variable;

/// One position, or for a pack one per axis of it.
using Positions = std::vector<std::int64_t>;
/// By axis number; axes not bound yet are missing.
using Point = std::map<std::uint16_t, Positions>;

/// What a name means: a value for every point.
using Lifted = std::function<Value(const Point &)>;

/// The variables of a scalar body by their ids, changed as it runs.
using Locals = std::vector<Value>;

/// Names in scope. In lifted text a chain, innermost first, that is never
/// changed once made, so that what was built with it keeps its meaning when a
/// `var` is assigned later; in a scalar body one node with its locals.
struct Environment {
  std::shared_ptr<const Environment> outer;
  unsigned id = 0;
  Lifted meaning;
  Locals *locals = nullptr;
};
using Scope = std::shared_ptr<const Environment>;

inline Scope define(Scope outer, const Variable &variable, Lifted meaning) {
  return std::make_shared<const Environment>(
      Environment{std::move(outer), variable.id, std::move(meaning)});
}
inline Scope scopeOf(Locals &locals) {
  return std::make_shared<const Environment>(
      Environment{nullptr, 0, nullptr, &locals});
}

/// One activation of a declaration.
struct Frame {
  const Declaration &declaration;
  std::vector<ElementType> types;
  std::vector<ConstantArgument> constants;
  /// Extents by axis number; local axes find theirs when they are run over.
  std::map<std::uint16_t, Positions> extents;
  /// Sizes of the arguments of an `elementwise`, and the element at hand.
  Positions elementSizes, element;

  /// In which type an expression of this type computes.
  ElementType computeType(typed::ScalarType type) const {
    return computeTypeOf(type.substitute(types));
  }
};

/// Where an expression stands: an activation, the names it sees, and a point.
struct Where {
  const Frame &frame;
  const Scope &scope;
  const Point &point;

  Where at(const Point &other) const { return {frame, scope, other}; }
};

} // namespace quern::eval
