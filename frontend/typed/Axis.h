// The axes of a declaration: a table that AxisIds index.
#pragma once

#include "frontend/source/Span.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace quern::typed {

class Expression;

/// Index into a declaration's axis table.
struct AxisId {
  static constexpr std::uint16_t none = 0xffff;
  std::uint16_t index = none;

  bool valid() const { return index != none; }
  bool operator==(const AxisId &) const = default;
};

enum class AxisKind : std::uint8_t {
  Named,   ///< solved from the shapes of the arguments
  Fixed,   ///< a dimension written as a number or expression: `T[N, 3]`
  Derived, ///< an output axis with an extent expression: `P = …`
  Local    ///< brought in by `over i: lo .. hi`, or by a call or `concat`
};

/// A row of the axis table. Axes that the arguments' shapes decide come first,
/// then derived output axes, then local ones.
struct Axis {
  llvm::StringRef name; ///< without the star; empty for Fixed
  llvm::StringRef text; ///< Fixed: the extent as it is written
  Span span;
  AxisKind kind = AxisKind::Named;
  bool pack = false; ///< `*R`: any number of axes
  /// The pack whose number of axes this pack shares (itself unless derived from
  /// or local over another one): `*P = (*S + 2 * pad - k) // stride + 1`.
  AxisId rankOf;
  /// Fixed, Derived: the extent. Host values only; `size` of other axes, scalar
  /// and compile-time parameters. Per axis of the pack where `pack` holds.
  const Expression *extent = nullptr;
  /// Local: the bounds, `lower` included, `upper` not. May depend on other axes
  /// and on tensors; then the axis is ragged.
  const Expression *lower = nullptr, *upper = nullptr;
};

/// One dimension of a tensor type: one axis, or the parts of a split one
/// (`(G C)`, outermost first), whose extents multiply.
struct Dimension {
  llvm::ArrayRef<AxisId> parts;

  bool isSplit() const { return parts.size() > 1; }
  AxisId axis() const { return parts.front(); }
};

} // namespace quern::typed
