// The code of column reductions: states of parts in the workspace, then their
// merge.
#pragma once

#include "dsl/lower/FlatAxes.h"
#include "dsl/schedule/Columns.h"

namespace quern {

class ColumnBuilder {
public:
  using Values = Emitter::Values;

  ColumnBuilder(Emitter &emitter, const KernelModel &model,
                const Columns &columns, llvm::ArrayRef<qn::StoreOp> stores,
                std::int64_t workspaceStart, mlir::OpBuilder &builder);

  /// Whether there are rows enough.
  mlir::Value pays(Frame &frame);
  mlir::Value workspace(Frame &frame);
  /// The states of one part of the rows for a range of columns.
  void part(Frame &frame, mlir::Value part, const LoopSpec &lane);
  /// Merges the parts of a range of columns and stores what is made of them.
  void merge(Frame &frame, const LoopSpec &lane);

private:
  mlir::Value parts(Frame &frame);
  mlir::Value binary(Frame &frame, char op, mlir::Value a, mlir::Value b);
  /// Where state `number` of a part lies for the first lane of a copy.
  mlir::Value place(Frame &frame, mlir::Value part, unsigned number,
                    Copies copies);
  Values load(Frame &frame, mlir::Value part, Copies copies);
  void save(Frame &frame, mlir::Value part, Copies copies,
            mlir::ValueRange states);
  Values initial(Frame &frame, Copies copies);
  void mergeCopy(Frame &frame, Copies copies);
  mlir::Type typeOf(unsigned number) const { return types[number]; }
  mlir::OpBuilder &in(Frame &frame) { return emitter.in(frame); }

  Emitter &emitter;
  const Columns &columns;
  llvm::ArrayRef<qn::StoreOp> stores;
  std::int64_t workspaceStart;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  FlatAxes outer;
  llvm::SmallVector<mlir::Type> types; ///< of the states of all members
};

} // namespace quern
