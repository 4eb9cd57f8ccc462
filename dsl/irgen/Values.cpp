// Lists of values as flat lists of SSA values, and back.
#include "dsl/irgen/Frame.h"

using namespace mlir;
using namespace quern;
using namespace quern::irgen;

SmallVector<mlir::Value, 8> irgen::flatten(const Values &values) {
  SmallVector<mlir::Value, 8> flat;
  for (const irgen::Value &value : values)
    forEachScalar(value, [&](const Scalar &scalar) {
      flat.push_back(scalar.value);
      if (scalar.isComplex())
        flat.push_back(scalar.imaginary);
    });
  return flat;
}

Values irgen::unflatten(Values like, ValueRange flat) {
  auto next = flat.begin();
  for (irgen::Value &value : like)
    forEachScalar(value, [&](Scalar &scalar) {
      scalar.value = *next++;
      if (scalar.isComplex())
        scalar.imaginary = *next++;
    });
  return like;
}
