// The operations of explicit kernels: threads, their memory, what they share.
#ifndef QUERN_DSL_DIALECT_THREADOPS_TD
#define QUERN_DSL_DIALECT_THREADOPS_TD

include "dsl/dialect/Types.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Qn_Enum<string name, string summary, list<string> rows>
    : I32EnumAttr<name, summary, !foreach(i, !range(!size(rows)),
        I32EnumAttrCase<rows[i], i>)> {
  let cppNamespace = "::quern::qn";
  let genSpecializedAttr = 0;
}

class Qn_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<Qn_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}

def Qn_Dimension : Qn_Enum<"Dimension", "a dimension of grid and block",
  ["x", "y", "z"]>;
def Qn_DimensionAttr : Qn_EnumAttr<Qn_Dimension, "dimension">;
def Qn_Scope : Qn_Enum<"Scope", "who takes part",
  ["warp", "block", "device", "system", "row"]>;
def Qn_ScopeAttr : Qn_EnumAttr<Qn_Scope, "scope">;
def Qn_Order : Qn_Enum<"Order", "what an atomic operation orders",
  ["relaxed", "acquire", "release", "acq_rel", "seq_cst"]>;
def Qn_OrderAttr : Qn_EnumAttr<Qn_Order, "order">;
def Qn_AtomicKind : Qn_Enum<"AtomicKind", "what an atomic operation does",
  ["addi", "addf", "mins", "minu", "minf", "maxs", "maxu", "maxf", "andi",
   "ori", "xori", "exchange", "cas"]>;
def Qn_AtomicKindAttr : Qn_EnumAttr<Qn_AtomicKind, "atomic_kind">;
def Qn_ShuffleKind : Qn_Enum<"ShuffleKind", "whose value a lane takes",
  ["idx", "butterfly", "up", "down"]>;
def Qn_ShuffleKindAttr : Qn_EnumAttr<Qn_ShuffleKind, "shuffle_kind">;
def Qn_VoteKind : Qn_Enum<"VoteKind", "what lanes vote on", ["any", "all"]>;
def Qn_VoteKindAttr : Qn_EnumAttr<Qn_VoteKind, "vote_kind">;

/// A tensor of the caller, or an array of the block (memory space 3) or of the
/// thread (5).
def Qn_PlaceType : AnyTypeOf<[Qn_OperandType, AnyStaticShapeMemRef]>;

