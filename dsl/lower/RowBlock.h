// The code of a launch that keeps products for a block of rows while other
// reductions walk over them.
#pragma once

#include "dsl/lower/Contract.h"
#include "dsl/schedule/RowBlocks.h"

namespace quern {

class RowBlockBuilder {
public:
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
  void packColumns(Frame &frame, bool ofValues, unsigned product,
                   mlir::Value panel);
  void makeBuffers(Frame &root, mlir::Value worker);
  void unit(Frame &frame, mlir::Value rowBlock, Stores storeRest);

private:
  mlir::Value start(Frame &frame, bool ofValues);
  /// Elements from one kept row to the next.
  mlir::Value stride(Frame &frame);
  mlir::Value buffer(Frame &frame, unsigned which);
  mlir::Value innerEnd(Frame &frame, Block rows);
  void score(Frame &frame, unsigned which, Block rows, mlir::Value end);
  void packRows(Frame &frame, const Product &product, Block rows, Block depth);
  void scoreTiles(Frame &frame, unsigned which, mlir::Value count,
                  ContractionBuilder::TileAt at, mlir::Value end);
  void keep(Frame &frame, unsigned which, Block rows, mlir::Value end);
  void values(Frame &frame, Block rows, mlir::Value end);
  void value(Frame &frame, unsigned which, Block rows, mlir::Value panel,
             mlir::Value end);
  void replace(mlir::Value value, unsigned which, Block rows);
  mlir::Value number(Frame &frame, std::int64_t value) {
    return emitter.constant(frame, value);
  }
  mlir::Value binary(Frame &frame, char op, mlir::Value a, mlir::Value b) {
    return scores.binary(frame, op, a, b);
  }

  Emitter &emitter;
  const KernelModel &model;
  const RowBlocks &blocks;
  llvm::ArrayRef<qn::StoreOp> stores;
  std::int64_t workspaceStart;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  ContractionBuilder scores;
  std::optional<ContractionBuilder> sums;
  mlir::Value rowBuffer, own;
};

} // namespace quern
