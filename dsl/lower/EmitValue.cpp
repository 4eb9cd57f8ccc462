// Values in a context: found, or made in the outermost frame that can hold
// them.
#include "dsl/dialect/Steps.h"
#include "dsl/lower/Division.h"
#include "dsl/lower/Emitter.h"
#include "dsl/lower/SmallFloat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace quern;

Emitter::Emitter(const KernelModel &model, const Schedule &schedule,
                 const TargetInfo &target, const Packet &packet,
                 std::vector<ErrorSite> &sites, OpBuilder &builder)
    : model(model), schedule(schedule), target(target), packet(packet),
      sites(sites, model.kernel.ownName()), builder(builder) {}

OpBuilder &Emitter::in(Frame &frame) {
  if (frame.anchor)
    builder.setInsertionPoint(frame.anchor);
  else
    builder.setInsertionPointToEnd(frame.block);
  return builder;
}

static unsigned lanesOf(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type ? type.getNumElements() : 1;
}

/// The outermost frame in which every axis of a value has its position.
Frame &Emitter::home(Frame &from, AxisSet axes) {
  Frame *frame = &from;
  while (frame->parent && !(axes & ~frame->parent->bound) &&
         !(axes & frame->rebound))
    frame = frame->parent;
  return *frame;
}

Copies Emitter::project(const Frame &frame, AxisSet axes, Copies copies) const {
  Copies result = 0;
  for (const Binding &binding : frame.bindings)
    if (binding.copies > 1 && hasAxis(axes, binding.axis))
      result |= copies & (Copies(0xff) << (8 * binding.slot));
  return result;
}

/// Stands for a value where there is no budget for more code: what was begun
/// is left, and nobody uses it.
static Value abandon(Emitter &emitter, Frame &frame, Value value,
                     AxisSet axes) {
  OpBuilder &b = emitter.in(frame);
  Budget &budget = *budgetOf(*b.getContext());
  if (emitter.valid && budget.isExceeded())
    emitError(value.getLoc(), tooLargeText(budget)).attachNote()
        << tooLargeCode;
  emitter.valid = false;
  const Binding *lane = emitter.laneOf(frame, axes);
  Type type = value.getType();
  if (lane && lane->lanes > 1)
    type = VectorType::get({std::int64_t(lane->lanes)}, type);
  return arith::ConstantOp::create(b, value.getLoc(), b.getZeroAttr(type));
}

Value Emitter::emit(Frame &from, Value value, Copies copies) {
  AxisSet axes = model.axesOf(value);
  Frame &frame = home(from, axes);
  copies = project(frame, axes, copies);
  Frame::Key key{value.getAsOpaquePointer(), copies};
  if (Value found = frame.values.lookup(key))
    return found;
  if (!goesOn(*builder.getContext()))
    return abandon(*this, frame, value, axes);
  Value made = compute(frame, value, copies);
  frame.values[key] = made;
  return made;
}

Emitter::Values Emitter::emitAll(Frame &frame, ValueRange values,
                                 Copies copies) {
  Values made;
  for (Value value : values)
    made.push_back(emit(frame, value, copies));
  return made;
}

Value Emitter::compute(Frame &frame, Value value, Copies copies) {
  // It is not of the branch that asks for it first.
  llvm::SaveAndRestore outside(frame.arm, Value());
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &model.kernel.block()
               ? parameter(frame, argument)
               : wholeRounds(frame, argument);
  if (buffered.contains(value))
    return readBuffered(frame, value, copies);
  if (Value back = kept(frame, value, copies))
    return back;
  Operation *op = value.getDefiningOp();
  if (model.isMaterialised(op)) {
    unsigned offset = schedule.workspaceOffset(cast<OpResult>(value));
    Value at = slot(frame, constant(frame, 0), offset);
    return readSlot(frame, at, value.getType());
  }
  if (auto reduction = dyn_cast<qn::ReduceOp>(op)) {
    reduce(frame, reduction);
    return frame.values.lookup({value.getAsOpaquePointer(), copies});
  }
  if (Value all = beside(frame, value)) {
    const Binding *rows = frame.find(launch->axes.back().axis);
    unsigned row = copies >> (8 * rows->slot) & 0xff;
    return vector::ExtractOp::create(in(frame), value.getLoc(), all, row);
  }
  Local local;
  Values made = operation(frame, op, local, copies);
  for (auto [result, of] : llvm::zip(op->getResults(), made))
    frame.values[{result.getAsOpaquePointer(), copies}] = of;
  return made[cast<OpResult>(value).getResultNumber()];
}

