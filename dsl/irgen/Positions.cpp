// Positions along axes, extents, and axes that an expression brings in.
#include "dsl/irgen/Generator.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

mlir::Value Generator::index(std::int64_t value) {
  return b.integer(ElementType::I64, value).value;
}

const Substitution *Generator::substitutionOf(StringAttr axis,
                                              const Substitution *under) const {
  while (under && under->axis != axis)
    under = under->outer;
  return under && under->position ? under : nullptr;
}

mlir::Value Generator::positionOf(const Place &place) {
  if (const Substitution *row = substitutionOf(place.name, substitution))
    return row->position;
  if (place.position)
    return place.position;
  return b.create<qn::IndexOp>(builder.getI64Type(), place.name);
}

mlir::Value Generator::sizeOf(const Place &place) {
  if (place.size)
    return place.size;
  return b.create<qn::SizeOp>(builder.getI64Type(), place.name);
}

mlir::Value Generator::linearPosition(ArrayRef<Place> places, bool fromLower) {
  if (places.empty())
    return index(0);
  auto within = [&](const Place &place) {
    mlir::Value position = positionOf(place);
    if (place.lower && fromLower)
      position = b.create<arith::SubIOp>(position, place.lower);
    return position;
  };
  mlir::Value result = within(places.front());
  for (const Place &place : places.drop_front()) {
    result = b.create<arith::MulIOp>(result, sizeOf(place));
    result = b.create<arith::AddIOp>(result, within(place));
  }
  return result;
}

mlir::Value Generator::linearSize(ArrayRef<Place> places) {
  if (places.empty())
    return index(1);
  mlir::Value result = sizeOf(places.front());
  for (const Place &place : places.drop_front())
    result = b.create<arith::MulIOp>(result, sizeOf(place));
  return result;
}

SmallVector<Place, 4> Generator::placesOf(ArrayRef<AxisId> axes) {
  SmallVector<Place, 4> places;
  for (AxisId axis : axes)
    llvm::append_range(places, frame->axes[axis.index]);
  return places;
}

SmallVector<Place, 4> Generator::placesOf(const typed::Type &type) {
  bool isTuple = type.isTuple() && !type.elements.empty();
  return placesOf(isTuple ? type.elements.front()->axes : type.axes);
}

/// `over i: lo .. hi`, and one axis for each of a pack's with `*i: lo .. hi`.
void Generator::openLocalAxis(AxisId id) {
  const typed::Axis &axis = frame->declaration.axis(id);
  SmallVector<Place, 1> places;
  unsigned rank = 1;
  if (axis.pack && axis.rankOf.valid() && axis.rankOf != id)
    rank = frame->axes[axis.rankOf.index].size();
  unsigned outer = frame->packElement;
  for (unsigned number = 0; number != rank; ++number) {
    if (axis.pack)
      frame->packElement = number;
    Place place;
    place.name = freshAxis(axis.name);
    place.lower = axis.lower ? toIndex(scalar(*axis.lower)) : index(0);
    mlir::Value upper = toIndex(scalar(*axis.upper));
    place.position = b.create<qn::AxisOp>(builder.getI64Type(), place.name,
                                          place.lower, upper);
    place.size = b.create<arith::SubIOp>(upper, place.lower);
    places.push_back(place);
  }
  frame->packElement = outer;
  frame->axes[id.index] = places;
}

Place Generator::standIn(const Place &place) {
  Place other;
  other.name = freshAxis(place.name.getValue());
  other.lower = place.lower ? place.lower : index(0);
  other.size = sizeOf(place);
  mlir::Value upper = b.create<arith::AddIOp>(other.lower, other.size);
  other.position = b.create<qn::AxisOp>(builder.getI64Type(), other.name,
                                        other.lower, upper);
  substitution = &substitutions.emplace_back(
      Substitution{place.name, other.position, substitution, true, {}});
  return other;
}

void Generator::openResultAxis(AxisId id) {
  bool isOpen = frame->declaration.axis(id).kind != typed::AxisKind::Local ||
                !frame->axes[id.index].empty();
  if (isOpen)
    return;
  openLocalAxis(id);
  frame->axesOfCalls.insert(id.index);
}
