// Numbers the places that may fail, each once.
#include "dsl/lower/Sites.h"
#include "dsl/dialect/Dialect.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace quern;

static bool isUnsigned(Operation *op, unsigned dimension) {
  auto marked = op->getAttrOfType<DenseI64ArrayAttr>(unsignedIndices);
  return marked && llvm::is_contained(marked.asArrayRef(), dimension);
}

std::int64_t Sites::of(Operation *op, unsigned dimension, StringRef axis,
                       ErrorSite::Kind kind) {
  std::int64_t &number = numbers[{op, dimension}];
  if (number)
    return number;
  std::string place;
  if (auto at = op->getLoc()->findInstanceOf<FileLineColLoc>())
    place = llvm::formatv("{0}:{1}:{2}", at.getFilename().getValue(),
                          at.getLine(), at.getColumn());
  std::string name = axis.empty() ? std::to_string(dimension) : axis.str();
  if (kind == ErrorSite::Kind::Index && isUnsigned(op, dimension))
    kind = ErrorSite::Kind::Unsigned;
  sites.push_back({kernel.str(), name, place, kind});
  return number = sites.size();
}
