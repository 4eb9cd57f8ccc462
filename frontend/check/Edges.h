// What a read elsewhere is given beside its positions: `outside`, `when`, and
// `edge`, which makes a position outside an axis one on it.
#pragma once

#include "frontend/check/CheckerTypes.h"

#include <cstdint>
#include <optional>

namespace quern::check {

class DeclarationChecker;

/// As NumPy's `pad` has them: `clamp` is its "edge".
enum class Edge : std::uint8_t { Clamp, Wrap, Reflect, Symmetric };

class ReadOptions {
public:
  ReadOptions(DeclarationChecker &checker, const typed::Expression *base)
      : checker(checker), base(base) {}

  /// Whether the argument is an option. It is read then.
  bool take(const ast::Argument &argument);
  /// False after a message.
  bool isValid() const { return valid; }
  /// Replaces positions as `edge` says; `own` are their axes.
  bool placeAtEdges(AxisList own, ValueList &positions);

  const typed::Expression *outside = nullptr, *when = nullptr;

private:
  void takeEdge(const ast::Argument &argument);
  const typed::Expression *extent(AxisId axis, Span span);
  const typed::Expression *extreme(Builtin which, Span span,
                                   const typed::Expression *a,
                                   const typed::Expression *b);
  const typed::Expression *atEdge(const typed::Expression *position,
                                  const typed::Expression *extent);

  DeclarationChecker &checker;
  const typed::Expression *base;
  const ast::Argument *edgeArgument = nullptr;
  std::optional<Edge> edge;
  bool valid = true;
};

} // namespace quern::check
