// The text of typed expressions.
#include "frontend/typed/Printer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Format.h"

using namespace quern;
using namespace quern::typed;

void Printer::scalar(ScalarType type) { out << spelling(type, declaration); }

void Printer::constant(const Constant &value) {
  switch (value.kind) {
  case Constant::Kind::Integer:
    if (value.isUnsigned)
      out << static_cast<std::uint64_t>(value.integer);
    else
      out << value.integer;
    return;
  case Constant::Kind::Float: {
    // The shortest text that reads back as the same number.
    llvm::SmallString<32> text;
    for (int digits : {6, 9, 17}) {
      text.clear();
      llvm::raw_svector_ostream(text)
          << llvm::format("%.*g", digits, value.floating);
      if (std::strtod(text.c_str(), nullptr) == value.floating)
        break;
    }
    out << text;
    if (llvm::StringRef(text).find_first_not_of("-0123456789") ==
        llvm::StringRef::npos)
      out << ".0";
    return;
  }
  case Constant::Kind::Boolean:
    out << (value.boolean ? "true" : "false");
    return;
  case Constant::Kind::String:
    out << '"' << value.string << '"';
    return;
  }
}

void Printer::list(Expressions elements) {
  llvm::interleaveComma(elements, out,
                        [&](const Expression *e) { expression(e); });
}

void Printer::binary(const BinaryExpression &e) {
  out << '(';
  expression(e.left);
  out << (e.leftOptional ? "? " : " ") << spelling(e.op)
      << (e.rightOptional ? " ?" : " ");
  expression(e.right);
  out << ')';
}

void Printer::builtin(const BuiltinExpression &e) {
  const BuiltinInfo &info = builtinInfo(e.builtin);
  Expressions operands = e.operands;
  if (info.group == BuiltinGroup::View) {
    expression(operands.front());
    out << '.';
    operands = operands.drop_front();
  }
  out << info.spelling;
  bool hasDimension =
      e.builtin == Builtin::ThreadId || e.builtin == Builtin::BlockId ||
      e.builtin == Builtin::BlockSize || e.builtin == Builtin::GridSize;
  if (hasDimension) {
    out << '.' << "xyz"[e.dimension];
    return;
  }
  bool hasType = e.builtin == Builtin::Bitcast || e.builtin == Builtin::ViewAs;
  if (hasType) {
    out << '[';
    scalar(e.typeArgument);
    out << ']';
  }
  out << '(';
  bool typeFirst = info.group == BuiltinGroup::TypeValue ||
                   e.builtin == Builtin::Empty || e.builtin == Builtin::Zeros ||
                   e.builtin == Builtin::Full;
  if (typeFirst) {
    scalar(e.typeArgument);
    if (!operands.empty())
      out << ", ";
  }
  if (e.axis.valid())
    axis(e.axis);
  list(operands);
  if (!e.text.empty())
    out << "; \"" << e.text << '"';
  if (e.atomic.order)
    out << "; order = " << spelling(*e.atomic.order);
  if (e.atomic.scope)
    out << "; scope = " << spelling(*e.atomic.scope);
  out << ')';
}

void Printer::load(const LoadExpression &e) {
  expression(e.base);
  out << '[';
  llvm::interleaveComma(e.positions, out, [&](const Expression *position) {
    if (position)
      expression(position);
    else
      out << ':';
  });
  if (e.outside) {
    out << "; outside = ";
    expression(e.outside);
  }
  if (e.when) {
    out << "; when = ";
    expression(e.when);
  }
  out << ']';
}

void Printer::callee(const Declaration &callee,
                     llvm::ArrayRef<ScalarType> types, Expressions constants) {
  out << callee.name;
  if (types.empty() && constants.empty())
    return;
  out << '[';
  llvm::interleaveComma(types, out, [&](ScalarType type) { scalar(type); });
  for (auto [value, parameter] :
       llvm::zip(constants, callee.constantParameters)) {
    if (!value)
      continue;
    out << (types.empty() ? "" : ", ") << parameter->name << " = ";
    expression(value);
  }
  out << ']';
}

