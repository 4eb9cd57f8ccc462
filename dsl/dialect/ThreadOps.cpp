// Construction and verification of explicit kernels and what their threads do.
#include "dsl/dialect/Dialect.h"

#include "dsl/dialect/Behind.h"

using namespace mlir;
using namespace quern;
using namespace quern::qn;

LaunchOp KernelOp::launch() { return *getBody().getOps<LaunchOp>().begin(); }

/// A number of blocks or threads: what the host can compute.
static bool isHostValue(Value value) {
  return holdsBehind(value, [](Value each) {
    if (isa<BlockArgument>(each))
      return isa<KernelOp>(each.getParentBlock()->getParentOp()) ? Found::Yes
                                                                 : Found::No;
    Operation *op = each.getDefiningOp();
    bool isPlain = isMemoryEffectFree(op) && !op->getNumRegions() &&
                   !isa<ThreadOp, BlockOp, LaneOp>(op);
    return isPlain ? Found::IfBehind : Found::No;
  });
}

LogicalResult LaunchOp::verify() {
  for (auto [number, value] : llvm::enumerate(getOperands()))
    if (!isHostValue(value))
      return emitOpError() << "operand " << number
                           << " cannot be computed on the host";
  return success();
}

static LogicalResult verifySpace(Operation *op, Type type, unsigned space) {
  auto memory = cast<MemRefType>(type);
  if (memory.getMemorySpaceAsInt() != space || !memory.getLayout().isIdentity())
    return op->emitOpError()
           << "gives " << type << ", must be a plain array in memory space "
           << space;
  return success();
}

LogicalResult SharedOp::verify() {
  return verifySpace(*this, getResult().getType(), 3);
}

LogicalResult LocalOp::verify() {
  return verifySpace(*this, getResult().getType(), 5);
}

/// The type of an element of `place`, or of one of its halves.
static Type elementAt(Type place, std::optional<uint64_t> part) {
  auto operand = dyn_cast<OperandType>(place);
  Type element = operand ? operand.getElementType()
                         : cast<MemRefType>(place).getElementType();
  auto complex = dyn_cast<ComplexType>(element);
  return part && complex ? complex.getElementType() : element;
}

template <typename Op>
static LogicalResult verifyAccess(Op op, Type accessed,
                                  std::optional<uint64_t> part) {
  Type place = op.getPlace().getType();
  auto operand = dyn_cast<OperandType>(place);
  std::size_t rank =
      operand ? operand.getAxes().size()
              : static_cast<std::size_t>(cast<MemRefType>(place).getRank());
  if (op.getIndices().size() != rank)
    return op.emitOpError()
           << op.getIndices().size() << " indices for " << rank << " axes";
  if (accessed != elementAt(place, part))
    return op.emitOpError()
           << "an element of " << place << " is no " << accessed;
  return success();
}

LogicalResult ReadOp::verify() {
  return verifyAccess(*this, getResult().getType(), getPart());
}

LogicalResult WriteOp::verify() {
  return verifyAccess(*this, getValue().getType(), getPart());
}

LogicalResult AtomicOp::verify() {
  if (getValue().getType() != getOld().getType() ||
      (getExpected() && getExpected().getType() != getOld().getType()))
    return emitOpError() << "values and result must be of one type";
  if ((getKind() == AtomicKind::cas) != static_cast<bool>(getExpected()))
    return emitOpError("`expected` belongs to `cas`");
  return verifyAccess(*this, getValue().getType(), std::nullopt);
}

LogicalResult BarrierOp::verify() {
  if (getScope() != Scope::warp && getScope() != Scope::block)
    return emitOpError("waits for a warp or a block");
  return success();
}

LogicalResult CombineOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getInits().getTypes());
  return success();
}

LogicalResult PrefixOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getInits().getTypes());
  return success();
}

