// The order of a value's axes: the union of its operands' orders.
#include "frontend/check/AxisOrder.h"

using namespace quern;
using namespace quern::check;
using namespace quern::typed;

/// A pair stands in the row of its first axis.
static void set(llvm::SmallVectorImpl<llvm::SmallBitVector> &rows, AxisId first,
                AxisId second) {
  if (rows.size() <= first.index)
    rows.resize(first.index + 1);
  llvm::SmallBitVector &row = rows[first.index];
  if (row.size() <= second.index)
    row.resize(second.index + 1);
  row.set(second.index);
}

bool AxisOrder::isBefore(AxisId first, AxisId second) const {
  return first.index < rows.size() && second.index < rows[first.index].size() &&
         rows[first.index].test(second.index);
}

void AxisOrder::addBefore(llvm::ArrayRef<AxisId> first,
                          llvm::ArrayRef<AxisId> second) {
  for (AxisId a : first)
    for (AxisId b : second)
      if (a != b)
        set(rows, a, b);
}

void AxisOrder::addList(llvm::ArrayRef<AxisId> list) {
  for (std::size_t i = 0; i < list.size(); ++i)
    addBefore(list[i], list.drop_front(i + 1));
}

void AxisOrder::add(const AxisOrder &other) {
  rows.resize(std::max(rows.size(), other.rows.size()));
  for (auto [row, others] : llvm::zip(rows, other.rows))
    row |= others;
}

void AxisOrder::close() {
  for (std::size_t middle = 0; middle < rows.size(); ++middle)
    for (llvm::SmallBitVector &row : rows)
      if (middle < row.size() && row.test(middle))
        row |= rows[middle];
}

void AxisOrder::remove(llvm::ArrayRef<AxisId> axes) {
  close();
  for (AxisId axis : axes) {
    if (axis.index < rows.size())
      rows[axis.index].reset();
    for (llvm::SmallBitVector &row : rows)
      if (axis.index < row.size())
        row.reset(axis.index);
  }
}

void AxisOrder::rename(AxisId from, AxisId to) {
  if (from == to)
    return;
  for (std::size_t first = 0; first < rows.size(); ++first)
    if (from.index < rows[first].size() && rows[first].test(from.index)) {
      rows[first].reset(from.index);
      set(rows, {static_cast<std::uint16_t>(first)}, to);
    }
  if (from.index >= rows.size())
    return;
  for (unsigned second : rows[from.index].set_bits())
    set(rows, to, {static_cast<std::uint16_t>(second)});
  rows[from.index].reset();
}

namespace quern::check {

/// The order of one expression; names have theirs already.
class OrderFinder {
public:
  OrderFinder(const AxisOrders &known, llvm::ArrayRef<Axis> table)
      : known(known), table(table) {}

  AxisOrder of(const Expression *expression);
  AxisOrder ofElement(const Expression *tuple, unsigned element);

private:
  AxisOrder ofAll(Expressions expressions);
  AxisOrder ofVariable(const Variable &variable, int element);
  AxisOrder ofBounds(llvm::ArrayRef<AxisId> axes);
  AxisOrder ofLoad(const LoadExpression &load);
  AxisOrder ofConcat(const ConcatExpression &concat);
  AxisOrder ofOperands(const Expression &expression);

  const AxisOrders &known;
  llvm::ArrayRef<Axis> table;
};

} // namespace quern::check

AxisOrder OrderFinder::ofAll(Expressions expressions) {
  AxisOrder all;
  for (const Expression *each : expressions)
    all.add(of(each));
  return all;
}

AxisOrder OrderFinder::ofVariable(const Variable &variable, int element) {
  AxisOrder order;
  unsigned place = variable.span.begin;
  if (auto written = known.written.find(place); written != known.written.end())
    order.addList(written->second);
  else if (auto found = known.orders.find({place, element});
           found != known.orders.end())
    return found->second;
  else if (element < 0) // as the type of a parameter is written
    order.addList(variable.type->axes);
  return order;
}

AxisOrder OrderFinder::ofElement(const Expression *tuple, unsigned element) {
  if (const auto *written = llvm::dyn_cast<TupleExpression>(tuple))
    return of(written->elements[element]);
  if (const auto *name = llvm::dyn_cast<VariableExpression>(tuple))
    return ofVariable(*name->variable, element);
  if (const auto *sorted = llvm::dyn_cast<SortExpression>(tuple))
    return ofAll({sorted->operands.front(), sorted->operands[element]});
  const auto *call = llvm::dyn_cast<CallExpression>(tuple);
  if (!call || call->callee->kind != DeclarationKind::Rowwise)
    return of(tuple);
  AxisOrder order;
  order.addList(tuple->type->elements[element]->axes);
  return order;
}

AxisOrder OrderFinder::ofBounds(llvm::ArrayRef<AxisId> axes) {
  AxisOrder order;
  for (AxisId axis : axes)
    if (axis.index < table.size() && table[axis.index].kind == AxisKind::Local)
      order.add(ofAll({table[axis.index].lower, table[axis.index].upper}));
  return order;
}