void Printer::call(const CallExpression &e) {
  callee(*e.callee, e.typeArguments, e.constantArguments);
  if (!e.axes.empty()) {
    out << '{';
    bool isFirst = true;
    for (auto [binding, row] : llvm::zip(e.axes, e.callee->axes)) {
      if (row.kind == AxisKind::Local || row.name.empty())
        continue;
      out << (isFirst ? "" : ", ") << (row.pack ? "*" : "") << row.name
          << " = ";
      isFirst = false;
      axisList(binding.axes);
    }
    out << '}';
  }
  out << '(';
  list(e.arguments);
  out << ')';
}

void Printer::parameters(const Declaration &monoid, Expressions values) {
  for (auto [value, row] : llvm::zip(values, monoid.parameters)) {
    if (!value)
      continue;
    out << ", " << row.variable->name << " = ";
    expression(value);
  }
}

void Printer::reduce(const ReduceExpression &e) {
  callee(*e.monoid, e.typeArguments, e.constantArguments);
  out << '(';
  list(e.operands);
  parameters(*e.monoid, e.parameters);
  out << " over ";
  axisList(e.over);
  if (e.where) {
    out << " where ";
    expression(e.where);
  }
  out << ')';
}

void Printer::scan(const ScanExpression &e) {
  out << "scan(";
  callee(*e.monoid, e.typeArguments, e.constantArguments);
  out << ", ";
  list(e.operands);
  parameters(*e.monoid, e.parameters);
  out << " over ";
  axis(e.over);
  if (e.where) {
    out << " where ";
    expression(e.where);
  }
  out << (e.reverse ? ", reverse" : "") << (e.exclusive ? ", exclusive" : "")
      << ')';
}

void Printer::sort(const SortExpression &e) {
  out << "sort_by(";
  list(e.operands);
  out << " over ";
  axis(e.over);
  out << ", stable = ";
  expression(e.stable);
  out << ", descending = ";
  expression(e.descending);
  out << ')';
}

void Printer::scatter(const ScatterExpression &e) {
  out << "scatter(";
  expression(e.into);
  out << ", at = (";
  llvm::interleaveComma(e.positions, out, [&](const Expression *position) {
    if (position)
      expression(position);
    else
      out << ':';
  });
  out << "), ";
  expression(e.value);
  out << " over ";
  axisList(e.over);
  out << ", with = ";
  if (e.monoid)
    callee(*e.monoid, e.typeArguments, {});
  else
    out << "last";
  out << ", include_self = ";
  expression(e.includeSelf);
  if (e.where) {
    out << ", when = ";
    expression(e.where);
  }
  out << (e.freeOrder ? ", order = free)" : ")");
}

void Printer::concat(const ConcatExpression &e) {
  out << "concat[";
  axis(e.axis);
  out << "](";
  list(e.operands);
  out << " over ";
  axisList(e.operandAxes);
  out << ')';
}

void Printer::listOf(const ListExpression &e) {
  out << '[';
  list(e.elements.empty() ? e.lists : e.elements);
  if (e.isLoop()) {
    out << " for ";
    variables(e.variables, true);
    out << (e.isRange() ? " in range(" : " in (");
    list(e.isRange() ? e.range : e.lists);
    out << ')';
  }
  out << ']';
}

void Printer::external(const ExternExpression &e) {
  out << "extern \"" << e.symbol << "\"(";
  bool isFirst = true;
  for (auto [name, value] : llvm::zip(e.names, e.arguments)) {
    out << (isFirst ? "" : ", ") << name << (name.empty() ? "" : " = ");
    isFirst = false;
    expression(value);
  }
  out << ')';
}

void Printer::target(const TargetExpression &e) {
  static constexpr llvm::StringLiteral names[] = {
      "is_gpu", "warp_size", "row_lanes", "vector_width", "has_mma"};
  out << "target." << names[static_cast<unsigned>(e.query)];
  bool takesType =
      e.query == TargetQuery::VectorWidth || e.query == TargetQuery::HasMma;
  if (!takesType)
    return;
  out << '(';
  scalar(e.argument);
  out << ')';
}

void Printer::typeTest(const TypeTestExpression &e) {
  out << '(';
  scalar(e.tested);
  if (e.againstConstraint) {
    out << ": " << spelling(e.constraint) << ')';
    return;
  }
  out << " == ";
  scalar(e.other);
  out << ')';
}

