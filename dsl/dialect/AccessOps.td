// The operations that read positions and operands and write results.
#ifndef QUERN_DSL_DIALECT_ACCESSOPS_TD
#define QUERN_DSL_DIALECT_ACCESSOPS_TD

include "dsl/dialect/Types.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Qn_IndexOp : Qn_PureOp<"index"> {
  let summary = "the position along an axis";
  let arguments = (ins StrAttr:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "custom<AxisName>($axis) attr-dict";
  let hasVerifier = 1;
}

def Qn_SizeOp : Qn_PureOp<"size"> {
  let summary = "the extent of an axis of the kernel";
  let arguments = (ins StrAttr:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "custom<AxisName>($axis) attr-dict";
  let hasVerifier = 1;
}

def Qn_AxisOp : Qn_Op<"axis"> {
  let summary = "brings in a local axis and gives the position along it";
  let description = [{
    The bounds may depend on other axes. Every local axis is brought in once and
    removed by a reduction over it. It stays as long as a reduction names it,
    though nobody may ask for the position.

    ```mlir
    %i = qn.axis I from %zero to %kh
    ```
  }];
  let arguments = (ins StrAttr:$axis, I64:$lower, I64:$upper);
  let results = (outs I64:$position);
  let assemblyFormat = "custom<AxisName>($axis) `from` $lower `to` $upper attr-dict";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Qn_LoadOp : Qn_PureOp<"load", [AttrSizedOperandSegments]> {
  let summary = "an element of an operand";
  let description = [{
    Without indices the element at the operand's own axes. With indices, one per
    axis, the element at a computed position: where a position is out of range or
    `when` is false the value is `outside`; with `checked` a position out of range
    is an error of the launch where `when` holds; else it is known to be in range. `part` chooses the
    real (0) or imaginary (1) half of a complex element.

    ```mlir
    %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
    %w = qn.load %x[%i, %j] outside %zero : f32 when %c : !qn.tensor<f32, [R, C:1]>
    %g = qn.load %t[%i] checked : !qn.tensor<f32, [V:1]>
    ```
  }];
  let arguments = (ins
    Qn_OperandType:$tensor,
    Variadic<I64>:$indices,
    Optional<AnyType>:$outside,
    Optional<I1>:$when,
    UnitAttr:$checked,
    OptionalAttr<I64Attr>:$part
  );
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $tensor (`[` $indices^ `]`)? (`outside` $outside^ `:` type($outside))?
    (`when` $when^)? (`checked` $checked^)? (`part` $part^)? attr-dict
    `:` type($tensor) custom<ElementOf>(type($result), ref(type($tensor)), ref($part))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$tensor)>,
    OpBuilder<(ins "::mlir::Value":$tensor, "::mlir::ValueRange":$indices,
      CArg<"::mlir::Value", "nullptr">:$outside,
      CArg<"::mlir::Value", "nullptr">:$when, CArg<"bool", "false">:$checked)>];
  let hasVerifier = 1;
}

def Qn_JoinedOp : Qn_PureOp<"joined", [SameVariadicOperandSize]> {
  let summary = "an element of operands one behind the other along an axis";
  let description = [{
    The element at the kernel's own axes of operands that differ along `axis`
    alone: tensor `k` has the positions up to its end, from the end of the one
    before. They are arguments of the kernel in a row, and so are the ends.

    ```mlir
    %v = qn.joined %x, %y ends %m, %n along C
      : !qn.tensor<f32, [R, C:1]>, !qn.tensor<f32, [R, C:1]> -> f32
    ```
  }];
  let arguments = (ins
    Variadic<Qn_OperandType>:$tensors,
    Variadic<I64>:$ends,
    StrAttr:$axis,
    OptionalAttr<I64Attr>:$part
  );
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $tensors `ends` $ends `along` custom<AxisName>($axis) (`part` $part^)?
    attr-dict `:` type($tensors) `->` type($result)
  }];
  let extraClassDeclaration = [{
    OperandType getOperandType() {
      return ::mlir::cast<OperandType>(getTensors().front().getType());
    }
  }];
  let hasVerifier = 1;
}

def Qn_LookupOp : Qn_PureOp<"lookup"> {
  let summary = "an element of a constant table";
  let description = [{
    ```mlir
    %t = qn.lookup %i in dense<[1.0, 2.0]> : tensor<2xf32> -> f32
    ```
    The index is known to be in range.
  }];
  let arguments = (ins I64:$index, ElementsAttr:$table);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$index `in` $table attr-dict `->` type($result)";
  let hasVerifier = 1;
}

def Qn_RequireOp : Qn_PureOp<"require", [AllTypesMatch<["value", "result"]>]> {
  let summary = "a value, where a condition holds";
  let description = [{
    Where the condition does not hold the launch is in error, which says `text`;
    what the value is there has no meaning. As a checked load it is pure: without
    a use of the value nothing is asked. With `extent` the value is an index, and
    the error says that it is out of range for the axis that `text` names.

    ```mlir
    %p = qn.require %x when %c, "x is no probability" : f32
    %j = qn.require %i when %d, "C" of %n : i64
    ```
  }];
  let arguments = (ins AnyType:$value, I1:$condition, StrAttr:$text,
    Optional<I64>:$extent);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $value `when` $condition `,` $text (`of` $extent^)? attr-dict
    `:` type($value)
  }];
  let hasVerifier = 1;
}

def Qn_ExactOrCoarseOp
    : Qn_PureOp<"exact_or_coarse", [SameOperandsAndResultType]> {
  let summary = "a value, or what is near enough to it";
  let description = [{
    The first value; the second where all that becomes of it are floats of 16
    bits or fewer. For a GPU `qn-coarsen` chooses, before anything else looks.

    ```mlir
    %e = qn.exact_or_coarse %exact, %coarse : f32
    ```
  }];
  let arguments = (ins F32:$exact, F32:$coarse);
  let results = (outs F32:$result);
  let assemblyFormat = "$exact `,` $coarse attr-dict `:` type($result)";
}

def Qn_StoreOp : Qn_Op<"store"> {
  let summary = "writes a value at an operand's own axes";
  let description = [{
    The value may depend on the operand's axes only. Reads of a stored operand
    give its old values. What is there already is not written again, where
    something else writes the operand.
  }];
  let arguments = (ins AnyType:$value, Qn_OperandType:$tensor,
                       OptionalAttr<I64Attr>:$part);
  let hasCanonicalizeMethod = 1;
  let assemblyFormat =
    "$value `,` $tensor (`part` $part^)? attr-dict `:` type($value) `,` type($tensor)";
  let hasVerifier = 1;
}

#endif
