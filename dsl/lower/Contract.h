// The code of a contraction: packing its factors, the register tile, and what
// is made of its sums.
#pragma once

#include "dsl/lower/FlatAxes.h"
#include "dsl/schedule/Contraction.h"

namespace quern {

class ContractionBuilder {
public:
  ContractionBuilder(Emitter &emitter, const KernelModel &model,
                     const Tiling &tiling, const TargetInfo &target,
                     llvm::ArrayRef<qn::StoreOp> stores,
                     std::int64_t workspaceStart, mlir::OpBuilder &builder);

  /// Bytes of workspace for the packed rows of all products.
  mlir::Value workspace(Frame &frame);
  /// Packs the rows of product `number` that panel `panel` holds.
  void packPanel(Frame &frame, unsigned number, mlir::Value panel);
  /// A number of rows and one of columns.
  struct Both {
    mlir::Value rows, columns;
  };
  /// Computes block `at` of blocks of such a `size` and stores the results.
  void unit(Frame &frame, Both at, Both size);
  /// Computes line `at` of columns for all of the few rows.
  void line(Frame &frame, mlir::Value at, mlir::Value size);
  /// Sums part `part` of `size` steps for all rows and columns.
  void sumPart(Frame &frame, mlir::Value part, mlir::Value size);
  /// Adds up those parts for a panel of rows and stores the results.
  void mergeParts(Frame &frame, mlir::Value panel);
  /// What is cut into parts: positions along the sum or along its last axis.
  mlir::Value partedExtent(Frame &frame);
  /// Bytes of workspace for the sums of all parts.
  mlir::Value deepWorkspace(Frame &frame);
  /// Makes room on the stack; for the entry block of a task.
  void makeBuffers(Frame &root, LaunchKind kind);

  FlatAxes batch, rows, columns;

  using Values = Emitter::Values;
  struct Block {
    mlir::Value lower, upper; ///< flattened positions
  };
  /// What one register tile reads and where its sums lie. Rows are `rowStep`
  /// elements apart, summed elements `deepStep`.
  struct TileAt {
    mlir::Value rows, rowStep, deepStep;
    mlir::Value columns;
    mlir::Value sums, sumStep;
    mlir::Value count;   ///< words of the summed axis
    mlir::Value isFirst; ///< begins with zeros, not with the sums so far
    /// Words from what is read of the rows to what is fetched into the second
    /// cache; 0: nothing is.
    std::int64_t ahead = 0;
  };
  void tile(Frame &frame, const TileAt &at);
  mlir::Value multiplyAdd(Frame &frame, mlir::Value row, mlir::Value column,
                          mlir::Value sum);
  /// Packs panel `panel` of columns of a product, all of its depth, into the
  /// workspace from byte `start` on.
  void packColumnPanel(Frame &frame, unsigned number, mlir::Value panel,
                       mlir::Value start);
  /// Where packed columns begin for the bound position of the batch, and how
  /// many elements lie from one panel to the next.
  mlir::Value packedColumns(Frame &frame, unsigned number, mlir::Value start);
  mlir::Value columnPanelElements(Frame &frame, const Product &product);
  /// Bytes of the packed columns of all products.
  mlir::Value columnBytes(Frame &frame);
  /// Packs a block of a factor from `base` on.
  void pack(Frame &frame, const Product &product, bool ofRows, Block panel,
            Block depth, mlir::Value base);
  /// The stores of a block, reading the sums as if they had just been made.
  void epilogue(Frame &frame, llvm::ArrayRef<qn::StoreOp> stores,
                Block rowRange, Block columnRange);
  /// Room for `elements` of the task's own.
  mlir::Value room(Frame &root, std::int64_t elements);
  /// Part `at` of axes in parts of `step`.
  Block range(Frame &frame, FlatAxes &axes, mlir::Value at, mlir::Value step);
  /// Words of a panel that so many summed elements take.
  mlir::Value words(Frame &frame, mlir::Value elements);
  mlir::Value element(Frame &frame, mlir::Value base, mlir::Value offset);
  mlir::Value binary(Frame &frame, char op, mlir::Value a, mlir::Value b);
  /// A loop with its body as a frame.
  void loop(Frame &frame, mlir::Value lower, mlir::Value upper,
            std::int64_t step,
            llvm::function_ref<void(Frame &, mlir::Value)> body);
  llvm::SmallVector<mlir::Value> sumBuffers;
  std::int64_t sumLine; ///< elements from a row of the sums to the next

private:
  /// Where packed elements go: position (panel axis, summed axis) from
  /// (`first`, `from`) on, `width` panel positions a row.
  struct Panel {
    mlir::Value base;
    mlir::Value first, from;
    std::int64_t width;
    /// Elements from one panel to the next, where there are several; null: one.
    mlir::Value next = {};
  };