def Qn_KernelOp : Qn_Op<"kernel", [
    IsolatedFromAbove, Symbol, NoTerminator, SingleBlock]> {
  let summary = "an explicit grid of blocks of threads";
  let description = [{
    Framed like `qn.rowwise`: `axes`, arguments and `numbers` mean the same. The
    body is what one thread does. It holds one `qn.launch` at its top level.

    ```mlir
    qn.kernel @copy axes [N] (%x: !qn.tensor<f32, [N:1]>,
        %out: !qn.tensor<f32, [N:1]>) {
      %n = qn.size N
      %c64 = arith.constant 64 : i64
      %one = arith.constant 1 : i64
      %blocks = arith.ceildivsi %n, %c64 : i64
      qn.launch grid(%blocks, %one, %one) block(%c64, %one, %one)
      ...
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    StrArrayAttr:$axes,
    OptionalAttr<DenseI64ArrayAttr>:$numbers,
    UnitAttr:$wide
  );
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `axes` custom<AxisList>($axes) (`wide` $wide^)? attr-dict-with-keyword
    custom<Body>($body)
  }];
  let extraClassDeclaration = [{
    /// The number of an axis in `axes`, or -1.
    int axisNumber(::llvm::StringRef name);
    /// The number of argument `index` among its kind.
    unsigned numberOf(unsigned index);
    ::mlir::Block &block() { return getBody().front(); }
    /// All of them.
    unsigned callerArguments() { return block().getNumArguments(); }
    /// How the kernel is launched.
    ::quern::qn::LaunchOp launch();
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
      "::llvm::ArrayRef<::mlir::StringAttr>":$axes,
      "::mlir::TypeRange":$argumentTypes)>];
  let skipDefaultBuilders = 1;
  let hasRegionVerifier = 1;
}

def Qn_LaunchOp : Qn_Op<"launch", [HasParent<"KernelOp">]> {
  let summary = "numbers of blocks and of threads in a block";
  let description = [{
    The numbers are computed on the host: from sizes, scalar arguments and
    constants alone. A count that is not positive launches nothing.
  }];
  let arguments = (ins I64:$gridX, I64:$gridY, I64:$gridZ,
                       I64:$blockX, I64:$blockY, I64:$blockZ);
  let assemblyFormat = [{
    `grid` `(` $gridX `,` $gridY `,` $gridZ `)`
    `block` `(` $blockX `,` $blockY `,` $blockZ `)` attr-dict
  }];
  let hasVerifier = 1;
}

def Qn_ThreadOp : Qn_PureOp<"thread"> {
  let summary = "the number of the thread in its block along a dimension";
  let arguments = (ins Qn_DimensionAttr:$dimension);
  let results = (outs I64:$result);
  let assemblyFormat = "$dimension attr-dict";
}

def Qn_BlockOp : Qn_PureOp<"block"> {
  let summary = "the number of the block in its grid along a dimension";
  let arguments = (ins Qn_DimensionAttr:$dimension);
  let results = (outs I64:$result);
  let assemblyFormat = "$dimension attr-dict";
}

def Qn_LaneOp : Qn_PureOp<"lane"> {
  let summary = "the number of the thread in its warp";
  let description = [{
    Warps are neighbouring threads, `x` fastest, as many as `target.warp_size`.
  }];
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

def Qn_SharedOp : Qn_Op<"shared", [MemoryEffects<[MemAlloc]>]> {
  let summary = "an array that the threads of a block share";
  let results = (outs AnyStaticShapeMemRef:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Qn_LocalOp : Qn_Op<"local", [MemoryEffects<[MemAlloc]>]> {
  let summary = "an array of the thread's own";
  let results = (outs AnyStaticShapeMemRef:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Qn_ReadOp : Qn_Op<"read", [MemoryEffects<[MemRead]>]> {
  let summary = "an element of an operand or an array, as it is now";
  let description = [{
    With `checked` an index out of range is an error of the launch, and the value
    is 0; without it the indices are known to be in range. `part` chooses the real
    (0) or imaginary (1) half of a complex element.

    ```mlir
    %v = qn.read %x[%i, %j] checked : !qn.tensor<f32, [M, N:1]> -> f32
    ```
  }];
  let arguments = (ins Qn_PlaceType:$place, Variadic<I64>:$indices,
                       UnitAttr:$checked, OptionalAttr<I64Attr>:$part);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $place `[` $indices `]` (`checked` $checked^)? (`part` $part^)? attr-dict
    `:` type($place) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Qn_WriteOp : Qn_Op<"write", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes an element of an operand or an array";
  let arguments = (ins AnyType:$value, Qn_PlaceType:$place,
    Variadic<I64>:$indices, UnitAttr:$checked, OptionalAttr<I64Attr>:$part);
  let assemblyFormat = [{
    $value `,` $place `[` $indices `]` (`checked` $checked^)? (`part` $part^)?
    attr-dict `:` type($value) `,` type($place)
  }];
  let hasVerifier = 1;
}

def Qn_AtomicOp : Qn_Op<"atomic", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "changes an element in one step and gives the old value";
  let description = [{
    `cas` writes `value` where the element is `expected`.

    ```mlir
    %old = qn.atomic addi %one, %h[%i] checked order relaxed scope device
        : i32, !qn.tensor<i32, [B:1]>
    ```
  }];
  let arguments = (ins Qn_AtomicKindAttr:$kind, AnyType:$value,
    Optional<AnyType>:$expected, Qn_PlaceType:$place, Variadic<I64>:$indices,
    UnitAttr:$checked, Qn_OrderAttr:$order, Qn_ScopeAttr:$scope);
  let results = (outs AnyType:$old);
  let assemblyFormat = [{
    $kind $value (`expected` $expected^ `:` type($expected))? `,` $place
    `[` $indices `]` (`checked` $checked^)? `order` $order `scope` $scope
    attr-dict `:` type($value) `,` type($place) `->` type($old)
  }];
  let hasVerifier = 1;
}

def Qn_CopyOp : Qn_Op<"copy", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "copies neighbours along the last axis";
  let description = [{
    From an element and those behind it, to as many: in few accesses where
    addresses allow it. With `async` what is written is seen only behind a
    `qn.await_copies`, so that the copy may go on beside other work.

    ```mlir
    qn.copy %tile[%r, %c], %x[%i, %j] count 4 async checked
        : memref<8x32xf32, 3>, !qn.tensor<f32, [M, N:1]>
    ```
  }];
  let arguments = (ins Qn_PlaceType:$to, Variadic<I64>:$toIndices,
    Qn_PlaceType:$from, Variadic<I64>:$fromIndices, I64Attr:$count,
    UnitAttr:$isAsync, UnitAttr:$checked);
  let assemblyFormat = [{
    $to `[` $toIndices `]` `,` $from `[` $fromIndices `]` `count` $count
    (`async` $isAsync^)? (`checked` $checked^)? attr-dict
    `:` type($to) `,` type($from)
  }];
  let hasVerifier = 1;
}

def Qn_CommitCopiesOp : Qn_Op<"commit_copies", [MemoryEffects<[MemWrite]>]> {
  let summary = "makes the thread's copies under way one group";
  let assemblyFormat = "attr-dict";
}

def Qn_AwaitCopiesOp : Qn_Op<"await_copies", [MemoryEffects<[MemWrite]>]> {
  let summary = "waits until at most so many of the thread's groups are open";
  let arguments = (ins I64Attr:$open);
  let assemblyFormat = "$open attr-dict";
}

def Qn_MultiplyTileOp : Qn_Op<"mma", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "adds a product of tiles to a tile that a warp keeps";
  let description = [{
    `sums` is each thread's share of `rows` by `columns` sums; the factors begin at
    places and are `depth` deep along their last and last but one axis;
    `transposed`, the right one along its last axis too. What lies outside of them
    counts as zero. The left one may be a tile itself, which has no indices.

    ```mlir
    qn.mma %sums, %a[%i, %k], %b[%k, %j] rows 16 columns 16 depth 16
        : memref<8xf32, 5>, !qn.tensor<f16, [M, K:1]>, !qn.tensor<f16, [K, N:1]>
    ```
  }];
  let arguments = (ins AnyStaticShapeMemRef:$sums, Qn_PlaceType:$left,
    Variadic<I64>:$leftIndices, Qn_PlaceType:$right,
    Variadic<I64>:$rightIndices, I64Attr:$rows, I64Attr:$columns,
    I64Attr:$depth, UnitAttr:$transposed);
  let assemblyFormat = [{
    $sums `,` $left (`[` $leftIndices^ `]`)? `,` $right `[` $rightIndices `]`
    (`transposed` $transposed^)? `rows` $rows `columns` $columns `depth` $depth
    attr-dict
    `:` type($sums) `,` type($left) `,` type($right)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether the left factor is a tile of the warp.
    bool hasLeftTile() { return getLeftIndices().empty(); }
  }];
}

class Qn_MoveTileOp<string mnemonic, MemoryEffects effects>
    : Qn_Op<mnemonic, [effects]> {
  let arguments = (ins AnyStaticShapeMemRef:$tile, Qn_PlaceType:$place,
    Variadic<I64>:$indices, I64Attr:$rows, I64Attr:$columns);
  let assemblyFormat = [{
    $tile `,` $place `[` $indices `]` `rows` $rows `columns` $columns attr-dict
    `:` type($tile) `,` type($place)
  }];
  let hasVerifier = 1;
}

def Qn_LoadTileOp : Qn_MoveTileOp<"load_tile",
    MemoryEffects<[MemRead, MemWrite]>> {
  let summary = "fills a tile of a warp; what lies outside is zero";
}

def Qn_StoreTileOp : Qn_MoveTileOp<"store_tile",
    MemoryEffects<[MemRead, MemWrite]>> {
  let summary = "writes a tile of a warp; what lies outside is left out";
}

def Qn_BarrierOp : Qn_Op<"barrier"> {
  let summary = "waits for all threads of the block, or of the warp";
  let description = [{
    Every thread that takes part reaches it; what they wrote is seen behind it.
  }];
  let arguments = (ins Qn_ScopeAttr:$scope);
  let assemblyFormat = "$scope attr-dict";
  let hasVerifier = 1;
}

def Qn_ShuffleOp : Qn_Op<"shuffle", [
    TypesMatchWith<"the result is of the value's type", "value", "result",
                   "$_self">]> {
  let summary = "the value of another lane of the warp";
  let description = [{
    `idx` takes the value of lane `offset`, `butterfly` that of lane `lane ^ offset`, `up`
    and `down` that of the lane `offset` below or above. Where there is no such
    lane the value is the thread's own.
  }];
  let arguments = (ins Qn_ShuffleKindAttr:$kind, AnyType:$value, I64:$offset);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$kind $value `,` $offset attr-dict `:` type($value)";
}

def Qn_BallotOp : Qn_Op<"ballot"> {
  let summary = "one bit for each lane of the warp whose condition holds";
  let arguments = (ins I1:$condition);
  let results = (outs I64:$result);
  let assemblyFormat = "$condition attr-dict";
}

def Qn_VoteOp : Qn_Op<"vote"> {
  let summary = "whether the condition holds in any or all lanes of the warp";
  let arguments = (ins Qn_VoteKindAttr:$kind, I1:$condition);
  let results = (outs I1:$result);
  let assemblyFormat = "$kind $condition attr-dict";
}

/// One set of states a thread, combined by `merge`; `inits` are its neutral
/// elements.
class Qn_ThreadMonoidOp<string mnemonic>
    : Qn_Op<mnemonic, [AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let regions = (region SizedRegion<1>:$merge);
  let results = (outs Variadic<AnyType>:$results);
  let hasRegionVerifier = 1;
}

def Qn_CombineOp : Qn_ThreadMonoidOp<"combine"> {
  let summary = "combines a value of every thread of a warp or block";
  let description = [{
    All threads take part and get the result; the order of combination is free.
    Over a `row` these are the lanes of a warp that share a row of a tile.

    ```mlir
    %s = qn.combine block (%v : f32) init (%z : f32) merge {
    ^bb0(%a: f32, %b: f32):
      %n = arith.addf %a, %b : f32
      qn.yield %n : f32
    }
    ```
  }];
  let arguments = (ins Qn_ScopeAttr:$scope, Variadic<AnyType>:$values,
                       Variadic<AnyType>:$inits);
  let assemblyFormat = [{
    $scope `(` $values `:` type($values) `)` `init` `(` $inits `:` type($inits) `)`
    attr-dict `merge` $merge
  }];
}

def Qn_PrefixOp : Qn_ThreadMonoidOp<"prefix"> {
  let summary = "combines the values of the threads up to each thread";
  let description = [{
    In order of the threads, `x` fastest, or from the last to the first when
    `reverse`; with `exclusive` without the thread's own value.
  }];
  let arguments = (ins Qn_ScopeAttr:$scope, Variadic<AnyType>:$values,
                       Variadic<AnyType>:$inits, UnitAttr:$reverse,
                       UnitAttr:$exclusive);
  let assemblyFormat = [{
    $scope `(` $values `:` type($values) `)` `init` `(` $inits `:` type($inits) `)`
    (`reverse` $reverse^)? (`exclusive` $exclusive^)? attr-dict `merge` $merge
  }];
}

#endif
