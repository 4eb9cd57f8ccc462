// Numbers the places that may fail, each once.
#include "dsl/lower/Sites.h"
#include "dsl/dialect/Dialect.h"
#include "dsl/dialect/IndexPlaces.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace quern;

static bool isUnsigned(Operation *op, unsigned dimension) {
  auto marked = op->getAttrOfType<DenseI64ArrayAttr>(unsignedIndices);
  return marked && llvm::is_contained(marked.asArrayRef(), dimension);
}

/// "a.qn:3:12-17", the columns from the first to the one after the last; of a
/// place without an end "a.qn:3:12".
static std::string textOf(Location location) {
  auto at = location->findInstanceOf<FileLineColRange>();
  if (!at)
    return "";
  std::string text = llvm::formatv("{0}:{1}:{2}", at.getFilename().getValue(),
                                   at.getStartLine(), at.getStartColumn());
  if (at.getEndColumn() > at.getStartColumn())
    text += "-" + std::to_string(at.getEndColumn());
  return text;
}

std::int64_t Sites::of(Operation *op, unsigned dimension, StringRef axis,
                       ErrorSite::Kind kind) {
  std::int64_t &number = numbers[{op, dimension}];
  if (number)
    return number;
  std::string place = textOf(qn::indexPlace(op, dimension));
  std::string name = axis.empty() ? std::to_string(dimension) : axis.str();
  if (kind == ErrorSite::Kind::Index && isUnsigned(op, dimension))
    kind = ErrorSite::Kind::Unsigned;
  sites.push_back({kernel.str(), name, place, kind});
  return number = sites.size();
}
