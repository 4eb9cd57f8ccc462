// Registers the qn dialect, its type and its operations.
#include "dsl/dialect/Dialect.h"
#include "dsl/dialect/IndexPlaces.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace quern;
using namespace quern::qn;

llvm::hash_code quern::hash_value(StrideClass stride) {
  return llvm::hash_value(static_cast<unsigned>(stride));
}

/// Reads `[A, B:1]`, the axes of an operand with their stride classes.
static ParseResult parseAxes(AsmParser &parser, SmallVector<StringAttr> &axes,
                             SmallVector<StrideClass> &strides) {
  auto one = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return failure();
    axes.push_back(StringAttr::get(parser.getContext(), name));
    strides.push_back(StrideClass::Dynamic);
    if (failed(parser.parseOptionalColon()))
      return success();
    unsigned stride = 0;
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseInteger(stride))
      return failure();
    if (stride > 1)
      return parser.emitError(place, "a fixed stride is 0 or 1");
    strides.back() = stride ? StrideClass::One : StrideClass::Zero;
    return success();
  };
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, one);
}

static void printAxes(AsmPrinter &printer, ArrayRef<StringAttr> axes,
                      ArrayRef<StrideClass> strides) {
  printer << '[';
  llvm::interleaveComma(llvm::zip(axes, strides), printer, [&](auto pair) {
    auto [axis, stride] = pair;
    printer.printKeywordOrString(axis.getValue());
    if (stride != StrideClass::Dynamic)
      printer << ':' << (stride == StrideClass::One ? 1 : 0);
  });
  printer << ']';
}

/// Reads `[A, B]`, the names of axes in an attribute.
static ParseResult parseNames(AsmParser &parser,
                              SmallVector<StringAttr> &axes) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        std::string name;
        if (parser.parseKeywordOrString(&name))
          return failure();
        axes.push_back(StringAttr::get(parser.getContext(), name));
        return success();
      });
}

static void printNames(AsmPrinter &printer, ArrayRef<StringAttr> axes) {
  printer << '[';
  llvm::interleaveComma(axes, printer, [&](StringAttr axis) {
    printer.printKeywordOrString(axis.getValue());
  });
  printer << ']';
}

#include "dsl/dialect/Dialect.cpp.inc"
#include "dsl/dialect/Enums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dsl/dialect/Attributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dsl/dialect/Types.cpp.inc"

LogicalResult OperandType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  Type elementType, ArrayRef<StringAttr> axes,
                                  ArrayRef<StrideClass> strides) {
  if (!isa<IntegerType, FloatType, ComplexType>(elementType))
    return emitError() << "element type " << elementType
                       << " is not a number type";
  if (axes.size() != strides.size())
    return emitError() << axes.size() << " axes but " << strides.size()
                       << " strides";
  return success();
}

void QnDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dsl/dialect/Types.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dsl/dialect/Attributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dsl/dialect/Ops.cpp.inc"
      >();
  addScheduleOperations();
}

void qn::keepUnsigned(Operation *from, std::int64_t first, std::int64_t count,
                      Operation *to) {
  auto marked = from->getAttrOfType<DenseI64ArrayAttr>(unsignedIndices);
  SmallVector<std::int64_t, 2> numbers;
  for (std::int64_t number :
       marked ? marked.asArrayRef() : ArrayRef<std::int64_t>())
    if (number >= first && number < first + count)
      numbers.push_back(number - first);
  if (!numbers.empty())
    to->setAttr(unsignedIndices,
                DenseI64ArrayAttr::get(to->getContext(), numbers));
  SmallVector<Attribute, 4> places;
  for (std::int64_t number = first; number != first + count; ++number)
    places.push_back(LocationAttr(indexPlace(from, number)));
  setIndexPlaces(to, places);
}
