// `edge = clamp` of a read: a position outside an axis becomes one on it.
#include "frontend/check/Edges.h"
#include "frontend/check/DeclarationChecker.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

static std::optional<Edge> edgeNamed(llvm::StringRef name) {
  if (name == "clamp")
    return Edge::Clamp;
  if (name == "wrap")
    return Edge::Wrap;
  if (name == "reflect")
    return Edge::Reflect;
  if (name == "symmetric")
    return Edge::Symmetric;
  return std::nullopt;
}

void ReadOptions::takeEdge(const ast::Argument &argument) {
  const auto *name = llvm::dyn_cast<ast::NameExpr>(argument.value);
  edgeArgument = &argument;
  edge = edgeNamed(name ? name->name().text() : llvm::StringRef());
  if (!edge)
    checker
        .report(argument.value->span, diag::NotAChoice,
                checker.source(argument.value->span), "edge")
        .hint("`clamp`, `wrap`, `reflect` or `symmetric`");
}

bool ReadOptions::take(const ast::Argument &argument) {
  llvm::StringRef name = argument.name.text();
  if (argument.isPack ||
      (name != "edge" && name != "outside" && name != "when"))
    return false;
  checker.argumentNames.readName(argument);
  if (name == "edge") {
    takeEdge(argument);
    valid &= edge.has_value();
  } else if (name == "outside") {
    outside = checker.checkAs(argument.value, base->scalar());
    valid &= outside != nullptr;
  } else {
    when = checker.checkCondition(argument.value);
    valid &= when != nullptr;
  }
  return true;
}

bool ReadOptions::placeAtEdges(AxisList own, ValueList &positions) {
  if (edge && outside) {
    checker.report(edgeArgument->span(), diag::EdgeAndOutside)
        .hint("leave one of the two out");
    return false;
  }
  for (auto [number, position] : llvm::enumerate(positions))
    if (edge && position) {
      position = atEdge(position, extent(own[number], position->span));
      if (!position)
        return false;
    }
  return true;
}

/// How many positions an axis has, or each axis of a pack.
const Expression *ReadOptions::extent(AxisId axis, Span span) {
  if (checker.axes[axis.index].pack) {
    auto *each = checker.make<PackElementExpression>(
        span, checker.types.scalar(ScalarType::integer(), {},
                                   checker.rankRoot(axis)));
    each->pack = axis;
    return each;
  }
  auto *node = checker.make<BuiltinExpression>(span, checker.types.integer());
  node->builtin = Builtin::Size;
  node->axis = axis;
  return node;
}

const Expression *ReadOptions::extreme(Builtin which, Span span,
                                       const Expression *a,
                                       const Expression *b) {
  auto *node = checker.make<BuiltinExpression>(
      span, checker.pointwise(ScalarType::integer(), {a, b}));
  node->builtin = which;
  node->operands = checker.builder.list(llvm::ArrayRef{a, b});
  return node;
}

/// The position that is read instead of `position`: of `reflect` positions go
/// back and forth over `2 n - 2` places, of `symmetric` over `2 n`.
const Expression *ReadOptions::atEdge(const Expression *position,
                                      const Expression *extent) {
  Span span = position->span;
  bool mayBeLarge =
      checker.maskOf(position->scalar()) & maskOf(ElementType::U64);
  if (mayBeLarge) {
    checker
        .report(span, diag::PositionNotInteger,
                checker.spell(position->scalar()))
        .hint("an edge takes numbers with a sign: `i64(" +
              checker.source(span) + ")`");
    return nullptr;
  }
  auto number = [&](std::int64_t value) -> const Expression * {
    auto *node =
        checker.make<ConstantExpression>(span, checker.types.integer());
    node->value = Constant::ofInteger(value);
    return node;
  };
  auto with = [&](BinaryOperator op, const Expression *a, const Expression *b) {
    return checker.makeBinary(op, span, span, a, b);
  };
  if (position->scalar() != ScalarType::integer())
    position = checker.makeCast(position, ScalarType::integer(), span);
  const Expression *last = with(BinaryOperator::Sub, extent, number(1));
  if (*edge == Edge::Clamp)
    return extreme(Builtin::Max, span,
                   extreme(Builtin::Min, span, position, last), number(0));
  if (*edge == Edge::Wrap)
    return with(BinaryOperator::Mod, position, extent);
  const Expression *period = with(
      BinaryOperator::Mul, *edge == Edge::Reflect ? last : extent, number(2));
  if (*edge == Edge::Reflect) // one element repeats itself
    period = extreme(Builtin::Max, span, period, number(1));
  const Expression *place = with(BinaryOperator::Mod, position, period);
  const Expression *end = *edge == Edge::Reflect
                              ? period
                              : with(BinaryOperator::Sub, period, number(1));
  const Expression *back = with(BinaryOperator::Sub, end, place);
  return extreme(Builtin::Min, span, place, back);
}