Value Emitter::constant(Frame &frame, std::int64_t value) {
  Frame &root = home(frame, {});
  Value &made = root.constants[value];
  if (made)
    return made;
  OpBuilder &b = in(root);
  made = arith::ConstantOp::create(b, b.getUnknownLoc(),
                                   b.getI64IntegerAttr(value));
  return made;
}

Value Emitter::word(Frame &frame, unsigned word, Type type) {
  Frame &root = home(frame, {});
  Frame::Key key{packetPointer.getAsOpaquePointer(), word};
  if (Value found = root.values.lookup(key))
    return found;
  OpBuilder &b = in(root);
  Location loc = b.getUnknownLoc();
  Value at = LLVM::GEPOp::create(
      b, loc, packetPointer.getType(), b.getI64Type(), packetPointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(word)});
  Value loaded = target.isGpu() && isa<LLVM::LLVMPointerType>(type)
                     ? globalPointer(at)
                     : Value(LLVM::LoadOp::create(b, loc, type, at, 8));
  root.values[key] = loaded;
  return loaded;
}

Value Emitter::extent(Frame &frame, unsigned axis) {
  return word(frame, packet.extentWord(axis), builder.getI64Type());
}

/// A loop is made within those over the axes that it carries values along.
Value Emitter::wholeRounds(Frame &frame, BlockArgument argument) {
  if (valid)
    argument.getOwner()->getParentOp()->emitError(
        "a value that a loop carries along an axis is reduced along it in the "
        "same loop, whose rounds are not known when compiling");
  valid = false;
  return arith::ConstantOp::create(in(frame), argument.getLoc(),
                                   builder.getZeroAttr(argument.getType()));
}

Value Emitter::parameter(Frame &frame, BlockArgument argument) {
  Type type = argument.getType();
  unsigned number = packet.argumentWord(argument.getArgNumber());
  if (!type.isInteger(1))
    return word(frame, number, type);
  Value byte = word(frame, number, builder.getI8Type());
  return fromMemory(home(frame, {}), byte, type);
}

Value Emitter::position(Frame &frame, unsigned axis, Copies copies) {
  const Binding *binding = frame.find(axis);
  assert(binding && "position of an axis that has none here");
  if (binding->copies == 1)
    return binding->position;
  unsigned copy = (copies >> (8 * binding->slot)) & 0xff;
  if (copy == 0)
    return binding->position;
  Frame &at = home(frame, axisBit(axis));
  Frame::Key key{binding->position.getAsOpaquePointer(), copy};
  if (Value found = at.values.lookup(key))
    return found;
  std::int64_t lanes = std::int64_t(copy) * binding->lanes;
  Value distance = binding->byTeam ? teamTimes(at, lanes) : constant(at, lanes);
  OpBuilder &b = in(at);
  Value sum =
      arith::AddIOp::create(b, b.getUnknownLoc(), binding->position, distance);
  if (binding->last)
    sum = arith::MinSIOp::create(b, b.getUnknownLoc(), sum, binding->last);
  at.values[key] = sum;
  return sum;
}

/// A position as a value: of one element, or of every lane.
Value Emitter::lanePosition(Frame &frame, unsigned axis, Copies copies) {
  Value first = position(frame, axis, copies);
  unsigned lanes = frame.find(axis)->lanes;
  if (lanes == 1)
    return first;
  auto steps = llvm::to_vector(llvm::seq<std::int64_t>(0, lanes));
  OpBuilder &b = in(frame);
  auto type = VectorType::get({std::int64_t(lanes)}, b.getI64Type());
  Value offsets = arith::ConstantOp::create(
      b, b.getUnknownLoc(), DenseElementsAttr::get(type, ArrayRef(steps)));
  return arith::AddIOp::create(b, b.getUnknownLoc(), widen(frame, first, lanes),
                               offsets);
}

Value Emitter::widen(Frame &frame, Value value, unsigned lanes) {
  in(frame);
  if (lanes == 1 || isa<VectorType>(value.getType()))
    return value;
  // A vector made of equal small floats would be rounded by a call where the
  // machine does not have them.
  auto small = dyn_cast<FloatType>(value.getType());
  if (small && small.getWidth() < 32) {
    Type bits = builder.getIntegerType(small.getWidth());
    value = arith::BitcastOp::create(builder, value.getLoc(), bits, value);
    value = widen(frame, value, lanes);
    auto type = VectorType::get({static_cast<int64_t>(lanes)}, small);
    return arith::BitcastOp::create(builder, value.getLoc(), type, value);
  }
  auto type = VectorType::get({static_cast<int64_t>(lanes)}, value.getType());
  return vector::BroadcastOp::create(builder, value.getLoc(), type, value);
}

