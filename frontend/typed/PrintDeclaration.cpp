// The `typed` dump: declarations with axis tables and bodies.
#include "frontend/typed/Printer.h"
#include "frontend/typed/ThreadAxes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace quern;
using namespace quern::typed;

std::string typed::spelling(ScalarType type, const Declaration &declaration) {
  if (type.isConcrete())
    return std::string(quern::spelling(type.element()));
  unsigned index = type.parameterIndex();
  std::string text = index < declaration.typeParameters.size()
                         ? declaration.typeParameters[index].name.str()
                         : "?";
  if (type.isAccumulator())
    text = "acc(" + text + ")";
  if (type.isComponent())
    text = "real(" + text + ")";
  if (type.isComplex())
    text = "complex(" + text + ")";
  return type.isBits() ? "bits(" + text + ")" : text;
}

std::string typed::spelling(const Type &type, const Declaration &declaration) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Printer(declaration, out).type(type);
  return text;
}

void Printer::axis(AxisId id) {
  if (isThreads(id)) {
    out << (id == blockThreads ? "block" : id == warpThreads ? "warp" : "row");
    return;
  }
  const Axis &row = declaration.axis(id);
  if (row.name.empty()) {
    out << '#' << id.index;
    return;
  }
  out << (row.pack ? "*" : "") << row.name;
}

void Printer::axisList(llvm::ArrayRef<AxisId> axes) {
  bool isOne = axes.size() == 1;
  out << (isOne ? "" : "(");
  llvm::interleaveComma(axes, out, [&](AxisId id) { axis(id); });
  out << (isOne ? "" : ")");
}

void Printer::dimensions(llvm::ArrayRef<Dimension> dimensions) {
  out << '[';
  llvm::interleaveComma(dimensions, out, [&](const Dimension &dimension) {
    out << (dimension.isSplit() ? "(" : "");
    llvm::interleave(dimension.parts, out, [&](AxisId id) { axis(id); }, " ");
    out << (dimension.isSplit() ? ")" : "");
  });
  out << ']';
}

void Printer::scalarType(const Type &type) {
  scalar(type.scalar);
  if (type.pack.valid()) {
    out << " for ";
    axis(type.pack);
  }
  if (type.axes.empty())
    return;
  out << " {";
  llvm::interleaveComma(type.axes, out, [&](AxisId id) { axis(id); });
  out << '}';
}

void Printer::type(const Type &type) {
  switch (type.kind) {
  case TypeKind::Void:
    out << "void";
    return;
  case TypeKind::Scalar:
    return scalarType(type);
  case TypeKind::Tuple:
    out << '(';
    llvm::interleaveComma(llvm::seq(type.elements.size()), out, [&](size_t i) {
      if (!type.names.empty())
        out << type.names[i] << ": ";
      this->type(*type.elements[i]);
    });
    out << ')';
    return;
  case TypeKind::Tensor:
    scalar(type.scalar);
    if (type.ranked)
      dimensions(type.dimensions);
    else
      out << "[...]";
    return;
  case TypeKind::Array:
    scalar(type.scalar);
    out << '[';
    list(type.extents);
    out << ']';
    return;
  case TypeKind::List:
    out << "list[";
    this->type(*type.elements.front());
    out << ']';
    return;
  case TypeKind::Function:
    out << "fn";
    return;
  case TypeKind::String:
    out << "string";
    return;
  }
}

void Printer::generics() {
  if (declaration.generics.empty())
    return;
  out << '[';
  llvm::interleaveComma(declaration.generics, out, [&](GenericOrder order) {
    if (order.isType) {
      const TypeParameter &row = declaration.typeParameters[order.index];
      out << row.name << ": " << spelling(row.constraint);
      return;
    }
    const ConstantParameter &row = *declaration.constantParameters[order.index];
    out << row.name << ": ";
    type(*row.type);
    if (row.subject)
      out << " match " << row.subject->name;
    if (!row.choices.empty()) {
      out << " {";
      llvm::interleaveComma(row.choices, out,
                            [&](const Constant &value) { constant(value); });
      out << (row.hasElse ? ", else}" : "}");
    }
    if (row.defaultValue) {
      out << " = ";
      expression(row.defaultValue);
    }
  });
  out << ']';
}

void Printer::axisTable() {
  static constexpr llvm::StringLiteral kinds[] = {"named", "fixed", "derived",
                                                  "local"};
  for (auto [number, row] : llvm::enumerate(declaration.axes)) {
    line() << "axis ";
    axis(AxisId{static_cast<std::uint16_t>(number)});
    out << ": " << kinds[static_cast<unsigned>(row.kind)];
    if (row.pack && row.rankOf.valid() && row.rankOf.index != number) {
      out << " like ";
      axis(row.rankOf);
    }
    if (row.extent) {
      out << " = ";
      expression(row.extent);
    }
    if (row.lower) {
      out << ' ';
      expression(row.lower);
      out << " .. ";
      expression(row.upper);
    }
    out << '\n';
  }
  for (const ExtentCheck &check : declaration.extentChecks) {
    line() << "check ";
    axis(check.axis);
    out << " == ";
    expression(check.extent);
    out << '\n';
  }
}

void Printer::parameter(const Parameter &parameter) {
  out << parameter.variable->name << ": " << (parameter.isMutable ? "mut " : "")
      << (parameter.isList ? "list[" : "");
  scalar(parameter.element);
  if (parameter.isTensor)
    dimensions(parameter.dimensions);
  if (parameter.pack.valid()) {
    out << " for ";
    axis(parameter.pack);
  }
  if (parameter.count != 0)
    out << " x " << parameter.count;
  out << (parameter.isList ? "]" : "") << (parameter.isOptional ? "?" : "");
  if (!parameter.defaultValue)
    return;
  out << " = ";
  expression(parameter.defaultValue);
}

