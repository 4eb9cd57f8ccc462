// Writes typed nodes as text; private to the dump.
#pragma once

#include "frontend/typed/TypedModule.h"

#include "llvm/Support/raw_ostream.h"

namespace quern::typed {

class Printer {
public:
  Printer(const Declaration &declaration, llvm::raw_ostream &out)
      : declaration(declaration), out(out) {}

  void print();
  void expression(const Expression *e);
  void scalar(ScalarType type);
  void constant(const Constant &value);
  void type(const Type &type);

private:
  // PrintDeclaration.cpp
  void generics();
  void axisTable();
  void signature();
  void parameter(const Parameter &parameter);
  void result(const Result &result);
  void reduction();
  void part(llvm::StringRef name, const ReductionPart &part);
  void attributes();
  void binding(const AtenBinding &binding);
  void axis(AxisId id);
  void axisList(llvm::ArrayRef<AxisId> axes);
  void dimensions(llvm::ArrayRef<Dimension> dimensions);
  void scalarType(const Type &type);

  // PrintStatement.cpp
  void block(Block block);
  void statement(const Statement *s);
  void let(const LetStatement &s);
  void assign(const AssignStatement &s);
  void store(const StoreStatement &s);
  void branch(const IfStatement &s);
  void loop(const ForStatement &s);
  void loop(const WhileStatement &s);
  void storage(const StorageStatement &s);
  void forEach(const ForEachStatement &s);
  void variables(llvm::ArrayRef<const Variable *> list, bool isTuple);
  llvm::raw_ostream &line();

  // PrintExpression.cpp
  void leaf(const Expression *e);
  void operation(const Expression *e);
  void field(const FieldExpression &e);
  void select(const SelectExpression &e);
  void list(Expressions list);
  void builtin(const BuiltinExpression &e);
  void load(const LoadExpression &e);
  void call(const CallExpression &e);
  void callee(const Declaration &callee, llvm::ArrayRef<ScalarType> types,
              Expressions constants);
  void reduce(const ReduceExpression &e);
  void scan(const ScanExpression &e);
  void sort(const SortExpression &e);
  void scatter(const ScatterExpression &e);
  void concat(const ConcatExpression &e);
  void external(const ExternExpression &e);
  void listOf(const ListExpression &e);
  void parameters(const Declaration &monoid, Expressions values);
  void binary(const BinaryExpression &e);
  void target(const TargetExpression &e);
  void typeTest(const TypeTestExpression &e);

  const Declaration &declaration;
  llvm::raw_ostream &out;
  unsigned indent = 0;
};

} // namespace quern::typed
