// Sorted rows and writes to computed places.
#include "test/fuzz/kernels/Builder.h"

namespace quern::fuzz {

/// Binds keys in their order and what goes along with them.
void Builder::sortStatement(AxisBits all) {
  std::vector<unsigned> along;
  for (unsigned axis = 0; axis < axes.size(); ++axis)
    if (all >> axis & 1 && !axes[axis].isPack)
      along.push_back(axis);
  if (along.empty())
    return;
  unsigned axis = choices.pick(along);
  ElementType keyType = anyType(), valueType = anyType();
  Term keys = withAxes(expression(keyType, all, 1), 1u << axis);
  Term values = expression(valueType, keys.axes, 1);
  std::string first = "s" + std::to_string(names++);
  std::string second = "s" + std::to_string(names++);
  std::string options = choices.oneIn(3) ? ", descending" : "";
  lines.push_back("let (" + first + ", " + second + ") = sort_by(" + keys.text +
                  ", " + values.text + " over " + axes[axis].name + ", stable" +
                  options + ")");
  bound.push_back({first, keyType, keys.axes, keys.bound, true});
  bound.push_back({second, valueType, keys.axes | values.axes, values.bound});
}

/// `into` with a source along an axis of its own written to computed places.
Term Builder::scattered(ElementType type, AxisBits allowed) {
  std::vector<unsigned> plain;
  for (unsigned axis = 0; axis < axes.size(); ++axis)
    if (allowed >> axis & 1 && !axes[axis].isPack)
      plain.push_back(axis);
  if (plain.empty())
    return leaf(type, allowed);
  unsigned target = choices.pick(plain);
  Axis source;
  source.name = "M" + std::to_string(names++);
  source.extents = {static_cast<std::int64_t>(choices.below(9))};
  axes.push_back(source);
  unsigned from = static_cast<unsigned>(axes.size()) - 1;
  Operand &places = newOperand(ElementType::I64, {from}, Content::Places);
  places.extent = axes[target].count();
  std::string place = places.name;
  std::vector<unsigned> valueAxes = {from};
  for (unsigned axis : plain)
    if (axis != target && choices.below(2))
      valueAxes.push_back(axis);
  if (choices.below(2))
    std::swap(valueAxes.front(), valueAxes.back());
  const Operand &values = newOperand(type, valueAxes, Content::Exact);
  Term into = withAxes(expression(type, allowed, 1), 1u << target);
  for (unsigned axis : valueAxes)
    if (axis != from)
      into = withAxes(into, 1u << axis);
  std::string with = choices.pick({"last", "max", "min"});
  if (type == accumulatorOf(type))
    with = choices.pick({"last", "sum", "max", "min", "prod"});
  if (type == ElementType::Bool)
    with = choices.pick({"last", "any", "all"});
  std::string options;
  if (with != "last" && choices.oneIn(3))
    options += ", include_self = false";
  if (choices.oneIn(4))
    options += ", when = " + place + " % 2 == 0";
  return {"scatter(" + into.text + ", at = (" + axes[target].name + " = " +
              place + "), " + values.name + ", with = " + with + options + ")",
          type, into.axes};
}

} // namespace quern::fuzz
