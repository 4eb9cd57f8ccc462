// Where the text has the indices of an operation: the metadata of its location.
#include "dsl/dialect/IndexPlaces.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace quern;

static ArrayAttr placesOf(Operation *op) {
  auto fused = dyn_cast<FusedLoc>(LocationAttr(op->getLoc()));
  return fused ? dyn_cast_if_present<ArrayAttr>(fused.getMetadata())
               : ArrayAttr();
}

void qn::setIndexPlaces(Operation *op, ArrayRef<Attribute> places) {
  Location own = op->getLoc();
  if (placesOf(op))
    own = cast<FusedLoc>(LocationAttr(own)).getLocations().front();
  SmallVector<Attribute, 4> known(places);
  llvm::replace(known, Attribute(), Attribute(LocationAttr(own)));
  auto metadata = ArrayAttr::get(op->getContext(), known);
  op->setLoc(FusedLoc::get({own}, metadata, op->getContext()));
}

Location qn::indexPlace(Operation *op, unsigned number) {
  ArrayAttr places = placesOf(op);
  if (!places || number >= places.size())
    return op->getLoc();
  return cast<LocationAttr>(places[number]);
}
