// Look-ups in the table of element types.
#include "frontend/ElementType.h"

#include <cassert>

using namespace quern;

namespace {
struct Row {
  std::string_view spelling;
  ElementKind kind;
  std::uint8_t bits;
  ElementType accumulator;
};
} // namespace

static constexpr Row rows[] = {
#define QN_ELEMENT(enumerator, spelling, kind, bits, accumulator)              \
  {spelling, ElementKind::kind, bits, ElementType::accumulator},
#include "frontend/ElementType.def"
};

static const Row &row(ElementType type) {
  return rows[static_cast<unsigned>(type)];
}

std::string_view quern::spelling(ElementType type) {
  return row(type).spelling;
}

ElementKind quern::kindOf(ElementType type) { return row(type).kind; }

unsigned quern::bitsOf(ElementType type) { return row(type).bits; }

ElementType quern::accumulatorOf(ElementType type) {
  return row(type).accumulator;
}

ElementType quern::computeTypeOf(ElementType type) {
  bool isSmallFloat = kindOf(type) == ElementKind::Float && bitsOf(type) < 32;
  return isSmallFloat ? ElementType::F32 : type;
}

std::optional<ElementType> quern::elementTypeNamed(std::string_view spelling) {
  for (unsigned i = 0; i < std::size(rows); ++i)
    if (rows[i].spelling == spelling)
      return static_cast<ElementType>(i);
  return std::nullopt;
}
