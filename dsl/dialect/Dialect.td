// The qn dialect itself and the base class of its operations.
#ifndef QUERN_DSL_DIALECT_DIALECT_TD
#define QUERN_DSL_DIALECT_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Qn_Dialect : Dialect {
  let name = "qn";
  let cppNamespace = "::quern::qn";
  let summary = "Scalar code lifted over named axes";
  let description = [{
    Every value in the body of a `qn.rowwise` stands for a function from axis
    positions to scalars. The axes it depends on follow from its operands. The
    dialect adds to `arith`, `math` and `scf` only what scalars cannot say:
    reading and writing operands, positions and extents, reductions and scans.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let extraClassDeclaration = [{
    void addScheduleOperations();
  }];
}

class Qn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Qn_Dialect, mnemonic, traits>;

/// An operation without effects: its result depends on positions only.
class Qn_PureOp<string mnemonic, list<Trait> traits = []>
    : Qn_Op<mnemonic, !listconcat([Pure], traits)>;

#endif