/// What is known when compiling, and names.
void Printer::leaf(const Expression *e) {
  switch (e->kind) {
  case ExpressionKind::Constant:
    return constant(llvm::cast<ConstantExpression>(e)->value);
  case ExpressionKind::ConstantParameter: {
    const auto *parameter = llvm::cast<ConstantParameterExpression>(e);
    out << parameter->parameter->name;
    if (!parameter->element)
      return;
    out << '[';
    expression(parameter->element);
    out << ']';
    return;
  }
  case ExpressionKind::ConstantTable:
    out << llvm::cast<ConstantTableExpression>(e)->table->name;
    return;
  case ExpressionKind::TypeTest:
    return typeTest(*llvm::cast<TypeTestExpression>(e));
  case ExpressionKind::Target:
    return target(*llvm::cast<TargetExpression>(e));
  case ExpressionKind::Present:
    out << "present(" << llvm::cast<PresentExpression>(e)->variable->name
        << ')';
    return;
  case ExpressionKind::Variable:
    out << llvm::cast<VariableExpression>(e)->variable->name;
    return;
  case ExpressionKind::PackElement:
    out << '*'
        << declaration.axis(llvm::cast<PackElementExpression>(e)->pack).name;
    return;
  case ExpressionKind::FunctionReference:
    out << llvm::cast<FunctionReferenceExpression>(e)->function->name;
    return;
  default:
    llvm_unreachable("the caller prints all other kinds");
  }
}

void Printer::field(const FieldExpression &e) {
  expression(e.base);
  llvm::ArrayRef<llvm::StringRef> names = e.base->type->names;
  if (names.empty())
    out << '.' << e.index;
  else
    out << '.' << names[e.index];
}

void Printer::select(const SelectExpression &e) {
  out << '(';
  expression(e.left);
  out << (e.isConst ? " if const " : " if ");
  expression(e.condition);
  out << " else ";
  expression(e.right);
  out << ')';
}

/// Operators, casts and calls of all kinds.
void Printer::operation(const Expression *e) {
  switch (e->kind) {
  case ExpressionKind::Tuple:
    out << '(';
    list(llvm::cast<TupleExpression>(e)->elements);
    out << ')';
    return;
  case ExpressionKind::Field:
    return field(*llvm::cast<FieldExpression>(e));
  case ExpressionKind::Unary:
    out << spelling(llvm::cast<UnaryExpression>(e)->op);
    return expression(llvm::cast<UnaryExpression>(e)->operand);
  case ExpressionKind::Binary:
    return binary(*llvm::cast<BinaryExpression>(e));
  case ExpressionKind::Select:
    return select(*llvm::cast<SelectExpression>(e));
  case ExpressionKind::Cast:
    scalar(e->scalar());
    out << '(';
    expression(llvm::cast<CastExpression>(e)->operand);
    out << ')';
    return;
  case ExpressionKind::Builtin:
    return builtin(*llvm::cast<BuiltinExpression>(e));
  case ExpressionKind::Load:
    return load(*llvm::cast<LoadExpression>(e));
  case ExpressionKind::Call:
    return call(*llvm::cast<CallExpression>(e));
  case ExpressionKind::IndirectCall:
    out << llvm::cast<IndirectCallExpression>(e)->function->name << '(';
    list(llvm::cast<IndirectCallExpression>(e)->arguments);
    out << ')';
    return;
  default:
    return leaf(e);
  }
}

void Printer::expression(const Expression *e) {
  if (!e) {
    out << "none";
    return;
  }
  switch (e->kind) {
  case ExpressionKind::Reduce:
    return reduce(*llvm::cast<ReduceExpression>(e));
  case ExpressionKind::Scan:
    return scan(*llvm::cast<ScanExpression>(e));
  case ExpressionKind::Sort:
    return sort(*llvm::cast<SortExpression>(e));
  case ExpressionKind::Scatter:
    return scatter(*llvm::cast<ScatterExpression>(e));
  case ExpressionKind::Concat:
    return concat(*llvm::cast<ConcatExpression>(e));
  case ExpressionKind::Extern:
    return external(*llvm::cast<ExternExpression>(e));
  case ExpressionKind::List:
    return listOf(*llvm::cast<ListExpression>(e));
  default:
    return operation(e);
  }
}
