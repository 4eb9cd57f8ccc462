// Generated definitions of the qn operations and the syntax they share.
#include "dsl/dialect/AxisSyntax.h"
#include "dsl/dialect/Dialect.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace quern;
using namespace quern::qn;

ParseResult qn::parseAxisName(OpAsmParser &parser, StringAttr &axis) {
  std::string name;
  if (parser.parseKeywordOrString(&name))
    return failure();
  axis = parser.getBuilder().getStringAttr(name);
  return success();
}

void qn::printAxisName(OpAsmPrinter &printer, Operation *, StringAttr axis) {
  printer.printKeywordOrString(axis.getValue());
}

ParseResult qn::parseAxisList(OpAsmParser &parser, ArrayAttr &axes) {
  SmallVector<Attribute> names;
  auto one = [&]() -> ParseResult {
    StringAttr axis;
    if (parseAxisName(parser, axis))
      return failure();
    names.push_back(axis);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, one))
    return failure();
  axes = parser.getBuilder().getArrayAttr(names);
  return success();
}

void qn::printAxisList(OpAsmPrinter &printer, Operation *op, ArrayAttr axes) {
  printer << '[';
  llvm::interleaveComma(
      axes.getAsRange<StringAttr>(), printer,
      [&](StringAttr axis) { printer.printKeywordOrString(axis.getValue()); });
  printer << ']';
}

static ParseResult parseBody(OpAsmParser &parser, Region &body) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseRegion(body, arguments))
    return failure();
  if (body.empty()) {
    Block &block = body.emplaceBlock();
    for (const OpAsmParser::Argument &argument : arguments)
      block.addArgument(argument.type, parser.getBuilder().getUnknownLoc());
  }
  return success();
}

static void printBody(OpAsmPrinter &printer, Operation *, Region &body) {
  printer << '(';
  llvm::interleaveComma(body.getArguments(), printer, [&](BlockArgument arg) {
    printer.printRegionArgument(arg);
  });
  printer << ") ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

/// The type a load gives: the element's, or its half's where a part is chosen.
static Type elementOf(Type tensor, IntegerAttr part) {
  Type element = cast<OperandType>(tensor).getElementType();
  if (auto complex = dyn_cast<ComplexType>(element); complex && part)
    return complex.getElementType();
  return element;
}

static ParseResult parseElementOf(OpAsmParser &, Type &result, Type tensor,
                                  IntegerAttr part) {
  if (isa<OperandType>(tensor))
    result = elementOf(tensor, part);
  return success();
}

static void printElementOf(OpAsmPrinter &, Operation *, Type, Type,
                           IntegerAttr) {}

#define GET_OP_CLASSES
#include "dsl/dialect/Ops.cpp.inc"
