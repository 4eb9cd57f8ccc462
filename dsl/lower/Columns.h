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

  mlir::Value workspace(Frame &frame);
  /// How many rows there are, and how many elements in one, where several are
  /// taken as one.
  mlir::Value rowCount(Frame &frame);
  mlir::Value width(Frame &frame);
  /// The states of one part of the rows for a range of columns.
  void part(Frame &frame, mlir::Value part, const LoopSpec &lane);
  /// Merges the parts of a range of columns and stores what is made of them.
  void merge(Frame &frame, const LoopSpec &lane);

private:
  mlir::Value together(Frame &frame);
  mlir::Value parts(Frame &frame);
  mlir::Value binary(Frame &frame, char op, mlir::Value a, mlir::Value b);
  /// Where state `number` of a part lies for the first lane of a copy.
  mlir::Value place(Frame &frame, mlir::Value part, unsigned number,
                    Copies copies, mlir::Value behind = {});
  Values load(Frame &frame, mlir::Value part, Copies copies,
              mlir::Value behind = {}, unsigned first = 0);
  void save(Frame &frame, mlir::Value part, Copies copies,
            mlir::ValueRange states, unsigned first = 0);
  Values initial(Frame &frame, Copies copies);
  void addRows(Frame &frame, mlir::Value part, llvm::ArrayRef<LoopSpec> loops);
  void addSteps(Frame &frame, mlir::Value part, llvm::ArrayRef<LoopSpec> loops);
  void closeRun(Frame &frame, mlir::Value part, const LoopSpec &lane);
  /// The first of the states that a part leaves.
  unsigned result() const { return columns.kept() - types.size(); }
  Values merged(Frame &frame, mlir::ValueRange states, mlir::ValueRange others,
                Copies copies);
  void rest(Frame &frame, mlir::Value part, LoopSpec lane);
  void mergeCopy(Frame &frame, Copies copies);
  mlir::OpBuilder &in(Frame &frame) { return emitter.in(frame); }

  Emitter &emitter;
  const KernelModel &model;
  const Columns &columns;
  llvm::ArrayRef<qn::StoreOp> stores;
  std::int64_t workspaceStart;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  FlatAxes outer;
  mlir::Block *togetherAt = nullptr;
  mlir::Value togetherLog;
  llvm::SmallVector<mlir::Type> types; ///< of the states of all members
};

} // namespace quern
