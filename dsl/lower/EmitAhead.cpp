// Asks for memory that a later step of a loop reads.
#include "dsl/lower/Emitter.h"

#include "dsl/dialect/Behind.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

static void prefetch(OpBuilder &b, Location loc, Value pointer,
                     bool isFar = false) {
  LLVM::Prefetch::create(b, loc, pointer, /*rw=*/0, /*hint=*/isFar ? 2 : 3,
                         /*cache=*/1);
}

/// Asks for the line that a later step of a loop begins to read; lines that do
/// not exist are no harm.
void Emitter::fetchAhead(Frame &frame, const Access &access, Copies copies) {
  const Binding *binding = frame.find(ahead.axis);
  if (!ahead.steps || !binding || binding->lanes > 1 || binding->copies > 1)
    return;
  Frame later = Frame::inside(frame, frame.block);
  later.anchor = frame.anchor;
  Value distance = constant(frame, ahead.steps);
  Location loc = access.op->getLoc();
  Value there =
      arith::AddIOp::create(in(frame), loc, binding->position, distance);
  later.bind(Binding{.axis = ahead.axis, .position = there});
  Values indices = emitAll(later, access.indices, copies);
  Value pointer = elementPointer(later, access, indices);
  prefetch(in(frame), loc, pointer);
}

/// Asks for what lies some lines behind masked lanes: processors that foresee
/// what whole vectors read next do not foresee it from masked ones. Of places
/// apart, behind the first one and the last one.
void Emitter::fetchForMasked(Frame &frame, Value pointer) {
  if (target.isGpu())
    return;
  if (auto apart = dyn_cast<VectorType>(pointer.getType())) {
    for (std::int64_t lane : {std::int64_t(0), apart.getNumElements() - 1})
      fetchForMasked(frame, vector::ExtractOp::create(
                                in(frame), pointer.getLoc(), pointer, lane));
    return;
  }
  constexpr std::int64_t distance = 4096;
  OpBuilder &b = in(frame);
  Value behind = LLVM::GEPOp::create(
      b, pointer.getLoc(), pointer.getType(), b.getI8Type(), pointer,
      ArrayRef<LLVM::GEPArg>{std::int32_t(distance)});
  prefetch(b, pointer.getLoc(), behind);
}

/// Which of an operand's axes the loop around the lanes' walks, where others
/// lie between the two in memory, so that the next row is not behind this one.
/// Rows that are made side by side are near.
static std::optional<unsigned> rowsApart(const KernelModel &model,
                                         const Frame &frame,
                                         qn::OperandType type,
                                         const Binding &lane) {
  const Binding *row = nullptr;
  for (const Binding &binding : frame.bindings) {
    if (binding.axis == lane.axis)
      continue;
    if (binding.copies > 1)
      return std::nullopt;
    if (hasAxis(model.axesOf(type), binding.axis))
      row = &binding;
  }
  ArrayRef<StringAttr> axes = type.getAxes();
  for (unsigned number = 0; row && number < axes.size(); ++number)
    if (model.axisOf(axes[number]) == row->axis) {
      bool isBehind = number + 1 < axes.size() &&
                      model.axisOf(axes[number + 1]) == lane.axis;
      bool isKnown = type.getStrides()[number] != StrideClass::Dynamic;
      return isBehind || isKnown ? std::nullopt : std::optional(number);
    }
  return std::nullopt;
}

/// So for lanes at an operand's own place: of rows apart, in a later row, if it
/// exists. What does not exist would be looked for in all the system's tables.
void Emitter::fetchOwn(Frame &frame, BlockArgument operand, Value pointer) {
  constexpr std::int64_t rows = 16;
  auto type = cast<qn::OperandType>(operand.getType());
  std::optional<unsigned> number =
      rowsApart(model, frame, type, *laneOf(frame, model.axesOf(type)));
  if (!number || target.isGpu())
    return fetchForMasked(frame, pointer);
  unsigned axis = model.axisOf(type.getAxes()[*number]);
  Location loc = pointer.getLoc();
  Value end = extent(frame, axis), most = constant(frame, rows + 1);
  Value one = constant(frame, 1), step = stride(frame, operand, *number);
  OpBuilder &b = in(frame);
  Value left = arith::SubIOp::create(b, loc, end, frame.find(axis)->position);
  left = arith::MinSIOp::create(b, loc, left, most);
  left = arith::SubIOp::create(b, loc, left, one);
  step = arith::MulIOp::create(b, loc, step, left);
  prefetch(in(frame), loc, advance(frame, type, pointer, step));
}

/// Binds the row behind the one that is written, if there is one at a time.
static bool bindNext(Emitter &emitter, Frame &frame, unsigned axis) {
  const Binding *row = frame.find(axis);
  if (!row || row->lanes > 1 || row->copies > 1)
    return false;
  Value there =
      arith::AddIOp::create(emitter.in(frame), row->position.getLoc(),
                            row->position, emitter.constant(frame, 1));
  frame.bind(Binding{.axis = axis, .position = there});
  return true;
}

