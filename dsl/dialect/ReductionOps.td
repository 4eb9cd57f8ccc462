// The operations that combine values along axes.
#ifndef QUERN_DSL_DIALECT_REDUCTIONOPS_TD
#define QUERN_DSL_DIALECT_REDUCTIONOPS_TD

include "dsl/dialect/Types.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// A monoid over one or more states: `inits` are its neutral elements, `step`
/// takes the states and one value of each input, `merge` two sets of states; both
/// yield states.
class Qn_MonoidOp<string mnemonic, list<Trait> traits = []>
    : Qn_PureOp<mnemonic, !listconcat([AttrSizedOperandSegments,
        InferTypeOpAdaptor], traits)> {
  let regions = (region SizedRegion<1>:$step, SizedRegion<1>:$merge);
  let results = (outs Variadic<AnyType>:$results);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Qn_ReduceOp : Qn_MonoidOp<"reduce"> {
  let summary = "removes axes by combining the values along them";
  let description = [{
    The order of combination is free unless `portable` is given, which fixes a
    tree by the extent alone, or `ordered`: then states are merged in the order
    of their elements, row-major over the axes as they are listed, and with both
    one element follows the other. Positions where `where` is false are left out.

    ```mlir
    %m = qn.reduce (%v : f32) init (%z : f32) over [C] step {
    ^bb0(%s: f32, %x: f32):
      %n = arith.addf %s, %x : f32
      qn.yield %n : f32
    } merge {
    ^bb0(%a: f32, %b: f32):
      %n = arith.addf %a, %b : f32
      qn.yield %n : f32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<AnyType>:$inits,
    Optional<I1>:$where, StrArrayAttr:$axes, UnitAttr:$portable,
    UnitAttr:$ordered);
  let assemblyFormat = [{
    `(` $inputs `:` type($inputs) `)` `init` `(` $inits `:` type($inits) `)`
    `over` custom<AxisList>($axes) (`where` $where^)? (`portable` $portable^)?
    (`ordered` $ordered^)? attr-dict `step` $step `merge` $merge
  }];
}

def Qn_ScanOp : Qn_MonoidOp<"scan"> {
  let summary = "the states at every position along an axis";
  let description = [{
    Inclusive unless `exclusive`; from the last position to the first when
    `reverse`.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<AnyType>:$inits,
    Optional<I1>:$where, StrAttr:$axis, UnitAttr:$reverse, UnitAttr:$exclusive);
  let assemblyFormat = [{
    `(` $inputs `:` type($inputs) `)` `init` `(` $inits `:` type($inits) `)`
    `over` custom<AxisName>($axis) (`where` $where^)? (`reverse` $reverse^)?
    (`exclusive` $exclusive^)? attr-dict `step` $step `merge` $merge
  }];
}

def Qn_SortOp : Qn_Op<"sort"> {
  let summary = "writes where the elements of an axis stand in the order of keys";
  let description = [{
    At position `i` of the staged operand's last axis stands the position of the
    `i`-th smallest key along `axis`. Keys are compared as unsigned numbers; equal
    ones stay in the order of their positions. The last axis may be another one
    than that of the keys, of their first so many; of a rank that no key has the extent is
    written.

    ```mlir
    qn.sort %k over C, %order : i32, !qn.tensor<i64, [R, C:1]>
    qn.sort %k over C, %few : i32, !qn.tensor<i64, [R, K:1]>
    ```
  }];
  let arguments = (ins AnyTypeOf<[I32, I64]>:$key, StrAttr:$axis,
    Qn_OperandType:$order);
  let assemblyFormat = [{
    $key `over` custom<AxisName>($axis) `,` $order attr-dict
    `:` type($key) `,` type($order)
  }];

  let hasVerifier = 1;
}

def Qn_ScatterOp : Qn_Op<"scatter", [AttrSizedOperandSegments]> {
  let summary = "combines a value into an operand at computed positions";
  let description = [{
    Runs over all axes the value and the indices depend on, and over those of
    `over`, in source order: an axis along which all of them repeat still counts.
    `merge` combines the old element with the new one; without it the last value
    stays. A complex element is two values, its halves. Positions where `when` is false are left out; `checked` makes a position
    out of range an error of the launch.
  }];
  let arguments = (ins Variadic<AnyType>:$values, Qn_OperandType:$tensor,
    Variadic<I64>:$indices, Optional<I1>:$when,
    OptionalAttr<StrArrayAttr>:$over, UnitAttr:$checked);
  let regions = (region MaxSizedRegion<1>:$merge);
  let assemblyFormat = [{
    $values `to` $tensor `[` $indices `]` (`over` custom<AxisList>($over)^)?
    (`when` $when^)? (`checked` $checked^)?
    attr-dict `:` type($values) `to` type($tensor) $merge
  }];
  let hasVerifier = 1;
}

def Qn_CompactOp : Qn_Op<"compact"> {
  let summary = "writes what a condition leaves, in order and without gaps";
  let description = [{
    The value at the first position along `axis` where `when` holds goes to
    position 0 of the operand, the next one to 1, and so on. `count` is how many
    there are, as a reduction. A complex element is two values, its halves. More
    than the operand has places are an error of the launch with `checked`, else
    they are left out.

    ```mlir
    qn.compact %x to %y along N when %flag count %n checked
      : f32 to !qn.tensor<f32, [K:1]>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values, Qn_OperandType:$tensor,
    I1:$when, I64:$count, StrAttr:$axis, UnitAttr:$checked);
  let assemblyFormat = [{
    $values `to` $tensor `along` custom<AxisName>($axis) `when` $when
    `count` $count (`checked` $checked^)?
    attr-dict `:` type($values) `to` type($tensor)
  }];
  let extraClassDeclaration = [{
    /// The reduction that counts the values, of which parts are made.
    ReduceOp getCounting();
  }];
  let hasVerifier = 1;
}

#endif
