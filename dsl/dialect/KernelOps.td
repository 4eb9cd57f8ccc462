// The operations that frame a body: the kernel and the terminator of regions.
#ifndef QUERN_DSL_DIALECT_KERNELOPS_TD
#define QUERN_DSL_DIALECT_KERNELOPS_TD

include "dsl/dialect/Types.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Qn_RowwiseOp : Qn_Op<"rowwise", [
    IsolatedFromAbove, Symbol, NoTerminator, SingleBlock]> {
  let summary = "a kernel whose loops the compiler chooses";
  let description = [{
    `axes` lists every concrete axis; their extents arrive in this order in the
    packet. The arguments are the tensor operands and scalar parameters. `numbers`
    holds for each argument its number among the operands of the Specialization
    (tensors) or among the scalar parameters (scalars); without it they are
    counted. An elementwise declaration is a kernel without reductions.

    The last `staged` arguments are no operands of the caller's: they lie in the
    workspace, row after row. What writes one stands before everything that reads
    it, and is a launch of its own.

    A kernel may have two forms. The first runs `instead_of` the second for calls
    whose extents satisfy `when`.

    `listed` is for a GPU: a launch serves several calls, whose packets are rows
    of a table (docs/decisions/0020).

    ```mlir
    qn.rowwise @scale axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>, %a: f32,
        %out: !qn.tensor<f32, [R, C:1]>) {
      %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
      %r = arith.mulf %v, %a : f32
      qn.store %r, %out : f32, !qn.tensor<f32, [R, C:1]>
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    StrArrayAttr:$axes,
    OptionalAttr<DenseI64ArrayAttr>:$numbers,
    UnitAttr:$wide,
    OptionalAttr<FlatSymbolRefAttr>:$instead_of,
    OptionalAttr<Qn_ExtentsListAttr>:$when,
    UnitAttr:$listed,
    OptionalAttr<I64Attr>:$staged
  );
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `axes` custom<AxisList>($axes) (`wide` $wide^)?
    (`instead_of` $instead_of^)? (`when` $when^)?
    (`listed` $listed^)? (`staged` $staged^)?
    attr-dict-with-keyword custom<Body>($body)
  }];
  let extraClassDeclaration = [{
    /// The number of an axis in `axes`, or -1.
    int axisNumber(::llvm::StringRef name);
    /// The number of argument `index` among its kind.
    unsigned numberOf(unsigned index);
    /// How many arguments come from the caller; the others are staged.
    unsigned callerArguments() {
      return block().getNumArguments() - getStaged().value_or(0);
    }
    /// A new staged operand, its last axis dense.
    ::mlir::BlockArgument addStaged(::mlir::Type element,
                                    ::llvm::ArrayRef<::mlir::StringAttr> axes,
                                    ::mlir::Location location);
    /// The name in the text.
    ::llvm::StringRef ownName() {
      return getInsteadOf().value_or(getSymName());
    }
    bool isStaged(::mlir::Value argument) {
      return ::llvm::cast<::mlir::BlockArgument>(argument).getArgNumber() >=
             callerArguments();
    }
    ::mlir::Block &block() { return getBody().front(); }
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
      "::llvm::ArrayRef<::mlir::StringAttr>":$axes,
      "::mlir::TypeRange":$argumentTypes)>];
  let skipDefaultBuilders = 1;
  let hasRegionVerifier = 1;
}

def Qn_YieldOp : Qn_Op<"yield", [Pure, Terminator, ParentOneOf<
    ["ReduceOp", "ScanOp", "ScatterOp", "CombineOp", "PrefixOp"]>]> {
  let summary = "hands the new state to the reduction around it";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