/// Asks for what a turn of the lanes' loop reads, operand by operand: past the
/// caches, lines in a row come sooner than those of several rows in turns. Or,
/// for the second cache, for the same lines of the next row, one that does not
/// exist being no harm.
void Emitter::fetchLines(Frame &frame) {
  const Binding *lane = laneOf(frame, frame.bound);
  bool reads = ahead.next || (ahead.rows && lane && lane->copies > 1);
  if (!reads || !lane || lane->mask)
    return;
  Frame from = Frame::inside(frame, frame.block);
  from.anchor = frame.anchor;
  if (ahead.next && !bindNext(*this, from, ahead.axis))
    return;
  SmallVector<Value> pointers;
  unsigned operands = 0;
  for (qn::LoadOp load : model.kernel.block().getOps<qn::LoadOp>()) {
    Access access{load, dyn_cast<BlockArgument>(load.getTensor()),
                  load.getIndices(), load.getPart()};
    AxisSet axes = model.factsOf(load).axes;
    AxisSet moving = axisBit(lane->axis) | axisBit(ahead.axis);
    if (!access.operand || moving & ~axes || axes & ~frame.bound)
      continue;
    auto type = cast<qn::OperandType>(access.operand.getType());
    bool own = access.indices.empty();
    if (own ? strideAlong(type, lane->axis) != StrideClass::One : ahead.next)
      continue;
    std::size_t before = pointers.size();
    for (Copies copies : copiesOf(frame, frame.bound)) {
      Value pointer = own ? address(from, access.operand, axes, copies)
                          : neighbours(frame, access, *lane, copies);
      if (pointer)
        pointers.push_back(pointer);
    }
    operands += pointers.size() > before;
  }
  if (operands < 2 && !ahead.next)
    return;
  for (Value pointer : pointers)
    prefetch(in(frame), model.kernel.getLoc(), pointer, ahead.next);
}

/// Whether a position can be made before its turn: of positions, numbers and
/// elements that lie at positions. `reads` becomes true where it is of such
/// elements.
static bool isKnownAhead(Value position, bool &reads) {
  return holdsBehind(position, [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || isa<qn::IndexOp, qn::SizeOp>(op))
      return Found::Yes;
    if (auto load = dyn_cast<qn::LoadOp>(op)) {
      reads = true;
      return load.getIndices().empty() ? Found::Yes : Found::No;
    }
    return isa<arith::ArithDialect>(op->getDialect()) ? Found::IfBehind
                                                      : Found::No;
  });
}

/// Whether an operand says which row is read at each position along an axis, or
/// where in the row.
static bool namesRows(const KernelModel &model, const Access &access,
                      unsigned axis) {
  bool reads = false, moves = false;
  for (Value index : access.indices) {
    moves |= hasAxis(model.axesOf(index), axis);
    if (!isKnownAhead(index, reads))
      return false;
  }
  return reads && moves;
}

/// Asks for what lies in a later row at the lanes' own position, once for each
/// line: nobody else can guess which row that is, nor read a row in order whose
/// places are given. Such a row is asked for where it is no longer than the
/// lanes' axis.
void Emitter::fetchRow(Frame &frame, const Access &access, Copies copies) {
  constexpr std::int64_t line = 64;
  const Binding *binding = frame.find(ahead.axis);
  const Binding *lane = laneOf(frame, frame.bound);
  if (!ahead.rows || !binding || !lane || lane->axis == ahead.axis ||
      !namesRows(model, access, ahead.axis))
    return;
  auto type = cast<qn::OperandType>(access.operand.getType());
  std::int64_t bytes =
      std::int64_t(storedBytes(type.getElementType())) * lane->lanes;
  if (lane->copies > 1 && (copies >> (8 * lane->slot) & 0xff) * bytes % line)
    return;
  Location loc = access.op->getLoc();
  Frame &rows = home(frame, axisBit(ahead.axis));
  Frame later = Frame::inside(rows, rows.block);
  later.anchor = rows.anchor;
  Value row = position(rows, ahead.axis, copies);
  Value steps = constant(rows, std::int64_t(ahead.steps) * binding->copies);
  Value one = constant(rows, 1), end = extent(rows, ahead.axis);
  OpBuilder &b = in(rows);
  Value last = arith::SubIOp::create(b, loc, end, one);
  row = arith::AddIOp::create(b, loc, row, steps);
  row = arith::MinSIOp::create(b, loc, row, last);
  later.bind(Binding{.axis = ahead.axis, .position = row});
  Value first = position(frame, lane->axis, copies), fits;
  Values indices;
  for (auto [index, axis] : llvm::zip(access.indices, type.getAxes())) {
    bool along = hasAxis(model.axesOf(index), lane->axis);
    indices.push_back(along ? first : emit(later, index, copies));
    if (!along || isOwnPosition(index, axis))
      continue;
    Value width = extent(frame, model.axisOf(axis));
    Value most = extent(frame, lane->axis);
    fits = both(frame, fits,
                arith::CmpIOp::create(in(frame), loc, arith::CmpIPredicate::sle,
                                      width, most));
  }
  Value pointer = elementPointer(frame, access, indices);
  if (fits) // else what is read anyway
    pointer = arith::SelectOp::create(in(frame), loc, fits, pointer,
                                      pointerTo(frame, access.operand));
  prefetch(in(frame), loc, pointer);
}