template <typename Op> static LogicalResult verifyThreadMonoid(Op op) {
  bool isRow = std::is_same_v<Op, CombineOp> && op.getScope() == Scope::row;
  if (op.getScope() != Scope::warp && op.getScope() != Scope::block && !isRow)
    return op.emitOpError("combines over a warp or a block");
  SmallVector<Type> states(op.getInits().getTypes());
  SmallVector<Type> both = states;
  llvm::append_range(both, states);
  if (states.empty() ||
      TypeRange(op.getValues().getTypes()) != TypeRange(states))
    return op.emitOpError() << "values of types " << op.getValues().getTypes()
                            << ", states of types " << TypeRange(states);
  if (TypeRange(op.getMerge().getArgumentTypes()) != TypeRange(both))
    return op.emitOpError()
           << "merge takes " << op.getMerge().getArgumentTypes()
           << ", expected " << TypeRange(both);
  Block &block = op.getMerge().front();
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getOperandTypes() != TypeRange(states))
    return op.emitOpError() << "merge must yield " << TypeRange(states);
  return success();
}

LogicalResult CombineOp::verifyRegions() { return verifyThreadMonoid(*this); }

LogicalResult PrefixOp::verifyRegions() { return verifyThreadMonoid(*this); }

static std::size_t rankOf(Type place) {
  auto operand = dyn_cast<OperandType>(place);
  return operand ? operand.getAxes().size()
                 : cast<MemRefType>(place).getShape().size();
}

static Type wholeElement(Type place) { return elementAt(place, std::nullopt); }

LogicalResult CopyOp::verify() {
  Type to = getTo().getType(), from = getFrom().getType();
  if (rankOf(to) != getToIndices().size() || getToIndices().empty() ||
      rankOf(from) != getFromIndices().size() || getFromIndices().empty())
    return emitOpError("has an index for each axis of a place, and one at "
                       "least");
  if (wholeElement(to) != wholeElement(from))
    return emitOpError() << "copies " << wholeElement(from) << " to "
                         << wholeElement(to);
  if (getCount() == 0)
    return emitOpError("copies nothing");
  return success();
}

/// A matrix at a place: the last two axes.
static LogicalResult verifyTile(Operation *op, Type place,
                                std::size_t indices) {
  if (rankOf(place) != indices || indices < 2)
    return op->emitOpError("has an index for each axis of a place, and two at "
                           "least");
  return success();
}

/// Rows and columns in parts of sixteen.
static LogicalResult verifyExtents(Operation *op,
                                   std::initializer_list<uint64_t> extents) {
  for (uint64_t extent : extents)
    if (extent == 0 || extent % 16 != 0)
      return op->emitOpError()
             << "has an extent of " << extent << ", no multiple of 16";
  return success();
}

/// A place, or a tile of the warp.
static LogicalResult verifyLeft(MultiplyTileOp op) {
  Type left = op.getLeft().getType();
  auto memory = dyn_cast<MemRefType>(left);
  if (!op.hasLeftTile() || !memory || memory.getMemorySpaceAsInt() != 5)
    return verifyTile(op, left, op.getLeftIndices().size());
  if (memory.getRank() != 1)
    return op.emitOpError("multiplies a tile of one axis");
  return success();
}

LogicalResult MultiplyTileOp::verify() {
  if (failed(verifyExtents(*this, {getRows(), getColumns(), getDepth()})) ||
      failed(verifyLeft(*this)) ||
      failed(verifyTile(*this, getRight().getType(), getRightIndices().size())))
    return failure();
  if (wholeElement(getLeft().getType()) != wholeElement(getRight().getType()))
    return emitOpError() << "multiplies " << wholeElement(getLeft().getType())
                         << " by " << wholeElement(getRight().getType());
  return success();
}

LogicalResult LoadTileOp::verify() {
  if (failed(verifyExtents(*this, {getRows(), getColumns()})))
    return failure();
  return verifyTile(*this, getPlace().getType(), getIndices().size());
}

LogicalResult StoreTileOp::verify() {
  if (failed(verifyExtents(*this, {getRows(), getColumns()})))
    return failure();
  return verifyTile(*this, getPlace().getType(), getIndices().size());
}