/// A read has the axes of a position where it had the one that they stand for.
AxisOrder OrderFinder::ofLoad(const LoadExpression &load) {
  if (!load.base->type->isScalar())
    return ofOperands(load);
  AxisOrder base = of(load.base);
  base.close();
  auto axesAt = [&](std::size_t number) -> llvm::ArrayRef<AxisId> {
    const Expression *position = load.positions[number];
    return position ? position->axes() : load.base->axes()[number];
  };
  AxisOrder order = ofAll(load.positions);
  order.add(ofAll({load.outside, load.when}));
  for (std::size_t i = 0; i < load.positions.size(); ++i)
    for (std::size_t j = 0; j < load.positions.size(); ++j)
      if (base.isBefore(load.base->axes()[i], load.base->axes()[j]))
        order.addBefore(axesAt(i), axesAt(j));
  return order;
}

AxisOrder OrderFinder::ofConcat(const ConcatExpression &concat) {
  AxisOrder order;
  for (auto [operand, own] : llvm::zip(concat.operands, concat.operandAxes)) {
    AxisOrder one;
    if (operand->type->isList())
      one.addList(concat.axes());
    else
      one = of(operand);
    one.rename(own, concat.axis);
    order.add(one);
  }
  return order;
}

/// The union over the operands of pointwise work, scans and sorts.
AxisOrder OrderFinder::ofOperands(const Expression &expression) {
  switch (expression.kind) {
  case ExpressionKind::Tuple:
    return ofAll(llvm::cast<TupleExpression>(expression).elements);
  case ExpressionKind::Unary:
    return of(llvm::cast<UnaryExpression>(expression).operand);
  case ExpressionKind::Cast:
    return of(llvm::cast<CastExpression>(expression).operand);
  case ExpressionKind::Binary: {
    const auto &binary = llvm::cast<BinaryExpression>(expression);
    return ofAll({binary.left, binary.right});
  }
  case ExpressionKind::Select: {
    const auto &select = llvm::cast<SelectExpression>(expression);
    return ofAll({select.left, select.right, select.condition});
  }
  case ExpressionKind::Builtin:
    return ofAll(llvm::cast<BuiltinExpression>(expression).operands);
  case ExpressionKind::IndirectCall:
    return ofAll(llvm::cast<IndirectCallExpression>(expression).arguments);
  case ExpressionKind::Scan: {
    const auto &scan = llvm::cast<ScanExpression>(expression);
    AxisOrder order = ofAll(scan.operands);
    order.add(of(scan.where));
    return order;
  }
  case ExpressionKind::Sort:
    return ofAll(llvm::cast<SortExpression>(expression).operands);
  case ExpressionKind::Load: {
    const auto &load = llvm::cast<LoadExpression>(expression);
    AxisOrder order = ofAll(load.positions);
    order.add(ofAll({load.outside, load.when}));
    return order;
  }
  default: // single values, and objects, whose axes have no names here
    return {};
  }
}

AxisOrder OrderFinder::of(const Expression *expression) {
  if (!expression)
    return {};
  AxisOrder order;
  switch (expression->kind) {
  case ExpressionKind::Variable:
    return ofVariable(*llvm::cast<VariableExpression>(expression)->variable,
                      -1);
  case ExpressionKind::Field: {
    const auto *field = llvm::cast<FieldExpression>(expression);
    return ofElement(field->base, field->index);
  }
  case ExpressionKind::Load:
    return ofLoad(*llvm::cast<LoadExpression>(expression));
  case ExpressionKind::Concat:
    return ofConcat(*llvm::cast<ConcatExpression>(expression));
  case ExpressionKind::Scatter:
    return of(llvm::cast<ScatterExpression>(expression)->into);
  case ExpressionKind::Call: {
    const auto *call = llvm::cast<CallExpression>(expression);
    if (call->callee->kind != DeclarationKind::Rowwise)
      return ofAll(call->arguments);
    order.addList(expression->axes());
    return order;
  }
  case ExpressionKind::Reduce: {
    const auto *reduce = llvm::cast<ReduceExpression>(expression);
    order = ofAll(reduce->operands);
    order.add(ofBounds(reduce->over));
    order.add(of(reduce->where));
    order.remove(reduce->over);
    return order;
  }
  default:
    return ofOperands(*expression);
  }
}

void AxisOrders::define(const Variable &variable, const Expression *value,
                        llvm::ArrayRef<Axis> table, int element) {
  OrderFinder finder(*this, table);
  unsigned place = variable.span.begin;
  if (element >= 0)
    orders[{place, -1}].add(finder.ofElement(value, element));
  else if (!value->type->isTuple())
    orders[{place, -1}].add(finder.of(value));
  else
    for (unsigned part = 0; part < value->type->elements.size(); ++part)
      orders[{place, static_cast<int>(part)}].add(
          finder.ofElement(value, part));
}

void AxisOrders::write(const Variable &variable, llvm::ArrayRef<AxisId> axes) {
  written[variable.span.begin].assign(axes.begin(), axes.end());
}

std::optional<UnorderedAxes>
AxisOrders::sort(const Expression *value, llvm::MutableArrayRef<AxisId> axes,
                 llvm::ArrayRef<Axis> table) const {
  if (axes.size() < 2)
    return std::nullopt;
  AxisOrder order = OrderFinder(*this, table).of(value);
  order.close();
  for (std::size_t i = 0; i < axes.size(); ++i)
    for (std::size_t j = i + 1; j < axes.size(); ++j) {
      bool before = order.isBefore(axes[i], axes[j]);
      bool behind = order.isBefore(axes[j], axes[i]);
      if (before == behind)
        return UnorderedAxes{axes[i], axes[j], before};
    }
  llvm::sort(axes, [&](AxisId a, AxisId b) { return order.isBefore(a, b); });
  return std::nullopt;
}
