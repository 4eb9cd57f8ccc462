// What several launches of a contraction do is code of its own, made once: to
// pack a block of a factor, and to multiply packed blocks.
#include "dsl/lower/Contract.h"
#include "dsl/lower/Mark.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace quern;

/// Rows come from the last cache once for every block of columns; this many
/// steps of the sum hide the way.
constexpr std::int64_t stepsAhead = 128;

/// Calls the function of such a name; `make` fills it where nobody has.
void ContractionBuilder::call(Frame &frame, StringRef name,
                              ArrayRef<Value> arguments, Make make) {
  std::string symbol = (model.kernel.getSymName() + "." + name + "." +
                        std::to_string(tiling.number))
                           .str();
  auto module = model.kernel->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(symbol)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(builder.getContext()),
        llvm::to_vector(ValueRange(arguments).getTypes()));
    auto made = LLVM::LLVMFuncOp::create(builder, loc, symbol, type,
                                         LLVM::Linkage::Internal);
    made.setPassthroughAttr(
        builder.getArrayAttr(builder.getStringAttr(steppedAttribute)));
    mlir::Block *entry = made.addEntryBlock(builder);
    Frame root;
    root.block = entry;
    Value packet =
        std::exchange(emitter.packetPointer, Value(entry->getArgument(0)));
    std::optional<Block> outer = std::exchange(part, std::nullopt);
    make(root, entry->getArguments());
    LLVM::ReturnOp::create(in(root), loc, ValueRange());
    emitter.packetPointer = packet;
    part = outer;
  }
  LLVM::CallOp::create(in(frame), loc, TypeRange(), symbol, arguments);
}

/// Packs a block of a factor from `base` on.
void ContractionBuilder::packBlock(Frame &frame, unsigned which, bool ofRows,
                                   Block across, Block depth, Value base) {
  const Product &product = tiling.products[which];
  Values arguments{emitter.packetPointer, across.lower, across.upper,
                   depth.lower,           depth.upper,  base};
  if (product.window) {
    FlatAxes last(emitter, model, product.sums.back());
    Block all{number(frame, 0), last.extent(frame)};
    Block some = part.value_or(all);
    arguments.append({some.lower, some.upper});
  }
  for (unsigned axis : tiling.batch)
    arguments.push_back(frame.find(axis)->position);
  std::string name = ofRows ? "rows" : "columns";
  auto make = [&](Frame &root, ValueRange given) {
    Block across{given[1], given[2]}, depth{given[3], given[4]};
    if (product.window)
      part = Block{given[6], given[7]};
    for (auto [axis, position] :
         llvm::zip(tiling.batch, given.take_back(tiling.batch.size())))
      root.bind(Binding{.axis = axis, .position = position});
    if (ofRows)
      pack(root, product, ofRows, across, depth, given[5]);
    else
      packColumns(root, product, across, depth, given[5]);
  };
  call(frame, name + std::to_string(which), arguments, make);
}

/// The register tiles of packed rows and a block of packed columns, `first`
/// that of both first panels. A panel of rows takes `panelSize` elements.
void ContractionBuilder::tiles(Frame &frame, Both counts, const TileAt &first,
                               Value panelSize) {
  auto make = [&](Frame &root, ValueRange given) {
    Value zero = number(root, 0), rowCount = given[7], panelSize = given[9];
    TileAt at{given[1],
              number(root, 1),
              number(root, tiling.height),
              given[2],
              given[3],
              given[4],
              given[5],
              given[6],
              /*ahead=*/stepsAhead * tiling.height};
    loop(root, zero, given[8], tiling.width(), [&](Frame &outer, Value column) {
      TileAt own = at;
      Value width = number(outer, tiling.width());
      Value panel = binary(outer, '/', column, width);
      panel = binary(outer, '*', panel, number(outer, panelRoom()));
      own.columns = element(outer, at.columns, panel);
      Value sums = element(outer, at.sums, column);
      loop(outer, zero, rowCount, tiling.height, [&](Frame &inner, Value row) {
        Value panel = binary(inner, '/', row, at.deepStep);
        panel = binary(inner, '*', panel, panelSize);
        own.rows = element(inner, at.rows, panel);
        Value line = binary(inner, '*', row, at.sumStep);
        own.sums = element(inner, sums, line);
        tile(inner, own);
      });
    });
  };
  call(frame, "tiles",
       {emitter.packetPointer, first.rows, first.columns, first.sums,
        first.sumStep, first.count, first.isFirst, counts.rows, counts.columns,
        panelSize},
       make);
}
