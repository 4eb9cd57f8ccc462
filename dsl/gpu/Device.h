// How a vendor's GPU spells thread numbers, barriers and shuffles.
#pragma once

#include "dsl/dialect/Dialect.h"
#include "dsl/gpu/Matrix.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace quern {

/// Shared memory that a block has without asking for it when it is launched.
inline constexpr std::int64_t unaskedBytes = 48 << 10;

/// Makes a vendor's intrinsics at the insertion point of a builder.
class Device {
public:
  Device(const TargetInfo &target, mlir::OpBuilder &builder)
      : target(target), builder(builder) {}

  const TargetInfo &target;

  /// Numbers of i32: of the thread in its block, of the block in the grid,
  /// along a dimension.
  mlir::Value threadNumber(mlir::Location loc, unsigned dimension = 0);
  mlir::Value blockNumber(mlir::Location loc, unsigned dimension = 0);
  void barrier(mlir::Location loc);
  /// The same number, from which nothing is made before this point: what rarely
  /// runs, or runs once, would take registers of a loop between. NVIDIA only.
  mlir::Value fromHere(mlir::Location loc, mlir::Value number);
  /// Stores sixteen bytes, which leave the caches before anything else does.
  /// NVIDIA only.
  void storePast(mlir::Location loc, mlir::Value pointer, mlir::Value value);
  /// Of the blocks of a cluster: this one has come here, and all of them have.
  /// A thread that has written something shows it before it arrives; `isBehind`
  /// its accesses otherwise, which is a fence of all threads for the device.
  void arriveCluster(mlir::Location loc, bool isBehind = false);
  void showCluster(mlir::Location loc);
  void awaitCluster(mlir::Location loc);
  /// The same place in the shared memory of a block of the cluster.
  mlir::Value inBlock(mlir::Location loc, mlir::Value at, mlir::Value block);
  /// What the lane `by` further holds; past the end of a warp anything.
  mlir::Value shuffleDown(mlir::Location loc, mlir::Value value,
                          mlir::Value lane, unsigned by);
  /// What the first lane of a warp holds.
  mlir::Value fromFirst(mlir::Location loc, mlir::Value value);

  // DeviceWarp.cpp. `here`: the lanes that take part, one bit for each; null:
  // all of the warp, or on AMD those that are at this point.
  /// The lanes of `here` whose condition holds.
  mlir::Value ballot(mlir::Location loc, mlir::Value here,
                     mlir::Value condition);
  /// What lane `from` holds, a lane that takes part.
  mlir::Value shuffle(mlir::Location loc, mlir::Value here, mlir::Value value,
                      mlir::Value from);
  /// What the lane `lane ^ by` holds; all of the warp take part.
  mlir::Value shuffleXor(mlir::Location loc, mlir::Value value,
                         mlir::Value lane, unsigned by);
  void warpBarrier(mlir::Location loc, mlir::Value here);
  /// One bit for each lane.
  mlir::Type laneSet() const;

  /// LLVM's name of a scope.
  llvm::StringRef scopeName(qn::Scope scope) const;
  /// The memory of a thread's own arrays.
  unsigned localSpace() const { return isNvptx() ? 0 : 5; }

  // DeviceMatrix.cpp. The places are those of `matrixLayout`.
  MatrixLane matrixLane(mlir::Location loc, mlir::Value lane,
                        const MatrixLayout &layout);
  llvm::SmallVector<mlir::Value> noSums(mlir::Location loc,
                                        const MatrixLayout &layout);
  /// The sum at a place of the layout.
  mlir::Value sumAt(mlir::Location loc, mlir::ValueRange sums, unsigned place);
  /// Adds the product of two factors, given in pieces, to `sums`.
  void multiply(mlir::Location loc, mlir::ValueRange left,
                mlir::ValueRange right,
                llvm::MutableArrayRef<mlir::Value> sums);

  // DeviceCopies.cpp, for NVIDIA only; elsewhere there is nothing to commit or
  // to wait for.
  bool hasAsyncCopies() const { return isNvptx(); }
  /// Four matrices of 8 by 8 elements of 16 bits, each line where a lane's
  /// pointer leads, as `multiply` takes them.
  llvm::SmallVector<mlir::Value> loadMatrices(mlir::Location loc,
                                              mlir::Value line, bool turned,
                                              mlir::Type element);
  /// Begins to copy 4, 8 or 16 bytes, as `most` says, from a tensor to shared
  /// memory; those behind the first `bytes` become zero.
  void copyAsync(mlir::Location loc, mlir::Value to, mlir::Value from,
                 mlir::Value bytes, unsigned most);
  void copyAsync(mlir::Location loc, mlir::Value to, mlir::Value from,
                 unsigned bytes);
  void commitCopies(mlir::Location loc);
  /// Waits until at most `open` committed groups of copies are under way.
  void awaitCopies(mlir::Location loc, unsigned open);

  /// Threads of a block along x, y, z, where they are known.
  using Block = std::array<std::optional<std::int64_t>, 3>;
  struct EntryShape {
    Block block;
    bool isFlat = false;   ///< asks only for numbers along x
    bool isMost = false;   ///< there may be fewer threads
    bool isListed = false; ///< takes a table of packets
    /// To fit a multiprocessor's registers, at least; 0: one takes them all.
    unsigned blocks = 1;
    bool isLight = false; ///< a thread has 64 of them, two blocks of 512 fit
    unsigned cluster = 1; ///< blocks
  };
  /// An entry, which takes the packet and `own` words of the launch, or a
  /// list's parameter; its first block's argument leads to them.
  mlir::Block *entry(mlir::Location loc, llvm::StringRef name,
                     const EntryShape &shape, std::size_t packetWords,
                     std::size_t own);

private:
  mlir::ArrayAttr attributes(const EntryShape &shape);
  mlir::Value call(mlir::Location loc, llvm::StringRef name, mlir::Type result,
                   mlir::ValueRange arguments);
  mlir::Value number(mlir::Location loc, std::int64_t value);
  /// Applies `one` to every 32 bits of a value.
  mlir::Value inWords(mlir::Location loc, mlir::Value value,
                      llvm::function_ref<mlir::Value(mlir::Value)> one);
  void multiplyNvidia(mlir::Location loc, mlir::ValueRange left,
                      mlir::ValueRange right,
                      llvm::MutableArrayRef<mlir::Value> sums);
  void multiplyDoubles(mlir::Location loc, mlir::ValueRange left,
                       mlir::ValueRange right,
                       llvm::MutableArrayRef<mlir::Value> sums);
  bool isNvptx() const { return target.kind == TargetKind::Nvptx; }

  mlir::OpBuilder &builder;
};

/// Writes an error record of three words, unless another thread has.
void claimError(mlir::OpBuilder &builder, mlir::Value record,
                mlir::ValueRange parts);

} // namespace quern