  // Pack.cpp
  void packColumns(Frame &frame, const Product &product, Block range,
                   Block depth, mlir::Value base);
  std::int64_t panelRoom() const {
    return (tiling.words() + tiling.lanes) * tiling.width();
  }
  void packLanes(Frame &at, const Product &product, bool ofRows, Panel to,
                 mlir::Value flat, mlir::Value first, mlir::Value deep);
  void packAlong(Frame &frame, const Product &product, bool ofRows, Block panel,
                 Block depth, Panel to);
  void packWindow(Frame &frame, const Product &product, bool ofRows,
                  Block panel, Block depth, Panel to);
  void packTurned(Frame &frame, const Product &product, bool ofRows,
                  unsigned group, Block depth, Panel to);
  mlir::Value paired(Frame &frame, mlir::Value even, mlir::Value odd);
  mlir::Value asWords(Frame &frame, mlir::Value vector, mlir::Value mask);

  // MatrixTile.cpp
  void matrixTile(Frame &frame, const TileAt &at);
  mlir::Value tileOfSums(Frame &frame, const TileAt &at, unsigned which);
  void clearLastLine(Frame &frame, mlir::Value base, Block depth,
                     std::int64_t width);
  mlir::Value lineStart(Frame &frame, mlir::Value word);
  mlir::Value atLines(Frame &frame, mlir::Value first);

  // StreamedColumns.cpp
  void clearSums(Frame &frame, mlir::Value count);
  void addSteps(Frame &at, mlir::Value first);

  // ContractShared.cpp
  using Make = llvm::function_ref<void(Frame &root, mlir::ValueRange)>;
  void call(Frame &frame, llvm::StringRef name,
            llvm::ArrayRef<mlir::Value> arguments, Make make);
  void packBlock(Frame &frame, unsigned which, bool ofRows, Block across,
                 Block depth, mlir::Value base);
  void tiles(Frame &frame, Both counts, const TileAt &first,
             mlir::Value panelSize);

  // DeepSums.cpp
  void makeDeepBuffers(Frame &root, LaunchKind kind);
  mlir::Value parts(Frame &frame);
  FlatAxes sumsOf(const Product &product) {
    FlatAxes sums(emitter, model, product.sums);
    if (part)
      sums.limitLast(part->lower, part->upper);
    return sums;
  }
  mlir::Value paddedColumns(Frame &frame);
  mlir::Value partElements(Frame &frame);
  Block partAt(Frame &frame, mlir::Value which, mlir::Value size);
  mlir::Value sumsOfPart(Frame &frame, mlir::Value part);
  void packRows(Frame &frame, Block depth);
  mlir::Value addedParts(Frame &frame, mlir::Value first, mlir::Value step);
  std::int64_t rowPanelRoom() const {
    return (tiling.words() + tiling.lanes) * tiling.height;
  }

  // Contract.cpp
  mlir::Value panels(Frame &frame);
  mlir::Value columnPanels(Frame &frame);
  mlir::Value panelElements(Frame &frame, const Product &product);
  mlir::Value packedRows(Frame &frame, unsigned number);
  void products(Frame &frame, unsigned number, Block rowRange,
                Block columnRange);
  using Begin = llvm::function_ref<mlir::Value(Frame &, unsigned)>;
  using Meet = llvm::function_ref<Values(Frame &, mlir::Value rows,
                                         mlir::Value columns, Values)>;
  Values loadTile(Frame &frame, const TileAt &at,
                  llvm::ArrayRef<mlir::Type> types, Begin zero, Begin load);
  Values alongTile(Frame &frame, const TileAt &at, std::int64_t step,
                   Values sums, Meet meet);
  void vectorTile(Frame &frame, const TileAt &at);
  mlir::Value sumVector(Frame &frame, const TileAt &at, unsigned number);
  void epilogueAt(Frame &frame, llvm::ArrayRef<qn::StoreOp> stores,
                  mlir::Value offset);

  mlir::Value number(Frame &frame, std::int64_t value) {
    return emitter.constant(frame, value);
  }
  mlir::OpBuilder &in(Frame &frame) { return emitter.in(frame); }

  Emitter &emitter;
  const KernelModel &model;
  const Tiling &tiling;
  const TargetInfo &target;
  llvm::ArrayRef<qn::StoreOp> stores;
  std::int64_t workspaceStart;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value columnBuffer, rowBuffer;
  /// Where a part of a window's last summed axis begins, and its length.
  std::optional<Block> part;
};

} // namespace quern
