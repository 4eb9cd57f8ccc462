// The code of a launch that keeps products for a block of rows while other
// reductions walk over them.
#pragma once

#include "dsl/lower/Contract.h"
#include "dsl/schedule/RowBlocks.h"

namespace quern {

class RowBlockBuilder {
public:
  /// Columns whose sums are made together where they are read in place.
  static constexpr std::int64_t lineInPlace = 256;
  using Block = ContractionBuilder::Block;
  /// Makes the stores that have axes without loops left.
  using Stores = llvm::function_ref<void(Frame &, llvm::ArrayRef<qn::StoreOp>)>;

  RowBlockBuilder(Emitter &emitter, const KernelModel &model,
                  const RowBlocks &blocks, const TargetInfo &target,
                  llvm::ArrayRef<qn::StoreOp> stores,
                  std::int64_t workspaceStart, mlir::OpBuilder &builder);

  /// Bytes of workspace that all tasks share, and of each worker's own.
  mlir::Value workspace(Frame &frame);
  mlir::Value ownWorkspace(Frame &frame);
  /// A panel of the columns of a score, or of the sums of this number.
  void packColumns(Frame &frame, unsigned ofSums, unsigned product,
                   mlir::Value panel);
  /// `ownMemory` has the bytes of `ownWorkspace`.
  void makeBuffers(Frame &root, mlir::Value ownMemory);
  void unit(Frame &frame, mlir::Value rowBlock, Stores storeRest);

private:
  using Values = Emitter::Values;
  /// Values over the inner axis that a worker keeps.
  std::int64_t buffers() const {
    return blocks.scores.products.size() + blocks.kept.size();
  }
  /// Where the packed columns of the scores, or of such sums, begin.
  mlir::Value start(Frame &frame, unsigned ofSums);
  /// Elements from one kept row to the next.
  mlir::Value stride(Frame &frame);
  mlir::Value buffer(Frame &frame, unsigned which);
  mlir::Value result(Frame &frame, unsigned which, mlir::Value row);
  mlir::Value unlessStepped(Frame &frame, const InnerBound &bound, Block rows,
                            mlir::Value place, mlir::Value otherwise);
  mlir::Value boundAt(Frame &frame, const InnerBound &bound, bool isBehind,
                      mlir::Value row);
  Block innerRange(Frame &frame, Block rows);
  bool isOver(qn::StoreOp store, unsigned which) const;
  void score(Frame &frame, unsigned which, Block rows, Block inner);
  void packRows(Frame &frame, const Product &product, Block rows, Block depth);
  void scoreTiles(Frame &frame, unsigned which, mlir::Value count,
                  ContractionBuilder::TileAt at, Block inner);
  void keepRows(Frame &frame, Block rows, Block inner);
  void keep(Frame &frame, unsigned which, mlir::Value line, Block inner);
  mlir::Value valueToKeep(Frame &frame, const KeptValue &kept, Copies copies,
                          unsigned lanes);
  mlir::Value orZero(Frame &frame, mlir::Value where, mlir::Value value);
  void sumUp(Frame &frame, unsigned which, llvm::ArrayRef<qn::StoreOp> stores,
             Block rows, Block inner);
  void sumPanel(Frame &frame, unsigned ofSums, unsigned product, Block rows,
                mlir::Value panel, Block inner);
  // RowsInPlace.cpp
  using Rows =
      llvm::function_ref<void(Frame &, mlir::Value first, unsigned together)>;
  void together(Frame &frame, Block rows, Rows body);
  void scoreInPlace(Frame &frame, Block rows, Block inner);
  void scoreKeys(Frame &frame, mlir::Value first, mlir::Value row,
                 unsigned together, Block inner);
  void writeScores(Frame &at, unsigned which, mlir::Value line, Copies row);
  void sumInPlace(Frame &frame, unsigned which,
                  llvm::ArrayRef<qn::StoreOp> stores, Block rows, Block inner);
  void sumColumns(Frame &frame, unsigned which, unsigned product, Block rows,
                  Block inner, mlir::Value place);
  void addToLines(Frame &frame, unsigned which, unsigned product,
                  llvm::ArrayRef<mlir::Value> numbers,
                  llvm::ArrayRef<mlir::Value> places, Block keys,
                  mlir::Value isFirst);
  Values addUp(Frame &frame, ContractionBuilder &of, mlir::Value columns,
               llvm::ArrayRef<mlir::Value> lines, Block keys,
               mlir::ValueRange before);
  void byKeys(Frame &frame, Block inner,
              llvm::function_ref<void(Frame &, Block)> body);
  void replace(mlir::Value value, unsigned which, Block rows);
  void replaceResult(mlir::Value value, unsigned which, Block rows);
  mlir::Value number(Frame &frame, std::int64_t value) {
    return emitter.constant(frame, value);
  }
  mlir::Value binary(Frame &frame, char op, mlir::Value a, mlir::Value b) {
    return scores.binary(frame, op, a, b);
  }

  Emitter &emitter;
  const KernelModel &model;
  const RowBlocks &blocks;
  const TargetInfo &target;
  llvm::ArrayRef<qn::StoreOp> stores;
  std::int64_t workspaceStart;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  ContractionBuilder scores;
  llvm::SmallVector<ContractionBuilder, 1> sums;
  mlir::Value rowBuffer, own;
};

} // namespace quern