/// A value as a vector; a scalar is spread where it was made.
Value Emitter::wide(Frame &from, Value value, Copies copies, unsigned lanes) {
  Value made = emit(from, value, copies);
  if (lanes == 1 || lanesOf(made) == lanes)
    return made;
  AxisSet axes = model.axesOf(value);
  Frame &frame = home(from, axes);
  Frame::Key key{value.getAsOpaquePointer(), project(frame, axes, copies)};
  Value &splat = frame.splats[key];
  if (!splat || lanesOf(splat) != lanes) {
    splat = widen(frame, made, lanes);
  }
  return splat;
}

Emitter::Values Emitter::localOperands(Frame &frame, Operation *op,
                                       Local &local, Copies copies) {
  Values operands;
  unsigned lanes = 1;
  for (Value operand : op->getOperands()) {
    Value known = local.lookup(operand);
    operands.push_back(known ? known : emit(frame, operand, copies));
    lanes = std::max(lanes, lanesOf(operands.back()));
  }
  for (auto [made, operand] : llvm::zip(operands, op->getOperands()))
    if (lanesOf(made) != lanes) {
      in(frame);
      made = local.contains(operand) ? widen(frame, made, lanes)
                                     : wide(frame, operand, copies, lanes);
    }
  return operands;
}

/// The results of an operation whose operands may be local to a region.
Emitter::Values Emitter::operation(Frame &frame, Operation *op, Local &local,
                                   Copies copies) {
  if (!goesOn(*builder.getContext())) {
    Values none;
    for (Value result : op->getResults())
      none.push_back(abandon(*this, frame, result, AxisSet()));
    return none;
  }
  if (isa<arith::ConstantOp>(op))
    return Values{in(frame).clone(*op)->getResult(0)};
  if (auto index = dyn_cast<qn::IndexOp>(op))
    return Values{lanePosition(frame, model.axisOf(index.getAxis()), copies)};
  if (auto axis = dyn_cast<qn::AxisOp>(op))
    return Values{lanePosition(frame, model.axisOf(axis.getAxis()), copies)};
  if (auto size = dyn_cast<qn::SizeOp>(op))
    return Values{extent(frame, model.axisOf(size.getAxis()))};
  if (auto read = dyn_cast<qn::LoadOp>(op))
    return Values{load(frame, read, local, copies)};
  if (auto read = dyn_cast<qn::JoinedOp>(op))
    return Values{joined(frame, read, copies)};
  if (auto table = dyn_cast<qn::LookupOp>(op))
    return Values{lookup(frame, table, local, copies)};
  if (auto asked = dyn_cast<qn::RequireOp>(op))
    return Values{
        required(frame, asked, localOperands(frame, op, local, copies))};
  if (isa<scf::IfOp, scf::WhileOp, scf::ForOp>(op))
    return control(frame, op, local, copies);
  if (OpTrait::hasElementwiseMappableTraits(op))
    return elementwise(frame, op, localOperands(frame, op, local, copies));
  return Values{unsupported(op, op->getResult(0).getType(),
                            "has no meaning in a `rowwise`")};
}

/// The same operation on scalars or on vectors, as its operands are.
Emitter::Values Emitter::elementwise(Frame &frame, Operation *op,
                                     Values operands) {
  unsigned lanes = operands.empty() ? 1 : lanesOf(operands.front());
  if (lanes > 1) {
    if (Value quotient = divideVectors(in(frame), op, operands))
      return Values{quotient};
    if (Value quotient = target.isGpu()
                             ? divideByOuter(*this, frame, op, operands)
                             : Value())
      return Values{quotient};
  }
  return cloneLifted(in(frame), target, op, operands, lanes);
}

Emitter::Values Emitter::inlineRegion(Frame &frame, Region &region,
                                      ValueRange arguments, Copies copies) {
  Local local;
  return regionValues(frame, region, local, arguments, copies);
}

Value Emitter::unsupported(Operation *op, Type type, StringRef what) {
  if (valid)
    op->emitError() << "'" << op->getName() << "' " << what;
  valid = false;
  return arith::ConstantOp::create(builder, op->getLoc(),
                                   builder.getZeroAttr(type));
}