void Printer::result(const Result &result) {
  out << result.name << (result.name.empty() ? "" : ": ")
      << (result.isList ? "list[" : "");
  scalar(result.element);
  if (result.isTensor)
    dimensions(result.dimensions);
  out << (result.isList ? "]" : "") << (result.isOptional ? "?" : "");
}

void Printer::signature() {
  out << keyword(declaration.kind) << ' ' << declaration.name;
  generics();
  out << '(';
  llvm::interleaveComma(declaration.parameters, out,
                        [&](const Parameter &row) { parameter(row); });
  out << ')';
  if (!declaration.results.empty()) {
    out << " -> (";
    llvm::interleaveComma(declaration.results, out,
                          [&](const Result &row) { result(row); });
    out << ')';
  }
  out << ":\n";
}

void Printer::binding(const AtenBinding &binding) {
  out << ", ";
  switch (binding.kind) {
  case AtenBindingKind::Constant:
    out << binding.argument << " = constant ";
    if (binding.isNone || binding.text == "_")
      out << binding.text;
    else
      constant(binding.constant);
    return;
  case AtenBindingKind::Axis:
    out << binding.argument << " = axis ";
    axis(binding.axis);
    return;
  case AtenBindingKind::Nonempty:
    out << "nonempty = ";
    axis(binding.axis);
    return;
  case AtenBindingKind::Type:
    out << binding.argument << " = type "
        << declaration.typeParameters[binding.typeParameter].name;
    return;
  case AtenBindingKind::Generic:
    out << binding.argument << " = parameter "
        << declaration.constantParameters[binding.constantParameter]->name;
    return;
  case AtenBindingKind::Parameter:
  case AtenBindingKind::Seed:
    out << '(';
    llvm::interleaveComma(binding.parameters, out, [&](unsigned number) {
      out << declaration.parameters[number].variable->name;
    });
    out << ") = argument " << binding.argument;
    if (!binding.alternative.empty())
      out << " or " << binding.alternative;
    return;
  case AtenBindingKind::Promotion:
    out << "promotes = " << binding.promotion;
    return;
  }
}

void Printer::attributes() {
  const Attributes &all = declaration.attributes;
  for (const AtenAttribute &one : all.aten) {
    line() << "@aten(\"" << one.overload << '"';
    for (const AtenBinding &row : one.bindings)
      binding(row);
    out << ")\n";
  }
  if (all.backward) {
    line() << "@backward(" << all.backward->declaration->name << ", saves = (";
    llvm::interleaveComma(all.backward->saves, out);
    out << "))\n";
  }
  if (all.origin)
    line() << "@from(\"" << all.origin->file << "\", " << all.origin->line
           << ")\n";
  for (llvm::StringRef expectation : all.expectations)
    line() << "@expect(" << expectation << ")\n";
  if (all.portable)
    line() << "@portable\n";
  if (all.fastmath)
    line() << "@fastmath\n";
  if (all.unchecked)
    line() << "@unchecked\n";
  if (all.commutative)
    line() << "@commutative\n";
}

void Printer::part(llvm::StringRef name, const ReductionPart &part) {
  line() << name << '(';
  variables(part.variables, false);
  out << "):\n";
  block(part.body);
}

void Printer::reduction() {
  const Reduction &reduction = *declaration.reduction;
  for (const ReductionState &state : reduction.states) {
    line() << "state " << state.name << (state.name.empty() ? "" : ": ");
    scalar(state.type);
    out << " = ";
    expression(state.initial);
    out << '\n';
  }
  part("step", reduction.step);
  part(declaration.keepsOrder() ? "merge in order" : "merge", reduction.merge);
  if (reduction.hasFinish)
    part("finish", reduction.finish);
  line() << "yields ";
  type(*reduction.resultType);
  out << '\n';
}

void Printer::print() {
  attributes();
  signature();
  if (declaration.hasError) {
    out << "  error\n";
    return;
  }
  ++indent;
  axisTable();
  if (declaration.reduction)
    reduction();
  --indent;
  block(declaration.body);
}

void typed::print(const Declaration &declaration, llvm::raw_ostream &out) {
  Printer(declaration, out).print();
}

void typed::print(const Expression &expression, const Declaration &declaration,
                  llvm::raw_ostream &out) {
  Printer(declaration, out).expression(&expression);
}

static void printTable(const ConstantTable &table, llvm::raw_ostream &out) {
  out << "const " << table.name << ": " << quern::spelling(table.element);
  if (table.isTable) {
    out << '[';
    llvm::interleaveComma(table.extents, out);
    out << ']';
  }
  out << " = " << (table.isTable ? "[" : "");
  Declaration none;
  Printer printer(none, out);
  llvm::interleaveComma(table.values, out, [&](const Constant &value) {
    printer.constant(value);
  });
  out << (table.isTable ? "]\n" : "\n");
}

void typed::print(const TypedModule &module, llvm::raw_ostream &out) {
  for (const ConstantTable *table : module.constants())
    printTable(*table, out);
  bool isFirst = module.constants().empty();
  for (const Declaration *declaration : module.declarations()) {
    out << (isFirst ? "" : "\n");
    isFirst = false;
    print(*declaration, out);
  }
}
